#include "kube/client/rest_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include <fmt/format.h>

#include "kube/client/credentials.h"
#include "kube/testing/fake_exec_plugin.h"
#include "kube/testing/fake_http_client.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::StartsWith;
using Kind = net::HttpError::Kind;

// Records a watch as lines.
class Recorder final : public WatchSink {
 public:
  void OnStarted(std::string_view content_type) override {
    lines.push_back(fmt::format("started {}", content_type));
    if (on_started) on_started();
  }
  void OnFrame(std::string_view frame) override {
    lines.push_back(fmt::format("frame {}", frame));
    if (on_frame) on_frame();
  }
  void OnEnd(const ApiResponse& why) override {
    lines.push_back(fmt::format("end {} {}: {}", why.code, why.reason, why.message));
  }

  std::vector<std::string> lines;
  std::function<void()> on_started;
  std::function<void()> on_frame;
};

class RestClientTest : public ::testing::Test {
 protected:
  RestClientTest() {
    config_.server = "https://h:6443";
    config_.token = "t";
    options_.user_agent = "agent";
    options_.qps = -1;
  }
  void Make() {
    auto credentials = Credentials::Make(loop_, config_, std::make_unique<FakePlugin>(plugin_));
    ASSERT_TRUE(credentials);
    auto client = MakeRestClientOver(loop_, std::make_unique<FakeHttpClient>(http_), config_,
                                     *credentials, options_);
    ASSERT_TRUE(client) << client.error().Message();
    client_ = std::move(*client);
  }
  ApiClient::Id Send(ApiRequest request) {
    return client_->Send(std::move(request),
                         [this](ApiResponse response) { answers_.push_back(std::move(response)); });
  }
  static ApiRequest Get(std::string path, std::string query = "") {
    ApiRequest request;
    request.path = std::move(path);
    request.query = std::move(query);
    return request;
  }
  static ApiRequest Post(std::string path, std::string body) {
    ApiRequest request = Get(std::move(path));
    request.method = "POST";
    request.body = std::move(body);
    return request;
  }
  // What the last answer was, as a line.
  std::string Answer() const {
    if (answers_.empty()) return "none";
    const ApiResponse& last = answers_.back();
    return fmt::format("{} {}: {}", last.code, last.reason, last.Ok() ? last.body : last.message);
  }
  void Printed(const std::string& token) {
    plugin_.done({ProcessResult::Kind::kExited, 0,
                  "{kind: ExecCredential, apiVersion: client.authentication.k8s.io/v1, status: "
                  "{token: " +
                      token + "}}",
                  ""});
  }
  void UsePlugin() {
    config_.token = "";
    config_.exec.command = "plugin";
    config_.exec.api_version = "client.authentication.k8s.io/v1";
    config_.exec.interactive_mode = "Never";
  }

  net::FakeLoop loop_;
  FakeHttp http_;
  FakePlugin::State plugin_;
  ClientConfig config_;
  RestClientOptions options_;
  std::unique_ptr<ApiClient> client_;
  std::vector<ApiResponse> answers_;
};

std::vector<std::string> HeaderLines(const net::HttpRequest& request) {
  std::vector<std::string> lines;
  for (const net::Header& header : request.headers.List())
    lines.push_back(header.name + ": " + header.value);
  return lines;
}

