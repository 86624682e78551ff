#include "sim/scenario/volume_controller.h"

#include <utility>

#include <fmt/format.h>

namespace berth::sim {
namespace {

constexpr Nanos kReaction = kSecond;
constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kHostname = "kubernetes.io/hostname";

bool IsBound(const api::PersistentVolumeClaim& claim) {
  return !claim.spec.volume_name.empty() &&
         api::FindValue(claim.metadata.annotations, kBindCompleted) != nullptr;
}

// The volume can be used only where the node is.
void Tie(const api::Node& node, api::PersistentVolume* volume) {
  const std::string* zone = api::FindValue(node.metadata.labels, kZone);
  const std::string* host = api::FindValue(node.metadata.labels, kHostname);
  api::NodeSelectorTerm term;
  api::NodeSelectorRequirement& where = term.match_expressions.emplace_back();
  where.key = zone != nullptr ? kZone : kHostname;
  where.operator_ = "In";
  where.values = {zone != nullptr ? *zone : host != nullptr ? *host : node.metadata.name};
  volume->spec.node_affinity.emplace().required.emplace().node_selector_terms = {std::move(term)};
}

}  // namespace

VolumeController::VolumeController(EventLoop& loop, ModelApi& api) : loop_(loop), api_(api) {
  api_.Subscribe([this](const ApiChange& change) { OnChange(change); });
}

void VolumeController::OnChange(const ApiChange& change) {
  if (change.type == ApiChange::Type::kDeleted) return;
  if (const auto* claim = std::get_if<api::PersistentVolumeClaim>(change.object.get())) {
    if (IsBound(*claim)) return;
    const std::string ns = claim->metadata.namespace_;
    const std::string name = claim->metadata.name;
    if (const std::string volume = claim->spec.volume_name; !volume.empty()) {
      loop_.After(kReaction, [this, volume, ns, name] { Bind(volume, ns, name); });
    } else {
      loop_.After(kReaction, [this, ns, name] { Provision(ns, name); });
    }
  } else if (const auto* volume = std::get_if<api::PersistentVolume>(change.object.get())) {
    if (!volume->spec.claim_ref || volume->status.phase == "Bound") return;
    loop_.After(kReaction,
                [this, name = volume->metadata.name, ns = volume->spec.claim_ref->namespace_,
                 claim = volume->spec.claim_ref->name] { Bind(name, ns, claim); });
  }
}

void VolumeController::Provision(const std::string& ns, const std::string& name) {
  const auto* claim = api_.Find<api::PersistentVolumeClaim>(ns, name);
  if (claim == nullptr || !claim->spec.volume_name.empty()) return;
  const std::string class_name = claim->spec.storage_class_name.value_or("");
  const auto* storage_class = api_.Find<api::StorageClass>("", class_name);
  if (storage_class == nullptr || storage_class->provisioner == "kubernetes.io/no-provisioner") {
    return;
  }
  const std::string* selected = api::FindValue(claim->metadata.annotations, kSelectedNode);
  const bool waits = storage_class->volume_binding_mode.value_or("") == "WaitForFirstConsumer";
  if (waits && selected == nullptr) return;
  api::PersistentVolume volume;
  if (selected != nullptr) {
    const auto* node = api_.Find<api::Node>("", *selected);
    if (node == nullptr) {
      // The scheduler has to choose another node.
      api_.Modify<api::PersistentVolumeClaim>(ns, name, [](api::PersistentVolumeClaim& again) {
        again.metadata.annotations.erase(std::string(kSelectedNode));
      });
      return;
    }
    Tie(*node, &volume);
  }
  volume.spec.capacity = claim->spec.resources.requests;
  volume.spec.access_modes = claim->spec.access_modes;
  volume.spec.storage_class_name = class_name;
  volume.spec.volume_mode = claim->spec.volume_mode;
  api::ObjectReference& reference = volume.spec.claim_ref.emplace();
  reference.kind = "PersistentVolumeClaim";
  reference.namespace_ = ns;
  reference.name = name;
  reference.uid = claim->metadata.uid;
  do {
    volume.metadata.name = fmt::format("pvc-{}", next_++);
  } while (api_.Find<api::PersistentVolume>("", volume.metadata.name) != nullptr);
  const std::string volume_name = volume.metadata.name;
  api_.Create(std::move(volume));
  Bind(volume_name, ns, name);
}

void VolumeController::Bind(const std::string& volume, const std::string& ns,
                            const std::string& name) {
  const auto* claim = api_.Find<api::PersistentVolumeClaim>(ns, name);
  if (claim == nullptr || IsBound(*claim)) return;
  if (!claim->spec.volume_name.empty() && claim->spec.volume_name != volume) return;
  const std::string uid = claim->metadata.uid;
  const bool found =
      api_.Modify<api::PersistentVolume>("", volume, [&](api::PersistentVolume& bound) {
        api::ObjectReference reference;
        reference.kind = "PersistentVolumeClaim";
        reference.namespace_ = ns;
        reference.name = name;
        reference.uid = uid;
        bound.spec.claim_ref = reference;
        bound.status.phase = "Bound";
      });
  if (!found) return;
  api_.Modify<api::PersistentVolumeClaim>(ns, name, [&](api::PersistentVolumeClaim& bound) {
    bound.spec.volume_name = volume;
    bound.metadata.annotations[std::string(kBindCompleted)] = "yes";
    bound.status.phase = "Bound";
  });
}

}  // namespace berth::sim
