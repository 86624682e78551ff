// Volumes: claims are bound to volumes that are there, or to volumes made for them where their
// class has a provisioner.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/rules/quantity.h"
#include "apiserver/sim/world.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;
constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";
constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";

class Volumes {
 public:
  explicit Volumes(World& world)
      : world_(world),
        claims_(world.catalog().Core("persistentvolumeclaims")),
        volumes_(world.catalog().Core("persistentvolumes")),
        classes_(world.catalog().Named("storage.k8s.io", "storageclasses")) {}

  void OnClaim(const Change& change) {
    if (change.type == ChangeType::kDeleted) return Release(*change.object);
    Enqueue(change.object->namespace_, change.object->name);
  }

  void OnVolume(const Change& change) {
    if (change.type == ChangeType::kDeleted) return;
    const Json volume = change.object->Value();
    const Json& claim = volume["spec"]["claimRef"];
    if (!claim.IsNull()) Enqueue(claim["namespace"].Str(), claim["name"].Str());
    if (claim.IsNull() && volume["status"]["phase"].Str() == "Pending") {
      const std::string name = change.object->name;
      world_.Soon("volume/" + name, milliseconds(0), [this, name] { SetPhase(name, "Available"); });
    }
  }

 private:
  void Enqueue(std::string_view namespace_, std::string_view name) {
    world_.Soon(fmt::format("claim/{}/{}", namespace_, name), milliseconds(0),
                [this, space = std::string(namespace_), n = std::string(name)] { Sync(space, n); });
  }

  void SetPhase(const std::string& name, std::string_view phase) {
    (void)world_.registry().Modify(
        volumes_, "", name,
        [&](Json& value) -> Answer<void> {
          value.At("status").Set("phase", phase);
          return {};
        },
        "status", kControllerManager);
  }

  // A volume that was made for the claim goes with it; others wait to be looked after.
  void Release(const StoredObject& claim) {
    const Json value = claim.Value();
    const std::string name(value["spec"]["volumeName"].Str());
    const ObjectPtr volume = world_.store().Get(volumes_.storage_id, "", name);
    if (name.empty() || !volume) return;
    const bool made = volume->Value()["spec"]["persistentVolumeReclaimPolicy"].Str() == "Delete";
    made ? world_.Delete(volumes_, *volume) : SetPhase(name, "Released");
  }

  void Sync(const std::string& namespace_, const std::string& name) {
    const ObjectPtr object = world_.store().Get(claims_.storage_id, namespace_, name);
    if (!object || object->deleting) return;
    const Json claim = object->Value();
    if (claim["status"]["phase"].Str() == "Bound") return;
    if (const std::string_view chosen = claim["spec"]["volumeName"].Str(); !chosen.empty()) {
      return BindTo(*object, chosen);
    }
    // The scheduler has given a volume to the claim.
    for (const auto& [key, volume] : world_.store().All(volumes_.storage_id)) {
      if (volume->text.find(object->uid) == std::string::npos &&
          volume->text.find("\"claimRef\"") == std::string::npos) {
        continue;
      }
      const Json value = volume->Value();
      const Json& reference = value["spec"]["claimRef"];
      if (reference["namespace"].Str() == namespace_ && reference["name"].Str() == name) {
        return BindTo(*object, volume->name);
      }
    }
    const ObjectPtr class_object =
        world_.store().Get(classes_.storage_id, "", claim["spec"]["storageClassName"].Str());
    const Json class_ = class_object ? class_object->Value() : Json();
    const bool waits = class_["volumeBindingMode"].Str() == "WaitForFirstConsumer";
    const std::string_view node = claim["metadata"]["annotations"][kSelectedNode].Str();
    if (waits && node.empty()) return;
    if (!waits) {
      if (const ObjectPtr match = FindVolume(claim)) return BindTo(*object, match->name);
    }
    const std::string_view provisioner = class_["provisioner"].Str();
    if (!provisioner.empty() && provisioner != "kubernetes.io/no-provisioner") {
      Provision(claim, *object, class_, node);
    }
  }

  // The smallest volume that is free and good enough.
  ObjectPtr FindVolume(const Json& claim) {
    const auto wanted =
        api::Quantity::ParseJson(claim["spec"]["resources"]["requests"]["storage"].Dump());
    if (!wanted) return nullptr;
    ObjectPtr best;
    api::Quantity best_size;
    for (const auto& [key, volume] : world_.store().All(volumes_.storage_id)) {
      const Json value = volume->Value();
      const Json& spec = value["spec"];
      if (!spec["claimRef"].IsNull() ||
          spec["storageClassName"].Str() != claim["spec"]["storageClassName"].Str()) {
        continue;
      }
      bool modes = true;
      for (const Json& mode : claim["spec"]["accessModes"].Items()) {
        bool offered = false;
        for (const Json& offer : spec["accessModes"].Items()) offered |= offer.Str() == mode.Str();
        modes = modes && offered;
      }
      const auto size = api::Quantity::ParseJson(spec["capacity"]["storage"].Dump());
      if (!modes || !size || *size < *wanted) continue;
      if (!best || *size < best_size) {
        best = volume;
        best_size = *size;
      }
    }
    return best;
  }

