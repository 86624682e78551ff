#include "server/endpoints/endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "log/log.h"
#include "server/endpoints/zpages.h"
#include "server/metrics/pod_resources.h"

namespace berth::server {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

Result<void> Passes() { return {}; }

class EndpointsTest : public testing::Test {
 protected:
  EndpointsTest() {
    options_.metrics = &registry_;
    options_.healthz = {{"leaderElection", [this] { return election_; }}};
    options_.readyz = {{"leaderElection", [this] { return election_; }},
                       {"shutdown", Passes},
                       {"sched-handler-sync", Passes}};
    options_.configz = [] { return std::string("{\"componentconfig\":{}}"); };
  }

  Response Ask(std::string_view target, std::string method = "GET", std::string accept = "",
               std::string body = "") {
    if (!endpoints_) endpoints_ = std::make_unique<Endpoints>(options_);
    Request request;
    request.method = std::move(method);
    request.target = target;
    EXPECT_TRUE(ParseTarget(target, &request.path, &request.query));
    if (!accept.empty()) request.headers.emplace_back("accept", accept);
    request.body = std::move(body);
    Response answer;
    answer.status = 0;
    endpoints_->Handle(request, [&](Response response) { answer = std::move(response); });
    return answer;
  }

  Registry registry_;
  EndpointOptions options_;
  Result<void> election_;
  std::unique_ptr<Endpoints> endpoints_;
};

constexpr const char* kPlain = "text/plain; charset=utf-8";

TEST_F(EndpointsTest, AnswersAsRecorded) {
  const struct {
    const char* target;
    int status;
    const char* content_type;
    bool nosniff;
    const char* body;
  } kRows[] = {
      {"/healthz", 200, kPlain, true, "ok"},
      {"/healthz?verbose", 200, kPlain, true, "[+]leaderElection ok\nhealthz check passed\n"},
      {"/healthz/ping", 404, kPlain, true, "404 page not found\n"},
      {"/healthz/leaderElection", 200, kPlain, false, "ok"},
      {"/livez", 200, kPlain, true, "ok"},
      {"/livez?verbose", 200, kPlain, true, "[+]ping ok\nlivez check passed\n"},
      {"/livez/ping", 200, kPlain, false, "ok"},
      {"/readyz", 200, kPlain, true, "ok"},
      {"/readyz?verbose", 200, kPlain, true,
       "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n"},
      {"/readyz?verbose&exclude=shutdown", 200, kPlain, true,
       "[+]leaderElection ok\n[+]shutdown excluded: ok\n[+]sched-handler-sync ok\n"
       "readyz check passed\n"},
      {"/readyz?verbose&exclude=nope", 200, kPlain, true,
       "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\n"
       "warn: some health checks cannot be excluded: no matches for \"nope\"\n"
       "readyz check passed\n"},
      {"/readyz/shutdown", 200, kPlain, false, "ok"},
      {"/readyz/sched-handler-sync", 200, kPlain, false, "ok"},
      {"/configz", 200, "application/json", true, "{\"componentconfig\":{}}"},
      {"/version", 404, kPlain, true, "404 page not found\n"},
      {"/statusz", 404, kPlain, true, "404 page not found\n"},
      {"/flagz", 404, kPlain, true, "404 page not found\n"},
      {"/debug/flags/v", 406, "text/plain", true, "unsupported http method\n"},
      {"/", 404, kPlain, true, "404 page not found\n"},
      {"/nope", 404, kPlain, true, "404 page not found\n"},
      {"/healthzx", 404, kPlain, true, "404 page not found\n"},
  };
  for (const auto& row : kRows) {
    const Response response = Ask(row.target);
    EXPECT_EQ(response.status, row.status) << row.target;
    EXPECT_EQ(response.Get("Content-Type"), row.content_type) << row.target;
    EXPECT_EQ(response.Get("X-Content-Type-Options"), row.nosniff ? "nosniff" : "") << row.target;
    EXPECT_EQ(response.body, row.body) << row.target;
  }
}

TEST_F(EndpointsTest, AFailingCheckIsToldWithoutItsReason) {
  election_ = Fail("failed election to renew leadership on lease kube-scheduler");
  Response response = Ask("/readyz");
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body,
            "[-]leaderElection failed: reason withheld\n[+]shutdown ok\n[+]sched-handler-sync ok\n"
            "readyz check failed\n");
  EXPECT_EQ(Ask("/readyz?exclude=leaderElection").status, 200);
  response = Ask("/healthz/leaderElection");
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body,
            "internal server error: failed election to renew leadership on lease kube-scheduler\n");
  EXPECT_EQ(Ask("/livez").status, 200);
}

