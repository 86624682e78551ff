#include "sim/entities.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "cluster/objects/object_store.h"
#include "cluster/pods/group_members.h"
#include "cluster/pods/group_state.h"

namespace berth::sim {

std::vector<Entity> EntitiesOf(const cluster::Cluster& cluster, const config::Behaviour& behaviour,
                               std::span<const cluster::PodId> pods) {
  std::vector<Entity> entities;
  entities.reserve(pods.size());
  std::map<std::pair<std::string_view, std::string_view>, size_t> groups;  // positions
  for (const cluster::PodId id : pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    const std::string* name = behaviour.pod_groups ? cluster::GroupNameOf(pod) : nullptr;
    std::shared_ptr<const api::PodGroup> group;
    if (name != nullptr) group = cluster.Objects().pod_groups.Share(pod.namespace_(), *name);
    if (group == nullptr) {
      entities.push_back({nullptr, {id}});
      continue;
    }
    const auto [it, added] = groups.try_emplace({pod.namespace_(), *name}, entities.size());
    if (added) entities.push_back({std::move(group), {}});
    entities[it->second].pods.push_back(id);
  }
  if (groups.empty()) return entities;
  const auto priority = [&](const Entity& entity) {
    return entity.group ? cluster::PriorityOf(*entity.group)
                        : cluster.GetPod(entity.pods.front()).shape->priority;
  };
  std::ranges::stable_sort(entities, std::ranges::greater(), priority);
  return entities;
}

}  // namespace berth::sim
