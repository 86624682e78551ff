#include "plugins/volume_restrictions/volume_restrictions.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "cluster/objects/object_store.h"
#include "cluster/pods/volume_use.h"
#include "plugins/common/volume_claims.h"

namespace berth::plugins::volume_restrictions {
namespace {

using cluster::NodeIndex;
using framework::Status;

enum Reason : uint32_t { kDisk, kClaim, kNotPrepared };

// What kube-scheduler says when a configuration runs Filter without PreFilter.
constexpr std::string_view kNoState = "cannot read \"PreFilterVolumeRestrictions\" from cycleState";

// A volume of the pod that cannot be shared, and where to look for others like it.
struct Disk {
  const api::Volume* volume;
  cluster::StringId key;
};

struct State final : framework::PluginState {
  bool prepared = false;  // PreFilter has looked at the claims
  std::vector<Disk> disks;
  boost::unordered_flat_set<std::string> once_claims;  // of the pod, with ReadWriteOncePod
  int64_t claim_conflicts = 0;                         // uses of them by placed pods
};

bool HaveCommon(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const boost::unordered_flat_set<std::string_view> known(a.begin(), a.end());
  return std::any_of(b.begin(), b.end(), [&](const std::string& x) { return known.contains(x); });
}

// Claims that a pod added or removed uses. As in kube-scheduler, a claim of the same name in
// another namespace counts too.
int64_t UsesOf(const State& state, const cluster::Pod& pod) {
  int64_t uses = 0;
  for (const api::Volume& volume : pod.shape->source.spec.volumes) {
    if (!volume.persistent_volume_claim) continue;
    uses += state.once_claims.contains(volume.persistent_volume_claim->claim_name);
  }
  return uses;
}

bool IsUsedByPods(const cluster::Cluster& cluster, std::string_view namespace_,
                  std::string_view claim) {
  const cluster::StringId key = cluster.Strings().Find(cluster::ClaimUseKey(namespace_, claim));
  if (key == cluster::kNoString) return false;
  const auto uses = cluster.VolumeUse().UsesOf(key);
  return std::any_of(uses.begin(), uses.end(),
                     [&](const auto& use) { return cluster.Record(use.node).exists; });
}

}  // namespace

bool Conflicts(const api::Volume& volume, const api::Volume& other) {
  if (volume.gce_persistent_disk && other.gce_persistent_disk) {
    const auto &a = *volume.gce_persistent_disk, &b = *other.gce_persistent_disk;
    if (a.pd_name == b.pd_name && !(a.read_only && b.read_only)) return true;
  }
  if (volume.aws_elastic_block_store && other.aws_elastic_block_store) {
    if (volume.aws_elastic_block_store->volume_id == other.aws_elastic_block_store->volume_id) {
      return true;
    }
  }
  if (volume.iscsi && other.iscsi) {
    const auto &a = *volume.iscsi, &b = *other.iscsi;
    if (a.iqn == b.iqn && !(a.read_only && b.read_only)) return true;
  }
  if (volume.rbd && other.rbd) {
    const auto &a = *volume.rbd, &b = *other.rbd;
    if (HaveCommon(a.monitors, b.monitors) && a.pool == b.pool && a.image == b.image &&
        !(a.read_only && b.read_only)) {
      return true;
    }
  }
  return false;
}

std::unique_ptr<framework::PluginState> VolumeRestrictions::NewState() const {
  return std::make_unique<State>();
}

void VolumeRestrictions::BeginCycle(const framework::CycleContext& c,
                                    framework::PluginState* s) const {
  auto* state = static_cast<State*>(s);
  state->prepared = false;
  state->disks.clear();
  for (const api::Volume& volume : c.shape.source.spec.volumes) {
    if (const std::string key = cluster::DiskUseKey(volume); !key.empty()) {
      state->disks.push_back({&volume, c.cluster.Strings().Intern(key)});
    }
  }
}

Status VolumeRestrictions::PreFilter(const framework::CycleContext& c, framework::PluginState* s,
                                     framework::PreFilterResult*) const {
  if (c.shape.source.spec.volumes.empty()) return Status::Skip();
  auto* state = static_cast<State*>(s);
  state->prepared = true;
  state->once_claims.clear();
  state->claim_conflicts = 0;
  for (const api::Volume& volume : c.shape.source.spec.volumes) {
    if (!volume.persistent_volume_claim) continue;
    const std::string& name = volume.persistent_volume_claim->claim_name;
    const auto* claim = c.cluster.Objects().persistent_volume_claims.Find(c.shape.namespace_, name);
    if (claim == nullptr) return Status::Unresolvable(NotFound(kClaimResource, name));
    const auto& modes = claim->spec.access_modes;
    if (std::find(modes.begin(), modes.end(), "ReadWriteOncePod") != modes.end() &&
        state->once_claims.insert(name).second) {
      state->claim_conflicts += IsUsedByPods(c.cluster, c.shape.namespace_, name);
    }
  }
  if (state->disks.empty() && state->claim_conflicts == 0) return Status::Skip();
  return {};
}

Status VolumeRestrictions::AddPod(const framework::CycleContext&, framework::PluginState* s,
                                  const cluster::Pod& pod, NodeIndex) const {
  auto* state = static_cast<State*>(s);
  state->claim_conflicts += UsesOf(*state, pod);
  return {};
}

Status VolumeRestrictions::RemovePod(const framework::CycleContext&, framework::PluginState* s,
                                     const cluster::Pod& pod, NodeIndex) const {
  auto* state = static_cast<State*>(s);
  state->claim_conflicts -= UsesOf(*state, pod);
  return {};
}

void VolumeRestrictions::Filter(const framework::CycleContext& c, const framework::PluginState* s,
                                framework::FilterBatch& batch) const {
  constexpr size_t kBits = cluster::NodeSet::kWordBits;
  const auto& state = static_cast<const State&>(*s);
  for (const Disk& disk : state.disks) {
    for (const auto& use : c.cluster.VolumeUse().UsesOf(disk.key)) {
      const size_t w = use.node / kBits;
      if (w < batch.FirstWord() || w >= batch.EndWord()) continue;
      if ((batch.Word(w) >> (use.node % kBits) & 1) == 0) continue;
      const auto& volumes = c.cluster.GetPod(use.pod).shape->source.spec.volumes;
      if (std::any_of(volumes.begin(), volumes.end(),
                      [&](const api::Volume& v) { return Conflicts(*disk.volume, v); })) {
        batch.Reject(use.node, framework::Code::kUnschedulable, kDisk);
      }
    }
  }
  if (state.prepared && state.claim_conflicts <= 0) return;
  const auto code = state.prepared ? framework::Code::kUnschedulable : framework::Code::kError;
  for (size_t w = batch.FirstWord(); w < batch.EndWord(); ++w) {
    if (batch.Word(w) != 0) {
      batch.RejectWord(w, batch.Word(w), code, state.prepared ? kClaim : kNotPrepared);
    }
  }
}

void VolumeRestrictions::Reasons(const framework::CycleContext&, const framework::PluginState*,
                                 const framework::Verdict& verdict,
                                 std::vector<std::string>* out) const {
  out->emplace_back(verdict.reason == kDisk    ? kDiskConflict
                    : verdict.reason == kClaim ? kClaimConflict
                                               : kNoState);
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<VolumeRestrictions>();
}

}  // namespace berth::plugins::volume_restrictions