TEST_F(RestClientTest, RequestsAsKubeSchedulerSendsThem) {
  Make();
  EXPECT_EQ(client_->ContentType(), kProtobuf);
  Send(Get("/api/v1/pods", "limit=500&resourceVersion=0"));
  EXPECT_EQ(http_.Last().request.method, "GET");
  EXPECT_EQ(http_.Last().request.target, "/api/v1/pods?limit=500&resourceVersion=0");
  EXPECT_THAT(HeaderLines(http_.Last().request),
              ElementsAre("user-agent: agent", "accept: application/vnd.kubernetes.protobuf, */*",
                          "authorization: Bearer t"));
  Send(Post("/api/v1/namespaces/d/pods/a/binding", "bytes"));
  EXPECT_EQ(http_.Last().Get("content-type"), "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(http_.Last().request.body, "bytes");
  ApiRequest patch = Post("/api/v1/namespaces/d/pods/a/status", "{}");
  patch.method = "PATCH";
  patch.content_type = kStrategicMergePatch;
  Send(patch);
  EXPECT_EQ(http_.Last().Get("content-type"), "application/strategic-merge-patch+json");
  Recorder watch;
  client_->Watch(Get("/api/v1/pods", "watch=true"), &watch);
  EXPECT_EQ(http_.Last().Get("accept"), "application/vnd.kubernetes.protobuf, */*");
  EXPECT_NE(http_.Last().sink, nullptr);
}

TEST_F(RestClientTest, AcceptFollowsTheContentTypeUnlessItIsGiven) {
  options_.content_type = "application/json";
  Make();
  Send(Get("/x"));
  EXPECT_EQ(http_.Last().Get("accept"), "application/json, */*");
  options_.content_type = "";
  Make();
  Send(Get("/x"));
  EXPECT_EQ(http_.Last().Get("accept"), "application/json, */*");
  EXPECT_EQ(client_->ContentType(), kJson);
  options_.accept = "application/vnd.kubernetes.protobuf,application/json";
  Make();
  Send(Get("/x"));
  EXPECT_EQ(http_.Last().Get("accept"), "application/vnd.kubernetes.protobuf,application/json");
}

TEST_F(RestClientTest, AServerBehindAPathPrefix) {
  config_.server = "https://h/k8s/clusters/c-1";
  Make();
  Send(Get("/api/v1/pods"));
  EXPECT_EQ(http_.Last().request.target, "/k8s/clusters/c-1/api/v1/pods");
  http_.Break(Kind::kRefused, "dial tcp: connect: connection refused");
  EXPECT_EQ(Answer(),
            "0 : Get \"https://h/k8s/clusters/c-1/api/v1/pods\": dial tcp: connect: connection "
            "refused");
}

TEST_F(RestClientTest, AnswersAndRefusals) {
  Make();
  Send(Get("/api/v1/nodes/n"));
  http_.Respond(200, {{"content-type", "application/json"}}, "{}");
  EXPECT_EQ(Answer(), "200 : {}");
  Send(Get("/api/v1/nodes/n"));
  http_.Respond(404, {{"content-type", "text/plain"}}, "404 page not found");
  EXPECT_EQ(Answer(),
            "404 NotFound: the server could not find the requested resource (get nodes n)");
}

TEST_F(RestClientTest, RepeatsWhatTheServerAsksToRepeat) {
  Make();
  for (int status : {429, 500, 503}) {
    const size_t before = http_.Size();
    answers_.clear();
    Send(Post("/api/v1/pods", "body"));
    http_.Respond(status, {{"retry-after", "2"}});
    loop_.Advance(milliseconds(1999));
    EXPECT_EQ(http_.Size(), before + 1) << status;
    loop_.Advance(milliseconds(1));
    ASSERT_EQ(http_.Size(), before + 2) << status;
    EXPECT_EQ(http_.Last().request.body, "body");
    http_.Respond(201, {}, "done");
    EXPECT_EQ(Answer(), "201 : done");
  }
}

TEST_F(RestClientTest, RepeatsTenTimesAndOnlyWhatWasAskedFor) {
  Make();
  Send(Get("/x"));
  for (int i = 0; i < 10; ++i) {
    http_.Respond(429, {{"retry-after", "1"}});
    loop_.Advance(seconds(1));
    ASSERT_EQ(http_.Size(), static_cast<size_t>(i + 2));
  }
  http_.Respond(429, {{"retry-after", "1"}});
  EXPECT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_.back().code, 429);
  EXPECT_EQ(answers_.back().retry_after, seconds(1));

  for (const auto& [status, retry_after] :
       std::vector<std::pair<int, std::string>>{{429, ""}, {500, "soon"}, {404, "1"}, {409, "1"}}) {
    answers_.clear();
    Send(Get("/x"));
    http_.Respond(status, {{"retry-after", retry_after}});
    ASSERT_EQ(answers_.size(), 1u) << status << retry_after;
  }
}

