#include "plugins/network_overhead/network_overhead.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/wrap.h"
#include "cluster/objects/object_store.h"

namespace berth::plugins::network_overhead {
namespace {

using cluster::Cluster;
using cluster::NodeIndex;
using framework::CycleContext;
using framework::PluginState;
using framework::Status;

constexpr int64_t kSameZone = 1;
constexpr int64_t kUnknown = 100;

const OverheadState& StateOf(const PluginState* state) {
  return *static_cast<const OverheadState*>(state);
}

struct Place {
  std::string region;
  std::string zone;

  auto operator<=>(const Place&) const = default;
};

Place PlaceOf(const Cluster& cluster, NodeIndex n) {
  static constexpr std::string_view kRegion = "topology.kubernetes.io/region";
  static constexpr std::string_view kZone = "topology.kubernetes.io/zone";
  Place place;
  for (const auto& [key, value] : cluster.Record(n).labels) {
    const std::string& name = cluster.Strings().Text(key);
    if (name == kRegion) place.region = cluster.Strings().Text(value);
    if (name == kZone) place.zone = cluster.Strings().Text(value);
  }
  return place;
}

// A pod that the pod at hand talks to.
struct Peer {
  NodeIndex node;
  Place place;
  int64_t max_cost;
};

// What a peer means for the nodes of a place, if it is not on the node itself.
void Count(const Place& from, const NetworkCosts::Table& costs, const Peer& peer, int64_t times,
           Overhead* overhead) {
  const Place& to = peer.place;
  if (to.region.empty() && to.zone.empty()) {
    overhead->violated += times;
    overhead->cost = WrapAdd(overhead->cost, kUnknown * times);
    return;
  }
  const bool same_region = from.region == to.region;
  if (same_region && from.zone == to.zone) {
    overhead->satisfied += times;
    overhead->cost = WrapAdd(overhead->cost, kSameZone * times);
    return;
  }
  const auto it =
      costs.find(same_region ? std::pair(from.zone, to.zone) : std::pair(from.region, to.region));
  if (it == costs.end()) {  // neither satisfied nor violated
    overhead->cost = WrapAdd(overhead->cost, kUnknown * times);
    return;
  }
  (it->second <= peer.max_cost ? overhead->satisfied : overhead->violated) += times;
  overhead->cost = WrapAdd(overhead->cost, WrapMul(it->second, times));
}

// All pods that the dependencies name and that are on nodes.
class Peers {
 public:
  Status Collect(const CycleContext& c, const std::string& group_name,
                 const std::vector<AppDependency>& dependencies) {
    for (const cluster::PodId id : c.cluster.Labelled().Of(kAppGroupLabel, group_name)) {
      const cluster::Pod& pod = c.cluster.GetPod(id);
      if (pod.node == cluster::kNoNode || pod.assumed) continue;
      any_scheduled_ = true;
      const std::string* selector =
          api::FindValue(pod.shape->source.metadata.labels, kWorkloadLabel);
      for (const AppDependency& dependency : dependencies) {
        if (dependency.workload.selector != (selector == nullptr ? std::string() : *selector)) {
          continue;
        }
        if (!c.cluster.Record(pod.node).exists) {
          return Status::Error(
              fmt::format("pod hostname not found: nodeinfo not found for node name \"{}\"",
                          c.cluster.NodeName(pod.node)));
        }
        peers_.push_back({pod.node, PlaceOf(c.cluster, pod.node), dependency.max_network_cost});
      }
    }
    return {};
  }
  bool AnyScheduled() const { return any_scheduled_; }

  // What they mean for every node.
  std::vector<Overhead> OverNodes(const Cluster& cluster, const NetworkCosts& costs) const {
    struct Known {
      NetworkCosts::Table costs;
      Overhead all;
    };
    std::map<Place, Known> by_place;
    std::vector<Overhead> by_node(cluster.Rows());
    std::vector<std::vector<const Peer*>> here(cluster.Rows());
    for (const Peer& peer : peers_) here[peer.node].push_back(&peer);
    cluster.Nodes().ForEach([&](NodeIndex n) {
      const Place place = PlaceOf(cluster, n);
      const auto [it, inserted] = by_place.try_emplace(place);
      Known& known = it->second;
      if (inserted) {
        known.costs = costs.From(place.region, place.zone);
        for (const Peer& peer : peers_) Count(place, known.costs, peer, 1, &known.all);
      }
      by_node[n] = known.all;
      for (const Peer* peer : here[n]) {
        Count(place, known.costs, *peer, -1, &by_node[n]);
        ++by_node[n].satisfied;  // on the node itself, at no cost
      }
    });
    return by_node;
  }

