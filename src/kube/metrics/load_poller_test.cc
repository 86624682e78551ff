// Polls against servers that the test answers by hand.
#include "kube/metrics/load_poller.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/testing/fake_api_client.h"
#include "kube/testing/fake_http_client.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Type = config::MetricsSource::Type;

constexpr std::string_view kTwoNodes = R"({"kind":"NodeMetricsList","items":[
  {"metadata":{"name":"a"},"timestamp":"2023-11-14T22:13:00Z","window":"20s",
   "usage":{"cpu":"1500m","memory":"1Gi"}},
  {"metadata":{"name":"stranger"},"usage":{"cpu":"1"}}]})";

std::string Vector(std::string_view samples) {
  return fmt::format(R"({{"status":"success","data":{{"resultType":"vector","result":[{}]}}}})",
                     samples);
}

class LoadPollerTest : public ::testing::Test {
 protected:
  LoadPollerTest()
      : poller_(
            loop_, client_,
            [this](net::HttpClientOptions options) -> Result<std::unique_ptr<net::HttpClient>> {
              options_.push_back(std::move(options));
              return std::make_unique<FakeHttpClient>(http_);
            },
            nodes_,
            [this](MeasuredNodes nodes) {
              for (const auto& [node, metrics] : nodes) {
                lines_.push_back(
                    node + " @" +
                    (metrics.measured.IsZero() ? std::string("never") : metrics.measured.Format()));
                for (const auto& [key, value] : metrics.values) {
                  lines_.push_back(fmt::format("  {} {}", key, value));
                }
              }
            },
            [this](std::string_view source, std::string_view error) {
              polls_.push_back(fmt::format("{}: {}", source, error.empty() ? "ok" : error));
            }) {
    for (const char* name : {"a", "b"}) {
      api::Node node;
      node.metadata.name = name;
      node.status.capacity["cpu"] = *api::Quantity::Parse("4");
      node.status.capacity["memory"] = *api::Quantity::Parse("4Gi");
      nodes_.Upsert(node);
    }
  }

  static config::MetricsSource Source(Type type) {
    config::MetricsSource source;
    source.type = type;
    source.name = "s";
    source.address = "http://127.0.0.1:9090/sub/";
    return source;
  }
  std::vector<std::string> Lines() { return std::exchange(lines_, {}); }
  std::vector<std::string> Polls() { return std::exchange(polls_, {}); }

  net::FakeLoop loop_;
  FakeApiClient client_{kJson};
  FakeHttp http_;
  std::vector<net::HttpClientOptions> options_;
  NodeCapacities nodes_;
  std::vector<std::string> lines_;
  std::vector<std::string> polls_;
  LoadPoller poller_;
};

TEST_F(LoadPollerTest, AMetricsServerGivesTheLatestUseInPercentOfTheCapacity) {
  poller_.Use({Source(Type::kMetricsServer)});
  EXPECT_EQ(client_.Last().Line(), "GET /apis/metrics.k8s.io/v1beta1/nodes");
  client_.RespondNext(FakeApiClient::Success(std::string(kTwoNodes), kJson));
  EXPECT_THAT(Lines(), ElementsAre("a @2023-11-14T22:13:00Z", "  load@s:00/CPU/Latest 37.5",
                                   "  load@s:01/Memory/Latest 25", "  load@s:end 1700000000",
                                   "  load@s:measured 1699999980"));
  EXPECT_THAT(Polls(), ElementsAre("s: ok"));
  loop_.Advance(std::chrono::seconds(29));
  EXPECT_EQ(client_.Size(), 1u);
  loop_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(client_.Size(), 2u);
}

TEST_F(LoadPollerTest, PrometheusIsAskedOneQueryAfterTheOther) {
  config::MetricsSource source = Source(Type::kPrometheus);
  source.queries = {{"CPU", "AVG", "avg(x[15m])"}, {"CPU", "STD", "std(x[15m])"}};
  source.token = "secret";
  source.insecure_skip_verify = true;
  poller_.Use({source});
  EXPECT_TRUE(options_.at(0).tls.insecure);
  EXPECT_EQ(http_.Last().request.target, "/sub/api/v1/query?query=avg%28x%5B15m%5D%29");
  EXPECT_EQ(http_.Last().Get("authorization"), "Bearer secret");
  http_.Respond(200, {}, Vector(R"({"metric":{"instance":"a"},"value":[1700000000.1,"0.25"]},
                          {"metric":{"instance":"b"},"value":[1700000000.1,"NaN"]},
                          {"metric":{"host":"b"},"value":[1700000000.1,"1"]})"));
  ASSERT_EQ(http_.Size(), 2u);
  EXPECT_THAT(lines_, IsEmpty()) << "all queries count together";
  EXPECT_EQ(http_.Last().request.target, "/sub/api/v1/query?query=std%28x%5B15m%5D%29");
  http_.Respond(200, {}, Vector(R"({"metric":{"instance":"a"},"value":[1700000000.1,"0.125"]})"));
  EXPECT_THAT(Lines(), ElementsAre("a @2023-11-14T22:13:20Z", "  load@s:00/CPU/AVG 25",
                                   "  load@s:01/CPU/STD 12.5", "  load@s:end 1700000000",
                                   "b @2023-11-14T22:13:20Z", "  load@s:end 1700000000"));
}

TEST_F(LoadPollerTest, LoadWatcherGivesItsOwnWindow) {
  poller_.Use({Source(Type::kLoadWatcher)});
  EXPECT_EQ(http_.Last().request.target, "/sub/watcher");
  http_.Respond(200, {}, R"({"timestamp":1,"window":{"duration":"15m","start":100,"end":1000},
      "source":"Prometheus","data":{"NodeMetricsMap":{"b":{"metrics":[
        {"name":"n","type":"CPU","operator":"AVG","rollup":"15m","value":80}],
        "tags":{},"metadata":{}}}}})");
  EXPECT_THAT(Lines(), ElementsAre("b @1970-01-01T00:16:40Z", "  load@s:00/CPU/AVG 80",
                                   "  load@s:end 1000"));
}