TEST_F(RestClientTest, ReadsAreRepeatedWhenTheConnectionIsLostWritesAreNot) {
  Make();
  Send(Get("/x"));
  http_.Break(Kind::kBroken, "EOF");
  EXPECT_EQ(Answer(), "none");
  loop_.Advance(seconds(1));
  http_.Respond(200, {}, "fine");
  EXPECT_EQ(Answer(), "200 : fine");
  answers_.clear();
  Send(Post("/x", "b"));
  http_.Break(Kind::kBroken, "EOF");
  EXPECT_EQ(Answer(), "0 : Post \"https://h:6443/x\": EOF");
  answers_.clear();
  Send(Get("/x"));
  http_.Break(Kind::kBroken, "EOF");
  loop_.Advance(seconds(1));
  http_.Break(Kind::kRefused, "connection refused");
  EXPECT_EQ(Answer(),
            "0 : Get \"https://h:6443/x\": connection refused - error from a previous attempt: "
            "EOF");
}

TEST_F(RestClientTest, WhatWasNotTakenIsSentAgainAtOnce) {
  Make();
  Send(Post("/x", "b"));
  for (size_t i = 1; i <= 5; ++i) {
    http_.Break(Kind::kUnsent, "http2: server sent GOAWAY and closed the connection");
    ASSERT_EQ(http_.Size(), i + 1);
  }
  http_.Break(Kind::kUnsent, "GOAWAY");
  EXPECT_EQ(Answer(), "0 : Post \"https://h:6443/x\": GOAWAY");
  EXPECT_TRUE(answers_.back().error.SurelyNotDone());
}

TEST_F(RestClientTest, TheRateIsLimitedExceptForWatchesAndApartForEvents) {
  options_.qps = 10;
  options_.burst = 2;
  Make();
  Recorder watch;
  for (int i = 0; i < 5; ++i) client_->Watch(Get("/w"), &watch);
  EXPECT_EQ(http_.Size(), 5u);
  for (int i = 0; i < 4; ++i) Send(Get(fmt::format("/{}", i)));
  EXPECT_EQ(http_.Size(), 7u);
  for (int i = 0; i < 3; ++i) {
    ApiRequest event = Get(fmt::format("/e{}", i));
    event.event = true;
    Send(event);
  }
  EXPECT_EQ(http_.Size(), 9u) << "events do not take what others may send";
  loop_.Advance(milliseconds(100));
  EXPECT_EQ(http_.Size(), 11u);
  EXPECT_EQ(http_.exchanges[9].request.target, "/2");
  EXPECT_EQ(http_.exchanges[10].request.target, "/e2");
  loop_.Advance(milliseconds(100));
  EXPECT_EQ(http_.Last().request.target, "/3");
  EXPECT_EQ(http_.Size(), 12u);
}

TEST_F(RestClientTest, RepetitionsWaitForTheirTurnToo) {
  options_.qps = 1;
  options_.burst = 1;
  Make();
  Recorder watch;
  client_->Watch(Get("/w"), &watch);
  Send(Get("/a"));
  EXPECT_EQ(http_.Size(), 2u);
  net::StreamSink* sink = http_.exchanges[0].sink;
  sink->OnResponse(429, {{"retry-after", "0"}});
  sink->OnDone(nullptr);
  loop_.Advance(milliseconds(999));
  EXPECT_EQ(http_.Size(), 2u);
  loop_.Advance(milliseconds(1));
  EXPECT_EQ(http_.Size(), 3u);
}

TEST_F(RestClientTest, ARequestThatGaveUpItsTurnHoldsUpNobody) {
  options_.qps = 1;
  options_.burst = 1;
  Make();
  Send(Get("/a"));
  const ApiClient::Id waiting = Send(Get("/b"));
  client_->Cancel(waiting);
  Send(Get("/c"));
  loop_.Advance(seconds(1));
  ASSERT_EQ(http_.Size(), 2u);
  EXPECT_EQ(http_.Last().request.target, "/c");
}

