#include "plugins/node_volume_limits/node_volume_limits.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cluster/objects/object_store.h"
#include "plugins/common/csi_translation.h"

namespace berth::plugins::node_volume_limits {
namespace {

using cluster::NodeIndex;
using cluster::NodeSet;
using framework::Code;
using framework::Status;

// Verdict::detail says what the verdict is about; the kind of node is added to the last two.
enum Detail : uint16_t {
  kTooMany = 0,
  kOwnVolumes = 1,                         // of the pod itself
  kOtherPod = kOwnVolumes + kNodeKinds,    // Verdict::reason is a pod of the node
  kNotInstalled = kOtherPod + kNodeKinds,  // Verdict::reason is a driver of the demand
};

// The pod's volumes of one driver.
struct Driver {
  std::string name;
  const VolumeUsage::Column* column;
  std::vector<std::string> volumes;      // names, sorted and unique
  std::vector<cluster::StringId> known;  // ids of those that some node has
  bool must_be_installed = false;        // on the node
};

// What the pod asks for on nodes of one kind.
struct Demand {
  Code code = Code::kSuccess;
  std::string message;
  std::vector<Driver> drivers;
};

struct State final : framework::PluginState {
  bool counts = false;            // the pod has volumes that may count
  bool asks_for_drivers = false;  // some must be installed
  std::array<Demand, kNodeKinds> by_kind;
  bool equal = true;  // for all kinds of nodes
  const Demand& On(NodeKind kind) const {
    return by_kind[equal ? size_t{0} : static_cast<size_t>(kind)];
  }
};

bool IsCounted(const api::Volume& volume) {
  return volume.persistent_volume_claim || volume.ephemeral ||
         InTreeKindOf(volume) != InTreeKind::kNone;
}

Demand MakeDemand(PodVolumes volumes, VolumeUsage& usage) {
  Demand demand{volumes.code, std::move(volumes.message), {}};
  if (demand.code != Code::kSuccess) return demand;
  std::sort(volumes.volumes.begin(), volumes.volumes.end(),
            [](const CsiVolume& a, const CsiVolume& b) {
              return a.driver != b.driver ? a.driver < b.driver : a.name < b.name;
            });
  for (CsiVolume& volume : volumes.volumes) {
    if (demand.drivers.empty() || demand.drivers.back().name != volume.driver) {
      demand.drivers.push_back({volume.driver, &usage.ColumnOf(volume.driver), {}, {}, false});
    }
    Driver& driver = demand.drivers.back();
    if (!driver.volumes.empty() && driver.volumes.back() == volume.name) continue;
    const cluster::StringId id = usage.FindVolume(volume.name);
    if (id != cluster::kNoString) driver.known.push_back(id);
    driver.volumes.push_back(std::move(volume.name));
  }
  return demand;
}

// How many of the pod's volumes the pods of a node have already.
size_t Shared(const Driver& driver, const NodeUsage& usage) {
  return static_cast<size_t>(
      std::count_if(driver.known.begin(), driver.known.end(), [&](cluster::StringId id) {
        return std::binary_search(usage.volumes.begin(), usage.volumes.end(), id);
      }));
}

size_t Shared(const Driver& driver, const std::vector<std::string>& names) {
  return static_cast<size_t>(
      std::count_if(driver.volumes.begin(), driver.volumes.end(), [&](const std::string& name) {
        return std::binary_search(names.begin(), names.end(), name);
      }));
}

bool IsInstalled(const cluster::Cluster& cluster, NodeIndex n, const std::string& driver) {
  const api::CSINode* node = cluster.Objects().csi_nodes.Find(cluster.NodeName(n));
  return node != nullptr &&
         std::any_of(node->spec.drivers.begin(), node->spec.drivers.end(),
                     [&](const api::CSINodeDriver& own) { return own.name == driver; });
}

// Rejects the node if it must. `shared(driver)`: how many of the volumes it has already.
template <class SharedFn>
void CheckNode(const cluster::Cluster& cluster, const State& state, const NodeUsage& usage,
               NodeIndex n, SharedFn&& shared, framework::FilterBatch& batch) {
  const Demand& demand = state.On(usage.kind);
  const auto kind = static_cast<uint16_t>(usage.kind);
  if (demand.code != Code::kSuccess) {
    batch.Reject(n, demand.code, 0, kOwnVolumes + kind);
    return;
  }
  for (size_t i = 0; state.asks_for_drivers && i < demand.drivers.size(); ++i) {
    const Driver& driver = demand.drivers[i];
    if (!driver.must_be_installed || IsInstalled(cluster, n, driver.name)) continue;
    batch.Reject(n, Code::kUnschedulable, static_cast<uint32_t>(i), kNotInstalled + kind);
    return;
  }
  if (demand.drivers.empty() || usage.limits.empty()) return;
  if (usage.bad_pod != cluster::kNoPod) {
    batch.Reject(n, Code::kError, usage.bad_pod, kOtherPod + kind);
    return;
  }
  for (const Driver& driver : demand.drivers) {
    const auto added = static_cast<int64_t>(driver.volumes.size() - shared(driver));
    if (added > 0 && usage.Used(driver.name) + added > usage.Limit(driver.name)) {
      batch.Reject(n, Code::kUnschedulable, 0, kTooMany);
      return;
    }
  }
}

// The nodes of a word with too little room for all the volumes, shared or not.
uint64_t Full(const Driver& driver, size_t word) {
  const int32_t* used = driver.column->used.data() + word * NodeSet::kWordBits;
  const int32_t* limit = driver.column->limit.data() + word * NodeSet::kWordBits;
  const auto added = static_cast<int32_t>(driver.volumes.size());
  uint64_t full = 0;
  for (size_t b = 0; b < NodeSet::kWordBits; ++b) {
    full |= uint64_t{used[b] > limit[b] - added} << b;
  }
  return full;
}

}  // namespace

std::unique_ptr<framework::PluginState> NodeVolumeLimits::NewState() const {
  return std::make_unique<State>();
}

// All is prepared here: Filter must answer also where a configuration leaves PreFilter out.
void NodeVolumeLimits::BeginCycle(const framework::CycleContext& c,
                                  framework::PluginState* s) const {
  auto* state = static_cast<State*>(s);
  const auto& volumes = c.shape.source.spec.volumes;
  state->counts = std::any_of(volumes.begin(), volumes.end(), IsCounted);
  if (!state->counts) return;
  state->asks_for_drivers = false;
  usage_.Sync(c.cluster);
  const auto demand_on = [&](NodeKind kind) {
    PodVolumes demanded = VolumesOf(c.cluster, c.pod, kind, true);
    state->equal = !demanded.by_kind;
    Demand demand = MakeDemand(std::move(demanded), usage_);
    for (Driver& driver : demand.drivers) {
      driver.must_be_installed = MustBeInstalled(c.cluster, driver.name);
      state->asks_for_drivers = state->asks_for_drivers || driver.must_be_installed;
    }
    return demand;
  };
  // Nodes that migrate everything are asked first: for them every volume is looked at.
  Demand portworx = demand_on(NodeKind::kPortworx);
  if (state->equal) {
    state->by_kind[0] = std::move(portworx);
    return;
  }
  state->by_kind[static_cast<size_t>(NodeKind::kPortworx)] = std::move(portworx);
  for (const NodeKind kind : {NodeKind::kNoCsiNode, NodeKind::kCsiNode}) {
    state->by_kind[static_cast<size_t>(kind)] = demand_on(kind);
  }
  state->equal = false;
}

bool NodeVolumeLimits::MustBeInstalled(const cluster::Cluster& cluster,
                                       const std::string& driver) const {
  if (!behaviour_.missing_csi_driver_rejects) return false;
  const api::CSIDriver* object = cluster.Objects().csi_drivers.Find(driver);
  if (object == nullptr) return false;
  return !behaviour_.missing_csi_driver_opts_in ||
         object->spec.prevent_pod_scheduling_if_missing.value_or(false);
}

Status NodeVolumeLimits::PreFilter(const framework::CycleContext&, framework::PluginState* s,
                                   framework::PreFilterResult*) const {
  return static_cast<const State*>(s)->counts ? Status() : Status::Skip();
}

void NodeVolumeLimits::Filter(const framework::CycleContext& c, const framework::PluginState* s,
                              framework::FilterBatch& batch) const {
  const auto& state = static_cast<const State&>(*s);
  if (!state.counts) return;
  const auto check = [&](NodeIndex n) {
    if (usage_.IsStale(c.cluster, n)) {
      const VolumeUsage::Fresh fresh = usage_.DeriveNow(c.cluster, n);
      CheckNode(
          c.cluster, state, fresh.usage, n,
          [&](const Driver& driver) { return Shared(driver, fresh.names); }, batch);
    } else {
      const NodeUsage& usage = usage_.Of(n);
      CheckNode(
          c.cluster, state, usage, n, [&](const Driver& driver) { return Shared(driver, usage); },
          batch);
    }
  };
  if (!state.equal || state.by_kind[0].code != Code::kSuccess || state.asks_for_drivers ||
      usage_.IsStale(c.cluster)) {
    batch.ForEach(check);
    return;
  }
  const auto& drivers = state.by_kind[0].drivers;
  if (drivers.empty()) return;
  for (size_t w = batch.FirstWord(); w < batch.EndWord(); ++w) {
    if (batch.Word(w) == 0) continue;
    uint64_t doubtful = usage_.Bad().Words()[w];
    for (const Driver& driver : drivers) doubtful |= Full(driver, w);
    NodeSet::ForEachBit(doubtful & batch.Word(w), w, check);
  }
}

bool NodeVolumeLimits::AppendClaims(const framework::CycleContext& c, framework::PluginState* s,
                                    std::vector<int64_t>* out) const {
  const auto& state = static_cast<const State&>(*s);
  if (state.counts && state.asks_for_drivers) return false;
  const size_t kinds = !state.counts ? 0 : state.equal ? 1 : kNodeKinds;
  out->push_back(static_cast<int64_t>(kinds));
  for (size_t kind = 0; kind < kinds; ++kind) {
    const Demand& demand = state.by_kind[kind];
    if (demand.code != Code::kSuccess) return false;
    out->push_back(static_cast<int64_t>(demand.drivers.size()));
    for (const Driver& driver : demand.drivers) {
      out->push_back(c.cluster.Strings().Intern(driver.name));
      out->push_back(static_cast<int64_t>(driver.volumes.size()));
      out->push_back(static_cast<int64_t>(driver.known.size()));
      // Ids are those of a dictionary that may be made anew.
      if (!driver.known.empty()) out->push_back(static_cast<int64_t>(usage_.NamesSerial()));
      for (const cluster::StringId id : driver.known) out->push_back(id);
    }
  }
  return true;
}

void NodeVolumeLimits::Reasons(const framework::CycleContext& c, const framework::PluginState* s,
                               const framework::Verdict& verdict,
                               std::vector<std::string>* out) const {
  const auto& state = static_cast<const State&>(*s);
  if (verdict.detail == kTooMany) {
    out->emplace_back(kReason);
  } else if (verdict.detail < kOtherPod) {
    out->push_back(state.On(static_cast<NodeKind>(verdict.detail - kOwnVolumes)).message);
  } else if (verdict.detail >= kNotInstalled) {
    const auto kind = static_cast<NodeKind>(verdict.detail - kNotInstalled);
    out->push_back(state.On(kind).drivers[verdict.reason].name +
                   " CSI driver is not installed on the node");
  } else {
    const auto kind = static_cast<NodeKind>(verdict.detail - kOtherPod);
    out->push_back(VolumesOf(c.cluster, c.cluster.GetPod(verdict.reason), kind, false).message);
  }
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle& handle) {
  return std::make_unique<NodeVolumeLimits>(handle.behaviour);
}

}  // namespace berth::plugins::node_volume_limits
