// Deciding from classes of pods gives the decisions of looking at every node: the same random
// history of a cluster is lived through side by side, once without classes, once with a class for
// every pod, once with classes where they pay, and every decision is compared. So is every
// preemption: the first way dry-runs each node each time. Daemons are among the pods: without
// classes their one node is looked at as all nodes are.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "scheduler/testing/classes.h"

namespace berth::scheduler {
namespace {

using cluster::FromText;
using cluster::MakeNode;
using cluster::MakePod;
using cluster::PodId;

constexpr std::string_view kHost = "kubernetes.io/hostname";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";

class History : LabHistory {
 public:
  explicit History(uint64_t seed) : LabHistory(seed) {
    rich_ = OneIn(2);
    if (OneIn(2)) own_labels_ = OneIn(2) ? 3 : 10'000;
    if (OneIn(3)) daemons_ = 1 + random_.Below(3);
    // Where all pods are of one kind, labels make the only difference.
    const auto count = static_cast<int>(1 + random_.Below(own_labels_ > 0 && OneIn(2) ? 1 : 6));
    for (int i = 0; i < count; ++i) templates_.push_back(Template(i));
    const auto nodes = static_cast<int>(2 + random_.Below(OneIn(3) ? 150 : 20));
    for (int i = 0; i < nodes; ++i) SetNode(i);
    next_node_ = nodes;
  }

  void Live(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) Step();
  }

  uint64_t Answers() const { return labs_[1]->cycle->classes().statistics().answers; }
  uint64_t RowsSeen() const { return labs_[1]->cycle->classes().statistics().rows; }
  uint64_t LazyAnswers() const { return labs_[2]->cycle->classes().statistics().answers; }
  uint64_t NowhereAnswers() const { return nowhere_; }
  uint64_t OnlyNodes() const { return alone_; }
  uint64_t Narrowed() const { return narrowed_; }
  bool EveryPodHasItsShape() const { return own_labels_ > 3; }
  uint64_t VictimsReused() const { return labs_[1]->preemption->known().statistics().reused; }

 private:
  // --- Objects

  void SetNode(int i) {
    MakeNode node(fmt::format("n{}", i));
    node.Cpu(fmt::format("{}", 2 + random_.Below(3))).Memory(Of("", 3) + "500Mi");
    node.Pods(fmt::format("{}", 3 + random_.Below(8)));
    if (!OneIn(8)) node.Zone(Of("z", 3));
    if (!OneIn(20)) node.Label(std::string(kHost), OneIn(60) ? "twin" : fmt::format("n{}", i));
    node.Label("disk", Of("d", 3));
    if (OneIn(4)) node.Label("rack", OneIn(6) ? "" : Of("r", 40));
    if (OneIn(4)) node.Taint(Of("t", 3), OneIn(2) ? "NoSchedule" : "PreferNoSchedule");
    if (OneIn(15)) node.Cordoned();
    if (OneIn(3)) node.Image({Of("registry.example.com/app", 2) + ":v1"}, 400'000'000);
    if (OneIn(4)) node.Has("example.com/gpu", Of("", 4));
    Everywhere([&](Lab& lab) { lab.cluster.SetNode(node); });
  }

  api::Pod Template(int i) {
    MakePod pod(fmt::format("template{}", i));
    pod.Label("app", Of("a", 3)).Priority(static_cast<int32_t>(random_.Below(3)) * 10);
    pod.Requests("cpu", Of("", 8) + "00m").Requests("memory", Of("", 400) + "Mi");
    if (OneIn(4)) pod.NoContainers().Container("c");
    if (OneIn(5)) pod.Namespace("other");
    if (OneIn(3)) pod.Image(Of("registry.example.com/app", 2) + ":v1");
    if (OneIn(6)) pod.Requests("example.com/gpu", "1");
    if (OneIn(6)) pod.HostPort(8000 + static_cast<int32_t>(random_.Below(2)));
    if (OneIn(3)) pod.Tolerates(Of("t", 3));
    if (OneIn(5)) pod.NodeSelector("disk", Of("d", 3));
    if (OneIn(4)) pod.NodeAffinity(PreferredDisk());
    if (rich_ && OneIn(2)) AddSpread(pod.Get());
    if (rich_ && OneIn(3)) AddSpread(pod.Get());
    if (rich_ && OneIn(2)) AddPodAffinity(pod.Get());
    if (OneIn(12)) pod.Volume("{'name':'v','persistentVolumeClaim':{'claimName':'none'}}");
    if (OneIn(3)) {
      pod.Get().metadata.owner_references.push_back(FromText<api::OwnerReference>(fmt::format(
          "{{'apiVersion':'apps/v1','kind':'StatefulSet','name':'{}','controller':true}}",
          Of("set", 2))));
    }
    return pod;
  }

