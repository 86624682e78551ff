#include "scheduler/groups/placement_capacity.h"

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "config/config.h"
#include "scheduler/groups/group_algorithm.h"
#include "scheduler/profile_set.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using cluster::PodId;
using std::string_literals::operator""s;
using ::testing::Optional;

// Counts the pods that were decided about.
class Decider final : public MemberDecider {
 public:
  explicit Decider(bool repeats) : repeats_(repeats) {}
  cluster::NodeIndex Decide(Attempt& attempt, const framework::NodeSet* within) override {
    ++decided;
    attempt.Decide(algorithm_, /*score_always=*/false, within);
    return attempt.decision().node;
  }
  bool RepeatsItself() const override { return repeats_; }

  size_t decided = 0;

 private:
  bool repeats_;
  Algorithm algorithm_{{}};
};

class PlacementCapacityTest : public ::testing::Test {
 protected:
  PlacementCapacityTest() {
    config::FeatureGates gates(37);
    EXPECT_TRUE(gates.Set("GenericWorkload=true,TopologyAwareWorkloadScheduling=true").has_value());
    behaviour_ = config::Behaviour(gates);
    group_.metadata.namespace_ = "ns";
    group_.metadata.name = "g";
    group_.spec.scheduling_constraints.emplace().topology.push_back({"rack"});
  }
  void Start() {
    cluster_ = std::make_unique<cluster::Cluster>();
    auto made = ProfileSet::Make(config::Default(behaviour_), behaviour_, *cluster_);
    ASSERT_TRUE(made.has_value());
    profiles_ = std::make_unique<ProfileSet>(std::move(*made));
    members_.clear();
  }
  void AddNode(const std::string& name, const std::string& cpu, const std::string& rack) {
    cluster_->SetNode(MakeNode(name).Cpu(cpu).Label("rack", rack));
  }
  void AddMember(api::Pod pod) {
    pod.spec.scheduling_group.emplace().pod_group_name = "g";
    members_.push_back(cluster_->AddPod(pod));
  }
  void Gang(int32_t min_count) {
    group_.spec.scheduling_policy.gang.emplace().min_count = min_count;
    cluster_->MutableObjects().pod_groups.Set(group_);
  }
  framework::Cycle& TheCycle() { return *profiles_->CycleFor("default-scheduler"); }
  framework::PodGroupInfo Info() const { return {group_, members_}; }
  std::optional<std::string> PlacesIn(const std::vector<std::string>& nodes) {
    const auto capacity = PlacementCapacity::Of(TheCycle(), *cluster_, Info());
    if (!capacity) return std::nullopt;
    framework::NodeSet set(cluster_->Rows());
    for (const std::string& node : nodes) set.Insert(cluster_->FindNode(node));
    const auto [least, most] = capacity->Places(set);
    return fmt::format("{}..{}", least, most);
  }
  // Everything that follows from a cycle, in words.
  std::string Words(Decider& decider) {
    const GroupResult result = GroupAlgorithm(TheCycle(), *cluster_, decider).Run(Info());
    std::string words =
        fmt::format("{} {}", static_cast<int>(result.status.code), result.status.Message());
    for (const MemberResult& member : result.members) {
      words += fmt::format(
          "; {} {} {} {}", cluster_->GetPod(member.pod).name, member.status.Message(),
          member.node == cluster::kNoNode ? "-" : cluster_->NodeName(member.node), member.feasible);
    }
    for (const PlacementResult& placements : result.placements) {
      words += fmt::format("; {} of {}, {}", placements.feasible, placements.placements.size(),
                           placements.chosen);
      for (const auto& score : placements.scores) {
        words += fmt::format(" {}:{}", score.placement, score.total);
      }
    }
    return words;
  }

  config::Behaviour behaviour_;
  api::PodGroup group_;
  std::unique_ptr<cluster::Cluster> cluster_;
  std::unique_ptr<ProfileSet> profiles_;
  std::vector<PodId> members_;
};

