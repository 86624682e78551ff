#include "apiserver/sim/world.h"

#include <utility>

#include "apiserver/sim/autoscalers.h"
#include "apiserver/sim/pod_groups.h"

namespace berth::apiserver {

World::World(Registry& registry, net::Loop& loop, WorldOptions options)
    : registry_(registry),
      loop_(loop),
      options_(options),
      index_(registry.Resources()),
      recorder_(registry, loop),
      pods_(registry.Resources().Core("pods")),
      nodes_(registry.Resources().Core("nodes")) {
  AddKubelets(*this);
  AddReplicaSets(*this);
  AddDeployments(*this);
  AddStatefulSets(*this);
  AddDaemonSets(*this);
  AddJobs(*this);
  AddCronJobs(*this);
  AddAutoscalers(*this);
  AddResourceClaims(*this);
  AddPodGroupProtection(*this);
  AddEndpoints(*this);
  AddNamespaces(*this);
  AddGarbageCollector(*this);
  AddVolumes(*this);
  AddDisruptionBudgets(*this);
  AddNodeLifecycle(*this);
  AddQuotas(*this);
  AddOwnerEvents(*this);
}

World::~World() {
  *alive_ = false;
  if (watch_ != 0) store().Unwatch(watch_);
  for (const auto& [name, waiting] : soon_) loop_.Cancel(waiting.timer);
}

void World::Start() {
  std::vector<Change> known;
  for (uint32_t id = 0; id < catalog().Size(); ++id) {
    if (catalog().At(id).storage_id != id) continue;
    for (const auto& [key, object] : store().All(id)) {
      known.push_back({ChangeType::kAdded, id, object->version, object, nullptr});
    }
  }
  for (const Change& change : known) index_.OnChange(change);
  watch_ = store().WatchAll([this](const Change& change) {
    index_.OnChange(change);
    Tell(change);
  });
  starting_ = true;
  for (const Change& change : known) Tell(change);
  starting_ = false;
}

void World::Tell(const Change& change) {
  if (change.storage_id < reactions_.size()) {
    for (const Reaction& reaction : reactions_[change.storage_id]) reaction(change);
  }
  for (const Reaction& reaction : all_) reaction(change);
}

void World::React(const Resource& resource, Reaction reaction) {
  if (resource.storage_id >= reactions_.size()) reactions_.resize(resource.storage_id + 1);
  reactions_[resource.storage_id].push_back(std::move(reaction));
}

void World::Soon(std::string name, std::chrono::milliseconds delay, std::function<void()> work) {
  const net::Nanoseconds when = loop_.Steady() + delay;
  const auto [it, added] = soon_.emplace(name, Waiting{});
  if (!added) {
    if (it->second.when <= when) return;
    loop_.Cancel(it->second.timer);
  }
  it->second.when = when;
  it->second.timer =
      loop_.After(delay, [this, alive = alive_, name = std::move(name), work = std::move(work)] {
        if (!*alive) return;
        soon_.erase(name);
        work();
      });
}

std::chrono::nanoseconds World::Scaled(std::chrono::nanoseconds delay) const {
  if (options_.speed <= 0) return std::chrono::nanoseconds(0);
  return std::chrono::nanoseconds(
      static_cast<int64_t>(static_cast<double>(delay.count()) / options_.speed));
}

void World::After(std::chrono::nanoseconds delay, std::function<void()> work) {
  auto task = [alive = alive_, work = std::move(work)] {
    if (*alive) work();
  };
  if (delay.count() <= 0) {
    loop_.Post(std::move(task));
  } else {
    loop_.After(delay, std::move(task));
  }
}

Json World::PodFromTemplate(const Json& owner, const Json& template_) const {
  Json pod = Json::MakeObject({{"kind", "Pod"}, {"apiVersion", "v1"}});
  Json& metadata = pod.At("metadata");
  metadata = Json::MakeObject();
  for (std::string_view field : {"labels", "annotations", "finalizers"}) {
    const Json& value = template_["metadata"][field];
    if (!value.Empty()) metadata.Set(field, value);
  }
  metadata.At("ownerReferences")
      .Append(Json::MakeObject({{"apiVersion", owner["apiVersion"]},
                                {"kind", owner["kind"]},
                                {"name", owner["metadata"]["name"]},
                                {"uid", owner["metadata"]["uid"]},
                                {"controller", true},
                                {"blockOwnerDeletion", true}}));
  pod.Set("spec", template_["spec"]);
  return pod;
}

void World::Delete(const Resource& resource, const StoredObject& object,
                   const DeleteOptions& options) {
  DeleteOptions with_uid = options;
  with_uid.uid = object.uid;
  (void)registry_.Delete(resource, object.namespace_, object.name, with_uid);
}

void World::SetStatus(const Resource& resource, const StoredObject& object, const Json& status) {
  (void)registry_.Modify(
      resource, object.namespace_, object.name,
      [&](Json& value) -> Answer<void> {
        value.Set("status", status);
        return {};
      },
      "status", kControllerManager);
}

Json Condition(std::string_view type, bool true_, std::string_view reason,
               std::string_view message) {
  return Json::MakeObject({{"type", type},
                           {"status", true_ ? "True" : "False"},
                           {"reason", reason},
                           {"message", message}});
}

}  // namespace berth::apiserver