TEST_F(EndpointsTest, WithoutLeaderElectionHealthzIsPing) {
  options_.healthz.clear();
  EXPECT_EQ(Ask("/healthz?verbose").body, "[+]ping ok\nhealthz check passed\n");
}

TEST_F(EndpointsTest, MetricsHaveTheirContentTypeAndCanBeReset) {
  Counter* counter = registry_.AddCounter({"a_total", "A.", Stability::kNone, {"l"}}).With({"x"});
  counter->Add(2);
  Response response = Ask("/metrics");
  EXPECT_EQ(response.Get("Content-Type"),
            "text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
  EXPECT_EQ(response.body, "# HELP a_total A.\n# TYPE a_total counter\na_total{l=\"x\"} 2\n");
  EXPECT_EQ(Ask("/metrics", "POST").body, response.body);
  EXPECT_EQ(Ask("/metrics", "DELETE").body, "metrics reset\n");
  EXPECT_EQ(counter->Value(), 0);
}

TEST_F(EndpointsTest, MetricsSayWhenTheProcessStarted) {
  for (const char* path : {"/metrics", "/metrics/slis"}) {
    EXPECT_THAT(Ask(path).Get("Process-Start-Time-Unix"), ContainsRegex("^[0-9]+$")) << path;
  }
}

TEST_F(EndpointsTest, MetricsAreTextWithTheEscapingAskedFor) {
  const struct {
    const char* why;
    const char* accept;
    const char* escaping;
  } kRows[] = {
      {"nothing is asked for", "", "underscores"},
      {"other formats are not there", "application/openmetrics-text; version=1.0.0", "underscores"},
      {"an unknown escaping", "text/plain; escaping=none", "underscores"},
      {"one that is known", "text/plain; version=0.0.4; escaping=dots", "dots"},
      {"what is wanted more goes first", "text/plain;q=0.2,text/plain;escaping=values", "values"},
      {"what Prometheus 3 sends",
       "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/"
       "openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
       "text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
       "allow-utf-8"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(MetricsContentType(row.accept),
              std::string("text/plain; version=0.0.4; charset=utf-8; escaping=") + row.escaping)
        << row.why;
  }
}

TEST_F(EndpointsTest, GaugesAreRefreshedBeforeMetricsAreWritten) {
  Gauge* gauge = registry_.AddGauge({"g", "G."}).Only();
  options_.refresh_metrics = [gauge](const std::function<void()>& done) {
    gauge->Set(5);
    done();
  };
  EXPECT_THAT(Ask("/metrics").body, HasSubstr("g 5\n"));
}

TEST_F(EndpointsTest, WhatWasCountedBeforeAResetIsGoneWithIt) {
  Counter* counter = registry_.AddCounter({"a_total", "A.", Stability::kNone, {"l"}}).With({"x"});
  options_.refresh_metrics = [counter](const std::function<void()>& done) {
    counter->Add(3);  // of the time before
    done();
  };
  EXPECT_EQ(Ask("/metrics", "DELETE").body, "metrics reset\n");
  EXPECT_EQ(counter->Value(), 0);
}

TEST_F(EndpointsTest, ResourcesAreEmptyUnlessLeading) {
  bool leading = false;
  options_.pod_resources = [&](const std::function<void(EndpointOptions::PodSamples)>& done) {
    if (!leading) return done(nullptr);
    auto shape = std::make_shared<ShapeUse>();
    shape->namespace_ = "default";
    shape->requests.push_back({"resource=\"cpu\"", "cores", 0.5});
    done(std::make_shared<std::vector<PodResourceUse>>(
        std::vector<PodResourceUse>{{"p", "n1", shape}}));
  };
  EXPECT_EQ(Ask("/metrics/resources").body, "");
  EXPECT_EQ(Ask("/metrics/resources").status, 200);
  leading = true;
  EXPECT_THAT(Ask("/metrics/resources").body,
              HasSubstr("pod=\"p\",priority=\"\",resource=\"cpu\""));
}

TEST_F(EndpointsTest, SlisCountTheChecksOfTheWhole) {
  Ask("/healthz");
  Ask("/healthz");
  election_ = Fail("no");
  Ask("/readyz");
  Ask("/healthz/leaderElection");  // alone: not counted
  const Response response = Ask("/metrics/slis");
  EXPECT_THAT(
      response.body,
      HasSubstr("# HELP kubernetes_healthcheck [STABLE] This metric records the result of a "
                "single healthcheck.\n# TYPE kubernetes_healthcheck gauge\n"
                "kubernetes_healthcheck{name=\"leaderElection\",type=\"healthz\"} 1\n"
                "kubernetes_healthcheck{name=\"leaderElection\",type=\"readyz\"} 0\n"));
  EXPECT_THAT(response.body,
              HasSubstr("kubernetes_healthchecks_total{name=\"leaderElection\",status=\"success\","
                        "type=\"healthz\"} 2\n"));
  EXPECT_THAT(response.body, HasSubstr("# HELP process_start_time_seconds [ALPHA] Start time"));
}

TEST_F(EndpointsTest, StatuszAndFlagzInsistOnPlainText) {
  options_.zpages = [] { return ZPages{.statusz = true, .flagz = true}; };
  options_.flags = {{"bind-address", "127.0.0.1"}, {"v", "2"}};
  for (const char* path : {"/statusz", "/flagz"}) {
    for (const char* accept : {"", "None", "application/json", "text/html", "text/plain;a=b"}) {
      const Response response = Ask(path, "GET", accept);
      EXPECT_EQ(response.status, 406) << path << " " << accept;
      EXPECT_EQ(response.body, "media type not acceptable, must be: text/plain\n");
    }
    for (const char* accept :
         {"text/plain", "text/html, text/plain;charset=UTF-8", "*/*", "text/*;q=0.5"}) {
      EXPECT_EQ(Ask(path, "GET", accept).status, 200) << path << " " << accept;
    }
  }
  EXPECT_EQ(Ask("/flagz", "GET", "text/plain").body,
            "\nkube-scheduler flags\nWarning: This endpoint is not meant to be machine parseable, "
            "has no formatting compatibility guarantees and is for debugging purposes only.\n\n"
            "bind-address=127.0.0.1\nv=2\n");
  const std::string status = Ask("/statusz", "GET", "text/plain").body;
  EXPECT_TRUE(status.starts_with(
      "\nkube-scheduler statusz\nWarning: This endpoint is not meant to be machine parseable, has "
      "no formatting compatibility guarantees and is for debugging purposes only.\n\nStarted= "))
      << status;
  EXPECT_TRUE(status.ends_with("\nBinary version= 1.34\nEmulation version= 1.34\n\n")) << status;
}

TEST_F(EndpointsTest, VerbosityIsPut) {
  const int before = log::Verbosity();
  int changes = 0;
  options_.verbosity_changed = [&] { ++changes; };
  Response response = Ask("/debug/flags/v", "PUT", "", "4");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "successfully set klog.logging.verbosity to 4\n");
  EXPECT_EQ(log::Verbosity(), 4);
  for (const char* bad : {"", "x", "-1", "4 ", "99999999999"}) {
    EXPECT_EQ(Ask("/debug/flags/v", "PUT", "", bad).status, 400) << bad;
  }
  EXPECT_EQ(Ask("/debug/flags/v", "PUT", "", "x").body,
            "strconv.ParseUint: parsing \"x\": invalid syntax\n");
  EXPECT_EQ(log::Verbosity(), 4);
  EXPECT_EQ(changes, 1);
  log::SetVerbosity(before);
  EXPECT_THAT(Ask("/debug/flags").body, HasSubstr("<title>/debug/flags/</title>"));
}

TEST_F(EndpointsTest, WhoAsksForGoProfilesIsToldWhatToUse) {
  EXPECT_EQ(Ask("/debug/pprof/profile").status, 404);
  EXPECT_THAT(Ask("/debug/pprof/").body, HasSubstr("perf record"));
}

TEST_F(EndpointsTest, WithoutProfilingThereIsNoDebug) {
  options_.profiling = false;
  EXPECT_EQ(Ask("/debug/pprof/").body, Ask("/nowhere").body);
  EXPECT_EQ(Ask("/debug/flags/v").status, 404);
  EXPECT_EQ(Ask("/configz").status, 200);
}

TEST(UnixDate, ReadsLikeDate) {
  EXPECT_EQ(UnixDate(1794772693), "Sun Nov 15 19:58:13 UTC 2026");
  EXPECT_EQ(UnixDate(0), "Thu Jan  1 00:00:00 UTC 1970");
  EXPECT_EQ(Uptime(3723), "1 hr 02 min 03 sec");
}

}  // namespace
}  // namespace berth::server
