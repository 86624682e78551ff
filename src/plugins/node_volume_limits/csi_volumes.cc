#include "plugins/node_volume_limits/csi_volumes.h"

#include <utility>

#include <fmt/format.h>

#include "cluster/objects/object_store.h"
#include "plugins/common/csi_translation.h"
#include "plugins/common/volume_claims.h"

namespace berth::plugins::node_volume_limits {
namespace {

using framework::Code;

// Stands before the handle of a volume that does not exist yet, so that it equals no other.
constexpr std::string_view kUnbound = "\x01";

bool IsMigratedOn(NodeKind kind, InTreeKind volume) {
  if (kind == NodeKind::kNoCsiNode) return false;
  if (volume == InTreeKind::kPortworx) return kind == NodeKind::kPortworx;
  return IsMigrated(volume);
}

class Collector {
 public:
  Collector(const cluster::Cluster& cluster, const cluster::Pod& pod, NodeKind kind, bool is_new,
            Dependencies* depends)
      : objects_(cluster.Objects()), pod_(pod), kind_(kind), is_new_(is_new), depends_(depends) {}

  PodVolumes Run() {
    for (const api::Volume& volume : pod_.shape->source.spec.volumes) {
      const VolumeClaim claim = ClaimOf(pod_, volume);
      const bool good =
          claim.kind == VolumeClaim::Kind::kNone ? AddInline(volume) : AddClaim(claim);
      if (!good) break;
    }
    return std::move(out_);
  }

 private:
  bool Stop(Code code, std::string message) {
    out_.code = code;
    out_.message = std::move(message);
    return false;
  }

  void Add(std::string_view driver, std::string_view handle) {
    if (driver.empty() || handle.empty()) return;
    out_.volumes.push_back({std::string(driver), UniqueName(driver, handle)});
  }

  // Does the in-tree volume count here? Remembers that it may not elsewhere.
  bool Counts(InTreeKind volume) {
    out_.by_kind |= IsMigrated(volume);
    return IsMigratedOn(kind_, volume);
  }

  bool AddInline(const api::Volume& volume) {
    const InTreeKind in_tree = InTreeKindOf(volume);
    if (!Counts(in_tree)) return true;
    const Result<std::string> handle = TranslatedHandle(volume);
    if (!handle) {
      return Stop(Code::kError, fmt::format("converting volume({}) from inline to csi: {}",
                                            volume.name, handle.error().Message()));
    }
    const std::string_view driver = CsiDriverName(in_tree);
    out_.volumes.push_back({std::string(driver), UniqueName(driver, *handle)});
    return true;
  }

  bool AddClaim(const VolumeClaim& volume_claim) {
    const std::string& name = volume_claim.name;
    const std::string& namespace_ = pod_.namespace_();
    if (name.empty()) return Stop(Code::kError, "PersistentVolumeClaim had no name");
    if (depends_ != nullptr) depends_->claims.push_back(namespace_ + "/" + name);
    const auto* claim = objects_.persistent_volume_claims.Find(namespace_, name);
    if (claim == nullptr) {
      if (!is_new_) return true;
      return Stop(Code::kUnschedulableAndUnresolvable,
                  fmt::format("looking up PVC {}/{}: {}", namespace_, name,
                              NotFound(kClaimResource, name)));
    }
    if (volume_claim.kind == VolumeClaim::Kind::kEphemeral && !IsControlledBy(*claim, pod_)) {
      return Stop(Code::kError, NotMadeForPod(*claim, pod_));
    }
    AddBehind(*claim);
    return true;
  }

  void AddBehind(const api::PersistentVolumeClaim& claim) {
    const std::string& name = claim.spec.volume_name;
    const api::PersistentVolume* volume = nullptr;
    if (!name.empty()) {
      if (depends_ != nullptr) depends_->volumes.push_back("/" + name);
      volume = objects_.persistent_volumes.Find(name);
    }
    if (volume == nullptr) {
      AddFromClass(claim);
    } else if (volume->spec.csi) {
      Add(volume->spec.csi->driver, volume->spec.csi->volume_handle);
    } else if (const InTreeKind in_tree = InTreeKindOf(volume->spec); Counts(in_tree)) {
      if (const auto handle = TranslatedHandle(*volume)) Add(CsiDriverName(in_tree), *handle);
    }
  }

  void AddFromClass(const api::PersistentVolumeClaim& claim) {
    const std::string_view name = ClassOf(claim);
    if (name.empty()) return;
    if (depends_ != nullptr) depends_->classes.push_back("/" + std::string(name));
    const api::StorageClass* storage_class = objects_.storage_classes.Find(name);
    if (storage_class == nullptr) return;
    std::string_view driver = storage_class->provisioner;
    if (const InTreeKind in_tree = InTreeKindNamed(driver); in_tree != InTreeKind::kNone) {
      if (!Counts(in_tree)) return;
      driver = CsiDriverName(in_tree);
    }
    Add(driver, fmt::format("{}{}/{}", kUnbound, claim.metadata.namespace_, claim.metadata.name));
  }

  const cluster::ObjectStore& objects_;
  const cluster::Pod& pod_;
  const NodeKind kind_;
  const bool is_new_;
  Dependencies* const depends_;
  PodVolumes out_;
};

}  // namespace

NodeKind KindOf(const api::CSINode* csi_node, bool all_migrated) {
  if (csi_node == nullptr) return NodeKind::kNoCsiNode;
  if (all_migrated) return NodeKind::kPortworx;
  const auto& annotations = csi_node->metadata.annotations;
  const auto it = annotations.find(kMigratedPluginsAnnotation);
  const bool portworx = it != annotations.end() && ListsPlugin(it->second, InTreeKind::kPortworx);
  return portworx ? NodeKind::kPortworx : NodeKind::kCsiNode;
}

std::string UniqueName(std::string_view driver, std::string_view handle) {
  std::string name(driver);
  name += '/';
  name += handle;
  return name;
}

PodVolumes VolumesOf(const cluster::Cluster& cluster, const cluster::Pod& pod, NodeKind kind,
                     bool is_new, Dependencies* depends) {
  return Collector(cluster, pod, kind, is_new, depends).Run();
}

}  // namespace berth::plugins::node_volume_limits
