#include "plan/apply/apply.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/codec/json.h"
#include "plan/testing/site.h"

namespace berth::plan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A cluster in memory: controllers replace what is evicted, and the scheduler of another seed
// places it.
class FakeCluster final : public Hand {
 public:
  explicit FakeCluster(const std::string& yaml, uint64_t seed = 99) : seed_(seed) {
    const auto read = api::ForEachObject(yaml, [&](api::Object object) -> Result<void> {
      objects_.push_back(std::move(object));
      return {};
    });
    EXPECT_TRUE(read.has_value());
  }

  Result<void> Read(const api::ObjectConsumer& consume) override {
    ++reads;
    for (const api::Object& object : objects_) {
      if (auto ok = consume(object); !ok) return ok;
    }
    return {};
  }
  Result<void> Cordon(const std::string& name) override {
    cordons.push_back(name);
    api::Node& node = *FindNode(name);
    node.spec.unschedulable = true;
    return {};
  }
  Result<Eviction> Evict(const PodRef& ref, std::string* why) override {
    if (before_evict) {
      if (auto ok = before_evict(ref); !ok) return Fail(ok.error());
    }
    if (refusals > 0) {
      --refusals;
      *why = "budget";
      return Eviction::kNotNow;
    }
    ++evictions;
    const auto old = std::find_if(objects_.begin(), objects_.end(), [&](const api::Object& object) {
      const auto* pod = std::get_if<api::Pod>(&object);
      return pod != nullptr && pod->metadata.uid == ref.uid;
    });
    if (old == objects_.end()) return Eviction::kGone;
    api::Pod pod = std::get<api::Pod>(*old);
    objects_.erase(old);
    pod.metadata.name = fmt::format("{}-r{}", ref.name, evictions);
    pod.metadata.uid = fmt::format("u-r{}", evictions);
    pod.spec.node_name.clear();
    pod.status = {};
    pod.status.phase = "Pending";
    objects_.emplace_back(std::move(pod));
    if (after_evict) {
      if (auto ok = after_evict(ref); !ok) return Fail(ok.error());
    }
    return Eviction::kDone;
  }
  Result<std::vector<api::Pod>> PodsWith(const std::string& namespace_,
                                         const api::StringMap& labels) override {
    return Pods([&](const api::Pod& pod) {
      return pod.metadata.namespace_ == namespace_ && pod.metadata.labels == labels;
    });
  }
  Result<std::vector<api::Pod>> PodsOn(const std::string& node) override {
    return Pods([&](const api::Pod& pod) { return pod.spec.node_name == node; });
  }
  // Time in which the scheduler works.
  int64_t Pause() override {
    Schedule();
    return 100;
  }

  api::Node* FindNode(const std::string& name) {
    for (api::Object& object : objects_) {
      auto* node = std::get_if<api::Node>(&object);
      if (node != nullptr && node->metadata.name == name) return node;
    }
    return nullptr;
  }
  void Add(const std::string& yaml) {
    const auto read = api::ForEachObject(yaml, [&](api::Object object) -> Result<void> {
      objects_.push_back(std::move(object));
      return {};
    });
    EXPECT_TRUE(read.has_value());
  }
  std::map<std::string, std::string> Places() {
    std::map<std::string, std::string> places;
    for (const api::Object& object : objects_) {
      if (const auto* pod = std::get_if<api::Pod>(&object)) {
        places[pod->metadata.name] = pod->spec.node_name;
      }
    }
    return places;
  }

  std::function<Result<void>(const PodRef&)> before_evict;
  std::function<Result<void>(const PodRef&)> after_evict;
  std::vector<std::string> cordons;
  int evictions = 0;
  int reads = 0;
  int refusals = 0;              // of the next evictions
  bool places_anywhere = false;  // on the first node, whatever the scheduler would say

 private:
  Result<std::vector<api::Pod>> Pods(const std::function<bool(const api::Pod&)>& matches) {
    std::vector<api::Pod> pods;
    for (const api::Object& object : objects_) {
      const auto* pod = std::get_if<api::Pod>(&object);
      if (pod != nullptr && matches(*pod)) pods.push_back(*pod);
    }
    return pods;
  }

  void Schedule() {
    for (api::Object& object : objects_) {
      auto* pod = std::get_if<api::Pod>(&object);
      if (pod == nullptr || !pod->spec.node_name.empty()) continue;
      ModelOptions options;
      options.config = config::Default();
      options.seed = seed_;
      auto model =
          Model::Make(options, [&](const api::ObjectConsumer& consume) { return Read(consume); });
      ASSERT_TRUE(model.has_value());
      const auto& cluster = (*model)->inventory().cluster();
      const Landing landing =
          (*model)->mover().Place(cluster.FindPod(pod->metadata.uid), false, true);
      if (places_anywhere) {
        pod->spec.node_name = "a";
      } else if (landing.node != cluster::kNoNode) {
        pod->spec.node_name = cluster.NodeName(landing.node);
      } else {
        api::PodCondition condition;
        condition.type = "PodScheduled";
        condition.status = "False";
        condition.reason = "Unschedulable";
        condition.message = landing.message;
        pod->status.conditions = {condition};
        continue;
      }
      pod->status.phase = "Running";
    }
  }

