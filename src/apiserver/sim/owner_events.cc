// The event SuccessfulCreate of every controller that has made a pod or a job.
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apiserver/sim/world.h"

namespace berth::apiserver {
namespace {

// The name of the controller of a kind; empty: it writes no such events.
std::string_view ComponentOf(std::string_view kind) {
  static constexpr std::pair<std::string_view, std::string_view> kComponents[] = {
      {"ReplicaSet", "replicaset-controller"},
      {"ReplicationController", "replication-controller"},
      {"StatefulSet", "statefulset-controller"},
      {"DaemonSet", "daemonset-controller"},
      {"Job", "job-controller"},
      {"CronJob", "cronjob-controller"}};
  for (const auto& [name, component] : kComponents) {
    if (name == kind) return component;
  }
  return "";
}

std::string Message(std::string_view owner_kind, const StoredObject& owner,
                    const StoredObject& object) {
  if (owner_kind == "CronJob") return fmt::format("Created job {}", object.name);
  if (owner_kind == "StatefulSet") {
    return fmt::format("create Pod {} in StatefulSet {} successful", object.name, owner.name);
  }
  return fmt::format("Created pod: {}", object.name);
}

void OnCreated(World& world, const Change& change) {
  const StoredObject& object = *change.object;
  if (change.type != ChangeType::kAdded || object.controller.empty() || world.Starting()) return;
  const Json owners = FindValue(object.text, "metadata.ownerReferences");
  for (const Json& owner : owners.Items()) {
    const std::string_view component = ComponentOf(owner["kind"].Str());
    if (owner["uid"].Str() != object.controller || component.empty()) continue;
    const Resource* resource =
        world.catalog().FindKind(owner["apiVersion"].Str(), owner["kind"].Str());
    if (!resource) return;
    const ObjectPtr found =
        world.store().Get(resource->storage_id, object.namespace_, owner["name"].Str());
    if (!found || found->uid != object.controller) return;
    world.Record({*resource, *found, component, "SuccessfulCreate",
                  Message(owner["kind"].Str(), *found, object)});
  }
}

}  // namespace

void AddOwnerEvents(World& world) {
  const auto react = [&world](const Change& change) { OnCreated(world, change); };
  world.React(world.pods(), react);
  world.React(world.catalog().Named("batch", "jobs"), react);
}

}  // namespace berth::apiserver
