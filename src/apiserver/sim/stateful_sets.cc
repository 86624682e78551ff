// StatefulSets: pods with names of their own and claims that stay with them, one after the other.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/sim/owner_controller.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;

std::string Revision(const StoredObject& set, const Json& template_) {
  uint32_t hash = 2166136261u;
  for (const char c : template_.Dump()) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return fmt::format("{}-{:08x}", set.name, hash);
}

class StatefulSets final : public OwnerController {
 public:
  explicit StatefulSets(World& world)
      : OwnerController(world, world.catalog().Named("apps", "statefulsets"), milliseconds(5)) {}

 private:
  void Sync(const std::string& namespace_, const std::string& name) override {
    const ObjectPtr object = world_.store().Get(owners_.storage_id, namespace_, name);
    if (!object || object->deleting) return;
    const Json set = object->Value();
    const Json& spec = set["spec"];
    const int64_t wanted = spec["replicas"].Int(1);
    const bool ordered = spec["podManagementPolicy"].Str() != "Parallel";
    const int64_t first = spec["ordinals"]["start"].Int();
    const std::string revision = Revision(*object, spec["template"]);
    std::map<int64_t, ObjectPtr> pods;
    for (ObjectPtr& pod : world_.index().OwnedBy(object->uid, world_.pods().storage_id)) {
      const size_t dash = pod->name.rfind('-');
      pods[std::atoll(pod->name.c_str() + dash + 1)] = std::move(pod);
    }
    for (int64_t i = first; i < first + wanted; ++i) {
      const auto it = pods.find(i);
      if (it == pods.end()) {
        Create(set, *object, i, revision);
        if (ordered) break;
      } else if (world_.index().Finished(*it->second)) {
        world_.Delete(world_.pods(), *it->second);
        break;
      } else if (ordered && (!it->second->ready || it->second->deleting)) {
        break;
      }
    }
    ScaleDown(pods, first + wanted, ordered);
    Roll(spec, pods, first + wanted, revision);
    CountStatus(set, *object, revision);
  }

  void Create(const Json& set, const StoredObject& object, int64_t ordinal,
              const std::string& revision) {
    Json pod = world_.PodFromTemplate(set, set["spec"]["template"]);
    const std::string name = fmt::format("{}-{}", object.name, ordinal);
    Json& metadata = pod.At("metadata");
    metadata.Set("name", name);
    metadata.At("labels").Set("statefulset.kubernetes.io/pod-name", name);
    metadata.At("labels").Set("apps.kubernetes.io/pod-index", std::to_string(ordinal));
    metadata.At("labels").Set("controller-revision-hash", revision);
    pod.At("spec").Set("hostname", name);
    if (!set["spec"]["serviceName"].Empty()) {
      pod.At("spec").Set("subdomain", set["spec"]["serviceName"]);
    }
    for (const Json& claim : set["spec"]["volumeClaimTemplates"].Items()) {
      AddClaim(set, object, claim, name, pod.At("spec"));
    }
    (void)world_.registry().Create(world_.pods(), object.namespace_, std::move(pod),
                                   kControllerManager);
  }

  void AddClaim(const Json& set, const StoredObject& object, const Json& template_,
                const std::string& pod, Json& pod_spec) {
    const Resource& claims = world_.catalog().Core("persistentvolumeclaims");
    const std::string volume(template_["metadata"]["name"].Str());
    const std::string name = fmt::format("{}-{}", volume, pod);
    if (!world_.store().Get(claims.storage_id, object.namespace_, name)) {
      Json claim = Json::MakeObject({{"spec", template_["spec"]}});
      claim.Set("metadata", template_["metadata"]);
      claim.At("metadata").Set("name", name);
      const Json& labels = set["spec"]["selector"]["matchLabels"];
      for (const auto& [key, value] : labels.Members()) {
        claim.At("metadata").At("labels").Set(key, value);
      }
      (void)world_.registry().Create(claims, object.namespace_, std::move(claim),
                                     kControllerManager);
    }
    Json& volumes = pod_spec.At("volumes");
    std::erase_if(volumes.MutableItems(),
                  [&](const Json& known) { return known["name"].Str() == volume; });
    volumes.Append(Json::MakeObject(
        {{"name", volume}, {"persistentVolumeClaim", Json::MakeObject({{"claimName", name}})}}));
  }

  void ScaleDown(const std::map<int64_t, ObjectPtr>& pods, int64_t end, bool ordered) {
    for (auto it = pods.rbegin(); it != pods.rend() && it->first >= end; ++it) {
      if (!it->second->deleting) world_.Delete(world_.pods(), *it->second);
      if (ordered) return;  // the next one when this one is gone
    }
  }

  // Pods of another revision are replaced from the last to the first, when the rest is ready.
  void Roll(const Json& spec, const std::map<int64_t, ObjectPtr>& pods, int64_t end,
            const std::string& revision) {
    if (spec["updateStrategy"]["type"].Str() == "OnDelete") return;
    const int64_t partition = spec["updateStrategy"]["rollingUpdate"]["partition"].Int();
    for (auto it = pods.rbegin(); it != pods.rend(); ++it) {
      if (it->first >= end) continue;
      if (it->first < partition || it->second->deleting) return;
      const std::string* label = api::FindValue(it->second->labels, "controller-revision-hash");
      if (!label || *label != revision) {
        world_.Delete(world_.pods(), *it->second);
        return;
      }
      if (!it->second->ready) return;
    }
  }

  void CountStatus(const Json& set, const StoredObject& object, const std::string& revision) {
    int64_t replicas = 0;
    int64_t ready = 0;
    int64_t updated = 0;
    for (const ObjectPtr& pod : world_.index().OwnedBy(object.uid, world_.pods().storage_id)) {
      if (!world_.index().Active(*pod)) continue;
      ++replicas;
      ready += pod->ready;
      const std::string* label = api::FindValue(pod->labels, "controller-revision-hash");
      updated += label && *label == revision;
    }
    Json status = Json::MakeObject({{"replicas", replicas},
                                    {"readyReplicas", ready},
                                    {"availableReplicas", ready},
                                    {"currentReplicas", updated},
                                    {"updatedReplicas", updated},
                                    {"currentRevision", revision},
                                    {"updateRevision", revision},
                                    {"collisionCount", 0}});
    status.Set("observedGeneration", set["metadata"]["generation"].Int());
    world_.SetStatus(owners_, object, status);
  }
};

}  // namespace

void AddStatefulSets(World& world) { AddOwnerController<StatefulSets>(world); }

}  // namespace berth::apiserver
