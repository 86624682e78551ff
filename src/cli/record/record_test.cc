// berth record and berth shadow beside a running API server: they only read, and what they saw can
// be replayed.
#include "cli/record/record.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/cluster.h"
#include "cli/explain/recorded.h"
#include "cli/replay/replay.h"
#include "cli/shadow/shadow.h"
#include "record/segment_files.h"

namespace berth::cli {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kNodes = R"(
apiVersion: v1
kind: Node
metadata: {name: large}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: small}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}
)";

int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

// Passes bytes on to a server without TLS, and keeps the first line of every request. Requests
// without bodies alone can be told apart; one with a body shows as a line that is not a GET.
class Proxy {
 public:
  explicit Proxy(int server) : server_(server) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 64), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Work(); });
  }
  ~Proxy() {
    stopping_ = true;
    thread_.join();
    close(listener_);
  }

  int Port() const { return port_; }
  std::vector<std::string> Lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  struct Pair {
    int client = -1;
    int server = -1;
    std::string head;  // of the request that arrives
  };

  void Work() {
    std::list<Pair> pairs;
    while (!stopping_) {
      std::vector<pollfd> polled = {{listener_, POLLIN, 0}};
      for (const Pair& pair : pairs) {
        polled.push_back({pair.client, POLLIN, 0});
        polled.push_back({pair.server, POLLIN, 0});
      }
      poll(polled.data(), polled.size(), 50);
      size_t at = 1;
      for (auto pair = pairs.begin(); pair != pairs.end();) {
        const bool from_client = (polled[at].revents & (POLLIN | POLLHUP)) != 0;
        const bool from_server = (polled[at + 1].revents & (POLLIN | POLLHUP)) != 0;
        at += 2;
        const bool open = (!from_client || Pass(pair->client, pair->server, &pair->head)) &&
                          (!from_server || Pass(pair->server, pair->client, nullptr));
        if (!open) Close(*pair);
        pair = open ? std::next(pair) : pairs.erase(pair);
      }
      if ((polled[0].revents & POLLIN) != 0) {
        pairs.push_back({accept(listener_, nullptr, nullptr), Connect(server_), ""});
      }
    }
    for (const Pair& pair : pairs) Close(pair);
  }

  static void Close(const Pair& pair) {
    close(pair.client);
    close(pair.server);
  }

  bool Pass(int from, int to, std::string* head) {
    char buffer[16384];
    const ssize_t size = recv(from, buffer, sizeof buffer, 0);
    if (size <= 0) return false;
    if (head != nullptr) Note(std::string_view(buffer, static_cast<size_t>(size)), head);
    for (ssize_t done = 0; done < size;) {
      const ssize_t more = send(to, buffer + done, static_cast<size_t>(size - done), MSG_NOSIGNAL);
      if (more <= 0) return false;
      done += more;
    }
    return true;
  }

  void Note(std::string_view bytes, std::string* head) {
    head->append(bytes);
    for (size_t end = head->find("\r\n\r\n"); end != std::string::npos;
         end = head->find("\r\n\r\n")) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(head->substr(0, head->find("\r\n")));
      head->erase(0, end + 4);
    }
  }

  const int server_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::thread thread_;
};

class RecordTest : public testing::Test {
 public:
  RecordTest() {
    char name[] = "/tmp/berth-record-test-XXXXXX";
    folder_ = mkdtemp(name);
    apiserver::ClusterOptions options;
    options.any_port = true;
    options.port = 0;
    options.nodes = 0;
    options.manifests.push_back({"nodes", std::string(kNodes)});
    cluster_ = apiserver::Cluster::Make(std::move(options)).value();
    cluster_->Start();
  }
  ~RecordTest() override {
    cluster_->Stop();
    std::filesystem::remove_all(folder_);
  }

  // Straight to the server, as another scheduler would.
  std::string Post(const std::string& path, const std::string& body) const {
    const int fd = Connect(cluster_->Port());
    const std::string request = fmt::format(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
        path, body.size(), body);
    send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    std::string answer;
    char buffer[4096];
    for (ssize_t n; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;) {
      answer.append(buffer, static_cast<size_t>(n));
    }
    close(fd);
    return answer;
  }

