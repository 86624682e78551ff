#include "server/http/http2.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/http2_client.h"

namespace berth::server {
namespace {

using testing::Contains;
using testing::Pair;

// A connection without a network. Handlers keep what they get and answer when the test says so.
class Http2Test : public testing::Test {
 protected:
  struct Asked {
    Request request;
    Respond respond;
  };

  void Open(Http2Options options = {}, uint32_t client_window = 65535) {
    client_ = std::make_unique<Http2TestClient>(client_window);
    server_ = Http2::Make(
        std::move(options),
        [this](Request request, Respond respond) {
          asked_.push_back({std::move(request), std::move(respond)});
        },
        [this] { ++woken_; });
    ASSERT_NE(server_, nullptr);
    Exchange();
  }

  // Until both are silent.
  void Exchange() {
    while (true) {
      const std::string there = client_->Produce();
      if (!there.empty()) server_->Receive(there);
      std::string back;
      server_->Produce(back, 1u << 20);
      if (!back.empty()) client_->Receive(back);
      if (there.empty() && back.empty()) return;
    }
  }

  int32_t Ask(const std::string& method, const std::string& path,
              Http2TestClient::Fields headers = {}, std::string body = "", bool ends = true) {
    const int32_t id = client_->Ask(method, path, std::move(headers), std::move(body), ends);
    Exchange();
    return id;
  }
  void Say(size_t which, Response response) {
    asked_[which].respond(std::move(response));
    Exchange();
  }
  static Response Text(std::string body) {
    Response response;
    response.Set("Content-Type", "text/plain");
    response.body = std::move(body);
    return response;
  }
  // All streams' time is over.
  void WaitLong() {
    server_->Expire(Http2::Clock::now() + std::chrono::hours(1));
    Exchange();
  }

  std::unique_ptr<Http2TestClient> client_;
  std::shared_ptr<Http2> server_;
  std::vector<Asked> asked_;
  int woken_ = 0;
};

TEST_F(Http2Test, SettingsSayTheLimits) {
  Http2Options options;
  options.max_streams = 7;
  options.max_header_bytes = 12345;
  Open(options);
  EXPECT_EQ(client_->Setting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS), 7U);
  EXPECT_EQ(client_->Setting(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE), 12345U);
  EXPECT_EQ(client_->Setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE), 256U << 10);
}

TEST_F(Http2Test, ARequestIsAnswered) {
  Http2Options options;
  options.peer = std::make_shared<std::vector<std::string>>(1, "certificate");
  Open(options);
  const int32_t id = Ask("POST", "/a%20b?c=d", {{"authorization", "Bearer x"}}, "hello");
  ASSERT_EQ(asked_.size(), 1U);
  const Request& request = asked_[0].request;
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/a b");
  EXPECT_EQ(request.query, "c=d");
  EXPECT_EQ(request.body, "hello");
  EXPECT_EQ(request.Header("host"), "x");
  EXPECT_EQ(request.Header("authorization"), "Bearer x");
  ASSERT_NE(request.peer, nullptr);
  EXPECT_EQ(request.peer->front(), "certificate");
  EXPECT_EQ(server_->Streams(), 1U);
  Response response = Text("ok");
  response.Set("Connection", "close").Set("X-Kind", "Test");
  Say(0, std::move(response));
  Http2TestClient::Answer& answer = client_->Of(id);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "ok");
  EXPECT_THAT(answer.headers, Contains(Pair("content-length", "2")));
  EXPECT_THAT(answer.headers, Contains(Pair("x-kind", "Test")));
  EXPECT_FALSE(answer.headers.contains("connection")) << "it is about HTTP/1.1";
  EXPECT_TRUE(answer.closed);
  EXPECT_EQ(answer.error, NGHTTP2_NO_ERROR);
  EXPECT_EQ(server_->Streams(), 0U);
  EXPECT_FALSE(server_->Over());
}