  std::string PreferredDisk() {
    return fmt::format(
        "{{'preferredDuringSchedulingIgnoredDuringExecution':[{{'weight':{},'preference':"
        "{{'matchExpressions':[{{'key':'disk','operator':'{}','values':['d1']}}]}}}}]}}",
        1 + random_.Below(100), OneIn(2) ? "In" : "NotIn");
  }

  std::string_view TopologyKey() {
    const uint64_t which = random_.Below(5);
    return which < 2 ? kHost : which < 4 ? kZone : "rack";
  }

  // Of pods: by what a template gives them, or by what they have of their own.
  std::string Labels() {
    if (own_labels_ == 0 || OneIn(2))
      return fmt::format("'matchLabels':{{'app':'{}'}}", Of("a", 3));
    return fmt::format("'matchExpressions':[{{'key':'index','operator':'{}','values':['{}']}}]",
                       OneIn(2) ? "In" : "NotIn", Index());
  }
  std::string Index() {
    const bool near = own_labels_ > 3 && OneIn(2);
    return near ? fmt::format("i{}", next_pod_ + 1) : Of("i", own_labels_);
  }

  void AddSpread(api::Pod& pod) {
    pod.spec.topology_spread_constraints.push_back(
        FromText<api::TopologySpreadConstraint>(fmt::format(
            "{{'maxSkew':{},'topologyKey':'{}','whenUnsatisfiable':'{}','labelSelector':{{{}}},"
            "'nodeTaintsPolicy':'{}'{}}}",
            1 + random_.Below(3), TopologyKey(), OneIn(2) ? "DoNotSchedule" : "ScheduleAnyway",
            Labels(), OneIn(2) ? "Honor" : "Ignore",
            OneIn(3) ? ",'matchLabelKeys':['index']" : "")));
  }

  void AddPodAffinity(api::Pod& pod) {
    std::string list;
    const std::string_view kind = OneIn(2) ? "podAffinity" : "podAntiAffinity";
    const std::string term =
        fmt::format("{{'labelSelector':{{{}}},'topologyKey':'{}'{}}}", Labels(), TopologyKey(),
                    OneIn(4) ? ",'namespaceSelector':{'matchLabels':{'team':'x'}}" : "");
    const std::string json =
        OneIn(2) ? fmt::format("{{'{}':{{'requiredDuringSchedulingIgnoredDuringExecution':[{}]}}}}",
                               kind, term)
                 : fmt::format(
                       "{{'{}':{{'preferredDuringSchedulingIgnoredDuringExecution':"
                       "[{{'weight':{},'podAffinityTerm':{}}}]}}}}",
                       kind, 1 + random_.Below(100), term);
    auto affinity = FromText<api::Affinity>(json);
    if (pod.spec.affinity) affinity.node_affinity = pod.spec.affinity->node_affinity;
    pod.spec.affinity = std::move(affinity);
  }

  // As the controller of a DaemonSet does it, and in ways that it does not. The nodes may be full,
  // tainted, cordoned, or not there.
  void PinToNode(api::Pod& pod) {
    const auto name = [&] {
      return fmt::format("{{'key':'metadata.name','operator':'{}','values':['{}']}}",
                         OneIn(30) ? "NotIn" : "In",
                         Of("n", static_cast<uint64_t>(next_node_) + 1));
    };
    const auto term = [&] {
      return fmt::format("{{'matchFields':[{}{}]{}}}", name(), OneIn(20) ? "," + name() : "",
                         OneIn(10) ? ",'matchExpressions':[{'key':'disk','operator':'In',"
                                     "'values':['d1','d2']}]"
                                   : "");
    };
    auto required = FromText<api::NodeSelector>(
        fmt::format("{{'nodeSelectorTerms':[{}{}]}}", term(), OneIn(10) ? "," + term() : ""));
    if (!pod.spec.affinity) pod.spec.affinity.emplace();
    auto& affinity = pod.spec.affinity->node_affinity;
    if (!affinity) affinity.emplace();
    affinity->required_during_scheduling_ignored_during_execution = std::move(required);
    if (OneIn(2)) return;
    for (const std::string_view key : {"t0", "t1", "node.kubernetes.io/unschedulable"}) {
      api::Toleration& toleration = pod.spec.tolerations.emplace_back();
      toleration.key = key;
      toleration.operator_ = "Exists";
    }
  }