TEST_F(RestClientTest, TheTimeoutCoversAllAttempts) {
  options_.timeout = seconds(10);
  Make();
  Send(Get("/x"));
  EXPECT_EQ(http_.Last().timeout, seconds(10));
  http_.Respond(429, {{"retry-after", "4"}});
  loop_.Advance(seconds(4));
  EXPECT_EQ(http_.Last().timeout, seconds(6));
  http_.Respond(429, {{"retry-after", "8"}});
  loop_.Advance(seconds(6));
  EXPECT_EQ(Answer(), "0 : Get \"https://h:6443/x\": context deadline exceeded");
  EXPECT_EQ(answers_.back().error.kind, Kind::kTimeout);
  ApiRequest own = Get("/y");
  own.timeout = seconds(5);
  Send(own);
  EXPECT_EQ(http_.Last().timeout, seconds(5));
}

TEST_F(RestClientTest, NothingComesAfterCancel) {
  Make();
  Recorder watch;
  const ApiClient::Id request = Send(Get("/x"));
  const ApiClient::Id stream = client_->Watch(Get("/w"), &watch);
  client_->Cancel(request);
  client_->Cancel(stream);
  client_->Cancel(stream);
  client_->Cancel(12345);
  EXPECT_TRUE(http_.exchanges[0].cancelled);
  EXPECT_TRUE(http_.exchanges[1].cancelled);
  const ApiClient::Id retrying = Send(Get("/x"));
  http_.Respond(429, {{"retry-after", "1"}});
  client_->Cancel(retrying);
  loop_.Advance(seconds(10));
  EXPECT_TRUE(answers_.empty());
  EXPECT_TRUE(watch.lines.empty());
  EXPECT_EQ(http_.Size(), 3u);
}

TEST_F(RestClientTest, NothingIsLeftBehindByAClientThatIsGone) {
  options_.qps = 1;
  options_.burst = 1;
  Make();
  Send(Get("/a"));
  Send(Get("/waiting"));
  Recorder watch;
  client_->Watch(Get("/w"), &watch);
  client_.reset();
  EXPECT_EQ(loop_.Timers(), 0u);
  EXPECT_TRUE(http_.exchanges[0].cancelled);
  EXPECT_TRUE(http_.exchanges[1].cancelled);
}

TEST_F(RestClientTest, RequestsWaitForTheFirstCredential) {
  UsePlugin();
  Make();
  Recorder watch;
  Send(Get("/a"));
  client_->Watch(Get("/w"), &watch);
  EXPECT_EQ(http_.Size(), 0u);
  EXPECT_EQ(plugin_.runs, 1);
  Printed("one");
  ASSERT_EQ(http_.Size(), 2u);
  EXPECT_EQ(http_.exchanges[0].Get("authorization"), "Bearer one");
  EXPECT_EQ(http_.exchanges[1].Get("authorization"), "Bearer one");
}

TEST_F(RestClientTest, WithoutACredentialTheyFail) {
  UsePlugin();
  Make();
  Recorder watch;
  Send(Get("/a"));
  client_->Watch(Get("/w"), &watch);
  const ApiClient::Id cancelled = Send(Get("/b"));
  client_->Cancel(cancelled);
  plugin_.done({ProcessResult::Kind::kExited, 1, "", ""});
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(Answer(),
            "0 : Get \"https://h:6443/a\": getting credentials: exec: executable plugin failed "
            "with exit code 1");
  EXPECT_TRUE(answers_[0].error.SurelyNotDone());
  EXPECT_THAT(watch.lines,
              ElementsAre("end 0 : Get \"https://h:6443/w\": getting credentials: exec: "
                          "executable plugin failed with exit code 1"));
}

TEST_F(RestClientTest, TheTimeoutAlsoHoldsWhileAPluginRuns) {
  UsePlugin();
  options_.timeout = seconds(5);
  Make();
  Send(Get("/a"));
  loop_.Advance(seconds(5));
  EXPECT_EQ(Answer(), "0 : Get \"https://h:6443/a\": context deadline exceeded");
  Printed("one");
  EXPECT_EQ(http_.Size(), 0u);
}