TEST_F(Http2Test, StreamsAreAnsweredInAnyOrder) {
  Open();
  const int32_t first = Ask("GET", "/first");
  const int32_t second = Ask("GET", "/second");
  Say(1, Text("2"));
  EXPECT_EQ(client_->Of(second).body, "2");
  EXPECT_FALSE(client_->Closed(first));
  Say(0, Text("1"));
  EXPECT_EQ(client_->Of(first).body, "1");
}

TEST_F(Http2Test, M6ARequestIsRefusedBeforeItsBody) {
  Http2Options options;
  options.admit = [](const Request& request) -> std::optional<Response> {
    if (request.Header("authorization") == "Bearer x") return std::nullopt;
    Response response;
    response.status = 401;
    return response;
  };
  size_t held = 0;
  options.hold = [&held](size_t bytes) {
    held = bytes;
    return true;
  };
  Open(options);
  const int32_t refused = Ask("POST", "/a", {}, std::string(1000, 'x'), false);
  EXPECT_EQ(client_->Of(refused).status, 401);
  EXPECT_EQ(held, 0U);
  const int32_t admitted = Ask("POST", "/a", {{"authorization", "Bearer x"}}, "body", false);
  EXPECT_EQ(client_->Of(admitted).status, 0);
  EXPECT_GT(held, 4U);
  EXPECT_TRUE(asked_.empty());
}

TEST_F(Http2Test, M6BytesOfAllConnectionsAreBounded) {
  Http2Options options;
  options.hold = [](size_t bytes) { return bytes < 5000; };
  Open(options);
  const int32_t first = Ask("POST", "/", {}, std::string(2000, 'x'), false);
  const int32_t second = Ask("POST", "/", {}, std::string(4000, 'x'), false);
  EXPECT_FALSE(client_->Closed(first));
  EXPECT_TRUE(client_->Closed(second));
  EXPECT_EQ(client_->Of(second).error, NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST_F(Http2Test, M6IncompleteRequestsMakeRoom) {
  Open();
  const int32_t whole = Ask("GET", "/");
  const int32_t part = Ask("POST", "/", {}, std::string(2000, 'x'), false);
  EXPECT_EQ(server_->Streams(), 2U);
  EXPECT_EQ(server_->Busy(), 1U);
  server_->DropIncomplete();
  Exchange();
  EXPECT_TRUE(client_->Closed(part));
  Say(0, Text("ok"));
  EXPECT_EQ(client_->Of(whole).body, "ok");
}

TEST_F(Http2Test, HeadHasALengthAndNoBody) {
  Open();
  const int32_t id = Ask("HEAD", "/");
  Say(0, Text("four"));
  EXPECT_EQ(client_->Of(id).headers["content-length"], "4");
  EXPECT_EQ(client_->Of(id).body, "");
  EXPECT_TRUE(client_->Closed(id));
}

TEST_F(Http2Test, ALargeBodyGoesThroughSmallWindows) {
  Open();
  const int32_t id = Ask("GET", "/");
  const std::string body(3u << 20, 'x');
  Say(0, Text(body));
  EXPECT_EQ(client_->Of(id).body.size(), body.size());
  EXPECT_TRUE(client_->Closed(id));
}

TEST_F(Http2Test, WhatIsTooLargeIsRefusedAndTheConnectionStays) {
  Http2Options options;
  options.max_header_bytes = 4096;
  options.max_body_bytes = 1000;
  Open(options);
  const int32_t header = Ask("GET", "/", {{"x-long", std::string(8000, 'h')}});
  EXPECT_EQ(client_->Of(header).status, 431);
  const int32_t body = Ask("POST", "/", {}, std::string(1001, 'b'));
  EXPECT_EQ(client_->Of(body).status, 413);
  const int32_t path = Ask("GET", "/%zz");
  EXPECT_EQ(client_->Of(path).status, 400);
  EXPECT_TRUE(asked_.empty());
  Ask("POST", "/", {}, std::string(1000, 'b'));
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].request.body.size(), 1000U);
}

