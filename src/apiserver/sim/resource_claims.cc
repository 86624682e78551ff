// Resource claims of pods: made from templates for the pods that ask for them, and given back when
// no pod uses them any more.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/sim/world.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;
constexpr std::string_view kPodClaimName = "resource.kubernetes.io/pod-claim-name";

class ResourceClaims {
 public:
  explicit ResourceClaims(World& world)
      : world_(world),
        claims_(world.catalog().Named("resource.k8s.io", "resourceclaims")),
        templates_(world.catalog().Named("resource.k8s.io", "resourceclaimtemplates")) {}

  void OnPod(const Change& change) {
    const StoredObject& pod = *change.object;
    if (FindText(pod.text, "spec.resourceClaims").empty()) return;
    if (change.type == ChangeType::kDeleted || world_.index().Finished(pod)) {
      const auto release = [this, namespace_ = pod.namespace_, uid = pod.uid] {
        Release(namespace_, uid);
      };
      world_.Soon("release-claims/" + pod.uid, milliseconds(0), release);
    } else if (!pod.deleting) {
      Enqueue(pod.namespace_, pod.name, milliseconds(0));
    }
  }

 private:
  void Enqueue(const std::string& namespace_, const std::string& name, milliseconds delay) {
    world_.Soon(fmt::format("pod-claims/{}/{}", namespace_, name), delay,
                [this, namespace_, name] { Sync(namespace_, name); });
  }

  void Sync(const std::string& namespace_, const std::string& name) {
    const ObjectPtr object = world_.store().Get(world_.pods().storage_id, namespace_, name);
    if (!object || object->deleting || world_.index().Finished(*object)) return;
    const Json pod = object->Value();
    Json statuses = pod["status"]["resourceClaimStatuses"];
    bool changed = false;
    for (const Json& claim : pod["spec"]["resourceClaims"].Items()) {
      const std::string_view from = claim["resourceClaimTemplateName"].Str();
      const auto& known = statuses.Items();
      const bool done = std::any_of(known.begin(), known.end(), [&](const Json& status) {
        return status["name"].Str() == claim["name"].Str();
      });
      if (from.empty() || done) continue;
      const std::string made = Make(pod, *object, claim["name"].Str(), from);
      if (made.empty()) {
        Enqueue(namespace_, name, milliseconds(1000));  // the template may come later
        continue;
      }
      statuses.Append(Json::MakeObject({{"name", claim["name"]}, {"resourceClaimName", made}}));
      changed = true;
    }
    if (!changed) return;
    (void)world_.registry().Modify(
        world_.pods(), namespace_, name,
        [&](Json& value) -> Answer<void> {
          value.At("status").Set("resourceClaimStatuses", statuses);
          return {};
        },
        "status", kControllerManager);
  }

  // The name of the claim; empty: it could not be made.
  std::string Make(const Json& pod, const StoredObject& object, std::string_view claim_name,
                   std::string_view from) {
    const ObjectPtr found = world_.store().Get(templates_.storage_id, object.namespace_, from);
    if (!found) return "";
    const Json template_ = found->Value();
    Json claim = world_.PodFromTemplate(pod, template_["spec"]);
    claim.Set("kind", "ResourceClaim");
    claim.Set("apiVersion", claims_.ApiVersion());
    claim.At("metadata").Set("generateName", fmt::format("{}-{}-", object.name, claim_name));
    claim.At("metadata").At("annotations").Set(kPodClaimName, claim_name);
    const auto made =
        world_.registry().Create(claims_, object.namespace_, std::move(claim), kControllerManager);
    return made ? (*made)->name : "";
  }

  // The pod uses no claim any more; a claim nobody uses is free for others.
  void Release(const std::string& namespace_, const std::string& uid) {
    std::vector<ObjectPtr> used;
    for (auto [at, end] = world_.store().Range(claims_.storage_id, namespace_); at != end; ++at) {
      if (at->second->text.find(uid) != std::string::npos) used.push_back(at->second);
    }
    for (const ObjectPtr& claim : used) {
      (void)world_.registry().Modify(
          claims_, namespace_, claim->name,
          [&](Json& value) -> Answer<void> {
            Json& status = value.At("status");
            if (status["reservedFor"].Empty()) return {};
            std::erase_if(status.At("reservedFor").MutableItems(),
                          [&](const Json& user) { return user["uid"].Str() == uid; });
            if (status["reservedFor"].Empty()) {
              status.Erase("reservedFor");
              status.Erase("allocation");
            }
            return {};
          },
          "status", kControllerManager);
    }
  }

  World& world_;
  const Resource& claims_;
  const Resource& templates_;
};

}  // namespace

void AddResourceClaims(World& world) {
  const auto claims = std::make_shared<ResourceClaims>(world);
  world.React(world.pods(), [claims](const Change& change) { claims->OnPod(change); });
}

}  // namespace berth::apiserver