TEST_F(LoadPollerTest, FailuresKeepWhatWasMeasuredUntilItIsTooOld) {
  poller_.Use({Source(Type::kMetricsServer)});
  client_.RespondNext(FakeApiClient::Success(std::string(kTwoNodes), kJson));
  Lines();
  Polls();
  for (int i = 0; i < 9; ++i) {
    loop_.Advance(std::chrono::seconds(30));
    client_.RespondNext(FakeApiClient::Failure(503, "ServiceUnavailable", "gone"));
  }
  EXPECT_THAT(Lines(), IsEmpty());
  EXPECT_EQ(Polls().size(), 9u);
  loop_.Advance(std::chrono::seconds(30));
  client_.RespondNext(FakeApiClient::Failure(503, "ServiceUnavailable", "gone"));
  EXPECT_THAT(Lines(), ElementsAre("a @never")) << "neutral: as if it had not been measured";
  EXPECT_THAT(Polls(), ElementsAre("s: gone"));
  loop_.Advance(std::chrono::seconds(30));
  client_.RespondNext(FakeApiClient::Success(
      R"({"items":[{"metadata":{"name":"a"},"usage":{"cpu":"1"}}]})", kJson));
  EXPECT_THAT(Lines(), ElementsAre("a @2023-11-14T22:18:50Z", "  load@s:00/CPU/Latest 25",
                                   "  load@s:end 1700000330"));
}

TEST_F(LoadPollerTest, NodesThatWereMeasuredTooLongAgoDoNotCount) {
  config::MetricsSource source = Source(Type::kMetricsServer);
  source.max_age_seconds = 19;  // the sample is of 20 seconds ago
  poller_.Use({source});
  client_.RespondNext(FakeApiClient::Success(std::string(kTwoNodes), kJson));
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(LoadPollerTest, WhatCannotBeReadIsAnError) {
  config::MetricsSource source = Source(Type::kPrometheus);
  source.queries = {{"CPU", "AVG", "x"}};
  poller_.Use({source});
  const auto poll = [&](int status, std::string body) {
    http_.Respond(status, {}, std::move(body));
    loop_.Advance(std::chrono::seconds(30));
  };
  poll(500, "");
  poll(200, "<html>");
  poll(200, R"({"status":"error","error":"parse error"})");
  poll(200, R"({"status":"success","data":{"resultType":"scalar","result":[1,"2"]}})");
  poll(200, Vector(R"({"metric":{"instance":"a"},"value":[1,"much"]})"));
  http_.Break(net::HttpError::Kind::kRefused, "connection refused");
  const std::vector<std::string> polls = Polls();
  ASSERT_EQ(polls.size(), 6u);
  EXPECT_EQ(polls[0], "s: HTTP status 500");
  EXPECT_THAT(polls[1], ::testing::HasSubstr("invalid JSON"));
  EXPECT_EQ(polls[2], R"(s: status "error": parse error)");
  EXPECT_EQ(polls[3], R"(s: query x: the result should be a vector, not "scalar")");
  EXPECT_THAT(polls[4], ::testing::HasSubstr("much"));
  EXPECT_EQ(polls[5], "s: connection refused");
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(LoadPollerTest, ANewReceiverGetsWhatIsKnownAtOnce) {
  poller_.Use({Source(Type::kMetricsServer)});
  client_.RespondNext(FakeApiClient::Success(std::string(kTwoNodes), kJson));
  const std::vector<std::string> known = Lines();
  poller_.Use({Source(Type::kMetricsServer)});
  EXPECT_EQ(Lines(), known);
  poller_.Use({});
  loop_.Advance(std::chrono::minutes(10));
  EXPECT_EQ(client_.Size(), 2u) << "nobody is asked any more";
}

TEST_F(LoadPollerTest, NodesThatAreGoneAreWithdrawn) {
  poller_.Use({Source(Type::kMetricsServer)});
  client_.RespondNext(FakeApiClient::Success(std::string(kTwoNodes), kJson));
  Lines();
  nodes_.Replace("Node", {}, scheduler::ListPart::kWhole);
  loop_.Advance(std::chrono::seconds(30));
  client_.RespondNext(FakeApiClient::Success(std::string(kTwoNodes), kJson));
  EXPECT_THAT(Lines(), ElementsAre("a @never"));
}

TEST(CheckMetricsSources, AddressesAreUrls) {
  config::MetricsSource source;
  source.name = "s";
  source.type = Type::kLoadWatcher;
  source.address = "http://watcher:2020";
  EXPECT_TRUE(CheckMetricsSources({source}));
  source.address = "watcher:2020";
  const auto checked = CheckMetricsSources({source});
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().Message(), ::testing::HasSubstr("source of metrics \"s\""));
}

}  // namespace
}  // namespace berth::kube
