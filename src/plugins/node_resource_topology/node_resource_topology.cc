#include "plugins/node_resource_topology/node_resource_topology.h"

#include <algorithm>

#include "cluster/objects/object_store.h"
#include "plugins/common/custom_hints.h"
#include "plugins/node_resource_topology/align.h"

namespace berth::plugins::node_resource_topology {
namespace {

using cluster::NodeIndex;
using framework::Code;
using framework::CycleContext;

// Reasons of verdicts: a Misfit, or one of these.
constexpr uint32_t kStale = 100;
constexpr uint32_t kUnaligned = 101;
constexpr uint32_t kUnidentified = 102;

struct NumaState final : framework::PluginState {
  const PodNeeds* needs = nullptr;
  AlignmentMemo::Kind* memo = nullptr;  // null: nothing is remembered
  uint64_t kind = 0;

  // Null: nothing is remembered about the row, or not any more.
  AlignmentMemo::Slot* SlotOf(NodeIndex n) const {
    if (memo == nullptr || memo->kind != kind || n >= memo->rows.size()) return nullptr;
    return &memo->rows[n];
  }
};

const NumaState& StateOf(const framework::PluginState* state) {
  return *static_cast<const NumaState*>(state);
}

const PodNeeds& NeedsOf(const framework::PluginState* state) {
  return *static_cast<const NumaState*>(state)->needs;
}

Strategy StrategyOf(std::string_view name) {
  if (name == "MostAllocated") return Strategy::kMostAllocated;
  if (name == "BalancedAllocation") return Strategy::kBalanced;
  if (name == "LeastNUMANodes") return Strategy::kLeastNumaNodes;
  return Strategy::kLeastAllocated;
}

// Every node has cpu, memory, ephemeral storage and pods, even if it is none.
bool HasResource(const cluster::Cluster& cluster, NodeIndex n, std::string_view name) {
  if (name == "cpu" || name == "memory" || name == "ephemeral-storage" || name == "pods") {
    return true;
  }
  const cluster::ResourceId id = cluster.Resources().Find(name);
  const auto& scalars = cluster.Record(n).scalar_allocatable;
  return std::any_of(scalars.begin(), scalars.end(),
                     [&](const auto& scalar) { return scalar.first == id; });
}

}  // namespace

NodeResourceTopologyMatch::NodeResourceTopologyMatch(
    const config::NodeResourceTopologyMatchArgs& args)
    : discards_reserved_(args.discard_reserved_nodes) {
  if (!discards_reserved_ && args.cache_resync_period_seconds > 0) cache_.emplace(args);
  if (args.accuracy == "Exact") exact_.emplace();
  if (!args.scoring_strategy) return;
  strategy_ = StrategyOf(args.scoring_strategy->type);
  for (const auto& resource : args.scoring_strategy->resources) {
    weights_[resource.name] = resource.weight;
  }
}

std::unique_ptr<framework::PluginState> NodeResourceTopologyMatch::NewState() const {
  return std::make_unique<NumaState>();
}

void NodeResourceTopologyMatch::BeginCycle(const CycleContext& c,
                                           framework::PluginState* state) const {
  auto& numa = *static_cast<NumaState*>(state);
  numa.needs =
      &needs_.Get(c.shape, [](const cluster::PodShape& shape) { return PodNeeds(shape.source); });
  numa.memo = nullptr;
  if (cache_) {
    cache_->Update(c.cluster, c.shape.source.spec.scheduler_name, now_, needs_);
  } else {
    const bool changed = ReadTopologies(c.cluster);
    if (exact_) exact_->Update(c.cluster, by_row_, changed);
    if (numa.needs->FitsAnywhere() || memo_.Rows() == 0) return;
    numa.kind = c.shape.kind;
    numa.memo = memo_.Of(numa.kind);
  }
}

bool NodeResourceTopologyMatch::ReadTopologies(const cluster::Cluster& cluster) const {
  const cluster::CustomKind& kind = TopologyKind();
  const auto* store = cluster.Objects().custom.Find(kind.ApiVersion(), kind.kind);
  if (store == nullptr) return false;
  const uint64_t rows_before = rows_read_;
  rows_read_ = cluster.Changes().Read();
  const bool objects_changed = store->Generation() != objects_;
  const bool nodes_changed = cluster.NodeGeneration() != nodes_;
  if (!objects_changed && !nodes_changed) return false;
  bool all = by_row_.size() != cluster.Rows();
  if (objects_changed && !ReadChanges(*store)) {
    topologies_.clear();
    store->ForEach([&](const api::UnknownObject& object) {
      topologies_.insert_or_assign(object.metadata.name, NodeTopology::Parse(object.json));
    });
    all = true;
  }
  objects_ = store->Generation();
  nodes_ = cluster.NodeGeneration();
  const auto read_row = [&](NodeIndex n) {
    const auto it = topologies_.find(cluster.NodeName(n));
    by_row_[n] = it != topologies_.end() && it->second ? &*it->second : nullptr;
    memo_.Touch(n);
  };
  const auto changed_row = [&](NodeIndex n) {
    if (!cluster.Record(n).exists) {
      by_row_[n] = nullptr;
    } else {
      read_row(n);
    }
  };
  if (all || (nodes_changed && !cluster.Changes().ForEachSince(rows_before, changed_row))) {
    by_row_.assign(cluster.Rows(), nullptr);
    memo_.TouchAll(cluster.Rows());
    cluster.Nodes().ForEach(read_row);
  } else {
    for (const std::string& name : changed_) {
      const NodeIndex n = cluster.FindNode(name);
      if (n != cluster::kNoNode) read_row(n);
    }
  }
  changed_.clear();
  return true;
}

// False: the log does not reach back to what is known.
bool NodeResourceTopologyMatch::ReadChanges(const cluster::CustomStores::Objects& store) const {
  if (objects_ == UINT64_MAX) return false;
  return store.Changes().ForEachSince(objects_, [&](const std::string& key) {
    const auto* object = store.FindKey(key);
    const std::string name = key.substr(key.find('/') + 1);
    if (object == nullptr) {
      topologies_.erase(name);
    } else {
      topologies_.insert_or_assign(name, NodeTopology::Parse(object->json));
    }
    changed_.push_back(name);
  });
}

bool NodeResourceTopologyMatch::IsStale(const cluster::Cluster& cluster, NodeIndex n) const {
  if (cache_) return cache_->IsClosed(n);
  return discards_reserved_ && reserved_.find(cluster.NodeName(n)) != reserved_.end();
}

void NodeResourceTopologyMatch::Filter(const CycleContext& c, const framework::PluginState* state,
                                       framework::FilterBatch& batch) const {
  const PodNeeds& needs = NeedsOf(state);
  if (needs.FitsAnywhere()) return;
  if (exact_) return FilterExactly(c, batch);
  std::string error;
  batch.ForEach([&](NodeIndex n) {
    if (IsStale(c.cluster, n)) return batch.Reject(n, Code::kUnschedulable, kStale);
    const NodeTopology* topology = TopologyOf(n);
    if (topology == nullptr) return;
    const auto align = [&] {
      const auto has = [&](const std::string& name) { return HasResource(c.cluster, n, name); };
      return Align(needs, *topology, has, &error);
    };
    AlignmentMemo::Slot* slot = StateOf(state).SlotOf(n);
    Misfit misfit = Misfit::kNone;
    if (slot == nullptr) {
      misfit = align();
    } else {
      if (slot->filtered != memo_.Stamp(n)) {
        slot->misfit = static_cast<uint32_t>(align());
        slot->filtered = memo_.Stamp(n);
      }
      misfit = static_cast<Misfit>(slot->misfit);
    }
    if (misfit == Misfit::kNone) return;
    if (cache_) cache_->NoteRefused(n);
    const Code code = misfit == Misfit::kNegative ? Code::kError : Code::kUnschedulable;
    batch.Reject(n, code, static_cast<uint32_t>(misfit));
  });
}

void NodeResourceTopologyMatch::FilterExactly(const CycleContext& c,
                                              framework::FilterBatch& batch) const {
  const KubeletPod& pod = exact_->Of(c.shape);
  batch.ForEach([&](NodeIndex n) {
    switch (exact_->VerdictOf(n, c.shape, pod)) {
      case ExactLedger::Verdict::kFits:
        break;
      case ExactLedger::Verdict::kUnaligned:
        batch.Reject(n, Code::kUnschedulable, kUnaligned);
        break;
      case ExactLedger::Verdict::kUnknown:
        batch.Reject(n, Code::kUnschedulable, kUnidentified);
        break;
    }
  });
}

void NodeResourceTopologyMatch::Reasons(const CycleContext&, const framework::PluginState*,
                                        const framework::Verdict& verdict,
                                        std::vector<std::string>* out) const {
  if (verdict.reason == kStale) {
    out->emplace_back("invalid node topology data");
    return;
  }
  if (verdict.reason == kUnaligned) {
    out->emplace_back("kubelet might refuse to align the pod");
    return;
  }
  if (verdict.reason == kUnidentified) {
    out->emplace_back("node topology data is not of the pods on the node");
    return;
  }
  switch (static_cast<Misfit>(verdict.reason)) {
    case Misfit::kInitContainer:
      out->emplace_back("cannot align init container");
      break;
    case Misfit::kSidecar:
      out->emplace_back("cannot align sidecar container");
      break;
    case Misfit::kPod:
      out->emplace_back("cannot align pod");
      break;
    case Misfit::kNegative:
      out->emplace_back("inconsistent resource accounting");
      break;
    case Misfit::kContainer:
    case Misfit::kNone:
      out->emplace_back("cannot align container");
      break;
  }
}

void NodeResourceTopologyMatch::Score(const CycleContext& c, const framework::PluginState* state,
                                      framework::ScoreBatch& batch) const {
  const PodNeeds& needs = NeedsOf(state);
  int64_t* scores = batch.Scores();
  const bool guaranteed = needs.qos == api::QosClass::kGuaranteed;
  batch.ForEach([&](NodeIndex n) {
    const NodeTopology* topology = IsStale(c.cluster, n) ? nullptr : TopologyOf(n);
    if (!guaranteed) {
      scores[n] = framework::kMaxNodeScore;
    } else if (topology == nullptr) {
      scores[n] = 0;
    } else {
      AlignmentMemo::Slot* slot = StateOf(state).SlotOf(n);
      if (slot != nullptr && slot->scored == memo_.Stamp(n)) {
        scores[n] = slot->score;
        return;
      }
      scores[n] = strategy_ == Strategy::kLeastNumaNodes
                      ? ScoreByNumber(needs, *topology)
                      : ScoreByCells(strategy_, needs, *topology, weights_);
      if (slot == nullptr) return;
      slot->score = scores[n];
      slot->scored = memo_.Stamp(n);
    }
  });
}

// --- Nodes that pods are on their way to

framework::Status NodeResourceTopologyMatch::Reserve(const CycleContext& c,
                                                     framework::PluginState* state,
                                                     NodeIndex node) {
  if (cache_) cache_->Reserve(c.cluster.NodeName(node), c.pod.Key(), NeedsOf(state).pod);
  if (discards_reserved_) reserved_[c.cluster.NodeName(node)].insert(c.pod.uid);
  return {};
}

void NodeResourceTopologyMatch::Release(const std::string& node, const std::string& uid) {
  const auto it = reserved_.find(node);
  if (it == reserved_.end()) return;
  it->second.erase(uid);
  if (it->second.empty()) reserved_.erase(it);
}

void NodeResourceTopologyMatch::Unreserve(const CycleContext& c, framework::PluginState*,
                                          NodeIndex node) {
  if (cache_) cache_->Unreserve(c.cluster.NodeName(node), c.pod.Key());
  if (discards_reserved_) Release(c.cluster.NodeName(node), c.pod.uid);
}

void NodeResourceTopologyMatch::PostBind(const cluster::Cluster& cluster, const cluster::Pod& pod,
                                         NodeIndex node) {
  if (discards_reserved_) Release(cluster.NodeName(node), pod.uid);
}

// --- Construction

std::vector<framework::RegisteredEvent> NodeResourceTopologyMatch::EventsToRegister(
    const config::Behaviour&) const {
  return {On(queue::EventResource::kPod, queue::kDelete),
          On(queue::EventResource::kNode, queue::kAdd | queue::kUpdateNodeAllocatable),
          OnCustom(TopologyKind(), queue::kAdd | queue::kUpdate)};
}

cluster::PluginInputs Inputs(const config::PluginArgs&) {
  return {.kinds = {TopologyKind()}, .node_annotations = {}, .pod_annotations = {}};
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle&) {
  config::NodeResourceTopologyMatchArgs own;
  if (const auto* given = config::OwnArgsAs<config::NodeResourceTopologyMatchArgs>(args)) {
    own = *given;
  }
  own.SetDefaults();
  return std::make_unique<NodeResourceTopologyMatch>(own);
}

}  // namespace berth::plugins::node_resource_topology