  const uint64_t seed_;
  std::vector<api::Object> objects_;
};

struct Trial {
  explicit Trial(const std::string& yaml) : cluster(yaml) {
    state.question = "drain";
    state.max_disruption = 100;
    options.model.config = config::Default();
    options.step_timeout_ms = 3'000;
    options.surprise_ms = 500;
    options.save = [this](const ApplyState& now) -> Result<void> {
      saved = api::ToJson(now);
      return {};
    };
  }
  ApplyState Run() {
    Apply apply(cluster, state, options);
    const auto ok = apply.Run();
    error = ok ? "" : ok.error().Message();
    return apply.state();
  }
  // As another process does.
  ApplyState RunAgain() {
    state = *api::FromJson<ApplyState>(saved);
    return Run();
  }

  FakeCluster cluster;
  ApplyState state;
  ApplyOptions options;
  std::string saved;
  std::string error;
};

const std::string kFourPods = Node("a", 4) + Node("b", 4) + Node("c", 4) +
                              Pod("w-1", "w", "a", "1") + Pod("w-2", "w", "a", "1") +
                              Pod("x-1", "x", "b", "1") + Pod("x-2", "x", "c", "3");

TEST(PlanApply, ADrainLandsAsPredicted) {
  Trial trial(kFourPods);
  trial.state.nodes = {"a"};
  const ApplyState end = trial.Run();
  EXPECT_EQ(end.outcome, "Done") << end.message;
  ASSERT_THAT(end.carried, SizeIs(2));
  for (const Carried& each : end.carried) {
    EXPECT_TRUE(each.AsPredicted());
    EXPECT_EQ(each.landed, "b");
    EXPECT_EQ(trial.cluster.Places()[each.replacement], "b");
  }
  EXPECT_EQ(end.replans, 0);
  EXPECT_THAT(trial.cluster.cordons, SizeIs(1));
}

TEST(PlanApply, ATieIsFollowedAndListed) {
  std::string yaml = Node("a", 8);
  for (int i = 1; i <= 6; ++i) {
    yaml += Node("n" + std::to_string(i), 8) + Pod("w-" + std::to_string(i), "w", "a", "1");
  }
  Trial trial(yaml);
  trial.state.nodes = {"a"};
  const ApplyState end = trial.Run();
  EXPECT_EQ(end.outcome, "Done") << end.message;
  ASSERT_THAT(end.carried, SizeIs(6));
  size_t elsewhere = 0;
  for (const Carried& each : end.carried) {
    elsewhere += each.AsPredicted() ? 0 : 1;
    EXPECT_NE(std::find(each.equal.begin(), each.equal.end(), each.landed), each.equal.end());
  }
  EXPECT_GT(elsewhere, 0u) << "the seeds differ, and so do choices among equals";
  EXPECT_EQ(end.replans, 0) << "a tie is no surprise";
}

TEST(PlanApply, NothingIsEvictedWhenTheRestHasNoPlace) {
  Trial trial(Node("a", 4) + Node("b", 1) + Pod("w-1", "w", "a", "1") + Pod("w-2", "w", "a", "1"));
  trial.state.nodes = {"a"};
  const ApplyState end = trial.Run();
  EXPECT_EQ(end.outcome, "Stopped");
  EXPECT_THAT(end.message, HasSubstr("does not work any more: pod shop/w-2 on a"));
  EXPECT_EQ(trial.cluster.evictions, 0) << "not even the first, which would have had a place";
}

TEST(PlanApply, TheStatedDisruptionIsNeverExceeded) {
  Trial trial(kFourPods + Node("d", 8));
  trial.state.nodes = {"a", "c"};
  trial.state.max_disruption = 2;
  const ApplyState end = trial.Run();
  EXPECT_EQ(end.outcome, "Stopped");
  EXPECT_THAT(end.message, HasSubstr("more than the 2 allowed"));
  EXPECT_EQ(trial.cluster.evictions, 0);
}

