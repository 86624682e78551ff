#include "server/metrics/scheduler_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/test_builders.h"
#include "config/config.h"

namespace berth::server {
namespace {

using framework::Code;
using framework::Point;
using scheduler::Outcome;
using testing::HasSubstr;
using testing::Not;

int64_t g_now_ns = 0;

class SchedulerMetricsTest : public testing::Test {
 protected:
  SchedulerMetricsTest() : metrics_(registry_, Options()) {
    shape_.source.spec.scheduler_name = "default-scheduler";
    pod_.shape = &shape_;
    pod_.uid = "uid-1";
  }
  static SchedulerMetricsOptions Options() {
    g_now_ns = 1'000'000'000;
    SchedulerMetricsOptions options;
    options.now_ns = [] { return g_now_ns; };
    return options;
  }
  void Pass(int64_t us) { g_now_ns += us * 1000; }
  std::string Text() { return registry_.WriteText(); }

  Registry registry_;
  SchedulerMetrics metrics_;
  cluster::PodShape shape_;
  cluster::Pod pod_;
};

TEST_F(SchedulerMetricsTest, BeforeAnythingHappensTheSeriesOfAnIdleSchedulerAreThere) {
  const std::string text = Text();
  for (const char* line :
       {"scheduler_pending_pods{queue=\"active\"} 0\n",
        "scheduler_pending_pods{queue=\"gated\"} 0\n",
        "scheduler_cache_size{type=\"assumed_pods\"} 0\n",
        "scheduler_preemption_attempts_total 0\n",
        "scheduler_preemption_victims_bucket{le=\"64\"} 0\n",
        "scheduler_pod_scheduling_attempts_bucket{le=\"16\"} 0\n",
        "scheduler_scheduling_algorithm_duration_seconds_bucket{le=\"16.384\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, HasSubstr("# HELP scheduler_pending_pods [STABLE] Number of pending pods, by "
                              "the queue type. 'active' means"));
  EXPECT_THAT(text, Not(HasSubstr("scheduler_schedule_attempts_total")));
}

TEST_F(SchedulerMetricsTest, APodCountsAsScheduledWhenItIsBound) {
  EXPECT_TRUE(metrics_.CycleBegan(pod_, "default-scheduler", 0).points);
  Pass(1500);
  metrics_.AlgorithmEnded();
  metrics_.Attempted(pod_, Outcome::kScheduled, "n1", "");
  EXPECT_THAT(Text(), Not(HasSubstr("scheduler_schedule_attempts_total{")));
  Pass(3000);
  scheduler::PodRef ref;
  ref.uid = "uid-1";
  queue::QueuedPod info;
  info.attempts = 2;
  info.initial_attempt = api::Time::FromUnixNano(5'000'000'000);
  metrics_.Bound(ref, "n1", info, api::Time::FromUnixNano(5'500'000'000));
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("scheduler_schedule_attempts_total{profile=\"default-scheduler\","
                              "result=\"scheduled\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_scheduling_attempt_duration_seconds_sum{profile=\"default-"
                              "scheduler\",result=\"scheduled\"} 0.0045"));
  EXPECT_THAT(text, HasSubstr("scheduler_scheduling_algorithm_duration_seconds_sum 0.0015\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_pod_scheduling_sli_duration_seconds_sum{attempts=\"2\"} "
                              "0.5\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_pod_scheduling_attempts_sum 2\n"));
}

TEST_F(SchedulerMetricsTest, AFailedBindingIsOneErrorTimedFromItsCycle) {
  metrics_.CycleBegan(pod_, "default-scheduler", 0);
  metrics_.Attempted(pod_, Outcome::kScheduled, "n1", "");
  Pass(2000);
  cluster::Pod other = pod_;
  other.uid = "uid-2";
  metrics_.CycleBegan(other, "default-scheduler", 0);  // of another pod, meanwhile
  Pass(1000);
  metrics_.Attempted(pod_, Outcome::kError, "", "no");
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("result=\"error\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_scheduling_attempt_duration_seconds_sum{profile=\"default-"
                              "scheduler\",result=\"error\"} 0.003\n"));
  EXPECT_THAT(text, Not(HasSubstr("scheduled\"} 1")));
}

TEST_F(SchedulerMetricsTest, FifteenAttemptsAreManyAttempts) {
  scheduler::PodRef ref;
  queue::QueuedPod info;
  info.attempts = 15;
  info.initial_attempt = api::Time::FromUnixNano(0);
  metrics_.Bound(ref, "n1", info, api::Time::FromUnixNano(0));
  EXPECT_THAT(Text(), HasSubstr("_sum{attempts=\"15+\"} 0\n"));
}

TEST_F(SchedulerMetricsTest, PointsAndPluginsAreTimed) {
  ASSERT_TRUE(metrics_.CycleBegan(pod_, "p", 0).plugins);
  metrics_.PointBegan(Point::kPreFilter);
  metrics_.PluginBegan();
  Pass(20);
  metrics_.PluginEnded(Point::kPreFilter, "NodeAffinity", Code::kSkip);
  metrics_.PointEnded(Point::kPreFilter, Code::kSuccess);
  metrics_.Attempted(pod_, Outcome::kScheduled, "n1", "");
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("scheduler_plugin_execution_duration_seconds_bucket{extension_point="
                              "\"PreFilter\",plugin=\"NodeAffinity\",status=\"Skip\","
                              "le=\"2.2500000000000005e-05\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("scheduler_framework_extension_point_duration_seconds_count{extension_"
                        "point=\"PreFilter\",profile=\"p\",status=\"Success\"} 1\n"));
}

TEST_F(SchedulerMetricsTest, WhatAClassBeganAndGaveUpDoesNotCount) {
  metrics_.CycleBegan(pod_, "p", 0);
  for (const Point point : {Point::kPreFilter, Point::kPreScore}) {
    metrics_.PointBegan(point);
    metrics_.PointEnded(point, Code::kSuccess);
  }
  metrics_.StartedOver();
  metrics_.PointBegan(Point::kFilter);
  metrics_.PointEnded(Point::kFilter, Code::kSuccess);
  metrics_.Attempted(pod_, Outcome::kUnschedulable, "", "");
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("extension_point=\"PreFilter\""));
  EXPECT_THAT(text, HasSubstr("extension_point=\"Filter\""));
  EXPECT_THAT(text, Not(HasSubstr("extension_point=\"PreScore\"")));
}

TEST_F(SchedulerMetricsTest, ABindingIsTimedFromItsOwnBeginning) {
  metrics_.CycleBegan(pod_, "p", 0);
  metrics_.Attempted(pod_, Outcome::kScheduled, "n1", "");
  scheduler::PodRef ref;
  ref.uid = "uid-1";
  metrics_.BindingPointBegan(ref, Point::kBind);
  metrics_.CycleBegan(pod_, "p", 0);  // meanwhile, and not its business
  Pass(7000);
  metrics_.BindingPointEnded(ref, Point::kBind, "DefaultBinder", Code::kSuccess);
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("scheduler_framework_extension_point_duration_seconds_sum{extension_"
                              "point=\"Bind\",profile=\"p\",status=\"Success\"} 0.007\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_plugin_execution_duration_seconds_sum{extension_point="
                              "\"Bind\",plugin=\"DefaultBinder\",status=\"Success\"} 0.007\n"));
}

TEST_F(SchedulerMetricsTest, WhatWasTimedIsThereForTheRecordOfTheDecision) {
  ASSERT_TRUE(metrics_.CycleBegan(pod_, "p", 0).points);
  metrics_.PointBegan(Point::kPreFilter);
  Pass(100);
  metrics_.PointEnded(Point::kPreFilter, Code::kSuccess);
  metrics_.PointBegan(Point::kFilter);
  Pass(7);
  metrics_.PointEnded(Point::kFilter, Code::kSuccess);
  metrics_.StartedOver();  // what came after PreFilter does not count
  metrics_.PointBegan(Point::kFilter);
  Pass(250);
  metrics_.PointEnded(Point::kFilter, Code::kSuccess);
  const scheduler::PointTimes* times = metrics_.CycleTimes();
  ASSERT_NE(times, nullptr);
  EXPECT_NEAR(times->Ms(Point::kPreFilter), 0.1, 1e-6);
  EXPECT_NEAR(times->Ms(Point::kFilter), 0.25, 1e-6);
  EXPECT_FALSE(times->Has(Point::kScore));

  scheduler::PodRef pod;
  pod.uid = pod_.uid;
  EXPECT_EQ(metrics_.BindingTimes(pod), nullptr) << "it is not being bound yet";
  metrics_.Attempted(pod_, Outcome::kScheduled, "n1", "");
  EXPECT_EQ(metrics_.CycleTimes(), nullptr) << "the cycle is over";
  metrics_.BindingPointBegan(pod, Point::kBind);
  Pass(7000);
  metrics_.BindingPointEnded(pod, Point::kBind, "DefaultBinder", Code::kSuccess);
  ASSERT_NE(metrics_.BindingTimes(pod), nullptr);
  EXPECT_NEAR(metrics_.BindingTimes(pod)->Ms(Point::kBind), 7, 1e-6);
  EXPECT_FALSE(metrics_.BindingTimes(pod)->Has(Point::kFilter));
}

TEST_F(SchedulerMetricsTest, OneTimedCycleInTenTimesPlugins) {
  int plugins = 0;
  for (int i = 0; i < 100; ++i) {
    plugins += metrics_.CycleBegan(pod_, "p", 0).plugins ? 1 : 0;
  }
  EXPECT_EQ(plugins, 10);
}

TEST_F(SchedulerMetricsTest, BusyMinutesTimeFewerPluginsWhichCountForMore) {
  constexpr uint32_t kMany = 3 * SchedulerMetrics::kPluginsThinning;
  constexpr uint32_t kAll = SchedulerMetrics::kTimedPlugins + kMany;
  uint32_t timed = 0;
  for (uint32_t i = 0; i < kAll * SchedulerMetrics::kPluginsSampling; ++i) {
    if (!metrics_.CycleBegan(pod_, "p", 0).plugins) continue;
    ++timed;
    metrics_.PluginBegan();
    metrics_.PluginEnded(Point::kFilter, "NodeAffinity", Code::kSuccess);
  }
  EXPECT_EQ(timed, SchedulerMetrics::kTimedPlugins + 3);
  EXPECT_THAT(Text(), HasSubstr("scheduler_plugin_execution_duration_seconds_count{extension_point="
                                "\"Filter\",plugin=\"NodeAffinity\",status=\"Success\"} " +
                                std::to_string(kAll) + "\n"));
}

TEST_F(SchedulerMetricsTest, ManyCyclesBetweenScrapesAreSampledAndWeighted) {
  constexpr uint32_t kCycles = SchedulerMetrics::kTimedCycles + 10 * SchedulerMetrics::kSampling;
  for (uint32_t i = 0; i < kCycles; ++i) {
    metrics_.CycleBegan(pod_, "p", 0);
    Pass(1);
    metrics_.AlgorithmEnded();
    metrics_.Attempted(pod_, Outcome::kUnschedulable, "", "no");
  }
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("result=\"unschedulable\"} " + std::to_string(kCycles) + "\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_scheduling_algorithm_duration_seconds_count " +
                              std::to_string(kCycles) + "\n"));
}