  api::Pod NewPod() {
    api::Pod pod = templates_[random_.Below(templates_.size())];
    pod.metadata.name = fmt::format("p{}", ++next_pod_);
    pod.metadata.uid = pod.metadata.name;
    if (own_labels_ > 0) {
      pod.metadata.labels["index"] =
          own_labels_ > 3 ? fmt::format("i{}", next_pod_) : Of("i", own_labels_);
      if (OneIn(4)) pod.metadata.labels["app"] = Of("a", 3);
    }
    if (daemons_ > 0 && !OneIn(1 + daemons_)) PinToNode(pod);
    if (OneIn(40)) pod.status.nominated_node_name = Of("n", static_cast<uint64_t>(next_node_) + 1);
    return pod;
  }

  // --- What happens

  void Step() {
    switch (random_.Below(24)) {
      case 0:
        SetNode(static_cast<int>(random_.Below(static_cast<uint64_t>(next_node_))));
        break;
      case 1:
        if (OneIn(2)) SetNode(next_node_++);
        break;
      case 2:
        if (OneIn(3)) RemoveNode();
        break;
      case 3:
      case 4:
        RemovePod();
        break;
      case 5:
        UpdatePod();
        break;
      case 6:
        AddPlaced();
        break;
      case 7:
        if (OneIn(6)) templates_[random_.Below(templates_.size())] = Template(0);
        break;
      case 8:
        if (OneIn(5)) SetNamespace();
        break;
      case 9:
        if (OneIn(5)) OneIn(2) ? SetService() : SetController();
        break;
      case 10:
        ToggleNomination();
        break;
      case 11:
        if (OneIn(4)) SetBudget();
        break;
      default:
        Schedule();
    }
  }

  void RemoveNode() {
    const std::string name = Of("n", static_cast<uint64_t>(next_node_));
    Everywhere([&](Lab& lab) { lab.cluster.RemoveNode(name); });
  }

  PodId SomePlaced() {
    if (placed_.empty()) return cluster::kNoPod;
    const std::string& uid = placed_[random_.Below(placed_.size())];
    return First().FindPod(uid);
  }

  void RemovePod() {
    const PodId id = SomePlaced();
    if (id == cluster::kNoPod) return;
    Everywhere([&](Lab& lab) { lab.cluster.RemovePod(id); });
  }

  void UpdatePod() {
    const PodId id = SomePlaced();
    if (id == cluster::kNoPod) return;
    api::Pod pod = NewPod();
    pod.metadata.name = First().GetPod(id).name;
    pod.metadata.uid = First().GetPod(id).uid;
    pod.spec.node_name = First().GetPod(id).node_name;
    if (OneIn(2)) pod.metadata.deletion_timestamp.emplace();
    Start(pod);
    Everywhere([&](Lab& lab) { lab.cluster.UpdatePod(id, pod); });
  }

  void AddPlaced() {
    api::Pod pod = NewPod();
    pod.spec.node_name = Of("n", static_cast<uint64_t>(next_node_) + 2);  // perhaps not there
    if (rich_ && own_labels_ > 0 && OneIn(2)) AddPodAffinity(pod);
    placed_.push_back(pod.metadata.uid);
    Start(pod);
    Everywhere([&](Lab& lab) { lab.cluster.AddPod(pod); });
  }

  void SetNamespace() {
    const auto object = FromText<api::Namespace>(
        fmt::format("{{'metadata':{{'name':'{}','labels':{{'team':'{}'}}}}}}",
                    OneIn(2) ? "ns" : "other", OneIn(2) ? "x" : "y"));
    Everywhere([&](Lab& lab) { lab.cluster.MutableObjects().namespaces.Set(object); });
  }

  // With a service, pods without constraints spread by default.
  void SetService() {
    const bool by_index = own_labels_ > 0 && OneIn(3);
    const auto object = FromText<api::Service>(
        fmt::format("{{'metadata':{{'name':'{}','namespace':'ns'}},'spec':{{'selector':"
                    "{{'{}':'{}'}}}}}}",
                    Of("s", 3), by_index ? "index" : "app", by_index ? Index() : Of("a", 3)));
    Everywhere([&](Lab& lab) { lab.cluster.MutableObjects().services.Set(object); });
  }

