#include "plugins/volume_binding/volume_binding.h"

#include <algorithm>
#include <utility>

#include "plugins/common/volume_claims.h"
#include "plugins/volume_binding/pre_bind.h"
#include "plugins/volume_binding/storage_use.h"

namespace berth::plugins::volume_binding {
namespace {

using cluster::NodeIndex;
using framework::Code;
using framework::Status;

// Verdict::detail: the reason is a number for ErrorText rather than bits, or nothing.
constexpr uint16_t kIsError = 1;
constexpr uint16_t kIsUnprepared = 2;
// What kube-scheduler says when a configuration runs Filter without PreFilter.
constexpr std::string_view kNoState = "not found";

struct State final : framework::PluginState {
  PodVolumes volumes;
  bool prepared = false;  // by PreFilter
  bool has_claims = false;
  std::shared_ptr<const ReservedVolumes> reserved;
};

api::ObjectReference ReferenceTo(const api::PersistentVolumeClaim& claim) {
  api::ObjectReference reference;
  reference.kind = "PersistentVolumeClaim";
  reference.api_version = "v1";
  reference.namespace_ = claim.metadata.namespace_;
  reference.name = claim.metadata.name;
  reference.uid = claim.metadata.uid;
  reference.resource_version = claim.metadata.resource_version;
  return reference;
}

// The volume as it is once bound to the claim. `changed`: it was not before.
std::shared_ptr<api::PersistentVolume> BoundVolume(const api::PersistentVolume& volume,
                                                   const api::PersistentVolumeClaim& claim,
                                                   bool* changed) {
  auto bound = std::make_shared<api::PersistentVolume>(volume);
  const bool by_user = IsBoundTo(volume, claim);
  *changed = !by_user || volume.spec.claim_ref->uid != claim.metadata.uid;
  if (*changed) bound->spec.claim_ref = ReferenceTo(claim);
  if (!by_user) bound->metadata.annotations.emplace(kBoundByControllerAnnotation, "yes");
  return bound;
}

std::shared_ptr<api::PersistentVolumeClaim> SelectedClaim(const api::PersistentVolumeClaim& claim,
                                                          const std::string& node) {
  auto selected = std::make_shared<api::PersistentVolumeClaim>(claim);
  selected->metadata.annotations.insert_or_assign(std::string(kSelectedNodeAnnotation), node);
  return selected;
}

std::string KeyOf(const api::ObjectMeta& metadata) {
  return metadata.namespace_ + "/" + metadata.name;
}

}  // namespace

VolumeBinding::VolumeBinding(const config::VolumeBindingArgs& args, const config::MinorRules& rules)
    : bind_timeout_seconds_(args.bind_timeout_seconds), rules_(rules) {
  view_.volumes.AssumeOverSameVersion(rules.assumes_over_same_version);
  view_.claims.AssumeOverSameVersion(rules.assumes_over_same_version);
  if (args.shape && !args.shape->empty()) scores_ = MakeUtilizationScores(*args.shape);
}

std::unique_ptr<framework::PluginState> VolumeBinding::NewState() const {
  return std::make_unique<State>();
}

void VolumeBinding::BeginCycle(const framework::CycleContext&, framework::PluginState* s) const {
  auto* state = static_cast<State*>(s);
  state->prepared = false;
  state->has_claims = false;
  state->reserved = nullptr;
}

Status VolumeBinding::PreFilter(const framework::CycleContext& c, framework::PluginState* s,
                                framework::PreFilterResult*) const {
  auto* state = static_cast<State*>(s);
  state->prepared = true;
  if (c.shape.source.spec.volumes.empty()) return Status::Skip();
  Status status = state->volumes.Prepare(c.cluster, c.pod, view_);
  state->has_claims = status.Ok();
  return status;
}

void VolumeBinding::Filter(const framework::CycleContext& c, const framework::PluginState* s,
                           framework::FilterBatch& batch) const {
  const auto& state = static_cast<const State&>(*s);
  if (!state.prepared) {
    batch.ForEach([&](NodeIndex n) { batch.Reject(n, Code::kError, 0, kIsUnprepared); });
    return;
  }
  const PodVolumes& volumes = state.volumes;
  if (!state.has_claims || volumes.IsTrivial()) return;
  batch.ForEach([&](NodeIndex n) {
    const PodVolumes::Answer answer = volumes.Check(c.cluster, n, nullptr);
    if (answer.error != 0) {
      batch.Reject(n, Code::kError, answer.error, kIsError);
    } else if (answer.reasons != 0) {
      batch.Reject(n, Code::kUnschedulableAndUnresolvable, answer.reasons);
    }
  });
}

bool VolumeBinding::AppendClaims(const framework::CycleContext&, framework::PluginState* s,
                                 std::vector<int64_t>* out) const {
  const auto& state = static_cast<const State&>(*s);
  if (!state.prepared) return false;
  return !state.has_claims || state.volumes.AppendNumbers(out);
}

bool VolumeBinding::AppendPremises(const framework::CycleContext& c, framework::PluginState* s,
                                   std::vector<int64_t>* out) const {
  const auto& state = static_cast<const State&>(*s);
  if (!state.has_claims || !state.volumes.IsLimited()) return true;
  out->push_back(static_cast<int64_t>(c.cluster.Objects().csi_storage_capacities.Generation()));
  return true;
}

void VolumeBinding::Reasons(const framework::CycleContext&, const framework::PluginState* s,
                            const framework::Verdict& verdict,
                            std::vector<std::string>* out) const {
  if (verdict.detail == kIsError) {
    out->push_back(static_cast<const State*>(s)->volumes.ErrorText(verdict.reason));
  } else if (verdict.detail == kIsUnprepared) {
    out->emplace_back(kNoState);
  }
  if (verdict.detail != 0) return;
  if (verdict.reason & kNodeConflictBit) out->emplace_back(kNodeConflict);
  if (verdict.reason & kBindConflictBit) out->emplace_back(kBindConflict);
  if (verdict.reason & kNotEnoughSpaceBit) out->emplace_back(kNotEnoughSpace);
  if (verdict.reason & kVolumeMissingBit) out->emplace_back(kVolumeMissing);
}

// --- Score

Status VolumeBinding::PreScore(const framework::CycleContext&, framework::PluginState* s,
                               const framework::NodeSet&) const {
  if (!scores_) return Status::Skip();
  if (!static_cast<const State*>(s)->prepared) return Status::Error(std::string(kNoState));
  return {};
}

std::optional<int64_t> VolumeBinding::UniformScore(const framework::CycleContext&,
                                                   framework::PluginState* s,
                                                   const framework::NodeSet&) const {
  const auto& state = static_cast<const State&>(*s);
  const bool waits = scores_ && state.has_claims && !state.volumes.AllBound();
  return waits ? std::nullopt : std::optional<int64_t>(0);
}

void VolumeBinding::Score(const framework::CycleContext& c, const framework::PluginState* s,
                          framework::ScoreBatch& batch) const {
  const auto& state = static_cast<const State&>(*s);
  Decision decision;
  StorageUse use;
  batch.ForEach([&](NodeIndex n) {
    decision.bindings.clear();
    decision.provisions.clear();
    use.Clear();
    if (scores_ && state.has_claims) {
      state.volumes.Check(c.cluster, n, &decision);
      use.Add(decision);
    }
    batch.Scores()[n] = use.Empty() ? 0 : use.Score(*scores_);
  });
}

// --- Reserve

// `reserved` gets what was assumed, also when it fails on the way.
Result<void> VolumeBinding::Assume(const cluster::Cluster& cluster, const Decision& decision,
                                   ReservedVolumes* reserved) {
  const cluster::ObjectStore& objects = cluster.Objects();
  // Copies first: a claim that the pod uses twice is replaced when it is assumed.
  std::vector<std::shared_ptr<const api::PersistentVolumeClaim>> selected;
  for (const Decision::Provision& provision : decision.provisions) {
    selected.push_back(SelectedClaim(*provision.claim, reserved->node));
  }
  for (const Decision::Binding& binding : decision.bindings) {
    bool changed = false;
    auto volume = BoundVolume(*binding.volume, *binding.claim, &changed);
    if (changed) {
      auto done = view_.volumes.Assume(objects.persistent_volumes, volume);
      if (!done) return done;
      view_.index.Refresh(cluster, view_.volumes, volume->metadata.name);
    }
    reserved->bindings.push_back(
        {std::make_shared<api::PersistentVolumeClaim>(*binding.claim), std::move(volume)});
  }
  for (auto& claim : selected) {
    auto done = view_.claims.Assume(objects.persistent_volume_claims, claim);
    if (!done) return done;
    reserved->provisions.push_back(std::move(claim));
  }
  return {};
}

void VolumeBinding::Revert(const cluster::Cluster& cluster, const ReservedVolumes& reserved) {
  for (const ReservedVolumes::Binding& binding : reserved.bindings) {
    view_.volumes.Restore(KeyOf(binding.volume->metadata));
    view_.index.Refresh(cluster, view_.volumes, binding.volume->metadata.name);
  }
  for (const auto& claim : reserved.provisions) view_.claims.Restore(KeyOf(claim->metadata));
}

Status VolumeBinding::Reserve(const framework::CycleContext& c, framework::PluginState* s,
                              NodeIndex node) {
  auto* state = static_cast<State*>(s);
  if (!state->prepared) return Status::Error(std::string(kNoState));
  state->reserved = nullptr;
  if (!state->has_claims || state->volumes.AllBound()) return {};
  Decision decision;
  const PodVolumes::Answer answer = state->volumes.Check(c.cluster, node, &decision);
  if (answer.error != 0 || answer.reasons != 0) return {};  // The filter was not asked.
  auto reserved = std::make_shared<ReservedVolumes>();
  reserved->node = c.cluster.NodeName(node);
  if (auto done = Assume(c.cluster, decision, reserved.get()); !done) {
    Revert(c.cluster, *reserved);
    return Status::Error(done.error().Message());
  }
  reserved_.insert_or_assign(c.pod.uid, reserved);
  state->reserved = std::move(reserved);
  return {};
}

void VolumeBinding::Unreserve(const framework::CycleContext& c, framework::PluginState* s,
                              NodeIndex) {
  const auto it = reserved_.find(c.pod.uid);
  if (it == reserved_.end()) return;
  // Objects may have come and gone since the cycle.
  view_.Sync(c.cluster);
  Revert(c.cluster, *it->second);
  auto* state = static_cast<State*>(s);
  if (state != nullptr && state->reserved == it->second) state->reserved = nullptr;
  reserved_.erase(it);
}

std::unique_ptr<framework::PreBindTask> VolumeBinding::PreparePreBind(
    const framework::CycleContext& c, framework::PluginState* s, NodeIndex) {
  const auto& reserved = static_cast<const State*>(s)->reserved;
  if (!reserved) return nullptr;
  return MakePreBindTask(*this, *reserved, c.pod.uid, c.pod.name);
}

const ReservedVolumes* VolumeBinding::Reserved(std::string_view pod_uid) const {
  const auto it = reserved_.find(std::string(pod_uid));
  return it == reserved_.end() ? nullptr : it->second.get();
}

const ReservedVolumes* VolumeBinding::Reserved(const framework::PluginState& state) {
  return static_cast<const State&>(state).reserved.get();
}

void VolumeBinding::Release(std::string_view pod_uid) { reserved_.erase(std::string(pod_uid)); }

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  const auto* own = std::get_if<config::VolumeBindingArgs>(&args);
  const config::VolumeBindingArgs defaults;
  return std::make_unique<VolumeBinding>(own != nullptr ? *own : defaults,
                                         config::MinorRulesOf(handle.behaviour));
}

}  // namespace berth::plugins::volume_binding