  void Provision(const Json& claim, const StoredObject& object, const Json& class_,
                 std::string_view node) {
    Json volume = Json::MakeObject({});
    const std::string name = "pvc-" + object.uid;
    volume.At("metadata").Set("name", name);
    volume.At("metadata")
        .At("annotations")
        .Set("pv.kubernetes.io/provisioned-by", class_["provisioner"]);
    Json& spec = volume.At("spec");
    spec.At("capacity").Set("storage", claim["spec"]["resources"]["requests"]["storage"]);
    spec.Set("accessModes", claim["spec"]["accessModes"]);
    spec.Set("persistentVolumeReclaimPolicy", class_["reclaimPolicy"]);
    spec.Set("storageClassName", claim["spec"]["storageClassName"]);
    spec.Set("volumeMode", claim["spec"]["volumeMode"]);
    spec.Set("claimRef", ClaimReference(object));
    spec.Set("hostPath", Json::MakeObject({{"path", "/simulated/" + name}, {"type", ""}}));
    if (!node.empty()) SetAffinity(spec, node);
    (void)world_.registry().Create(volumes_, "", std::move(volume), kControllerManager);
    BindTo(object, name);
  }

  // A volume can be reached in the zone of the node it was made for, as disks of clouds can; where
  // the node has no zone, from that node alone.
  void SetAffinity(Json& spec, std::string_view node) {
    const ObjectPtr host = world_.store().Get(world_.nodes().storage_id, "", node);
    if (!host) return;
    for (std::string_view key : {"topology.kubernetes.io/zone", "kubernetes.io/hostname"}) {
      const std::string* label = api::FindValue(host->labels, key);
      if (!label) continue;
      const Json expression = Json::MakeObject(
          {{"key", key}, {"operator", "In"}, {"values", Json::MakeArray({*label})}});
      spec.At("nodeAffinity")
          .At("required")
          .At("nodeSelectorTerms")
          .Append(Json::MakeObject({{"matchExpressions", Json::MakeArray({expression})}}));
      return;
    }
  }

  static Json ClaimReference(const StoredObject& claim) {
    return Json::MakeObject({{"kind", "PersistentVolumeClaim"},
                             {"apiVersion", "v1"},
                             {"namespace", claim.namespace_},
                             {"name", claim.name},
                             {"uid", claim.uid}});
  }

  void BindTo(const StoredObject& claim, std::string_view name) {
    const ObjectPtr volume = world_.store().Get(volumes_.storage_id, "", name);
    if (!volume) return;
    const Json value = volume->Value();
    const Json& reference = value["spec"]["claimRef"];
    if (!reference.IsNull() && (reference["name"].Str() != claim.name ||
                                reference["namespace"].Str() != claim.namespace_)) {
      return;
    }
    (void)world_.registry().Modify(
        volumes_, "", name,
        [&](Json& changed) -> Answer<void> {
          changed.At("spec").Set("claimRef", ClaimReference(claim));
          changed.At("metadata").At("annotations").Set(kBoundByController, "yes");
          return {};
        },
        "", kControllerManager);
    SetPhase(std::string(name), "Bound");
    (void)world_.registry().Modify(
        claims_, claim.namespace_, claim.name,
        [&](Json& changed) -> Answer<void> {
          changed.At("spec").Set("volumeName", name);
          Json& annotations = changed.At("metadata").At("annotations");
          annotations.Set(kBindCompleted, "yes");
          annotations.Set(kBoundByController, "yes");
          return {};
        },
        "", kControllerManager);
    (void)world_.registry().Modify(
        claims_, claim.namespace_, claim.name,
        [&](Json& changed) -> Answer<void> {
          Json& status = changed.At("status");
          status.Set("phase", "Bound");
          status.Set("accessModes", value["spec"]["accessModes"]);
          status.Set("capacity", value["spec"]["capacity"]);
          return {};
        },
        "status", kControllerManager);
  }

  World& world_;
  const Resource& claims_;
  const Resource& volumes_;
  const Resource& classes_;
};

}  // namespace

void AddVolumes(World& world) {
  const auto volumes = std::make_shared<Volumes>(world);
  world.React(world.catalog().Core("persistentvolumeclaims"),
              [volumes](const Change& change) { volumes->OnClaim(change); });
  world.React(world.catalog().Core("persistentvolumes"),
              [volumes](const Change& change) { volumes->OnVolume(change); });
}

}  // namespace berth::apiserver