TEST(PlanApply, ABudgetIsWaitedFor) {
  Trial trial(kFourPods);
  trial.state.nodes = {"a"};
  trial.cluster.refusals = 5;
  EXPECT_EQ(trial.Run().outcome, "Done");
  Trial never(kFourPods);
  never.state.nodes = {"a"};
  never.cluster.refusals = 1000;
  const ApplyState end = never.Run();
  EXPECT_EQ(end.outcome, "Stopped");
  EXPECT_THAT(end.message, HasSubstr("may not be evicted: budget"));
  EXPECT_EQ(end.evicted, 0);
}

TEST(PlanApply, DriftIsPlannedAgain) {
  Trial trial(Node("a", 4) + Node("b", 4) + Node("c", 4) + Pod("w-1", "w", "a", "1") +
              Pod("w-2", "w", "a", "1") + Pod("x-2", "x", "c", "3"));
  trial.state.nodes = {"a"};
  // Somebody else takes what the second pod was to get.
  trial.cluster.after_evict = [&, first = true](const PodRef&) mutable -> Result<void> {
    if (std::exchange(first, false)) trial.cluster.Add(Pod("other-1", "other", "b", "3"));
    return {};
  };
  const ApplyState end = trial.Run();
  EXPECT_EQ(end.outcome, "Done") << end.message;
  EXPECT_GT(end.replans, 0);
  EXPECT_THAT(end.carried, SizeIs(2));
}

TEST(PlanApply, ASurpriseEndsIt) {
  Trial trial(kFourPods);
  trial.state.nodes = {"b", "c"};
  trial.cluster.places_anywhere = true;  // on a, which the first pod agrees with
  trial.cluster.Add(Node("d", 64));
  const ApplyState end = trial.Run();
  EXPECT_EQ(end.outcome, "Stopped");
  EXPECT_THAT(end.message, HasSubstr("landed on a, and d was predicted"));
  EXPECT_EQ(trial.cluster.evictions, 1);
}

TEST(PlanApply, AReplacementWithoutANodeEndsIt) {
  Trial trial(kFourPods);
  trial.state.nodes = {"a"};
  trial.cluster.after_evict = [&](const PodRef&) -> Result<void> {
    for (const char* node : {"b", "c"}) trial.cluster.FindNode(node)->spec.unschedulable = true;
    return {};
  };
  const ApplyState end = trial.Run();
  EXPECT_EQ(end.outcome, "Stopped");
  EXPECT_THAT(end.message, HasSubstr("has no node, and b was predicted: 0/3 nodes are available"));
  EXPECT_EQ(trial.cluster.evictions, 1);
}

TEST(PlanApply, GoesOnAfterACrashBeforeAnEviction) {
  Trial trial(kFourPods);
  trial.state.nodes = {"a"};
  trial.cluster.before_evict = [](const PodRef&) -> Result<void> { return Fail("lost"); };
  trial.Run();
  EXPECT_EQ(trial.error, "lost");
  EXPECT_EQ(trial.cluster.evictions, 0);
  trial.cluster.before_evict = {};
  const ApplyState end = trial.RunAgain();
  EXPECT_EQ(end.outcome, "Done") << end.message;
  EXPECT_EQ(end.evicted, 2);
  EXPECT_EQ(trial.cluster.evictions, 2);
}

TEST(PlanApply, GoesOnAfterACrashBehindAnEviction) {
  Trial trial(kFourPods);
  trial.state.nodes = {"a"};
  trial.cluster.after_evict = [](const PodRef&) -> Result<void> { return Fail("lost"); };
  trial.Run();
  EXPECT_EQ(trial.cluster.evictions, 1);
  trial.cluster.after_evict = {};
  const ApplyState end = trial.RunAgain();
  EXPECT_EQ(end.outcome, "Done") << end.message;
  EXPECT_EQ(end.evicted, 2) << "nothing is evicted twice";
  EXPECT_THAT(end.carried, SizeIs(2)) << "the one in flight is verified, too";
  EXPECT_FALSE(end.in_flight.has_value());
}

TEST(PlanApply, SpreadIsRestoredToTheFixpoint) {
  const std::string spread =
      ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
      "DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]";
  std::string yaml = Node("a", 8, "zone: zx") + Node("b", 8, "zone: zy") + Node("c", 8, "zone: zz");
  for (int i = 1; i <= 6; ++i) {
    yaml += Pod("web-" + std::to_string(i), "web", i <= 3 ? "a" : "b", "1", spread);
  }
  Trial trial(yaml);
  trial.state.question = "restore-spread";
  const ApplyState end = trial.Run();
  EXPECT_EQ(end.outcome, "Done") << end.message;
  EXPECT_THAT(end.carried, SizeIs(2));
  EXPECT_THAT(trial.cluster.cordons, IsEmpty());
  for (const Carried& each : end.carried) EXPECT_EQ(each.landed, "c");
}

}  // namespace
}  // namespace berth::plan
