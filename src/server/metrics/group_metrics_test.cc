// The metrics of pod groups, as an engine feeds them.
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "config/config.h"
#include "server/metrics/scheduler_metrics.h"

namespace berth::server {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using testing::HasSubstr;
using testing::Not;

int64_t g_now_ns = 0;

class GroupMetricsTest : public testing::Test {
 protected:
  void Make(const std::string& gate_settings) {
    config::FeatureGates gates(37);
    ASSERT_TRUE(gates.Set(gate_settings).has_value());
    SchedulerMetricsOptions options;
    options.behaviour = config::Behaviour(gates);
    // Every look at the clock takes a millisecond.
    options.now_ns = [] { return g_now_ns += 1'000'000; };
    registry_ = std::make_unique<Registry>();
    metrics_ = std::make_unique<SchedulerMetrics>(*registry_, options);
    scheduler::EngineOptions engine_options;
    engine_options.behaviour = options.behaviour;
    auto engine = scheduler::Engine::Make(config::Default(options.behaviour), engine_options,
                                          api::Time::FromUnixNano(0), nullptr, metrics_.get());
    ASSERT_TRUE(engine.has_value()) << engine.error().Message();
    engine_ = std::move(*engine);
  }
  void PutNode(const std::string& name, const std::string& cpu, const std::string& zone = "") {
    MakeNode node = MakeNode(name).Cpu(cpu);
    if (!zone.empty()) node.Label("zone", zone);
    engine_->Upsert(api::Node(node));
  }
  void PutGang(const std::string& name, int32_t min_count, int32_t priority = 0,
               const std::string& topology = "") {
    api::PodGroup group;
    group.metadata.namespace_ = "ns";
    group.metadata.name = group.metadata.uid = name;
    group.spec.priority = priority;
    group.spec.scheduling_policy.gang.emplace().min_count = min_count;
    if (!topology.empty()) {
      group.spec.scheduling_constraints.emplace().topology.push_back({topology});
    }
    engine_->Upsert(group);
  }
  void PutMember(const std::string& name, const std::string& group, int32_t priority = 0) {
    api::Pod pod = MakePod(name).Requests("cpu", "1").Priority(priority);
    pod.spec.scheduling_group.emplace().pod_group_name = group;
    engine_->Upsert(pod);
  }
  std::string Text() {
    while (engine_->Step()) {
    }
    engine_->TakeEffects();
    metrics_->Refresh(*engine_);
    return registry_->WriteText();
  }