TEST_F(RestClientTest, ARefusedCredentialIsRenewedOnce) {
  UsePlugin();
  Make();
  Send(Post("/a", "b"));
  Printed("one");
  http_.Respond(401);
  EXPECT_EQ(plugin_.runs, 2);
  Printed("two");
  EXPECT_EQ(http_.Last().Get("authorization"), "Bearer two");
  EXPECT_EQ(http_.Last().request.body, "b");
  http_.Respond(401);
  EXPECT_EQ(Answer(),
            "401 Unauthorized: the server has asked for the client to provide credentials");
  EXPECT_EQ(plugin_.runs, 2);
  Send(Get("/a"));
  http_.Respond(401);
  EXPECT_EQ(plugin_.runs, 3) << "the next request may ask again";
}

TEST_F(RestClientTest, AnExpiredCredentialFromThePluginIsUsedOnce) {
  UsePlugin();
  Make();
  Send(Get("/a"));
  plugin_.done({ProcessResult::Kind::kExited, 0,
                "{kind: ExecCredential, apiVersion: client.authentication.k8s.io/v1, status: "
                "{token: old, expirationTimestamp: '2001-01-01T00:00:00Z'}}",
                ""});
  EXPECT_EQ(plugin_.runs, 1);
  ASSERT_EQ(http_.Size(), 1u);
  EXPECT_EQ(http_.Last().Get("authorization"), "Bearer old");
}

TEST_F(RestClientTest, AFixedTokenThatIsRefusedIsNotTriedAgain) {
  Make();
  Send(Get("/a"));
  http_.Respond(401);
  EXPECT_EQ(http_.Size(), 1u);
  EXPECT_EQ(answers_.size(), 1u);
}

std::string Prefixed(std::string_view frame) {
  return std::string("\0\0\0", 3) + static_cast<char>(frame.size()) + std::string(frame);
}

const std::vector<net::Header> kStream = {
    {"content-type", "application/vnd.kubernetes.protobuf;stream=watch"}};

TEST_F(RestClientTest, AWatchFromStartToEnd) {
  Make();
  Recorder watch;
  client_->Watch(Get("/w"), &watch);
  net::StreamSink* sink = http_.Last().sink;
  sink->OnResponse(200, kStream);
  sink->OnData(Prefixed("one") + Prefixed("two").substr(0, 3));
  sink->OnData(Prefixed("two").substr(3));
  sink->OnDone(nullptr);
  EXPECT_THAT(watch.lines, ElementsAre("started application/vnd.kubernetes.protobuf", "frame one",
                                       "frame two", "end 200 : "));
}

TEST_F(RestClientTest, WaysForAWatchToEnd) {
  struct Row {
    std::string what;
    std::function<void(net::StreamSink&)> server;
    std::string end;
  };
  const net::HttpError broken = {Kind::kBroken, "unexpected EOF"};
  const net::HttpError refused = {Kind::kRefused, "connection refused"};
  const std::vector<net::Header> json = {{"content-type", "application/json"}};
  const Row rows[] = {
      {"JSON lines",
       [&](net::StreamSink& sink) {
         sink.OnResponse(200, json);
         sink.OnData("{}\n");
         sink.OnDone(nullptr);
       },
       "end 200 : "},
      {"a cut connection",
       [&](net::StreamSink& sink) {
         sink.OnResponse(200, kStream);
         sink.OnDone(&broken);
       },
       "end 0 : unexpected EOF"},
      {"half a frame",
       [&](net::StreamSink& sink) {
         sink.OnResponse(200, kStream);
         sink.OnData("\0");
         sink.OnData(std::string_view("\0", 1));
         sink.OnDone(nullptr);
       },
       "end 0 : unexpected EOF"},
      {"a frame that is too large",
       [&](net::StreamSink& sink) {
         sink.OnResponse(200, kStream);
         sink.OnData("\x7f\xff\xff\xff");
       },
       "end 500 InternalError: unable to decode an event from the watch stream: object to decode "
       "was longer than maximum allowed size"},
      {"refused with a Status",
       [&](net::StreamSink& sink) {
         sink.OnResponse(410, json);
         sink.OnData(R"({"kind":"Status","status":"Failure",)");
         sink.OnData(R"("reason":"Expired","message":"too old"})");
         sink.OnDone(nullptr);
       },
       "end 410 Expired: too old"},
      {"no connection", [&](net::StreamSink& sink) { sink.OnDone(&refused); },
       "end 0 : Get \"https://h:6443/w\": connection refused"},
      {"another content type",
       [&](net::StreamSink& sink) {
         sink.OnResponse(200, {{"content-type", "text/html"}});
       },
       "end 0 : Get \"https://h:6443/w\": unable to decode a watch of content type \"text/html\""},
      {"a success that is no watch",
       [&](net::StreamSink& sink) {
         sink.OnResponse(204, {});
         sink.OnDone(nullptr);
       },
       "end 0 : Get \"https://h:6443/w\": for request https://h:6443/w, got status: 204"},
  };
  Make();
  for (const Row& row : rows) {
    Recorder watch;
    client_->Watch(Get("/w"), &watch);
    row.server(*http_.Last().sink);
    ASSERT_FALSE(watch.lines.empty()) << row.what;
    EXPECT_EQ(watch.lines.back(), row.end) << row.what;
  }
}

