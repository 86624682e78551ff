#include "server/metrics/scheduler_families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/feature_gates.h"

namespace berth::server {
namespace {

using testing::HasSubstr;
using testing::Not;

config::Behaviour BehaviourOf(int minor) { return config::Behaviour(config::FeatureGates(minor)); }

class SchedulerFamiliesTest : public testing::Test {
 protected:
  // The text of a release, with a series in the families that are asked for.
  std::string TextOf(int minor) {
    families_.Counters(Metric::kBatchAttemptsTotal).With({"p", "no_hint"});
    families_.Counters(Metric::kBatchRescoreAttemptsTotal).With({"p"});
    families_.Gauges(Metric::kQueuedEntities).With({"active", "pod"});
    families_.Gauges(Metric::kGoroutines).With({"binding"});
    families_.Histograms(Metric::kPreemptionGoroutinesDurationSeconds).With({"success"});
    families_.Counters(Metric::kResourceclaimCreatesTotal).With({"success"});
    families_.Counters(Metric::kDraResourceclaimCreatesTotal).With({"success", "false", "", "Pod"});
    families_.Histograms(Metric::kDraBindingconditionsWaitDurationSeconds)
        .With({"p", "d", "error"});
    families_.Follow(BehaviourOf(minor));
    return registry_.WriteText();
  }

  Registry registry_;
  SchedulerFamilies families_{registry_};
};

TEST_F(SchedulerFamiliesTest, EveryMetricHasItsRow) {
  for (size_t i = 0; i < kMetrics; ++i) {
    EXPECT_NE(families_.Find(static_cast<Metric>(i)), nullptr) << i;
  }
}

TEST_F(SchedulerFamiliesTest, WhichReleaseHasWhich) {
  const struct {
    const char* line;
    int since;
    int until;
  } kRows[] = {
      {"# TYPE scheduler_batch_attempts_total counter\n", 35, 37},
      {"# TYPE scheduler_pod_scheduled_after_flush_total counter\n", 36, 37},
      {"# TYPE scheduler_batch_rescore_attempts_total counter\n", 37, 37},
      {"# TYPE scheduler_queued_entities gauge\n", 37, 37},
      {"# TYPE scheduler_resourceclaim_creates_total counter\n", 36, 36},  // 1.35: the gate is off
      {"# TYPE dynamic_resource_allocation_resourceclaim_creates_total counter\n", 37, 37},
      {"# TYPE scheduler_dra_bindingconditions_wait_duration_seconds histogram\n", 36, 37},
      {"# HELP scheduler_goroutines [ALPHA] ", 34, 35},
      {"# HELP scheduler_goroutines [BETA] ", 36, 37},
      {"# HELP scheduler_scheduling_algorithm_duration_seconds [BETA] ", 37, 37},
      {"# HELP scheduler_preemption_victims [STABLE] Number of selected preemption victims\n", 34,
       36},
      {"# HELP scheduler_preemption_goroutines_duration_seconds [ALPHA] Duration in", 34, 36},
  };
  for (int minor = 34; minor <= 37; ++minor) {
    const std::string text = TextOf(minor);
    for (const auto& row : kRows) {
      if (minor >= row.since && minor <= row.until) {
        EXPECT_THAT(text, HasSubstr(row.line)) << minor;
      } else {
        EXPECT_THAT(text, Not(HasSubstr(row.line))) << minor;
      }
    }
  }
}

TEST_F(SchedulerFamiliesTest, MetricsOfPodGroupsFollowTheirGates) {
  families_.Counters(Metric::kPodgroupScheduleAttemptsTotal).With({"scheduled", "p"});
  families_.Counters(Metric::kGeneratedPlacementsTotal).With({"p"});
  const struct {
    int minor;
    const char* gates;
    bool groups;
    bool placements;
  } kRows[] = {
      {37, "", false, false},
      {37, "GenericWorkload=true", true, false},
      {37, "GenericWorkload=true,TopologyAwareWorkloadScheduling=true", true, true},
      {36, "GenericWorkload=true", false, false},  // an older API, which is not followed
  };
  for (const auto& row : kRows) {
    config::FeatureGates gates(row.minor);
    ASSERT_TRUE(gates.Set(row.gates).has_value());
    families_.Follow(config::Behaviour(gates));
    const std::string text = registry_.WriteText();
    for (const char* name :
         {"# HELP scheduler_podgroup_schedule_attempts_total [ALPHA] Number of attempts to "
          "schedule pod group, by the result. ",
          "# TYPE scheduler_podgroup_scheduling_algorithm_duration_seconds histogram\n",
          "# TYPE scheduler_workload_preemption_victims histogram\n"}) {
      EXPECT_EQ(text.find(name) != std::string::npos, row.groups) << row.gates << " " << name;
    }
    EXPECT_EQ(text.find("scheduler_generated_placements_total{") != std::string::npos,
              row.placements)
        << row.gates;
  }
}

TEST_F(SchedulerFamiliesTest, GatesShowMetrics) {
  families_.Gauges(Metric::kPendingAsyncApiCalls).With({"pod_binding"});
  families_.Histograms(Metric::kPreemptionGoroutinesDurationSeconds).With({"success"});
  config::Behaviour behaviour = BehaviourOf(34);
  families_.Follow(behaviour);
  EXPECT_THAT(registry_.WriteText(), Not(HasSubstr("scheduler_pending_async_api_calls")));
  EXPECT_THAT(registry_.WriteText(), HasSubstr("preemption_goroutines_duration_seconds"));
  behaviour.async_api_calls = true;
  behaviour.async_preemption = false;
  families_.Follow(behaviour);
  EXPECT_THAT(registry_.WriteText(), HasSubstr("scheduler_pending_async_api_calls"));
  EXPECT_THAT(registry_.WriteText(), Not(HasSubstr("preemption_goroutines_duration_seconds")));
}

}  // namespace
}  // namespace berth::server