TEST_F(SchedulerMetricsTest, QueuesHintsEventsPermitAndPreemption) {
  metrics_.CountIncoming(queue::QueueName::kBackoff, "AssignedPodDelete");
  ASSERT_TRUE(metrics_.HintBegan());
  metrics_.HintEnded("NodeResourcesFit", "AssignedPodDelete", "Queue");
  ASSERT_TRUE(metrics_.EventBegan());
  metrics_.EventEnded("NodeAdd");
  metrics_.PermitWaited(Code::kSuccess, 2'000'000);
  scheduler::PodRef preemptor;
  preemptor.uid = "high";
  metrics_.Preempted(preemptor, 3, "n1");
  Pass(20'000);
  metrics_.PreemptionEnded(preemptor, "n1", true);
  metrics_.PreemptionEnded(preemptor, "n1", true);  // told twice, counted once
  metrics_.PluginFailed(Point::kPreBind, "VolumeBinding");
  ASSERT_TRUE(metrics_.PreEnqueueBegan());
  metrics_.PreEnqueueEnded("p", Code::kPending);
  const std::string text = Text();
  for (const char* line :
       {"scheduler_queue_incoming_pods_total{event=\"AssignedPodDelete\",queue=\"backoff\"} 1\n",
        "scheduler_queueing_hint_execution_duration_seconds_count{event=\"AssignedPodDelete\",hint="
        "\"Queue\",plugin=\"NodeResourcesFit\"} 1\n",
        "scheduler_event_handling_duration_seconds_count{event=\"NodeAdd\"} 1\n",
        "scheduler_permit_wait_duration_seconds_sum{result=\"Success\"} 0.002\n",
        "scheduler_preemption_victims_sum 3\n",
        "scheduler_framework_extension_point_duration_seconds_count{extension_point=\"PreEnqueue\","
        "profile=\"p\",status=\"Pending\"} 1\n",
        "scheduler_preemption_goroutines_execution_total{result=\"success\"} 1\n",
        "scheduler_preemption_goroutines_duration_seconds_sum{result=\"success\"} 0.02\n",
        "scheduler_volume_scheduling_stage_error_total{operation=\"bind\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(SchedulerMetricsTest, RefreshReadsTheEngine) {
  auto made = scheduler::Engine::Make(config::Default(), {}, api::Time::FromUnixNano(0), nullptr,
                                      &metrics_);
  ASSERT_TRUE(made) << made.error().Message();
  scheduler::Engine& engine = **made;
  const auto add_node = [&](const char* name) {
    api::Node node;
    node.metadata.name = name;
    node.status.allocatable["pods"] = *api::Quantity::Parse("10");
    engine.Upsert(node);
  };
  const auto add_pod = [&](const char* name) {
    api::Pod pod;
    pod.metadata.name = name;
    pod.metadata.namespace_ = "default";
    pod.metadata.uid = name;
    pod.spec.scheduler_name = "default-scheduler";
    if (name[0] == 'x') pod.spec.node_selector["disk"] = "none";
    engine.Upsert(pod);
  };
  add_node("n1");
  add_node("n2");
  add_pod("x");
  ASSERT_TRUE(engine.Step());
  add_pod("p");
  metrics_.Refresh(engine);
  std::string text = Text();
  for (const char* line :
       {"scheduler_pending_pods{queue=\"active\"} 1\n", "scheduler_cache_size{type=\"nodes\"} 2\n",
        "scheduler_cache_size{type=\"pods\"} 0\n", "scheduler_preemption_attempts_total 1\n",
        "scheduler_unschedulable_pods{plugin=\"NodeAffinity\",profile=\"default-scheduler\"} 1\n",
        "scheduler_plugin_evaluation_total{extension_point=\"Filter\",plugin=\"NodeAffinity\","
        "profile=\"default-scheduler\"} 2\n",
        "scheduler_plugin_evaluation_total{extension_point=\"PreFilter\",plugin=\"NodeAffinity\","
        "profile=\"default-scheduler\"} 1\n",
        "scheduler_event_handling_duration_seconds_count{event=\"NodeAdd\"} 2\n",
        "scheduler_event_handling_duration_seconds_count{event=\"UnschedulablePodAdd\"} 2\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  api::Pod gone;
  gone.metadata.uid = "x";
  engine.Delete(gone);
  ASSERT_TRUE(engine.Step());
  metrics_.Refresh(engine);
  text = Text();
  for (const char* line :
       {"scheduler_unschedulable_pods{plugin=\"NodeAffinity\",profile=\"default-scheduler\"} 0\n",
        "scheduler_plugin_evaluation_total{extension_point=\"Score\",plugin=\"NodeResourcesFit\","
        "profile=\"default-scheduler\"} 2\n",
        "scheduler_goroutines{operation=\"binding\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace berth::server
