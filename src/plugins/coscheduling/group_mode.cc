#include "plugins/coscheduling/group_mode.h"

#include <algorithm>
#include <optional>

#include "api/codec/json.h"
#include "api/scheduling/priority_class.h"
#include "cluster/objects/object_store.h"
#include "plugins/coscheduling/pod_group.h"
#include "plugins/coscheduling/volcano_group.h"

namespace berth::plugins::coscheduling {
namespace {

using cluster::ObjectStore;

// A group without a minimum is no gang.
api::PodGroup WithMinimum(int32_t min_member) {
  api::PodGroup group;
  api::PodGroupSchedulingPolicy& policy = group.spec.scheduling_policy;
  if (min_member > 0) {
    policy.gang.emplace().min_count = min_member;
  } else {
    policy.basic.emplace();
  }
  return group;
}

std::optional<api::PodGroup> OfSchedulerPlugins(const api::UnknownObject& object,
                                                const ObjectStore&) {
  const auto group = api::FromJson<PodGroup>(object.json);
  if (!group) return std::nullopt;
  return WithMinimum(group->spec.min_member);
}

std::optional<int32_t> ValueOfClass(const std::string& name, const ObjectStore& objects) {
  const auto* store =
      objects.custom.Find(api::PriorityClass::kApiVersion, api::PriorityClass::kKind);
  const api::UnknownObject* object = store == nullptr ? nullptr : store->Find(name);
  if (object == nullptr) return std::nullopt;
  const auto parsed = api::FromJson<api::PriorityClass>(object->json);
  return parsed ? std::optional(parsed->value) : std::nullopt;
}

std::optional<api::PodGroup> OfVolcano(const api::UnknownObject& object,
                                       const ObjectStore& objects) {
  const auto volcano = api::FromJson<VolcanoPodGroup>(object.json);
  if (!volcano) return std::nullopt;
  api::PodGroup group = WithMinimum(volcano->spec.min_member);
  const std::string& priority_class = volcano->spec.priority_class_name;
  if (!priority_class.empty()) {
    group.spec.priority_class_name = priority_class;
    group.spec.priority = ValueOfClass(priority_class, objects);
  }
  return group;
}

const cluster::CustomKind& PriorityClassKind() {
  static const cluster::CustomKind kKind{"scheduling.k8s.io", "v1", "PriorityClass",
                                         "priorityclasses", false};
  return kKind;
}

}  // namespace

std::vector<cluster::AdoptedGroupKind> GroupModeKinds() {
  return {{PodGroupKind(), {std::string(kGroupLabel)}, {}, &OfSchedulerPlugins},
          {VolcanoPodGroupKind(),
           {},
           {kVolcanoGroupAnnotations.begin(), kVolcanoGroupAnnotations.end()},
           &OfVolcano}};
}

cluster::PluginInputs GroupModeInputs() {
  cluster::PluginInputs inputs;
  for (const cluster::AdoptedGroupKind& adopted : GroupModeKinds()) {
    inputs.kinds.push_back(adopted.kind);
    const std::vector<std::string>& keys = adopted.pod_annotations;
    inputs.pod_annotations.insert(inputs.pod_annotations.end(), keys.begin(), keys.end());
  }
  inputs.kinds.push_back(PriorityClassKind());
  return inputs;
}

}  // namespace berth::plugins::coscheduling