  void MakePod(const std::string& name) const {
    const std::string answer =
        Post("/api/v1/namespaces/default/pods",
             fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}"}},"spec":)"
                         R"({{"containers":[{{"name":"c","image":"i","resources":)"
                         R"({{"requests":{{"cpu":"500m"}}}}}}]}}}})",
                         name));
    ASSERT_THAT(answer, StartsWith("HTTP/1.1 201"));
  }
  void Bind(const std::string& name, const std::string& node) const {
    const std::string answer =
        Post(fmt::format("/api/v1/namespaces/default/pods/{}/binding", name),
             fmt::format(R"({{"apiVersion":"v1","kind":"Binding","metadata":{{"name":"{}"}},)"
                         R"("target":{{"kind":"Node","name":"{}"}}}})",
                         name, node));
    ASSERT_THAT(answer, StartsWith("HTTP/1.1 201"));
  }

  // Runs a command against the proxy, while another scheduler places pods.
  int Beside(int (*command)(const std::vector<std::string>&), std::vector<std::string> args,
             const std::string& prefix) {
    Proxy proxy(cluster_->Port());
    args.push_back(fmt::format("--master=http://127.0.0.1:{}", proxy.Port()));
    args.emplace_back("--duration=6s");
    std::thread other([&] {
      // Until every kind is watched.
      const auto watches = [&] {
        const auto lines = proxy.Lines();
        return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
          return line.find("watch=") != std::string::npos;
        });
      };
      for (int i = 0; i < 200 && watches() < 10; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      for (int i = 0; i < 4; ++i) {
        MakePod(fmt::format("{}-{}", prefix, i));
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        Bind(fmt::format("{}-{}", prefix, i), i == 3 ? "small" : "large");
      }
    });
    testing::internal::CaptureStdout();
    const int code = command(args);
    out_ = testing::internal::GetCapturedStdout();
    other.join();
    const std::vector<std::string> lines = proxy.Lines();
    EXPECT_GT(lines.size(), 20u);
    EXPECT_THAT(lines, Each(StartsWith("GET ")));
    return code;
  }

  std::string folder_;
  std::unique_ptr<apiserver::Cluster> cluster_;
  std::string out_;
};

TEST_F(RecordTest, OnlyReadsAndCanBeReplayedAndExplained) {
  ASSERT_EQ(Beside(&Record, {"--record-dir=" + folder_}, "web"), 0) << out_;
  EXPECT_THAT(out_, HasSubstr("recorded "));

  testing::internal::CaptureStdout();
  EXPECT_LE(Replay({folder_}), 1);
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("recorded without scheduling"));
  EXPECT_THAT(text, HasSubstr("4 decisions compared"));

  testing::internal::CaptureStdout();
  EXPECT_LE(Replay({folder_, "--pod", "default/web-3", "-o", "json"}), 1);
  text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr(R"("observed":true)"));
  EXPECT_THAT(text, HasSubstr("changed on small"));

  testing::internal::CaptureStdout();
  EXPECT_EQ(Replay({folder_, "--drain", "no-such-label=x"}), 0);
  text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("4 of 4 pods are placed as before"));

  const Plugins plugins;
  const auto placed = ExplainRecorded({.dir = folder_, .number = 0, .time_ns = {}}, "default",
                                      "web-0", {.top = 3, .node = {}, .chosen = {}}, plugins);
  ASSERT_TRUE(placed) << placed.error().Message();
  EXPECT_EQ(placed->view.record->node, "large");
  EXPECT_EQ(placed->view.record->attempt, 0);
  EXPECT_EQ(placed->view.funnel.feasible, 2);
  const auto last = ExplainRecorded({.dir = folder_, .number = 0, .time_ns = {}}, "default",
                                    "web-3", {.top = 3, .node = {}, .chosen = {}}, plugins);
  ASSERT_TRUE(last) << last.error().Message();
  EXPECT_EQ(last->view.record->node, "small");
  ASSERT_TRUE(last->view.node.has_value());
  EXPECT_EQ(last->view.node->node, "small");
}

TEST_F(RecordTest, RedactsWhatItRecords) {
  ASSERT_EQ(Beside(&Record, {"--record-dir=" + folder_, "--record-redact"}, "web"), 0) << out_;
  testing::internal::CaptureStdout();
  EXPECT_LE(Replay({folder_}), 1);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("names, labels and images are pseudonyms"));
  EXPECT_THAT(text, HasSubstr("4 decisions compared"));
}

TEST_F(RecordTest, ShadowOnlyReads) {
  EXPECT_LE(Beside(&Shadow, {"--lag-window=500ms", "--report=" + folder_ + "/r.md"}, "web"), 1);
  EXPECT_THAT(out_, HasSubstr("4 decisions compared"));
}

TEST_F(RecordTest, BadFlagsAreNamed) {
  testing::internal::CaptureStderr();
  const std::string master = fmt::format("--master=http://127.0.0.1:{}", cluster_->Port());
  EXPECT_EQ(Record({master}), 2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("--record-dir DIR is needed"));
  testing::internal::CaptureStderr();
  EXPECT_EQ(Record({"--duration=soon"}), 2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("soon"));
}

}  // namespace
}  // namespace berth::cli