TEST_F(Http2Test, ABodyThatIsTooLargeIsToldInTheServersWords) {
  Http2Options options;
  options.max_body_bytes = 10;
  options.too_large_json = "{\"code\":413}";
  Open(options);
  const int32_t id = Ask("POST", "/", {}, std::string(11, 'b'));
  EXPECT_EQ(client_->Of(id).body, "{\"code\":413}");
  EXPECT_EQ(client_->Of(id).headers["content-type"], "application/json");
}

TEST_F(Http2Test, RequestsThatNeverEndHoldABoundedAmountTogether) {
  Http2Options options;
  options.max_header_bytes = 1000;
  options.max_body_bytes = 1000;
  Open(options);
  std::vector<int32_t> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(Ask("POST", "/", {}, std::string(900, 'b'), false));
  size_t ended = 0;
  for (const int32_t id : ids) {
    if (client_->Closed(id)) ++ended;
  }
  EXPECT_GT(ended, 8U);
  EXPECT_LT(ended, 20U);
}

TEST_F(Http2Test, ARequestThatDoesNotArriveIsEnded) {
  Open();
  const int32_t half = Ask("POST", "/", {}, "half", false);
  const int32_t at_work = Ask("GET", "/slow");
  WaitLong();
  EXPECT_TRUE(client_->Closed(half));
  EXPECT_FALSE(client_->Closed(at_work)) << "the handler takes its time";
}

TEST_F(Http2Test, AnAnswerThatIsNotTakenIsEnded) {
  Open({}, 100);
  const int32_t id = Ask("GET", "/");
  Say(0, Text(std::string(1000, 'x')));
  EXPECT_EQ(client_->Of(id).body.size(), 100U);
  WaitLong();
  EXPECT_TRUE(client_->Closed(id));
  EXPECT_EQ(server_->Streams(), 0U);
}

TEST_F(Http2Test, AStreamedBodyComesAsItIsWritten) {
  Open();
  const int32_t id = Ask("GET", "/watch");
  Response response;
  response.stream = std::make_shared<BodyStream>();
  const auto body = response.stream;
  body->Write("one ");
  Say(0, std::move(response));
  EXPECT_EQ(client_->Of(id).body, "one ");
  const int before = woken_;
  body->Write("two ");
  EXPECT_GT(woken_, before);
  Exchange();
  EXPECT_EQ(client_->Of(id).body, "one two ");
  EXPECT_EQ(body->Backlog(), 0U);
  WaitLong();
  EXPECT_FALSE(client_->Closed(id)) << "it waits for its writer";
  body->Write("three");
  body->End();
  Exchange();
  EXPECT_EQ(client_->Of(id).body, "one two three");
  EXPECT_TRUE(client_->Closed(id));
  EXPECT_TRUE(body->Closed());
}

TEST_F(Http2Test, WhatAClientLeavesOfAStreamIsSeenByItsWriterWhoMayGiveUp) {
  Open({}, 10);
  const int32_t id = Ask("GET", "/watch");
  Response response;
  response.stream = std::make_shared<BodyStream>();
  const auto body = response.stream;
  Say(0, std::move(response));
  body->Write(std::string(30, 'x'));
  Exchange();
  body->Write(std::string(50, 'y'));
  Exchange();
  EXPECT_GE(body->Backlog(), 50U);
  bool closed = false;
  body->OnClosed([&] { closed = true; });
  body->Abort();
  Exchange();
  EXPECT_TRUE(closed);
  EXPECT_EQ(client_->Of(id).error, NGHTTP2_INTERNAL_ERROR);
}

TEST_F(Http2Test, AStreamTheClientLeavesIsClosedForItsWriter) {
  Open();
  const int32_t id = Ask("GET", "/watch");
  Response response;
  response.stream = std::make_shared<BodyStream>();
  const auto body = response.stream;
  Say(0, std::move(response));
  client_->Cancel(id);
  Exchange();
  EXPECT_TRUE(body->Closed());
  body->Write("nobody hears this");
}

