// Fifty generated workloads that wait, for ten causes: the cause is named among the first two, and
// with every suggestion shown the engine places the whole workload and nobody else loses a node.
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster/testing/builders.h"
#include "explain/suggestions.h"
#include "explain/views.h"
#include "scheduler/engine.h"

namespace berth::explain {
namespace {

using cluster::MakeNode;
using cluster::MakePod;

constexpr int64_t kSecond = 1'000'000'000;

// Kinds of causes, in the order in which the generator takes turns.
constexpr std::array<std::string_view, 10> kCauses{
    "LargerThanAnyNode", "NoSuchLabel",   "MissingClaim",   "MissingStorageClass", "NotEnoughFree",
    "PodAntiAffinity",   "HostPortTaken", "TopologySpread", "UntoleratedTaint",    "Cordoned"};

std::string Pick(Random& random, std::vector<std::string> from) {
  return from[static_cast<size_t>(random.Below(from.size()))];
}

// A cluster of 3 zones: general nodes that are nearly full, tainted and cordoned pools that are
// empty.
struct Cluster {
  std::vector<api::Node> nodes;
  std::vector<api::Pod> running;
  std::vector<api::Object> others;
};

api::Pod Replica(const std::string& workload, int number) {
  api::Pod pod = MakePod(fmt::format("{}-abc-{}", workload, number))
                     .Label("app", workload)
                     .Label("pod-template-hash", "abc");
  api::OwnerReference& owner = pod.metadata.owner_references.emplace_back();
  owner.api_version = "apps/v1";
  owner.kind = "ReplicaSet";
  owner.name = workload + "-abc";
  owner.controller = true;
  return pod;
}

api::Node Node(const std::string& name, int zone, const std::string& pool, const std::string& cpu) {
  return MakeNode(name)
      .Cpu(cpu)
      .Memory("64Gi")
      .Zone(fmt::format("z{}", zone))
      .Label("pool", pool)
      .Label("kubernetes.io/hostname", name);
}

Cluster MakeCluster(Random& random) {
  Cluster cluster;
  for (int i = 0; i < 9; ++i) {
    cluster.nodes.push_back(Node(fmt::format("general-{}", i), i % 3, "general", "8"));
    const int64_t used = 5000 + static_cast<int64_t>(random.Below(10)) * 100;
    api::Pod filler = Replica(fmt::format("filler{}", i), i);
    filler = [&] {
      api::Pod pod = filler;
      pod.spec.containers[0].resources.requests["cpu"] = api::Quantity::FromMilli(used);
      pod.spec.containers[0].ports.resize(1);
      pod.spec.containers[0].ports[0].container_port = 9100;
      pod.spec.containers[0].ports[0].host_port = 9100;
      pod.spec.node_name = fmt::format("general-{}", i);
      return pod;
    }();
    cluster.running.push_back(std::move(filler));
  }
  for (int i = 0; i < 4; ++i) {
    api::Node gpu = Node(fmt::format("gpu-{}", i), i % 3, "gpu", "16");
    gpu.spec.taints.push_back({"gpu", "yes", "NoSchedule", {}});
    cluster.nodes.push_back(std::move(gpu));
    api::Node db = Node(fmt::format("db-{}", i), i % 3, "db", "16");
    db.spec.unschedulable = true;
    db.spec.taints.push_back({"node.kubernetes.io/unschedulable", "", "NoSchedule", {}});
    cluster.nodes.push_back(std::move(db));
  }
  return cluster;
}

void AddClaim(Cluster* cluster, const std::string& name, const std::string& storage_class) {
  api::PersistentVolumeClaim claim;
  claim.metadata.namespace_ = "ns";
  claim.metadata.name = name;
  claim.spec.storage_class_name = storage_class;
  claim.spec.access_modes = {"ReadWriteMany"};
  cluster->others.push_back(std::move(claim));
}

void UseClaim(api::Pod& pod, const std::string& name) {
  api::Volume& volume = pod.spec.volumes.emplace_back();
  volume.name = "data";
  volume.persistent_volume_claim.emplace();
  volume.persistent_volume_claim->claim_name = name;
}

void KeepApart(api::Pod& pod, const std::string& app) {
  pod.spec.affinity.emplace();
  pod.spec.affinity->pod_anti_affinity = cluster::FromText<api::PodAntiAffinity>(fmt::format(
      "{{'requiredDuringSchedulingIgnoredDuringExecution':[{{'topologyKey':"
      "'topology.kubernetes.io/zone','labelSelector':{{'matchLabels':{{'app':'{}'}}}}}}]}}",
      app));
}

void Spread(api::Pod& pod, const std::string& app) {
  pod.spec.topology_spread_constraints.push_back(cluster::FromText<api::TopologySpreadConstraint>(
      fmt::format("{{'topologyKey':'topology.kubernetes.io/zone','maxSkew':1,'whenUnsatisfiable':"
                  "'DoNotSchedule','labelSelector':{{'matchLabels':{{'app':'{}'}}}}}}",
                  app)));
}

// The pods of a workload that waits for `cause`. Some of them may run already.
std::vector<api::Pod> MakeWorkload(std::string_view cause, Random& random, Cluster* cluster) {
  const std::string name = fmt::format("web{}", random.Below(1000));
  int replicas = 1 + static_cast<int>(random.Below(4));
  if (cause == "PodAntiAffinity") replicas = 4 + static_cast<int>(random.Below(3));
  if (cause == "TopologySpread") replicas = 4 + static_cast<int>(random.Below(3));
  std::vector<api::Pod> pods;
  const std::string cpu = cause == "LargerThanAnyNode" ? Pick(random, {"24", "40"})
                          : cause == "NotEnoughFree"   ? Pick(random, {"4", "6500m"})
                                                       : "200m";
  const std::string label = Pick(random, {"disk", "tier", "rack"});
  const bool one_runs = random.Below(2) == 0;
  if (cause == "MissingStorageClass") AddClaim(cluster, name, "fast");
  for (int i = 0; i < replicas; ++i) {
    api::Pod pod = Replica(name, i);
    pod.spec.containers[0].resources.requests["cpu"] = cluster::Amount(cpu);
    if (cause == "NoSuchLabel") pod.spec.node_selector[label] = "x1";
    if (cause == "MissingClaim" || cause == "MissingStorageClass") UseClaim(pod, name);
    if (cause == "PodAntiAffinity") KeepApart(pod, name);
    if (cause == "TopologySpread") Spread(pod, name);
    if (cause == "UntoleratedTaint") pod.spec.node_selector["pool"] = "gpu";
    if (cause == "Cordoned") pod.spec.node_selector["pool"] = "db";
    if (cause == "HostPortTaken") {
      pod.spec.containers[0].ports.resize(1);
      pod.spec.containers[0].ports[0].container_port = 9100;
      pod.spec.containers[0].ports[0].host_port = 9100;
    }
    pods.push_back(std::move(pod));
  }
  if (cause == "PodAntiAffinity" && one_runs) {
    for (size_t zone = 0; zone < 3; ++zone) {
      pods[zone].spec.node_name = fmt::format("general-{}", zone);
    }
  }
  // A zone that counts, where no node takes a pod any more.
  if (cause == "TopologySpread") {
    for (const int node : {2, 5, 8}) {
      api::Pod full = Replica(fmt::format("full{}", node), node);
      full.spec.containers[0].resources.requests["memory"] = cluster::Amount("64Gi");
      full.spec.node_name = fmt::format("general-{}", node);
      cluster->running.push_back(std::move(full));
    }
    for (api::Pod& pod : pods) {
      pod.spec.containers[0].resources.requests["memory"] = cluster::Amount("100Mi");
    }
  }
  return pods;
}

// An engine and a cluster that does what it is asked. Evicted pods come back as pending ones.
class Host {
 public:
  Host() {
    scheduler::EngineOptions options;
    options.algorithm.seed = 11;
    engine_ = std::move(*scheduler::Engine::Make(config::Default(), options, Now()));
  }
  template <class T>
  void Put(T object) {
    object.metadata.resource_version = std::to_string(++version_);
    if constexpr (std::is_same_v<T, api::Pod>) pods_[object.metadata.uid] = object;
    engine_->Upsert(std::move(object));
  }
  void PutAll(const Cluster& cluster) {
    for (const api::Object& object : cluster.others) {
      std::visit([&](const auto& value) { PutIf(value); }, object);
    }
    for (const api::Node& node : cluster.nodes) Put(node);
    for (const api::Pod& pod : cluster.running) Put(pod);
  }
  // Until everything that can be placed is.
  void Run() {
    for (int round = 0; round < 12; ++round) {
      while (engine_->Step()) {
      }
      for (scheduler::Effect& effect : engine_->TakeEffects()) Do(effect);
      now_ += 15 * kSecond;
      engine_->AdvanceTo(Now());
    }
  }
  scheduler::Source Source() { return engine_->Explaining(); }
  std::vector<std::string> Homeless() {
    std::vector<std::string> names;
    const cluster::Cluster& cluster = *Source().cluster;
    for (cluster::PodId id = 0; id < cluster.PodIdLimit(); ++id) {
      if (cluster.PodExists(id) && cluster.GetPod(id).node == cluster::kNoNode) {
        names.push_back(cluster.GetPod(id).name);
      }
    }
    return names;
  }

