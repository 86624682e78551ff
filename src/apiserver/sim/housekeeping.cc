// Namespaces, garbage collection, disruption budgets.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/registry/disruption.h"
#include "apiserver/sim/world.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;

bool HasFinalizer(const Json& object, std::string_view finalizer) {
  for (const Json& known : object["metadata"]["finalizers"].Items()) {
    if (known.Str() == finalizer) return true;
  }
  return false;
}

void RemoveFinalizer(World& world, const Resource& resource, const StoredObject& object,
                     std::string_view finalizer) {
  (void)world.registry().Modify(
      resource, object.namespace_, object.name,
      [&](Json& value) -> Answer<void> {
        std::erase_if(value.At("metadata").At("finalizers").MutableItems(),
                      [&](const Json& known) { return known.Str() == finalizer; });
        if (value["metadata"]["finalizers"].Empty()) value.At("metadata").Erase("finalizers");
        return {};
      },
      "", kControllerManager);
}

// What every namespace has.
void FillNamespace(World& world, const std::string& name) {
  const Resource& accounts = world.catalog().Core("serviceaccounts");
  if (!world.store().Get(accounts.storage_id, name, "default")) {
    Json account = Json::MakeObject();
    account.At("metadata").Set("name", "default");
    (void)world.registry().Create(accounts, name, std::move(account), kControllerManager);
  }
}

// Deletes what is in the namespace; when nothing is left, the namespace.
void EmptyNamespace(World& world, const std::string& name) {
  const Resource& namespaces = world.catalog().Core("namespaces");
  const ObjectPtr object = world.store().Get(namespaces.storage_id, "", name);
  if (!object || !object->deleting) return;
  bool left = false;
  for (uint32_t id = 0; id < world.catalog().Size(); ++id) {
    const Resource& resource = world.catalog().At(id);
    if (resource.storage_id != id || !resource.namespaced) continue;
    std::vector<ObjectPtr> objects;
    for (auto [at, end] = world.store().Range(id, name); at != end; ++at) {
      objects.push_back(at->second);
    }
    for (const ObjectPtr& one : objects) {
      if (!one->deleting) world.Delete(resource, *one);
    }
    const auto [at, end] = world.store().Range(id, name);
    left = left || at != end;
  }
  if (left) {
    world.Soon("empty-namespace/" + name, milliseconds(100),
               [&world, name] { EmptyNamespace(world, name); });
    return;
  }
  (void)world.registry().Modify(
      namespaces, "", name,
      [](Json& value) -> Answer<void> {
        value.At("spec").Set("finalizers", Json::MakeArray());
        return {};
      },
      "finalize", kControllerManager);
}

class GarbageCollector {
 public:
  explicit GarbageCollector(World& world) : world_(world) {}

  void OnChange(const Change& change) {
    const StoredObject& object = *change.object;
    if (change.type == ChangeType::kDeleted) {
      if (world_.index().HasDependents(object.uid)) {
        Later(object.uid, [this, uid = object.uid] { Collect(uid); });
      }
      // The owner may have waited for this one.
      for (const std::string& owner : object.owners) {
        const auto it = waiting_.find(owner);
        if (it != waiting_.end()) Check(it->first, it->second);
      }
      return;
    }
    if (object.deleting && object.text.find("\"finalizers\"") != std::string::npos) {
      Check(object.uid, {change.storage_id, object.namespace_, object.name});
    }
  }

 private:
  struct Place {
    uint32_t storage_id;
    std::string namespace_;
    std::string name;
  };

  void Later(const std::string& uid, std::function<void()> work) {
    world_.Soon("collect/" + uid, milliseconds(0), std::move(work));
  }

  void Check(const std::string& uid, const Place& place) {
    world_.Soon("finalize/" + uid, milliseconds(5), [this, uid, place] { Finalize(uid, place); });
  }

  // The owner is gone: dependents without another owner go too.
  void Collect(const std::string& uid) {
    waiting_.erase(uid);
    for (const Index::Entry& entry : world_.index().Dependents(uid)) {
      bool owned = false;
      for (const std::string& owner : entry.object->owners) {
        owned = owned || (owner != uid && world_.index().Exists(owner));
      }
      if (!owned && !entry.object->deleting) {
        world_.Delete(world_.catalog().At(entry.storage_id), *entry.object);
      }
    }
  }