TEST_F(RestClientTest, AWatchThatDoesNotStartIsRepeated) {
  Make();
  Recorder watch;
  client_->Watch(Get("/w"), &watch);
  const net::HttpError broken = {Kind::kBroken, "EOF"};
  http_.Last().sink->OnDone(&broken);
  loop_.Advance(seconds(1));
  ASSERT_EQ(http_.Size(), 2u);
  http_.Last().sink->OnResponse(503, {{"retry-after", "3"}});
  http_.Last().sink->OnData("busy");
  http_.Last().sink->OnDone(nullptr);
  loop_.Advance(seconds(3));
  ASSERT_EQ(http_.Size(), 3u);
  http_.Last().sink->OnResponse(200, kStream);
  http_.Last().sink->OnData(Prefixed("one"));
  EXPECT_THAT(watch.lines, ElementsAre("started application/vnd.kubernetes.protobuf", "frame one"));
}

TEST_F(RestClientTest, AWatcherMayCancelOrDestroyTheClientFromItsCallbacks) {
  Make();
  Recorder watch;
  const ApiClient::Id id = client_->Watch(Get("/w"), &watch);
  watch.on_frame = [&] { client_->Cancel(id); };
  http_.Last().sink->OnResponse(200, kStream);
  http_.Last().sink->OnData(Prefixed("one") + Prefixed("two"));
  EXPECT_TRUE(http_.Last().cancelled);
  EXPECT_EQ(watch.lines.size(), 2u);

  Recorder other;
  client_->Watch(Get("/w"), &other);
  other.on_frame = [&] { client_.reset(); };
  net::StreamSink* sink = http_.Last().sink;
  sink->OnResponse(200, kStream);
  sink->OnData(Prefixed("one") + Prefixed("two"));
  EXPECT_EQ(other.lines.size(), 2u);
}

TEST_F(RestClientTest, NewCertificatesGoToTheHttpClient) {
  UsePlugin();
  Make();
  Send(Get("/a"));
  plugin_.done({ProcessResult::Kind::kExited, 0,
                "{kind: ExecCredential, apiVersion: client.authentication.k8s.io/v1, status: "
                "{clientCertificateData: c, clientKeyData: k}}",
                ""});
  ASSERT_EQ(http_.tls.size(), 1u);
  EXPECT_EQ(http_.tls[0].client_cert_pem, "c");
  EXPECT_EQ(http_.Last().Get("authorization"), "");
}

TEST_F(RestClientTest, ARateWithoutABurstAndAServerThatIsNone) {
  const auto make = [&] {
    return MakeRestClientOver(loop_, std::make_unique<FakeHttpClient>(http_), config_,
                              *Credentials::Make(loop_, config_), options_);
  };
  options_.qps = 5;
  options_.burst = -1;
  EXPECT_THAT(make().error().Message(), StartsWith("burst is required to be greater than 0 when "));
  config_.server = "ftp://h";
  EXPECT_FALSE(make());
}

}  // namespace
}  // namespace berth::kube