 private:
  api::Time Now() const { return api::Time::FromUnixNano(now_); }
  template <class T>
  void PutIf(const T& value) {
    if constexpr (requires { value.metadata.resource_version; }) Put(value);
  }
  void Do(const scheduler::Effect& effect) {
    if (const auto* evict = std::get_if<scheduler::DeletePod>(&effect.action)) {
      api::Pod pod = pods_[evict->pod.uid];
      engine_->Complete(
          {.id = effect.id, .code = scheduler::EffectResult::Code::kOk, .message = ""});
      engine_->Delete(pod);
      pod.metadata.uid += "-again";
      pod.metadata.name += "-again";
      pod.spec.node_name.clear();
      Put(pod);
      return;
    }
    engine_->Complete({.id = effect.id, .code = scheduler::EffectResult::Code::kOk, .message = ""});
  }

  int64_t now_ = 1'700'000'000 * kSecond;
  int64_t version_ = 0;
  std::map<std::string, api::Pod> pods_;
  std::unique_ptr<scheduler::Engine> engine_;
};

// The cluster with the change of a suggestion made: what does the engine leave without a node?
std::vector<std::string> HomelessWith(const Cluster& cluster, const std::vector<api::Pod>& workload,
                                      const ChangedInput& input) {
  Host host;
  Cluster changed = cluster;
  for (const api::Node& node : input.nodes) {
    std::erase_if(changed.nodes,
                  [&](const api::Node& n) { return n.metadata.name == node.metadata.name; });
    changed.nodes.push_back(node);
  }
  for (const std::string& uid : input.moved_pods) {
    for (api::Pod& pod : changed.running) {
      if (pod.metadata.uid == uid) pod.spec.node_name.clear();
    }
  }
  std::set<std::string> replaced{input.pod.metadata.uid};
  for (const api::Pod& pod : input.siblings) replaced.insert(pod.metadata.uid);
  host.PutAll(changed);
  for (const api::Pod& pod : workload) {
    if (!replaced.contains(pod.metadata.uid)) host.Put(pod);
  }
  host.Put(input.pod);
  for (const api::Pod& pod : input.siblings) host.Put(pod);
  host.Run();
  return host.Homeless();
}

TEST(WorkloadSuggestions, EveryOneHelpsTheWholeWorkloadAndTheCauseComesFirst) {
  Random random(23);
  int shown = 0;
  std::map<std::string, int> kinds;
  for (int i = 0; i < 50; ++i) {
    const std::string_view cause = kCauses[static_cast<size_t>(i) % kCauses.size()];
    SCOPED_TRACE(fmt::format("workload {}: {}", i, cause));
    Cluster cluster = MakeCluster(random);
    const std::vector<api::Pod> workload = MakeWorkload(cause, random, &cluster);
    Host host;
    host.PutAll(cluster);
    for (const api::Pod& pod : workload) host.Put(pod);
    host.Run();
    const std::vector<std::string> pending = host.Homeless();
    ASSERT_FALSE(pending.empty());
    // Where the others ended up is part of the situation.
    std::vector<api::Pod> as_is = workload;
    const scheduler::Source source = host.Source();
    for (api::Pod& pod : as_is) {
      const cluster::Pod& known = source.cluster->GetPod(FindPod(source, "ns", pod.metadata.name));
      if (known.node != cluster::kNoNode) {
        pod.spec.node_name = source.cluster->NodeName(known.node);
      }
    }
    std::vector<ChangedInput> inputs;
    const auto list = Suggest(source, FindPod(source, "ns", pending.front()), {}, &inputs);
    ASSERT_TRUE(list);
    EXPECT_EQ(list->pending, static_cast<int64_t>(pending.size()));
    ASSERT_FALSE(list->causes.empty());
    bool named = list->causes[0].kind == cause;
    if (list->causes.size() > 1) named = named || list->causes[1].kind == cause;
    std::string texts;
    for (const Cause& known : list->causes) texts += known.kind + ": " + known.text + "\n";
    EXPECT_TRUE(named) << texts;
    EXPECT_FALSE(list->items.empty());
    for (size_t s = 0; s < list->items.size(); ++s) {
      const Suggestion& suggestion = list->items[s];
      ++shown;
      ++kinds[suggestion.kind];
      EXPECT_THAT(HomelessWith(cluster, as_is, inputs[s]), testing::IsEmpty()) << suggestion.text;
      if (suggestion.kind == "LowerRequest" || suggestion.kind == "AddToleration" ||
          suggestion.kind == "DropPodAntiAffinity" || suggestion.kind == "RaiseMaxSkew") {
        EXPECT_THAT(suggestion.patch, testing::StartsWith("kubectl -n ns patch deployment web"));
      }
    }
  }
  for (const auto& [kind, count] : kinds) {
    fmt::print("{} {}\n", kind, count);
  }
  EXPECT_GE(shown, 50);
  for (const char* kind :
       {"LowerRequest", "LabelNode", "AddToleration", "Uncordon", "AddNode", "DropPodAntiAffinity",
        "RaiseMaxSkew", "FreeHostPort", "ReleaseVolume"}) {
    EXPECT_GT(kinds[kind], 0) << kind;
  }
}

}  // namespace
}  // namespace berth::explain