  void SetController() {
    const auto object = FromText<api::StatefulSet>(
        fmt::format("{{'metadata':{{'name':'{}','namespace':'ns'}},'spec':{{'selector':{{{}}}}}}}",
                    Of("set", 2), Labels()));
    Everywhere([&](Lab& lab) { lab.cluster.MutableObjects().stateful_sets.Set(object); });
  }

  void SetBudget() {
    auto object = FromText<api::PodDisruptionBudget>(
        fmt::format("{{'metadata':{{'name':'{}','namespace':'ns'}},'spec':{{'selector':"
                    "{{'matchLabels':{{'app':'{}'}}}}}}}}",
                    Of("b", 2), Of("a", 3)));
    object.status.disruptions_allowed = static_cast<int32_t>(random_.Below(3));
    Everywhere([&](Lab& lab) { lab.cluster.MutableObjects().pod_disruption_budgets.Set(object); });
  }

  // Placed pods have started some time, or not yet.
  void Start(api::Pod& pod) {
    if (OneIn(3)) return;
    pod.status.start_time = api::Time::FromUnixNano(
        (1'700'000'000 + static_cast<int64_t>(random_.Below(5))) * 1'000'000'000);
  }

  void ToggleNomination() {
    if (nominated_ != cluster::kNoPod && OneIn(2)) {
      const std::string uid = First().GetPod(nominated_).uid;
      if (First().FindPod(uid) == nominated_) {
        Everywhere([&](Lab& lab) { lab.cluster.RemovePod(nominated_); });
      }
      nominated_ = cluster::kNoPod;
      return;
    }
    const api::Pod pod = NewPod();
    const std::string node = Of("n", static_cast<uint64_t>(next_node_));
    Everywhere([&](Lab& lab) {
      nominated_ = lab.cluster.AddPod(pod);
      lab.cluster.MutableNominations().Set(nominated_, lab.cluster.Strings().Intern(node));
    });
  }

  void Schedule() {
    const api::Pod pod = NewPod();
    PodId id = cluster::kNoPod;
    Everywhere([&](Lab& lab) { id = lab.cluster.AddPod(pod); });
    if (!Fits(id, 2)) return;
    placed_.push_back(pod.metadata.uid);
    Everywhere([&](Lab& lab) { lab.Place(id); });
  }

  bool rich_ = false;        // with pods that look at other pods
  uint64_t own_labels_ = 0;  // with pods that differ in a label, which has so many values
  uint64_t daemons_ = 0;     // for each other pod so many that name their node
  std::vector<api::Pod> templates_;
  std::vector<std::string> placed_;  // uids, also of pods that are gone
  PodId nominated_ = cluster::kNoPod;
  int next_node_ = 0;
  int next_pod_ = 0;
};

TEST(ClassesProperty, DecisionsAreThoseOfAScan) {
  uint64_t answers = 0;
  uint64_t rows = 0;
  uint64_t lazy = 0;
  uint64_t shared = 0;  // of those, by pods whose labels are their own
  uint64_t nowhere = 0;
  uint64_t reused = 0;
  uint64_t alone = 0;
  const char* more = std::getenv("BERTH_SEEDS");  // for a longer look
  const uint64_t seeds = more == nullptr ? 120 : std::strtoull(more, nullptr, 10);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    History history(seed);
    history.Live(250);
    if (HasFailure()) return;
    answers += history.Answers();
    rows += history.RowsSeen();
    lazy += history.LazyAnswers();
    if (history.EveryPodHasItsShape()) shared += history.LazyAnswers();
    nowhere += history.NowhereAnswers();
    reused += history.VictimsReused();
    alone += history.OnlyNodes();
  }
  // The comparison means something only if classes are used, kept and caught up.
  EXPECT_GT(answers, 40 * seeds);
  EXPECT_GT(rows, 40 * seeds);
  EXPECT_GT(lazy, 8 * seeds);
  EXPECT_GT(shared, 3 * seeds);
  EXPECT_GT(nowhere, 8 * seeds);
  EXPECT_GT(reused, 8 * seeds);
  EXPECT_GT(alone, 8 * seeds);
}

}  // namespace
}  // namespace berth::scheduler