  std::unique_ptr<Registry> registry_;
  std::unique_ptr<SchedulerMetrics> metrics_;
  std::unique_ptr<scheduler::Engine> engine_;
};

TEST_F(GroupMetricsTest, AttemptsByTheirResult) {
  Make("GenericWorkload=true");
  PutNode("a", "2");
  PutGang("fits", 2);
  PutGang("large", 3);
  for (const char* pod : {"p", "q"}) PutMember(pod, "fits");
  for (const char* pod : {"x", "y", "z"}) PutMember(pod, "large");
  const std::string text = Text();
  for (const char* line :
       {"scheduler_podgroup_schedule_attempts_total{profile=\"default-scheduler\",result="
        "\"scheduled\"} 1\n",
        "scheduler_podgroup_schedule_attempts_total{profile=\"default-scheduler\",result="
        "\"unschedulable\"} 1\n",
        "scheduler_podgroup_scheduling_attempt_duration_seconds_count{profile=\"default-"
        "scheduler\",result=\"scheduled\"} 1\n",
        "scheduler_podgroup_scheduling_algorithm_duration_seconds_count 2\n",
        "scheduler_workload_preemption_attempts_total{result=\"UnschedulableAndUnresolvable\"} "
        "1\n",
        "scheduler_preemption_evaluation_duration_seconds_count{preemptor=\"podgroup\",result="
        "\"UnschedulableAndUnresolvable\"} 1\n",
        // Before the first pod, after each; the second group ends with its first pod.
        "scheduler_framework_extension_point_duration_seconds_count{extension_point="
        "\"PlacementFeasible\",profile=\"default-scheduler\",status=\"Success\"} 1\n",
        "scheduler_framework_extension_point_duration_seconds_count{extension_point="
        "\"PodGroupPostFilter\",profile=\"default-scheduler\",status="
        "\"UnschedulableAndUnresolvable\"} 1\n",
        "scheduler_schedule_attempts_total{profile=\"default-scheduler\",result="
        "\"unschedulable\"} 3\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("scheduler_generated_placements_total")));
}

TEST_F(GroupMetricsTest, Placements) {
  Make("GenericWorkload=true,TopologyAwareWorkloadScheduling=true");
  PutNode("a", "1", "east");
  PutNode("b", "2", "north");
  PutNode("c", "2", "west");
  PutGang("g", 2, 0, "zone");
  for (const char* pod : {"p", "q"}) PutMember(pod, "g");
  const std::string text = Text();
  for (const char* line :
       {"scheduler_generated_placements_total{profile=\"default-scheduler\"} 3\n",
        "scheduler_placement_evaluations_total{profile=\"default-scheduler\",result="
        "\"feasible\"} 2\n",
        "scheduler_placement_evaluations_total{profile=\"default-scheduler\",result="
        "\"infeasible\"} 1\n",
        "scheduler_placement_evaluation_duration_seconds_count{profile=\"default-scheduler\","
        "result=\"feasible\"} 2\n",
        "scheduler_framework_extension_point_duration_seconds_count{extension_point="
        "\"PlacementGenerate\",profile=\"default-scheduler\",status=\"Success\"} 1\n",
        "scheduler_framework_extension_point_duration_seconds_count{extension_point="
        "\"PlacementScore\",profile=\"default-scheduler\",status=\"Success\"} 1\n",
        "scheduler_plugin_execution_duration_seconds_count{extension_point="
        "\"PlacementGenerate\",plugin=\"TopologyPlacementGenerator\",status=\"Success\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(GroupMetricsTest, PreemptionOfAGroup) {
  Make("GenericWorkload=true");
  PutNode("a", "1");
  PutNode("b", "1");
  engine_->Upsert(api::Pod(MakePod("low-a").Requests("cpu", "1").On("a")));
  engine_->Upsert(api::Pod(MakePod("low-b").Requests("cpu", "1").On("b")));
  PutGang("g", 2, 10);
  for (const char* pod : {"p", "q"}) PutMember(pod, "g", 10);
  const std::string text = Text();
  for (const char* line :
       {"scheduler_podgroup_schedule_attempts_total{profile=\"default-scheduler\",result="
        "\"waiting_on_preemption\"} 1\n",
        "scheduler_workload_preemption_attempts_total{result=\"Success\"} 1\n",
        "scheduler_workload_preemption_victims_sum 2\n",
        "scheduler_preemption_evaluation_duration_seconds_count{preemptor=\"podgroup\",result="
        "\"Success\"} 1\n",
        // Those of single pods.
        "scheduler_preemption_victims_count 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("preemption_execution_duration_seconds_count{")))
      << "the victims are not deleted yet";
}

TEST_F(GroupMetricsTest, GroupsInQueues) {
  Make("GenericWorkload=true");
  PutGang("g", 2);
  PutMember("p", "g");
  PutMember("lost", "unknown");
  std::string text = Text();
  // The group is gated twice: when it comes, and when the event of its pod is looked at.
  for (const char* line :
       {"scheduler_pending_pods{queue=\"gated\"} 1\n",
        "scheduler_pending_pods{queue=\"incomplete\"} 1\n",
        "scheduler_pending_pods{queue=\"pending\"} 0\n",
        "scheduler_queued_entities{queue=\"gated\",type=\"podgroup\"} 1\n",
        "scheduler_queue_incoming_entities_total{event=\"UnscheduledPodAdd\",queue="
        "\"unschedulable\",type=\"podgroup\"} 2\n",
        "scheduler_cache_size{type=\"pods\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("type=\"pod\"")));
  PutMember("q", "g");
  engine_->Upsert(api::Pod(MakePod("alone").Requests("cpu", "1")));
  metrics_->Refresh(*engine_);
  text = registry_->WriteText();
  for (const char* line :
       {"scheduler_pending_pods{queue=\"active\"} 3\n",
        "scheduler_queued_entities{queue=\"active\",type=\"podgroup\"} 1\n",
        "scheduler_queued_entities{queue=\"active\",type=\"pod\"} 1\n",
        "scheduler_queued_entities{queue=\"gated\",type=\"podgroup\"} 0\n",
        "scheduler_queue_incoming_pods_total{event=\"UnscheduledPodAdd\",queue=\"active\"} 3\n",
        "scheduler_queue_incoming_entities_total{event=\"UnscheduledPodAdd\",queue=\"active\","
        "type=\"pod\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(GroupMetricsTest, ACycleThatStartsOverCountsOnce) {
  Make("GenericWorkload=true");
  const auto place = [&] {
    metrics_->GroupPointBegan(scheduler::GroupPoint::kPlacementFeasible);
    metrics_->GroupPointEnded(scheduler::GroupPoint::kPlacementFeasible, framework::Code::kWait);
  };
  metrics_->GroupBegan("p", /*may_start_over=*/true);
  place();
  metrics_->GroupStartedOver();
  place();
  place();
  metrics_->GroupAlgorithmEnded();
  EXPECT_THAT(registry_->WriteText(), Not(HasSubstr("PlacementFeasible")));
  metrics_->GroupAttempted(scheduler::GroupOutcome::kScheduled);
  EXPECT_THAT(registry_->WriteText(),
              HasSubstr("duration_seconds_count{extension_point=\"PlacementFeasible\",profile="
                        "\"p\",status=\"Wait\"} 2\n"));
}

TEST_F(GroupMetricsTest, WithoutTheGateThereAreNone) {
  Make("");
  EXPECT_THAT(Text(), testing::AllOf(Not(HasSubstr("podgroup")), Not(HasSubstr("workload_"))));
}

}  // namespace
}  // namespace berth::server