TEST_F(Http2Test, RequestsTakenBackWhileTheyAreWorkedOnAreBounded) {
  Http2Options options;
  options.max_streams = 5;
  Open(options);
  for (int i = 0; i < 50 && !client_->GoneAway(); ++i) client_->Cancel(Ask("GET", "/"));
  Exchange();
  EXPECT_TRUE(client_->GoneAway());
  EXPECT_EQ(client_->GoawayError(), NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_LE(asked_.size(), 12U);
  for (Asked& asked : asked_) asked.respond(Text("late"));
}

TEST_F(Http2Test, AFloodOfPingsEndsTheConnection) {
  Open();
  for (int i = 0; i < 5000 && !server_->Over(); ++i) {
    client_->Ping();
    server_->Receive(client_->Produce());  // and reads no answer
  }
  EXPECT_TRUE(server_->Over());
}

// A conversation with a few bytes changed, dropped or doubled: the server answers or hangs up.
TEST_F(Http2Test, DamagedBytesDoNoHarm) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    Http2TestClient client;
    client.Ask("POST", "/a", {{"x-a", "b"}}, std::string(300, 'x'));
    client.Cancel(client.Ask("GET", "/b"));
    client.Ask("GET", "/c", {}, "half", false);
    client.Ping();
    std::string bytes = client.Produce();
    for (int i = 0; i < 3; ++i) {
      const size_t at = 24 + random() % (bytes.size() - 24);  // behind the preface
      if (i == 0) bytes[at] = static_cast<char>(random());
      if (i == 1) bytes.erase(at, random() % 4);
      if (i == 2) bytes.insert(at, bytes.substr(at, random() % 16));
    }
    std::vector<Respond> asked;
    const auto server = Http2::Make(
        {}, [&](Request, Respond respond) { asked.push_back(std::move(respond)); }, [] {});
    for (size_t at = 0; at < bytes.size(); at += 50) {
      server->Receive(std::string_view(bytes).substr(at, 50));
      std::string out;
      server->Produce(out, 1u << 16);
    }
    for (const Respond& respond : asked) respond(Text("ok"));
    std::string out;
    server->Produce(out, 1u << 16);
    EXPECT_LE(asked.size(), 3U);
    EXPECT_LE(server->Streams(), 4U);
    server->Close();
    EXPECT_EQ(server->Streams(), 0U);
  }
}

TEST_F(Http2Test, WhatIsNoHttp2EndsTheConnection) {
  Open();
  auto server = Http2::Make(
      {}, [](Request, const Respond&) {}, [] {});
  server->Receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(server->Over());
}

TEST_F(Http2Test, FinishAnswersWhatIsUnderWayAndTakesNothingNew) {
  Open();
  const int32_t id = Ask("GET", "/");
  server_->Finish();
  Exchange();
  EXPECT_TRUE(client_->GoneAway());
  EXPECT_FALSE(server_->Over());
  Say(0, Text("done"));
  EXPECT_EQ(client_->Of(id).body, "done");
  EXPECT_TRUE(server_->Over());
}

TEST_F(Http2Test, FinishOfAnIdleConnectionIsItsEnd) {
  Open();
  server_->Finish();
  Exchange();
  EXPECT_TRUE(client_->GoneAway());
  EXPECT_TRUE(server_->Over());
}

TEST_F(Http2Test, AnswersAfterTheEndGoNowhere) {
  Open();
  Ask("GET", "/");
  Ask("GET", "/watch");
  server_->Close();
  Say(0, Text("late"));
  Response response;
  response.stream = std::make_shared<BodyStream>();
  const auto body = response.stream;
  Say(1, std::move(response));
  EXPECT_TRUE(body->Closed());
}

}  // namespace
}  // namespace berth::server