  void Finalize(const std::string& uid, const Place& place) {
    const Resource& resource = world_.catalog().At(place.storage_id);
    const ObjectPtr object = world_.store().Get(place.storage_id, place.namespace_, place.name);
    if (!object || object->uid != uid || !object->deleting) {
      waiting_.erase(uid);
      return;
    }
    const Json value = object->Value();
    const std::vector<Index::Entry> dependents = world_.index().Dependents(uid);
    if (HasFinalizer(value, "orphan")) {
      for (const Index::Entry& entry : dependents) Orphan(entry, uid);
      RemoveFinalizer(world_, resource, *object, "orphan");
    } else if (HasFinalizer(value, "foregroundDeletion")) {
      waiting_[uid] = place;
      for (const Index::Entry& entry : dependents) {
        if (!entry.object->deleting) {
          world_.Delete(world_.catalog().At(entry.storage_id), *entry.object,
                        {.propagation_policy = "Foreground"});
        }
      }
      if (!world_.index().HasDependents(uid)) {
        waiting_.erase(uid);
        RemoveFinalizer(world_, resource, *object, "foregroundDeletion");
      }
    }
  }

  void Orphan(const Index::Entry& entry, const std::string& uid) {
    (void)world_.registry().Modify(
        world_.catalog().At(entry.storage_id), entry.object->namespace_, entry.object->name,
        [&](Json& value) -> Answer<void> {
          std::erase_if(value.At("metadata").At("ownerReferences").MutableItems(),
                        [&](const Json& owner) { return owner["uid"].Str() == uid; });
          return {};
        },
        "", kControllerManager);
  }

  World& world_;
  std::map<std::string, Place> waiting_;  // owners that go after their dependents
};

void SyncBudgets(World& world, const std::string& namespace_) {
  const Resource& budgets = world.catalog().Named("policy", "poddisruptionbudgets");
  std::vector<ObjectPtr> objects;
  for (auto [at, end] = world.store().Range(budgets.storage_id, namespace_); at != end; ++at) {
    objects.push_back(at->second);
  }
  for (const ObjectPtr& object : objects) {
    const Json budget = object->Value();
    const BudgetState state = CountBudget(world.registry(), budget);
    Json status = budget["status"].IsObject() ? budget["status"] : Json::MakeObject();
    status.Set("expectedPods", state.expected_pods);
    status.Set("currentHealthy", state.current_healthy);
    status.Set("desiredHealthy", state.desired_healthy);
    status.Set("disruptionsAllowed", state.disruptions_allowed);
    status.Set("observedGeneration", budget["metadata"]["generation"].Int());
    SetCondition(status,
                 state.disruptions_allowed > 0
                     ? Condition("DisruptionAllowed", true, "SufficientPods", "")
                     : Condition("DisruptionAllowed", false, "InsufficientPods", ""),
                 world.Now());
    world.SetStatus(budgets, *object, status);
  }
}

}  // namespace

void AddNamespaces(World& world) {
  world.React(world.catalog().Core("namespaces"), [&world](const Change& change) {
    if (change.type == ChangeType::kDeleted) return;
    const std::string name = change.object->name;
    if (change.object->deleting) {
      world.Soon("empty-namespace/" + name, milliseconds(0),
                 [&world, name] { EmptyNamespace(world, name); });
    } else if (change.type == ChangeType::kAdded) {
      world.Soon("fill-namespace/" + name, milliseconds(0),
                 [&world, name] { FillNamespace(world, name); });
    }
  });
}

void AddGarbageCollector(World& world) {
  const auto collector = std::make_shared<GarbageCollector>(world);
  world.ReactToAll([collector](const Change& change) { collector->OnChange(change); });
}

void AddDisruptionBudgets(World& world) {
  const Resource& budgets = world.catalog().Named("policy", "poddisruptionbudgets");
  const auto sync = [&world, &budgets](const Change& change) {
    const std::string namespace_ = change.object->namespace_;
    const auto [at, end] = world.store().Range(budgets.storage_id, namespace_);
    if (at == end) return;
    world.Soon("budgets/" + namespace_, milliseconds(50),
               [&world, namespace_] { SyncBudgets(world, namespace_); });
  };
  world.React(budgets, sync);
  world.React(world.pods(), sync);
}

}  // namespace berth::apiserver
