#include "server/metrics/scheduler_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "config/config.h"
#include "framework/points/device_claims.h"

namespace berth::server {
namespace {

using framework::Code;
using framework::Point;
using scheduler::Outcome;
using testing::AllOf;
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
  // A cycle begins, as the engine tells it. False: it is passed over, and not told.
  bool Begin() {
    if (uint32_t& skip = metrics_.wants().skip_cycles; skip > 0) {
      --skip;
      return false;
    }
    return metrics_.CycleBegan(pod_, "p", 0).points;
  }
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
  metrics_.Bound(ref, "n1", info, api::Time::FromUnixNano(5'500'000'000), true);
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

TEST_F(SchedulerMetricsTest, AFailedPodIsNotTimedFromTheCycleOfAnother) {
  metrics_.CycleBegan(pod_, "default-scheduler", 0);
  cluster::Pod other = pod_;  // whose cycle was passed over
  other.id = pod_.id + 1;
  other.uid = "uid-2";
  metrics_.Attempted(other, Outcome::kUnschedulable, "", "no");
  EXPECT_THAT(Text(), HasSubstr("result=\"unschedulable\"} 1\n"));
  EXPECT_THAT(Text(), Not(HasSubstr("scheduler_scheduling_attempt_duration_seconds_count{")));
}

TEST_F(SchedulerMetricsTest, BoundPodsCountWhateverTheOneBeforeWasLike) {
  const auto bind = [&](int attempts, int64_t waited_ms) {
    queue::QueuedPod info;
    info.attempts = attempts;
    info.initial_attempt = api::Time::FromUnixNano(0);
    metrics_.Bound({}, "n1", info, api::Time::FromUnixNano(waited_ms * 1'000'000), false);
  };
  for (const int attempts : {1, 1, 1, 2, 1, 1, 20, 20, 1}) bind(attempts, 5);
  bind(1, 500);
  bind(1, 5);
  bind(1, -5);  // clocks may go back
  metrics_.Bound({}, "n1", {}, api::Time::FromUnixNano(0), false);
  const std::string text = Text();
  for (const char* line :
       {"scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"scheduled\"} "
        "13\n",
        "scheduler_pod_scheduling_attempts_bucket{le=\"1\"} 10\n",
        "scheduler_pod_scheduling_attempts_bucket{le=\"2\"} 11\n",
        "scheduler_pod_scheduling_attempts_bucket{le=\"16\"} 11\n",
        "scheduler_pod_scheduling_attempts_count 13\n",
        "scheduler_pod_scheduling_attempts_sum 51\n",
        "scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts=\"1\",le=\"0.01\"} 8\n",
        "scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts=\"1\",le=\"0.64\"} 9\n",
        "scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"1\"} 9\n",
        "scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"2\"} 1\n",
        "scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"15+\"} 2\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(SchedulerMetricsTest, FifteenAttemptsAreManyAttempts) {
  scheduler::PodRef ref;
  queue::QueuedPod info;
  info.attempts = 15;
  info.initial_attempt = api::Time::FromUnixNano(0);
  metrics_.Bound(ref, "n1", info, api::Time::FromUnixNano(0), false);
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
  metrics_.BindingPluginEnded(ref, Point::kBind, "DefaultBinder", Code::kSuccess);
  metrics_.BindingPointEnded(ref, Point::kBind, Code::kSuccess);
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("scheduler_framework_extension_point_duration_seconds_sum{extension_"
                              "point=\"Bind\",profile=\"p\",status=\"Success\"} 0.007\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_plugin_execution_duration_seconds_sum{extension_point="
                              "\"Bind\",plugin=\"DefaultBinder\",status=\"Success\"} 0.007\n"));
}

TEST_F(SchedulerMetricsTest, EachPreBindPluginIsTimedFromTheEndOfTheOneBefore) {
  metrics_.CycleBegan(pod_, "p", 0);
  metrics_.Attempted(pod_, Outcome::kScheduled, "n1", "");
  scheduler::PodRef ref;
  ref.uid = "uid-1";
  metrics_.BindingPointBegan(ref, Point::kPreBind);
  Pass(2000);
  metrics_.BindingPluginEnded(ref, Point::kPreBind, "VolumeBinding", Code::kSuccess);
  Pass(3000);
  metrics_.BindingPluginEnded(ref, Point::kPreBind, "DynamicResources", Code::kError);
  metrics_.BindingPointEnded(ref, Point::kPreBind, Code::kError);
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("scheduler_framework_extension_point_duration_seconds_sum{extension_"
                              "point=\"PreBind\",profile=\"p\",status=\"Error\"} 0.005\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_plugin_execution_duration_seconds_sum{extension_point="
                              "\"PreBind\",plugin=\"VolumeBinding\",status=\"Success\"} 0.002\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_plugin_execution_duration_seconds_sum{extension_point="
                              "\"PreBind\",plugin=\"DynamicResources\",status=\"Error\"} 0.003\n"));
}

TEST_F(SchedulerMetricsTest, OnePreEnqueueInTenTimesItsPlugins) {
  for (int i = 0; i < 20; ++i) {
    metrics_.PreEnqueueBegan();
    Pass(1000);
    metrics_.PreEnqueueAsked("SchedulingGates", Code::kSuccess);
    Pass(2000);
    metrics_.PreEnqueueAsked("DynamicResources", Code::kUnschedulableAndUnresolvable);
    metrics_.PreEnqueueEnded("p", Code::kUnschedulableAndUnresolvable);
  }
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("scheduler_plugin_execution_duration_seconds_sum{extension_point="
                              "\"PreEnqueue\",plugin=\"SchedulingGates\",status=\"Success\"} "
                              "0.002\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_plugin_execution_duration_seconds_sum{extension_point="
                              "\"PreEnqueue\",plugin=\"DynamicResources\",status="
                              "\"UnschedulableAndUnresolvable\"} 0.004\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_framework_extension_point_duration_seconds_count{"
                              "extension_point=\"PreEnqueue\",profile=\"p\",status=\"Success\"} "
                              "20\n"));
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
  metrics_.BindingPointEnded(pod, Point::kBind, Code::kSuccess);
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
    const bool timed = Begin();
    Pass(1);
    if (timed) metrics_.AlgorithmEnded();
    metrics_.Attempted(pod_, Outcome::kUnschedulable, "", "no");
  }
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("result=\"unschedulable\"} " + std::to_string(kCycles) + "\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_scheduling_algorithm_duration_seconds_count " +
                              std::to_string(kCycles) + "\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_scheduling_attempt_duration_seconds_count{profile="
                              "\"default-scheduler\",result=\"unschedulable\"} " +
                              std::to_string(kCycles) + "\n"));
}

TEST_F(SchedulerMetricsTest, QueuesHintsEventsPermitAndPreemption) {
  ASSERT_TRUE(metrics_.HintBegan());
  metrics_.HintEnded("NodeResourcesFit", "AssignedPodDelete", "Queue");
  ASSERT_TRUE(metrics_.EventBegan());
  metrics_.EventEnded("NodeAdd");
  metrics_.PermitWaited(Code::kSuccess, 2'000'000);
  scheduler::PodRef preemptor;
  preemptor.uid = "high";
  metrics_.VictimsChosen(preemptor, {.victims = 3});
  Pass(20'000);
  metrics_.PreemptionEnded(preemptor, "n1", true);
  metrics_.PreemptionEnded(preemptor, "n1", true);  // told twice, counted once
  metrics_.PluginFailed({}, Point::kPreBind, "VolumeBinding", "n1", "e");
  ASSERT_TRUE(metrics_.PreEnqueueBegan());
  metrics_.PreEnqueueEnded("p", Code::kPending);
  const std::string text = Text();
  for (const char* line :
       {"scheduler_queueing_hint_execution_duration_seconds_count{event=\"AssignedPodDelete\",hint="
        "\"Queue\",plugin=\"NodeResourcesFit\"} 1\n",
        "scheduler_event_handling_duration_seconds_count{event=\"NodeAdd\"} 1\n",
        "scheduler_permit_wait_duration_seconds_sum{result=\"Success\"} 0.002\n",
        "scheduler_preemption_victims_sum 3\n",
        "scheduler_framework_extension_point_duration_seconds_count{extension_point=\"PreEnqueue\","
        "profile=\"p\",status=\"Success\"} 1\n",
        "scheduler_preemption_goroutines_execution_total{result=\"success\"} 1\n",
        "scheduler_preemption_goroutines_duration_seconds_sum{result=\"success\"} 0.02\n",
        "scheduler_volume_scheduling_stage_error_total{operation=\"bind\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

// Pods of an engine that come into queues.
class IncomingPods : public SchedulerMetricsTest {
 protected:
  std::unique_ptr<scheduler::Engine> MakeEngine() {
    return std::move(*scheduler::Engine::Make(config::Default(), {}, api::Time::FromUnixNano(0),
                                              nullptr, &metrics_));
  }
  static void Add(scheduler::Engine& engine, const std::string& name, bool gated = false) {
    cluster::MakePod pod(name);
    if (gated) pod.Gate("wait");
    engine.Upsert(static_cast<api::Pod>(pod));
  }
  std::string Line(std::string_view queue, int pods) {
    return "scheduler_queue_incoming_pods_total{event=\"UnschedulablePodAdd\",queue=\"" +
           std::string(queue) + "\"} " + std::to_string(pods) + "\n";
  }
};

TEST_F(IncomingPods, AreReadFromTheEngineAtAScrape) {
  auto engine = MakeEngine();
  for (const char* name : {"p1", "p2"}) Add(*engine, name);
  Add(*engine, "gated", true);
  EXPECT_THAT(Text(), Not(HasSubstr("scheduler_queue_incoming_pods_total{")));
  metrics_.Refresh(*engine);
  EXPECT_THAT(Text(), AllOf(HasSubstr(Line("active", 2)), HasSubstr(Line("unschedulable", 1)),
                            Not(HasSubstr("queue=\"gated\",")), Not(HasSubstr(Line("gated", 1)))));
  Add(*engine, "p3");
  metrics_.Refresh(*engine);
  EXPECT_THAT(Text(), HasSubstr(Line("active", 3)));
}

TEST_F(IncomingPods, OfAnEngineThatIsReplacedCountOnce) {
  auto engine = MakeEngine();
  for (const char* name : {"p1", "p2"}) Add(*engine, name);
  metrics_.Refresh(*engine);
  Add(*engine, "p3");
  auto next = MakeEngine();
  metrics_.Replaced(*engine, *next);
  engine = std::move(next);
  for (const char* name : {"p1", "p2", "p3", "p4"}) Add(*engine, name);
  metrics_.Refresh(*engine);
  EXPECT_THAT(Text(), HasSubstr(Line("active", 7)));
}

TEST_F(SchedulerMetricsTest, ManyEventsBetweenScrapesAreSampledAndWeighted) {
  constexpr uint32_t kEvents = SchedulerMetrics::kTimedCycles + 10 * SchedulerMetrics::kSampling;
  const auto engine = std::move(*scheduler::Engine::Make(
      config::Default(), {}, api::Time::FromUnixNano(0), nullptr, &metrics_));
  const auto count = [](uint32_t events) {
    return "scheduler_event_handling_duration_seconds_count{event=\"NodeAdd\"} " +
           std::to_string(events) + "\n";
  };
  for (uint32_t i = 0; i < kEvents; ++i) {
    engine->Upsert(static_cast<api::Node>(cluster::MakeNode("n" + std::to_string(i))));
  }
  EXPECT_THAT(Text(), HasSubstr(count(kEvents)));
  engine->Upsert(static_cast<api::Node>(cluster::MakeNode("one-more")));
  EXPECT_THAT(Text(), HasSubstr(count(kEvents + SchedulerMetrics::kSampling)));
  metrics_.Refresh(*engine);  // and it starts anew
  engine->Upsert(static_cast<api::Node>(cluster::MakeNode("last")));
  EXPECT_THAT(Text(), HasSubstr(count(kEvents + SchedulerMetrics::kSampling + 1)));
}

TEST_F(SchedulerMetricsTest, ACycleThatIsWantedIsTimedAndOthersStayInTheirPlaces) {
  for (uint32_t i = 0; i < SchedulerMetrics::kTimedCycles; ++i) ASSERT_TRUE(Begin());
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < 3 * SchedulerMetrics::kSampling; ++i) {
    if (i == 10 || i == SchedulerMetrics::kSampling - 1) metrics_.TimeNextCycle();
    if (Begin()) numbers.push_back(i);
  }
  EXPECT_THAT(numbers,
              testing::ElementsAre(0, 10, SchedulerMetrics::kSampling - 1,
                                   SchedulerMetrics::kSampling, 2 * SchedulerMetrics::kSampling));
}

TEST_F(SchedulerMetricsTest, AnotherReleaseHasOtherMetricsAndTheSameValues) {
  config::Behaviour behaviour{config::FeatureGates(34)};
  metrics_.Follow(behaviour);
  metrics_.BatchAttempted("p", scheduler::BatchAttempt::kNoHint);
  metrics_.BatchFlushed("p", "pod_not_batchable");
  metrics_.VictimsChosen({"ns", "p", "u"}, {.victims = 0});
  EXPECT_THAT(Text(), AllOf(Not(HasSubstr("scheduler_batch_")), Not(HasSubstr("incomplete")),
                            HasSubstr("scheduler_preemption_victims_count 1\n")));
  metrics_.Follow(config::Behaviour(config::FeatureGates(36)));
  metrics_.VictimsChosen({"ns", "p", "u"}, {.victims = 0});
  EXPECT_THAT(Text(), AllOf(HasSubstr("scheduler_batch_attempts_total{profile=\"p\","
                                      "result=\"no_hint\"} 1\n"),
                            Not(HasSubstr("incomplete")),
                            HasSubstr("scheduler_preemption_victims_count 1\n")));
  metrics_.Follow(config::Behaviour(config::FeatureGates(37)));
  EXPECT_THAT(Text(), AllOf(HasSubstr("scheduler_pending_pods{queue=\"incomplete\"} 0\n"),
                            HasSubstr("scheduler_pending_pods{queue=\"pending\"} 0\n"),
                            HasSubstr("scheduler_batch_cache_flushed_total{profile=\"p\","
                                      "reason=\"pod_not_batchable\"} 1\n")));
}

TEST_F(SchedulerMetricsTest, ClaimsForExtendedResourcesAreCountedUnderTheNameOfTheRelease) {
  metrics_.Follow(config::Behaviour(config::FeatureGates(36)));
  metrics_.ClaimCreated(true);
  metrics_.ClaimCreated(true);
  metrics_.ClaimCreated(false);
  EXPECT_THAT(Text(),
              AllOf(HasSubstr("scheduler_resourceclaim_creates_total{status=\"success\"} 2\n"),
                    HasSubstr("scheduler_resourceclaim_creates_total{status=\"failure\"} 1\n"),
                    Not(HasSubstr("dynamic_resource_allocation_resourceclaim_creates_total"))));
  metrics_.Follow(config::Behaviour(config::FeatureGates(37)));
  EXPECT_THAT(
      Text(),
      AllOf(HasSubstr("dynamic_resource_allocation_resourceclaim_creates_total{admin_access="
                      "\"false\",owner_api_group=\"\",owner_api_kind=\"Pod\",status="
                      "\"success\"} 2\n"),
            Not(HasSubstr("scheduler_resourceclaim_creates_total"))));
}

TEST_F(SchedulerMetricsTest, WaitingForDevicesIsCountedPerDevice) {
  metrics_.Follow(config::Behaviour(config::FeatureGates(36)));
  metrics_.DevicesAwaited("p", {.result = "timeout",
                                .waited_ns = 1'500'000'000,
                                .devices = {{"gpu", true}, {"gpu", true}, {"nic", false}}});
  const std::string labels = "{driver=\"gpu\",profile=\"p\",status=\"timeout\"} ";
  EXPECT_THAT(
      Text(),
      AllOf(HasSubstr("scheduler_dra_bindingconditions_allocations_total" + labels + "2\n"),
            HasSubstr("scheduler_dra_bindingconditions_wait_duration_seconds_sum" + labels + "3\n"),
            HasSubstr("scheduler_dra_bindingconditions_wait_duration_seconds_count{driver=\"nic\""),
            Not(HasSubstr("scheduler_dra_bindingconditions_allocations_total{driver=\"nic\""))));
}

TEST_F(SchedulerMetricsTest, StepsOfBatchingAreTimedWithTheirCycles) {
  metrics_.Follow(config::Behaviour(config::FeatureGates(37)));
  using scheduler::BatchStep;
  ASSERT_TRUE(Begin());
  metrics_.BatchStepBegan(BatchStep::kGetHint);
  Pass(10);
  metrics_.BatchStepBegan(BatchStep::kRescore);
  Pass(20);
  metrics_.BatchStepEnded("p", BatchStep::kRescore, false);
  metrics_.BatchStepEnded("p", BatchStep::kGetHint, true);
  metrics_.BatchStepBegan(BatchStep::kStore);
  Pass(5);
  metrics_.BatchStepEnded("p", BatchStep::kStore, false);
  EXPECT_THAT(
      Text(),
      AllOf(HasSubstr("get_node_hint_duration_seconds_sum{hinted=\"hint\",profile=\"p\"} 3e-05\n"),
            HasSubstr("batch_rescore_duration_seconds_sum{profile=\"p\"} 2e-05\n"),
            HasSubstr("store_schedule_results_duration_seconds_sum{profile=\"p\"} 5e-06\n")));
}

TEST_F(SchedulerMetricsTest, PodsThatAFlushBroughtBackAreCounted) {
  metrics_.Follow(config::Behaviour(config::FeatureGates(36)));
  queue::QueuedPod info;
  info.attempts = 2;
  info.initial_attempt = api::Time::FromUnixNano(0);
  for (const bool flushed : {false, true, false}) {
    info.was_flushed = flushed;
    metrics_.Bound({"ns", "p", "u"}, "n", info, api::Time::FromUnixNano(1), false);
  }
  EXPECT_THAT(Text(), AllOf(HasSubstr("scheduler_pod_scheduled_after_flush_total 1\n"),
                            HasSubstr("scheduler_pod_scheduling_attempts_count 3\n")));
}

TEST_F(SchedulerMetricsTest, WhatMayBeCountedIsThereFromTheStart) {
  const auto engine = std::move(*scheduler::Engine::Make(
      config::Default(), {}, api::Time::FromUnixNano(0), nullptr, &metrics_));
  metrics_.Refresh(*engine);
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("scheduler_plugin_evaluation_total{extension_point=\"Filter\","
                              "plugin=\"VolumeZone\",profile=\"default-scheduler\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("scheduler_inflight_events{event=\"PodPopped\"} 0\n"));
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
