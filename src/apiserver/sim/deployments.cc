// Deployments: a ReplicaSet per template, rolled over within the strategy's bounds.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/registry/disruption.h"
#include "apiserver/sim/world.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;
constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
constexpr std::string_view kHashLabel = "pod-template-hash";

// Ten letters that no word is made of, as replica sets are named.
std::string TemplateHash(const Json& template_) {
  uint32_t hash = 2166136261u;
  for (const char c : template_.Dump()) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string name;
  for (const char c : std::to_string(hash)) {
    name += kLetters[static_cast<unsigned char>(c) % kLetters.size()];
  }
  return name;
}

int64_t Portion(const Json& value, int64_t total, bool up) {
  if (value.IsInt()) return value.Int();
  const int64_t percent = std::atoll(std::string(value.Str()).c_str());
  return (percent * total + (up ? 99 : 0)) / 100;
}

class Deployments {
 public:
  explicit Deployments(World& world)
      : world_(world),
        deployments_(world.catalog().Named("apps", "deployments")),
        sets_(world.catalog().Named("apps", "replicasets")) {}

  void Enqueue(std::string_view namespace_, std::string_view name, milliseconds delay) {
    world_.Soon(fmt::format("deployments/{}/{}", namespace_, name), delay,
                [this, space = std::string(namespace_), n = std::string(name)] { Sync(space, n); });
  }

  void OnDeployment(const Change& change) {
    if (change.type == ChangeType::kDeleted) return;
    Enqueue(change.object->namespace_, change.object->name, milliseconds(0));
  }

  void OnSet(const Change& change) {
    const Json set = change.object->Value();
    for (const Json& owner : set["metadata"]["ownerReferences"].Items()) {
      if (owner["kind"].Str() == "Deployment") {
        Enqueue(change.object->namespace_, owner["name"].Str(), milliseconds(5));
      }
    }
  }

 private:
  struct Set {
    ObjectPtr object;
    Json value;
    int64_t wanted() const { return value["spec"]["replicas"].Int(); }
    int64_t replicas() const { return value["status"]["replicas"].Int(); }
    int64_t available() const { return value["status"]["availableReplicas"].Int(); }
  };

  void Sync(const std::string& namespace_, const std::string& name) {
    const ObjectPtr object = world_.store().Get(deployments_.storage_id, namespace_, name);
    if (!object || object->deleting) return;
    const Json deployment = object->Value();
    const std::string hash = TemplateHash(deployment["spec"]["template"]);
    std::vector<Set> old;
    std::optional<Set> current;
    int64_t revision = 0;
    for (const ObjectPtr& set : world_.index().OwnedBy(object->uid, sets_.storage_id)) {
      if (set->controller != object->uid || set->deleting) continue;
      Set entry{set, set->Value()};
      revision = std::max<int64_t>(
          revision,
          std::atoll(std::string(entry.value["metadata"]["annotations"][kRevision].Str()).c_str()));
      const std::string* label = api::FindValue(set->labels, kHashLabel);
      if (label && *label == hash) {
        current = std::move(entry);
      } else {
        old.push_back(std::move(entry));
      }
    }
    if (!current) {
      if (deployment["spec"]["paused"].Bool() && !old.empty())
        return CountStatus(deployment, *object, old, current);
      current = MakeSet(deployment, *object, hash, revision + 1, old.empty());
      if (!current) return;
      SetRevision(*object, revision + 1);
    }
    if (!deployment["spec"]["paused"].Bool()) Roll(deployment, *current, old);
    Trim(deployment, old);
    CountStatus(deployment, *object, old, current);
  }

  std::optional<Set> MakeSet(const Json& deployment, const StoredObject& object,
                             const std::string& hash, int64_t revision, bool alone) {
    const Json& spec = deployment["spec"];
    Json set = world_.PodFromTemplate(deployment, Json::MakeObject());  // for its owner reference
    set.Set("kind", "ReplicaSet");
    set.Set("apiVersion", "apps/v1");
    Json& metadata = set.At("metadata");
    metadata.Set("name", object.name + "-" + hash);
    metadata.Set("labels", spec["template"]["metadata"]["labels"]);
    metadata.At("labels").Set(kHashLabel, hash);
    metadata.At("annotations").Set(kRevision, std::to_string(revision));
    Json set_spec = Json::MakeObject({{"replicas", alone ? spec["replicas"].Int() : 0},
                                      {"selector", spec["selector"]},
                                      {"template", spec["template"]}});
    set_spec.At("selector").At("matchLabels").Set(kHashLabel, hash);
    set_spec.At("template").At("metadata").At("labels").Set(kHashLabel, hash);
    set.Set("spec", std::move(set_spec));
    const auto made =
        world_.registry().Create(sets_, object.namespace_, std::move(set), kControllerManager);
    if (!made) return std::nullopt;
    if (alone) NoteScaling(object, (*made)->name, 0, spec["replicas"].Int());
    return Set{*made, (*made)->Value()};
  }

  void SetRevision(const StoredObject& object, int64_t revision) {
    (void)world_.registry().Modify(
        deployments_, object.namespace_, object.name,
        [&](Json& value) -> Answer<void> {
          value.At("metadata").At("annotations").Set(kRevision, std::to_string(revision));
          return {};
        },
        "", kControllerManager);
  }

  void NoteScaling(const StoredObject& deployment, std::string_view set, int64_t from, int64_t to) {
    if (from == to) return;
    world_.Record({deployments_, deployment, "deployment-controller", "ScalingReplicaSet",
                   fmt::format("Scaled {} replica set {} from {} to {}", from < to ? "up" : "down",
                               set, from, to)});
  }

