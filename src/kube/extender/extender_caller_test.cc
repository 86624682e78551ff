// Calls against clients that the test answers by hand, and one against a real socket.
#include "kube/extender/extender_caller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/testing/fake_http_client.h"
#include "net/testing/certificates.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {
namespace {

using scheduler::CallExtender;
using scheduler::EffectResult;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using Verb = CallExtender::Verb;

config::Extender Configured() {
  config::Extender extender;
  extender.url_prefix = "http://127.0.0.1:1234/sched/";
  extender.filter_verb = "filter";
  extender.bind_verb = "bind";
  extender.http_timeout.ns = 7'000'000'000;
  return extender;
}

CallExtender Call(Verb verb, size_t extender = 0) {
  CallExtender call;
  call.extender = extender;
  call.verb = verb;
  call.pod = {"ns", "p", "u"};
  call.nodes = {"n"};
  return call;
}

class ExtenderCallerTest : public ::testing::Test {
 protected:
  ExtenderCallerTest()
      : caller_(
            loop_, raw_,
            [this](net::HttpClientOptions options) -> Result<std::unique_ptr<net::HttpClient>> {
              options_.push_back(options);
              if (options.url == "bad") return Fail("no such scheme");
              return std::make_unique<FakeHttpClient>(http_);
            },
            [this](EffectResult result) { results_.push_back(std::move(result)); }) {}

  void Know(const std::string& json) {
    auto object = api::DecodeObject(json);
    ASSERT_TRUE(object);
    raw_.PutJson(*object, json);
  }

  net::FakeLoop loop_;
  RawObjects raw_;
  FakeHttp http_;
  std::vector<net::HttpClientOptions> options_;
  std::vector<EffectResult> results_;
  ExtenderCaller caller_;
};

TEST_F(ExtenderCallerTest, PostsWholeObjects) {
  raw_.SetKeptJson(JsonFor({Configured()}));
  Know(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns"},"spec":{"x":1}})");
  Know(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"status":{"y":2}})");
  caller_.Use({Configured()});
  caller_.Call(5, Call(Verb::kFilter));
  const FakeHttp::Exchange& sent = http_.Last();
  EXPECT_EQ(sent.request.method, "POST");
  EXPECT_EQ(sent.request.target, "/sched/filter");
  EXPECT_EQ(sent.Get("content-type"), "application/json");
  EXPECT_EQ(sent.timeout, std::chrono::seconds(7));
  EXPECT_EQ(sent.request.body,
            R"({"Pod":{"metadata":{"name":"p","namespace":"ns"},"spec":{"x":1}},)"
            R"("Nodes":{"metadata":{},"items":[{"metadata":{"name":"n"},"status":{"y":2}}]},)"
            R"("NodeNames":null})");
  http_.Respond(200, {}, R"({"Nodes":{"items":[{"metadata":{"name":"n"}}]}})");
  ASSERT_THAT(results_, SizeIs(1));
  EXPECT_EQ(results_[0].id, 5u);
  EXPECT_EQ(results_[0].code, EffectResult::Code::kOk);
  EXPECT_THAT(results_[0].extender->nodes, ElementsAre("n"));
}

TEST_F(ExtenderCallerTest, AnObjectThatHasGoneIsSentAsFarAsItIsKnown) {
  caller_.Use({Configured()});
  caller_.Call(1, Call(Verb::kFilter));
  EXPECT_EQ(http_.Last().request.body,
            R"({"Pod":{"metadata":{"name":"p","namespace":"ns","uid":"u"},"spec":{},"status":{}},)"
            R"("Nodes":{"metadata":{},"items":[{"metadata":{"name":"n"},"spec":{},"status":{}}]},)"
            R"("NodeNames":null})");
}

