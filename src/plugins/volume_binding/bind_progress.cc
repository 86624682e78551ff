#include "plugins/volume_binding/bind_progress.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "cluster/objects/object_store.h"
#include "plugins/common/csi_translation.h"
#include "plugins/common/label_terms.h"
#include "plugins/common/resource_version.h"
#include "plugins/common/volume_claims.h"

namespace berth::plugins::volume_binding {
namespace {

using cluster::NodeIndex;
using Step = BindProgress::Step;

BindProgress Failed(std::string error) { return {Step::kFailed, std::move(error)}; }

bool IsMigratedOn(const api::CSINode& csi_node, InTreeKind kind) {
  const auto it = csi_node.metadata.annotations.find(kMigratedPluginsAnnotation);
  return it != csi_node.metadata.annotations.end() && ListsPlugin(it->second, kind);
}

// Can the volume be reached from the node? What is wrong otherwise, or nothing.
std::optional<std::string> CheckReach(const cluster::Cluster& cluster,
                                      const api::PersistentVolume& volume, NodeIndex n,
                                      std::string_view when_untranslatable) {
  std::optional<api::NodeSelector> affinity;
  if (volume.spec.node_affinity) affinity = volume.spec.node_affinity->required;
  const InTreeKind kind = InTreeKindOf(volume.spec);
  if (IsMigrated(kind)) {
    const auto* csi_node = cluster.Objects().csi_nodes.Find(cluster.NodeName(n));
    if (csi_node != nullptr && IsMigratedOn(*csi_node, kind)) {
      auto translated = TranslatedAffinity(volume);
      if (!translated) {
        return fmt::format("{}could not translate pv: {}", when_untranslatable,
                           translated.error().Message());
      }
      affinity = std::move(*translated);
    }
  }
  if (LabelTerms::OfVolume(cluster, affinity).Matches(cluster, n)) return std::nullopt;
  return fmt::format("pv {} node affinity doesn't match node {}: no matching NodeSelectorTerms",
                     api::GoQuote(volume.metadata.name), api::GoQuote(cluster.NodeName(n)));
}

struct Kind {
  std::string_view type;
  std::string_view resource;
};
constexpr Kind kVolume = {"v1.PersistentVolume", "persistentvolumes"};
constexpr Kind kClaim = {"v1.PersistentVolumeClaim", "persistentvolumeclaims"};

std::string Missing(std::string_view what, const Kind& kind, std::string_view key,
                    const config::MinorRules& rules) {
  const std::string name = api::GoQuote(key);
  if (rules.assumes_over_same_version) {
    return fmt::format("{}: {} {} not found", what, kind.resource, name);
  }
  return fmt::format("{}: could not find {} {}", what, kind.type, name);
}

BindProgress CheckBinding(const cluster::Cluster& cluster, const ReservedVolumes::Binding& binding,
                          NodeIndex n, const config::MinorRules& rules) {
  const cluster::ObjectStore& objects = cluster.Objects();
  const std::string& name = binding.volume->metadata.name;
  const api::ObjectMeta& claim_meta = binding.claim->metadata;
  const auto* volume = objects.persistent_volumes.Find(name);
  if (volume == nullptr) {
    return Failed(Missing("failed to check binding", kVolume, name, rules));
  }
  const auto* claim = objects.persistent_volume_claims.Find(claim_meta.namespace_, claim_meta.name);
  if (claim == nullptr) {
    return Failed(Missing("failed to check binding", kClaim,
                          claim_meta.namespace_ + "/" + claim_meta.name, rules));
  }
  // What we wrote has not come back yet.
  if (IsNewerVersion(*binding.volume, *volume)) return {Step::kWait, {}};
  if (auto wrong = CheckReach(cluster, *volume, n, "failed to translate pv to csi: ")) {
    return Failed(std::move(*wrong));
  }
  if (!volume->spec.claim_ref || volume->spec.claim_ref->uid.empty()) {
    return Failed(fmt::format("ClaimRef got reset for pv {}", api::GoQuote(name)));
  }
  return {IsFullyBound(*claim) ? Step::kDone : Step::kWait, {}};
}

BindProgress CheckProvision(const cluster::Cluster& cluster,
                            const api::PersistentVolumeClaim& written, const std::string& node,
                            NodeIndex n, const config::MinorRules& rules) {
  const cluster::ObjectStore& objects = cluster.Objects();
  const api::ObjectMeta& meta = written.metadata;
  const auto* claim = objects.persistent_volume_claims.Find(meta.namespace_, meta.name);
  if (claim == nullptr) {
    return Failed(Missing("failed to check provisioning pvc", kClaim,
                          meta.namespace_ + "/" + meta.name, rules));
  }
  if (IsNewerVersion(written, *claim)) return {Step::kWait, {}};
  const auto& annotations = claim->metadata.annotations;
  if (annotations.empty()) {
    return Failed(fmt::format("selectedNode annotation reset for PVC {}", api::GoQuote(meta.name)));
  }
  // A provisioner that fails takes the annotation away, so that another node can be chosen.
  const auto selected = annotations.find(kSelectedNodeAnnotation);
  if (selected == annotations.end() || selected->second != node) {
    return Failed(fmt::format("provisioning failed for PVC {}", api::GoQuote(meta.name)));
  }
  if (!claim->spec.volume_name.empty()) {
    const auto* volume = objects.persistent_volumes.Find(claim->spec.volume_name);
    if (volume == nullptr) return {Step::kWait, {}};  // It has not come to us yet.
    if (auto wrong = CheckReach(cluster, *volume, n, "")) return Failed(std::move(*wrong));
  }
  return {IsFullyBound(*claim) ? Step::kDone : Step::kWait, {}};
}

}  // namespace

BindProgress CheckBindings(const cluster::Cluster& cluster, const ReservedVolumes& written,
                           std::string_view pod_name, bool pod_exists,
                           const config::MinorRules& rules) {
  const NodeIndex n = cluster.FindNode(written.node);
  if (n == cluster::kNoNode) {
    return Failed(fmt::format("failed to get node {}: {}", api::GoQuote(written.node),
                              NotFound("node", written.node)));
  }
  if (!pod_exists) {
    return Failed("pod does not exist any more: " + NotFound("pod", pod_name));
  }
  for (const ReservedVolumes::Binding& binding : written.bindings) {
    BindProgress progress = CheckBinding(cluster, binding, n, rules);
    if (progress.step != Step::kDone) return progress;
  }
  for (const auto& claim : written.provisions) {
    BindProgress progress = CheckProvision(cluster, *claim, written.node, n, rules);
    if (progress.step != Step::kDone) return progress;
  }
  return {};
}

}  // namespace berth::plugins::volume_binding