 private:
  std::vector<Peer> peers_;
  bool any_scheduled_ = false;
};

Status Missing(std::string_view kind, const std::string& name,
               const std::vector<std::string>& namespaces) {
  return Status::Unresolvable(
      fmt::format("{} {} not found in namespaces {}", kind, name, fmt::join(namespaces, ", ")));
}

}  // namespace

const NetworkCosts* NetworkOverhead::FindCosts(const Cluster& cluster) const {
  const cluster::CustomKind& kind = NetworkTopologyKind();
  const auto* store = cluster.Objects().custom.Find(kind.ApiVersion(), kind.kind);
  if (store == nullptr) return nullptr;
  if (store->Generation() != costs_generation_) {
    costs_generation_ = store->Generation();
    costs_.reset();
    for (const std::string& ns : args_.namespaces) {
      const auto* object = store->Find(ns, args_.network_topology_name);
      if (object == nullptr || object->metadata.uid.empty()) continue;
      costs_ = NetworkCosts::Parse(object->json, args_.weights_name);
      break;
    }
  }
  return costs_ ? &*costs_ : nullptr;
}

Status NetworkOverhead::PreFilter(const CycleContext& c, PluginState* state,
                                  framework::PreFilterResult*) const {
  const api::StringMap& labels = c.shape.source.metadata.labels;
  const std::string* name = api::FindValue(labels, kAppGroupLabel);
  if (name == nullptr || name->empty()) return {};
  // The original crashes where one of them is missing.
  const AppGroup* group = groups_.Find(c.cluster, args_.namespaces, *name, /*needs_uid=*/true);
  if (group == nullptr) return Missing("AppGroup", *name, args_.namespaces);
  const NetworkCosts* costs = FindCosts(c.cluster);
  if (costs == nullptr) {
    return Missing("NetworkTopology", args_.network_topology_name, args_.namespaces);
  }
  const std::string* selector = api::FindValue(labels, kWorkloadLabel);
  std::vector<AppDependency> dependencies;
  for (const AppGroupMember& member : group->spec.workloads) {
    if (member.workload.selector != (selector == nullptr ? std::string() : *selector)) continue;
    dependencies.insert(dependencies.end(), member.dependencies.begin(), member.dependencies.end());
  }
  if (dependencies.empty()) return {};
  Peers peers;
  if (Status status = peers.Collect(c, *name, dependencies); !status.Ok()) return status;
  if (!peers.AnyScheduled()) return {};
  OverheadState& overhead = *static_cast<OverheadState*>(state);
  overhead.counts = true;
  overhead.by_node = peers.OverNodes(c.cluster, *costs);
  return {};
}

void NetworkOverhead::Filter(const CycleContext&, const PluginState* state,
                             framework::FilterBatch& batch) const {
  const OverheadState& overhead = StateOf(state);
  if (!overhead.counts) return;
  batch.ForEach([&](NodeIndex n) {
    const Overhead& own = overhead.by_node[n];
    if (own.violated > own.satisfied) batch.Reject(n, framework::Code::kUnschedulable, n);
  });
}

void NetworkOverhead::Reasons(const CycleContext& c, const PluginState* state,
                              const framework::Verdict& verdict,
                              std::vector<std::string>* out) const {
  const Overhead& own = StateOf(state).by_node[verdict.reason];
  out->push_back(
      fmt::format("Node {} does not meet several network requirements from Workload dependencies: "
                  "Satisfied: {} Violated: {}",
                  c.cluster.NodeName(verdict.reason), own.satisfied, own.violated));
}

void NetworkOverhead::Score(const CycleContext&, const PluginState* state,
                            framework::ScoreBatch& batch) const {
  const OverheadState& overhead = StateOf(state);
  int64_t* scores = batch.Scores();
  batch.ForEach([&](NodeIndex n) { scores[n] = overhead.counts ? overhead.by_node[n].cost : 0; });
}

void NetworkOverhead::Normalize(const CycleContext&, const PluginState*,
                                const framework::NodeSet& feasible,
                                framework::ScoreColumn& column) const {
  constexpr int64_t kMax = framework::kMaxNodeScore;
  if (column.IsUniform()) return column.SetUniform(column.Uniform() == 0 ? 0 : kMax);
  int64_t* scores = column.Dense();
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = std::numeric_limits<int64_t>::min();
  feasible.ForEach([&](NodeIndex n) {
    least = std::min(least, scores[n]);
    most = std::max(most, scores[n]);
  });
  if (least == 0 && most == 0) return column.SetUniform(0);
  if (least == most) return column.SetUniform(kMax);
  const auto range = static_cast<double>(WrapSub(most, least));
  feasible.ForEach([&](NodeIndex n) {
    const auto above = static_cast<double>(WrapSub(scores[n], least));
    scores[n] = WrapSub(kMax, TruncToInt64(static_cast<double>(kMax) * above / range));
  });
}

cluster::PluginInputs Inputs(const config::PluginArgs&) {
  return {.kinds = {AppGroupKind(), NetworkTopologyKind()},
          .node_annotations = {},
          .pod_annotations = {},
          .pod_labels = {std::string(kAppGroupLabel)}};
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle&) {
  config::NetworkOverheadArgs own;
  if (const auto* given = config::OwnArgsAs<config::NetworkOverheadArgs>(args)) own = *given;
  own.SetDefaults();
  return std::make_unique<NetworkOverhead>(own);
}

}  // namespace berth::plugins::network_overhead
