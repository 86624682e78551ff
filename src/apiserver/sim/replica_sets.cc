// ReplicaSets and ReplicationControllers: as many pods of the template as asked for.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/unordered/unordered_flat_map.hpp>

#include "apiserver/sim/world.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;

class ReplicaSets {
 public:
  ReplicaSets(World& world, const Resource& resource) : world_(world), resource_(resource) {}

  void Enqueue(const StoredObject& set, milliseconds delay) {
    world_.Soon(fmt::format("{}/{}/{}", resource_.plural, set.namespace_, set.name), delay,
                [this, namespace_ = set.namespace_, name = set.name] { Sync(namespace_, name); });
  }

  void OnSet(const Change& change) {
    if (change.type == ChangeType::kDeleted) {
      by_uid_.erase(change.object->uid);
    } else {
      Enqueue(*change.object, milliseconds(0));
    }
  }

  // A pod of one of our sets changed: count again, soon.
  void OnPod(const Change& change) {
    const auto owner = by_uid_.find(change.object->controller);
    if (owner == by_uid_.end() || std::exchange(owner->second.due, true)) return;
    Enqueue(*owner->second.set, milliseconds(20));
  }

 private:
  struct Known {
    ObjectPtr set;     // as it was last looked at
    bool due = false;  // it will be looked at soon
  };

  void Sync(const std::string& namespace_, const std::string& name) {
    const ObjectPtr object = world_.store().Get(resource_.storage_id, namespace_, name);
    if (!object) return;
    by_uid_[object->uid] = {object};
    const Json set = object->Value();
    if (!object->deleting) {
      const int64_t wanted = std::max<int64_t>(0, set["spec"]["replicas"].Int(1));
      const int64_t missing = wanted - world_.index().CountPods(object->uid).active;
      if (missing > 0) {
        Create(set, *object, static_cast<size_t>(missing));
      } else if (missing < 0) {
        DeleteSome(*object, static_cast<size_t>(-missing));
      }
    }
    CountStatus(set, *object);
  }

  void Create(const Json& set, const StoredObject& object, size_t missing) {
    const size_t count = std::min(missing, world_.options().batch);
    Json pod = world_.PodFromTemplate(set, set["spec"]["template"]);
    pod.At("metadata").Set("generateName", object.name + "-");
    const auto made = world_.registry().CreateMany(world_.pods(), object.namespace_, std::move(pod),
                                                   count, kControllerManager);
    if (!made) {
      world_.Record({resource_, object, Component(), "FailedCreate",
                     fmt::format("Error creating: {}", made.error().message), true});
    }
    if (!made || *made < count) {
      Enqueue(object, milliseconds(1000));
    } else if (count < missing) {
      Enqueue(object, milliseconds(0));
    }
  }

  // Pods that are not placed go first, then those that are not ready, then the youngest. All in one
  // go: choosing costs what the set has.
  void DeleteSome(const StoredObject& object, size_t count) {
    const Index& index = world_.index();
    std::vector<ObjectPtr> pods;
    for (ObjectPtr& pod : index.OwnedBy(object.uid, world_.pods().storage_id)) {
      if (pod->controller == object.uid && index.Active(*pod)) pods.push_back(std::move(pod));
    }
    const auto rank = [&](const ObjectPtr& pod) {
      return std::tuple(!index.NodeOf(*pod).empty(), index.PhaseOf(*pod) == "Running", pod->ready,
                        UINT64_MAX - pod->version);
    };
    std::stable_sort(pods.begin(), pods.end(),
                     [&](const ObjectPtr& a, const ObjectPtr& b) { return rank(a) < rank(b); });
    pods.resize(std::min(pods.size(), count));
    for (const ObjectPtr& pod : pods) {
      world_.Delete(world_.pods(), *pod);
      world_.Record({resource_, object, Component(), "SuccessfulDelete",
                     fmt::format("Deleted pod: {}", pod->name)});
    }
  }

  std::string_view Component() const {
    return resource_.group.empty() ? "replication-controller" : "replicaset-controller";
  }

  void CountStatus(const Json& set, const StoredObject& object) {
    const Index::Pods pods = world_.index().CountPods(object.uid);
    Json status = set["status"].IsObject() ? set["status"] : Json::MakeObject();
    status.Set("replicas", pods.active);
    status.Set("fullyLabeledReplicas", pods.active);
    status.Set("readyReplicas", pods.ready);
    status.Set("availableReplicas", pods.ready);
    status.Set("observedGeneration", set["metadata"]["generation"].Int());
    world_.SetStatus(resource_, object, status);
  }

  World& world_;
  const Resource& resource_;
  boost::unordered_flat_map<std::string, Known> by_uid_;
};

}  // namespace

void AddReplicaSets(World& world) {
  for (const Resource* resource : {&world.catalog().Named("apps", "replicasets"),
                                   &world.catalog().Core("replicationcontrollers")}) {
    const auto sets = std::make_shared<ReplicaSets>(world, *resource);
    world.React(*resource, [sets](const Change& change) { sets->OnSet(change); });
    world.React(world.pods(), [sets](const Change& change) { sets->OnPod(change); });
  }
}

}  // namespace berth::apiserver