TEST_F(ExtenderCallerTest, Failures) {
  struct Row {
    std::string name;
    std::function<void(FakeHttp&)> answer;
    EffectResult::Code code;
    std::string message;
  };
  using Code = EffectResult::Code;
  const Row rows[] = {
      {"another status", [](FakeHttp& http) { http.Respond(500, {}, "{}"); }, Code::kError,
       "failed filter with extender at URL http://127.0.0.1:1234/sched/filter, code 500"},
      {"garbage", [](FakeHttp& http) { http.Respond(200, {}, "oops"); }, Code::kError,
       "invalid character 'o' looking for beginning of value"},
      {"its own error", [](FakeHttp& http) { http.Respond(200, {}, R"({"Error":"exploded"})"); },
       Code::kError, "exploded"},
      {"nobody there",
       [](FakeHttp& http) {
         http.Break(net::HttpError::Kind::kRefused,
                    "dial tcp 127.0.0.1:1234: connect: connection refused");
       },
       Code::kError,
       R"(Post "http://127.0.0.1:1234/sched/filter": dial tcp 127.0.0.1:1234: connect: connection refused)"},
      {"too late",
       [](FakeHttp& http) {
         http.Break(net::HttpError::Kind::kTimeout, "context deadline exceeded");
       },
       Code::kUnknown,
       R"(Post "http://127.0.0.1:1234/sched/filter": context deadline exceeded (Client.Timeout exceeded while awaiting headers))"},
  };
  caller_.Use({Configured()});
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    results_.clear();
    caller_.Call(1, Call(Verb::kFilter));
    row.answer(http_);
    ASSERT_THAT(results_, SizeIs(1));
    EXPECT_EQ(results_[0].code, row.code);
    EXPECT_EQ(results_[0].message, row.message);
  }
}

TEST_F(ExtenderCallerTest, AnExtenderThatCannotBeReachedAnswersAllTheSame) {
  config::Extender bad = Configured();
  bad.url_prefix = "bad";
  caller_.Use({bad});
  caller_.Call(1, Call(Verb::kBind));
  caller_.Call(2, Call(Verb::kBind, 9));
  loop_.RunPosted();
  ASSERT_THAT(results_, SizeIs(2));
  EXPECT_EQ(results_[0].message, R"(Post "bad/bind": no such scheme)");
  EXPECT_EQ(results_[1].message, "no such extender");
}

TEST_F(ExtenderCallerTest, TlsIsTheExtendersOwn) {
  config::Extender extender = Configured();
  extender.enable_https = true;
  caller_.Use({extender});
  EXPECT_TRUE(options_.back().tls.insecure);

  const net::testing::Identity identity = net::testing::MakeIdentity({});
  extender.tls_config.emplace();
  extender.tls_config->server_name = "lamp";
  extender.tls_config->ca_data.data = identity.certificate;
  extender.tls_config->cert_data.data = identity.certificate;
  extender.tls_config->key_data.data = identity.key;
  caller_.Use({extender});
  const net::TlsOptions& tls = options_.back().tls;
  EXPECT_FALSE(tls.insecure);
  EXPECT_EQ(tls.server_name, "lamp");
  EXPECT_EQ(tls.ca_pem, identity.certificate);
  EXPECT_EQ(tls.client_cert_pem, identity.certificate);
  EXPECT_EQ(tls.client_key_pem, identity.key);
  EXPECT_TRUE(CheckExtenders({extender}));

  extender.tls_config->key_data.data = "no key";
  EXPECT_FALSE(CheckExtenders({extender}));
  extender.tls_config->ca_data.data.clear();
  extender.tls_config->ca_file = "/nowhere/ca.crt";
  const auto missing = CheckExtenders({extender});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().Message(),
            "couldn't build extenders: open /nowhere/ca.crt: no such file or directory");
}

TEST_F(ExtenderCallerTest, OnlyTheJsonThatIsSentIsKept) {
  config::Extender capable = Configured();
  capable.node_cache_capable = true;
  EXPECT_FALSE(JsonFor({capable}).nodes);
  EXPECT_TRUE(JsonFor({capable}).pending_pods);
  EXPECT_FALSE(JsonFor({capable}).assigned_pods);
  raw_.SetKeptJson(JsonFor({capable}));
  Know(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}})");
  Know(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns"}})");
  EXPECT_EQ(raw_.FindJson("Node", "", "n"), nullptr);
  EXPECT_NE(raw_.FindJson("Pod", "ns", "p"), nullptr);
  Know(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns"},)"
       R"("spec":{"nodeName":"n"}})");
  EXPECT_EQ(raw_.FindJson("Pod", "ns", "p"), nullptr);
  EXPECT_FALSE(RawObjects().KeepsJson("Pod"));
}

}  // namespace
}  // namespace berth::kube