  void Scale(Set& set, int64_t replicas) {
    if (set.wanted() == replicas) return;
    for (const Json& owner : set.value["metadata"]["ownerReferences"].Items()) {
      const ObjectPtr deployment =
          world_.store().Get(deployments_.storage_id, set.object->namespace_, owner["name"].Str());
      if (!deployment || deployment->uid != set.object->controller) continue;
      NoteScaling(*deployment, set.object->name, set.wanted(), replicas);
    }
    const auto changed = world_.registry().Modify(
        sets_, set.object->namespace_, set.object->name,
        [&](Json& value) -> Answer<void> {
          value.At("spec").Set("replicas", replicas);
          return {};
        },
        "", kControllerManager);
    if (changed) set = {*changed, (*changed)->Value()};
  }

  void Roll(const Json& deployment, Set& current, std::vector<Set>& old) {
    const Json& spec = deployment["spec"];
    const int64_t wanted = spec["replicas"].Int(1);
    int64_t old_wanted = 0;
    for (const Set& set : old) old_wanted += set.wanted();
    if (old_wanted == 0) return Scale(current, wanted);
    if (spec["strategy"]["type"].Str() == "Recreate") {
      int64_t left = 0;
      for (Set& set : old) {
        Scale(set, 0);
        left += set.replicas();
      }
      return left == 0 ? Scale(current, wanted) : void();
    }
    const Json& rolling = spec["strategy"]["rollingUpdate"];
    int64_t surge = Portion(rolling["maxSurge"], wanted, true);
    int64_t unavailable = Portion(rolling["maxUnavailable"], wanted, false);
    if (surge == 0 && unavailable == 0) unavailable = 1;
    // Up: within the surge.
    const int64_t room = wanted + surge - old_wanted - current.wanted();
    if (current.wanted() > wanted) {
      Scale(current, wanted);
    } else if (room > 0) {
      Scale(current, std::min(wanted, current.wanted() + room));
    }
    // Down: as many as leave enough available; those that are not available cost nothing.
    int64_t available = current.available();
    for (const Set& set : old) available += set.available();
    int64_t spare = available - (wanted - unavailable);
    for (Set& set : old) {
      const int64_t broken = set.wanted() - set.available();
      const int64_t free = std::max<int64_t>(0, broken);
      const int64_t healthy = std::clamp<int64_t>(spare, 0, set.wanted() - free);
      spare -= healthy;
      Scale(set, set.wanted() - free - healthy);
    }
  }

  // Old sets without pods go when there are more than the history may have.
  void Trim(const Json& deployment, std::vector<Set>& old) {
    const size_t limit = static_cast<size_t>(
        std::max<int64_t>(0, deployment["spec"]["revisionHistoryLimit"].Int(10)));
    std::vector<const Set*> idle;
    for (const Set& set : old) {
      if (set.wanted() == 0 && set.replicas() == 0) idle.push_back(&set);
    }
    if (idle.size() <= limit) return;
    std::sort(idle.begin(), idle.end(), [](const Set* a, const Set* b) {
      return a->value["metadata"]["creationTimestamp"].Str() <
             b->value["metadata"]["creationTimestamp"].Str();
    });
    for (size_t i = 0; i < idle.size() - limit; ++i) world_.Delete(sets_, *idle[i]->object);
  }

  void CountStatus(const Json& deployment, const StoredObject& object, const std::vector<Set>& old,
                   const std::optional<Set>& current) {
    int64_t replicas = 0;
    int64_t ready = 0;
    const auto count = [&](const Set& set) {
      replicas += set.replicas();
      ready += set.available();
    };
    for (const Set& set : old) count(set);
    if (current) count(*current);
    const int64_t wanted = deployment["spec"]["replicas"].Int(1);
    const int64_t unavailable =
        Portion(deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"], wanted, false);
    Json status = deployment["status"].IsObject() ? deployment["status"] : Json::MakeObject();
    status.Set("observedGeneration", deployment["metadata"]["generation"].Int());
    status.Set("replicas", replicas);
    status.Set("updatedReplicas", current ? current->replicas() : 0);
    status.Set("readyReplicas", ready);
    status.Set("availableReplicas", ready);
    status.Set("unavailableReplicas", std::max<int64_t>(0, wanted - ready));
    if (status["unavailableReplicas"].Int() == 0) status.Erase("unavailableReplicas");
    const bool available = ready >= wanted - unavailable;
    SetCondition(status,
                 available ? Condition("Available", true, "MinimumReplicasAvailable",
                                       "Deployment has minimum availability.")
                           : Condition("Available", false, "MinimumReplicasUnavailable",
                                       "Deployment does not have minimum availability."),
                 world_.Now());
    const std::string set_name = current ? current->object->name : "";
    const bool done = current && current->replicas() == wanted && replicas == wanted &&
                      current->available() == wanted;
    SetCondition(
        status,
        done ? Condition("Progressing", true, "NewReplicaSetAvailable",
                         fmt::format("ReplicaSet \"{}\" has successfully progressed.", set_name))
             : Condition("Progressing", true, "ReplicaSetUpdated",
                         fmt::format("ReplicaSet \"{}\" is progressing.", set_name)),
        world_.Now());
    world_.SetStatus(deployments_, object, status);
  }

  World& world_;
  const Resource& deployments_;
  const Resource& sets_;
};

}  // namespace

void AddDeployments(World& world) {
  const auto deployments = std::make_shared<Deployments>(world);
  world.React(world.catalog().Named("apps", "deployments"),
              [deployments](const Change& change) { deployments->OnDeployment(change); });
  world.React(world.catalog().Named("apps", "replicasets"),
              [deployments](const Change& change) { deployments->OnSet(change); });
}

}  // namespace berth::apiserver
