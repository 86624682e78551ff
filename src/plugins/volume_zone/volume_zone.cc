#include "plugins/volume_zone/volume_zone.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "cluster/objects/object_store.h"
#include "plugins/common/volume_claims.h"
#include "plugins/volume_zone/zones.h"

namespace berth::plugins::volume_zone {
namespace {

using cluster::kNoString;
using cluster::LabelColumn;
using cluster::NodeIndex;
using cluster::StringId;
using framework::Status;

// One label of one volume: the node must have one of the values.
struct Condition {
  size_t label;  // of kTopologyLabels
  const LabelColumn* column;
  const LabelColumn* newer;
  std::vector<StringId> values;
};

// Verdict::reason.
enum Reason : uint32_t { kWrongZone, kClaims };

struct State final : framework::PluginState {
  Status status;  // of the pod's claims; Skip: nothing to compare
  std::array<const LabelColumn*, kTopologyLabels.size()> columns = {};
  std::vector<Condition> conditions;
};

StringId ValueOf(const LabelColumn& column, NodeIndex n) { return column.values[column.codes[n]]; }

void AddConditions(const cluster::Cluster& cluster, const api::PersistentVolume& volume,
                   State* state) {
  for (size_t i = 0; i < kTopologyLabels.size(); ++i) {
    const auto it = volume.metadata.labels.find(kTopologyLabels[i].key);
    if (it == volume.metadata.labels.end()) continue;
    const auto zones = ParseZones(it->second);
    if (!zones) continue;
    std::vector<StringId> values;
    for (const std::string_view zone : *zones) values.push_back(cluster.Strings().Intern(zone));
    const StringId newer = cluster.Strings().Intern(kTopologyLabels[i].newer);
    state->conditions.push_back({i, state->columns[i], &cluster.Labels(newer), std::move(values)});
  }
}

// The claim is not bound: success if its volume will be made where the pod goes, else why not.
Status CheckUnbound(const cluster::Cluster& cluster, const api::PersistentVolumeClaim& claim) {
  const std::string_view name = ClassOf(claim);
  if (name.empty()) {
    return Status::Unresolvable("PersistentVolumeClaim had no pv name and storageClass name");
  }
  const api::StorageClass* storage_class = cluster.Objects().storage_classes.Find(name);
  if (storage_class == nullptr) return Status::Unresolvable(NotFound(kClassResource, name));
  if (!storage_class->volume_binding_mode) {
    return Status::Unresolvable(
        fmt::format("VolumeBindingMode not set for StorageClass {}", api::GoQuote(name)));
  }
  if (*storage_class->volume_binding_mode == kWaitForFirstConsumer) return {};
  return Status::Unresolvable("PersistentVolume had no name");
}

}  // namespace

std::unique_ptr<framework::PluginState> VolumeZone::NewState() const {
  return std::make_unique<State>();
}

namespace {

// Fills the conditions.
Status Compile(const framework::CycleContext& c, State* state) {
  if (c.shape.source.spec.volumes.empty()) return Status::Skip();
  state->conditions.clear();
  for (size_t i = 0; i < kTopologyLabels.size(); ++i) {
    state->columns[i] = &c.cluster.Labels(c.cluster.Strings().Intern(kTopologyLabels[i].key));
  }
  const cluster::ObjectStore& objects = c.cluster.Objects();
  for (const api::Volume& volume : c.shape.source.spec.volumes) {
    if (!volume.persistent_volume_claim) continue;
    const std::string& name = volume.persistent_volume_claim->claim_name;
    if (name.empty()) return Status::Unresolvable("PersistentVolumeClaim had no name");
    const auto* claim = objects.persistent_volume_claims.Find(c.shape.namespace_, name);
    if (claim == nullptr) return Status::Unresolvable(NotFound(kClaimResource, name));
    if (claim->spec.volume_name.empty()) {
      if (Status status = CheckUnbound(c.cluster, *claim); !status.Ok()) return status;
      continue;
    }
    const auto* bound = objects.persistent_volumes.Find(claim->spec.volume_name);
    if (bound == nullptr) {
      return Status::Unresolvable(NotFound(kVolumeResource, claim->spec.volume_name));
    }
    AddConditions(c.cluster, *bound, state);
  }
  return state->conditions.empty() ? Status::Skip() : Status();
}

}  // namespace

void VolumeZone::BeginCycle(const framework::CycleContext& c, framework::PluginState* s) const {
  auto* state = static_cast<State*>(s);
  state->status = Compile(c, state);
}

Status VolumeZone::PreFilter(const framework::CycleContext&, framework::PluginState* s,
                             framework::PreFilterResult*) const {
  return static_cast<const State*>(s)->status;
}

void VolumeZone::Filter(const framework::CycleContext&, const framework::PluginState* s,
                        framework::FilterBatch& batch) const {
  const auto& state = static_cast<const State&>(*s);
  if (state.status.IsSkip()) return;
  batch.ForEach([&](NodeIndex n) {
    if (!state.status.Ok()) {
      batch.Reject(n, state.status.code(), kClaims);
      return;
    }
    // A node without any such label is in a cluster that does not care about zones.
    if (std::all_of(state.columns.begin(), state.columns.end(),
                    [&](const LabelColumn* column) { return ValueOf(*column, n) == kNoString; })) {
      return;
    }
    for (const Condition& condition : state.conditions) {
      StringId value = ValueOf(*condition.column, n);
      if (value == kNoString) value = ValueOf(*condition.newer, n);
      const auto& wanted = condition.values;
      if (std::find(wanted.begin(), wanted.end(), value) == wanted.end()) {
        batch.Reject(n, framework::Code::kUnschedulableAndUnresolvable, kWrongZone);
        return;
      }
    }
  });
}

bool VolumeZone::AppendClaims(const framework::CycleContext&, framework::PluginState* s,
                              std::vector<int64_t>* out) const {
  const auto& state = static_cast<const State&>(*s);
  if (state.status.IsSkip()) return true;
  if (!state.status.Ok()) return false;
  for (const Condition& condition : state.conditions) {
    out->push_back(static_cast<int64_t>(condition.label));
    out->push_back(static_cast<int64_t>(condition.values.size()));
    out->insert(out->end(), condition.values.begin(), condition.values.end());
  }
  return true;
}

void VolumeZone::Reasons(const framework::CycleContext&, const framework::PluginState* s,
                         const framework::Verdict& verdict, std::vector<std::string>* out) const {
  if (verdict.reason == kWrongZone) {
    out->emplace_back(kReason);
  } else {
    *out = static_cast<const State*>(s)->status.reasons();
  }
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<VolumeZone>();
}

}  // namespace berth::plugins::volume_zone