TEST_F(PlacementCapacityTest, EqualPodsAreCounted) {
  Start();
  AddNode("a", "3", "r");
  AddNode("b", "2", "r");
  cluster_->SetNode(MakeNode("tainted").Cpu("8").Taint("k", "NoSchedule"));
  cluster_->AddPod(MakePod("there").Requests("cpu", "500m").On("b"));
  for (const char* name : {"p", "q", "r", "s"}) AddMember(MakePod(name).Requests("cpu", "1"));
  Gang(2);
  EXPECT_THAT(PlacesIn({"a"}), Optional("3..3"s));
  EXPECT_THAT(PlacesIn({"b"}), Optional("1..1"s)) << "half a core is taken";
  EXPECT_THAT(PlacesIn({"tainted"}), Optional("0..0"s));
  EXPECT_THAT(PlacesIn({"a", "b", "tainted"}), Optional("4..4"s));
}

TEST_F(PlacementCapacityTest, PodsOfSeveralKindsHaveBounds) {
  Start();
  AddNode("a", "6", "r");
  AddNode("b", "2", "r");
  AddNode("c", "1", "r");
  for (const char* name : {"p", "q"}) AddMember(MakePod(name).Requests("cpu", "1"));
  for (const char* name : {"r", "s"}) AddMember(MakePod(name).Requests("cpu", "2"));
  Gang(3);
  EXPECT_THAT(PlacesIn({"a", "b"}), Optional("4..4"s)) << "four of the large kind would fit";
  EXPECT_THAT(PlacesIn({"b"}), Optional("0..3"s)) << "two small ones or a large one";
  EXPECT_THAT(PlacesIn({"c"}), Optional("0..1"s));
}

TEST_F(PlacementCapacityTest, GroupsOfOtherKindsAreNot) {
  const struct {
    const char* name;
    api::Pod first;
    api::Pod second;
  } kRows[] = {
      {"host ports", MakePod("p").HostPort(80), MakePod("q").HostPort(80)},
      {"a nomination", MakePod("p").Nominated("a"), MakePod("q").Nominated("a")},
  };
  for (const auto& row : kRows) {
    Start();
    AddNode("a", "8", "r");
    AddMember(row.first);
    AddMember(row.second);
    Gang(2);
    EXPECT_EQ(PlacesIn({"a"}), std::nullopt) << row.name;
  }
}

TEST_F(PlacementCapacityTest, DecisionsAreThoseOfTryingEveryPlacement) {
  size_t counted = 0;
  size_t placed = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return random() % n; };
    Start();
    const unsigned nodes = 1 + below(14);
    for (unsigned i = 0; i < nodes; ++i) {
      const std::string name = fmt::format("n{:02}", i);
      AddNode(name, std::to_string(1 + below(6)), fmt::format("rack-{}", below(5)));
      for (unsigned k = below(3); k > 0; --k) {
        cluster_->AddPod(MakePod(fmt::format("low-{}-{}", i, k)).Requests("cpu", "500m").On(name));
      }
    }
    const unsigned size = 1 + below(9);
    const bool alike = below(2) != 0;
    for (unsigned i = 0; i < size; ++i) {
      const unsigned cpu = alike ? 1 + seed % 2 : 1 + below(3);
      AddMember(MakePod(fmt::format("m{}", i)).Requests("cpu", std::to_string(cpu)).Priority(5));
    }
    group_.spec.priority = 5;
    Gang(static_cast<int32_t>(1 + below(size)));
    Decider tries(false);
    Decider counts(true);
    const std::string expected = Words(tries);
    EXPECT_EQ(Words(counts), expected) << "seed " << seed;
    counted += counts.decided < tries.decided ? 1 : 0;
    placed += expected.starts_with("0 ") ? 1 : 0;
  }
  EXPECT_GT(counted, 150u) << "otherwise nothing is compared";
  EXPECT_GT(placed, 100u);
}

}  // namespace
}  // namespace berth::scheduler
