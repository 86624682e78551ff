// What a listener lets clients hold, and how strictly it reads HTTP/1.1. M6, L7.
#include "server/http/listener.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

namespace berth::server {
namespace {

// A blocking connection without TLS.
class Client {
 public:
  explicit Client(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    timeval patience{.tv_sec = 20, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  int Descriptor() const { return fd_; }
  void Send(std::string_view bytes) const { send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  // What comes until `end` was seen or the server closes the connection.
  std::string Read(std::string_view end = {}) const {
    std::string got;
    char buffer[4096];
    while (end.empty() || got.find(end) == std::string::npos) {
      const ssize_t size = recv(fd_, buffer, sizeof buffer, 0);
      if (size <= 0) break;
      got.append(buffer, static_cast<size_t>(size));
    }
    return got;
  }

 private:
  int fd_;
};

// The one that has something to read, or its end; null: neither for a while.
const Client* FirstToRead(const Client& a, const Client& b) {
  constexpr int kPatience = 20'000;
  pollfd both[] = {{a.Descriptor(), POLLIN, 0}, {b.Descriptor(), POLLIN, 0}};
  if (poll(both, 2, kPatience) <= 0) return nullptr;
  return both[0].revents != 0 ? &a : &b;
}

class ListenerTest : public testing::Test {
 protected:
  ListenerTest() {
    options_.bind_address = "127.0.0.1";
    options_.any_port = true;
    options_.shutdown_timeout = std::chrono::seconds(1);
  }
  ~ListenerTest() override {
    if (!thread_.joinable()) return;
    std::promise<void> stopped;
    loop_->Post([&] { listener_->Stop([&] { stopped.set_value(); }); });
    stopped.get_future().wait();
    loop_->Stop();
    thread_.join();
  }

  void Start() {
    auto made = Listener::MakePlain(*loop_, options_, [this](Request request, Respond respond) {
      ++handled_;
      Response response;
      response.body = request.method + " " + request.path + " " + request.body;
      respond(std::move(response));
    });
    ASSERT_TRUE(made) << made.error().Message();
    listener_ = std::move(*made);
    loop_->Post([this] { listener_->Start(); });
    thread_ = std::thread([this] { loop_->Run(); });
  }
  int Port() const { return listener_->Port(); }

  ServingOptions options_;
  std::unique_ptr<net::SystemLoop> loop_ = net::MakeSystemLoop();
  std::unique_ptr<Listener> listener_;
  std::thread thread_;
  std::atomic<int> handled_ = 0;
};

TEST_F(ListenerTest, L7FramingIsStrict) {
  Start();
  const struct {
    const char* what;
    std::string request;
    std::string status;
  } rows[] = {
      {"one host", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "200 OK"},
      {"no host", "GET / HTTP/1.1\r\n\r\n", "400 Bad Request"},
      {"no host, HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", "200 OK"},
      {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400 Bad Request"},
      {"the same host twice", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", "400 Bad Request"},
      {"chunks", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
       "200 OK"},
      {"another encoding",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\nContent-Length: 3\r\n\r\nabc",
       "501 Not Implemented"},
      {"two encodings",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
       "501 Not Implemented"},
      {"identity", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n",
       "501 Not Implemented"},
      {"chunks and a length",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
       "0\r\n\r\n",
       "400 Bad Request"},
      {"two lengths",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
       "400 Bad Request"},
      {"chunks in HTTP/1.0",
       "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "400 Bad Request"},
      {"a space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "400 Bad Request"},
  };
  for (const auto& row : rows) {
    const Client client(Port());
    client.Send(row.request);
    const std::string answer = client.Read("\r\n\r\n");
    EXPECT_EQ(answer.substr(0, answer.find("\r\n")).substr(9), row.status) << row.what;
  }
}

TEST_F(ListenerTest, L7NothingAfterARefusedRequestIsServed) {
  Start();
  const Client client(Port());
  client.Send(
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\nContent-Length: 3\r\n\r\n"
      "abcGET /b HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string answer = client.Read();
  EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << answer;
  EXPECT_EQ(handled_, 0);
}

TEST_F(ListenerTest, M6ARequestIsRefusedBeforeItsBody) {
  options_.admit = [](const Request& request) -> std::optional<Response> {
    if (request.Header("authorization") == "Bearer x") return std::nullopt;
    Response response;
    response.status = 401;
    response.body = "who?";
    return response;
  };
  Start();
  const std::string head = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n";
  const Client stranger(Port());
  stranger.Send(head + "\r\n");  // and no body
  const std::string refused = stranger.Read();
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 401 ")) << refused;
  EXPECT_TRUE(refused.ends_with("who?")) << refused;
  EXPECT_EQ(handled_, 0);
  // A request that is there as a whole leaves the connection usable.
  const Client both(Port());
  both.Send(head + "\r\nhello" + head + "Authorization: Bearer x\r\n\r\nhello");
  EXPECT_NE(both.Read("POST /a hello").find("401"), std::string::npos);
  // Who waits for a sign before it sends the body gets it when the request is admitted.
  const Client waits(Port());
  waits.Send(head + "Authorization: Bearer x\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(waits.Read("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  waits.Send("hello");
  EXPECT_NE(waits.Read("POST /a hello").find("200 OK"), std::string::npos);
}

// Two requests of which each fits and both do not: one of them is closed, the other is answered.
TEST_F(ListenerTest, M6IncompleteRequestsTogetherAreBounded) {
  options_.max_incoming_bytes = 64u << 10;
  Start();
  const struct {
    const char* what;
    std::string begin;
    std::string end;
  } rows[] = {
      {"bodies",
       "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 50001\r\n\r\n" + std::string(50'000, 'x'),
       "x"},
      {"headers", "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(50'000, 'x'), "\r\n\r\n"},
  };
  for (const auto& row : rows) {
    const Client first(Port());
    const Client second(Port());
    first.Send(row.begin);
    second.Send(row.begin);
    const Client* closed = FirstToRead(first, second);
    ASSERT_NE(closed, nullptr) << row.what << ": both are held";
    EXPECT_EQ(closed->Read(), "") << row.what;
    const Client& left = closed == &first ? second : first;
    left.Send(row.end);
    EXPECT_TRUE(left.Read("\r\n\r\n").starts_with("HTTP/1.1 200 ")) << row.what;
  }
}

TEST_F(ListenerTest, M6BodiesThatHaveNotBegunMakeRoom) {
  options_.max_connections = 2;
  std::atomic<int> admitted = 0;
  options_.admit = [&admitted](const Request&) -> std::optional<Response> {
    ++admitted;
    return std::nullopt;
  };
  Start();
  const std::string head = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";
  const Client first(Port());
  first.Send(head);
  while (admitted < 1) usleep(1000);
  const Client second(Port());
  second.Send(head);
  while (admitted < 2) usleep(1000);
  const Client third(Port());
  third.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(third.Read("\r\n\r\n").starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(first.Read(), "") << "the one that has waited longest was closed";
  second.Send("hello");
  EXPECT_TRUE(second.Read("\r\n\r\n").starts_with("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace berth::server
