#include "sim/chaos/gang_invariants.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "cluster/objects/object_store.h"
#include "cluster/pods/group_state.h"
#include "sim/chaos/plain_fit.h"

namespace berth::sim {
namespace {

// The minimum of a group that is a custom resource.
struct CustomSpec {
  int32_t min_member = 0;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type =
        api::Describe<CustomSpec>("Spec").Field(0, "minMember", &CustomSpec::min_member).Build();
    return type;
  }
};
struct CustomGroup {
  CustomSpec spec;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type =
        api::Describe<CustomGroup>("Group").Field(0, "spec", &CustomGroup::spec).Build();
    return type;
  }
};

std::string Complaint(std::string_view name, int64_t min_count, int64_t placed) {
  return fmt::format("{} of the pods of {} have nodes, its minimum is {}", placed, name, min_count);
}

// Of an adopted group, the name of its object.
std::string_view PlainName(std::string_view name) { return name.substr(name.find('/') + 1); }

}  // namespace

std::string GangInvariants::GroupOf(const api::Pod& pod) {
  const auto& group = pod.spec.scheduling_group;
  if (group && group->pod_group_name) return *group->pod_group_name;
  const std::string* name = api::FindValue(pod.metadata.labels, "scheduling.x-k8s.io/pod-group");
  if (name == nullptr) {
    name = api::FindValue(pod.metadata.annotations, "scheduling.k8s.io/group-name");
  }
  return name == nullptr ? "" : *name;
}

std::vector<GangInvariants::Gang> GangInvariants::Gangs() const {
  std::vector<Gang> gangs;
  for (const ObjectPtr& object : api_.List(api::PodGroup::kKind)) {
    if (const auto* group = std::get_if<api::PodGroup>(object.get())) {
      gangs.push_back({group->metadata.name, cluster::MinCountOf(*group)});
    } else if (const auto* custom = std::get_if<api::UnknownObject>(object.get())) {
      const auto parsed = api::FromJson<CustomGroup>(custom->json);
      gangs.push_back({custom->metadata.name, parsed ? parsed->spec.min_member : 0});
    }
  }
  return gangs;
}

void GangInvariants::Diminished(const api::Pod& pod) {
  if (std::string group = GroupOf(pod); !group.empty()) diminished_.insert(std::move(group));
}

void GangInvariants::OnChange(const ApiChange& change) {
  const auto* pod = std::get_if<api::Pod>(change.object.get());
  if (pod == nullptr) return;
  const bool leaves = change.type == ApiChange::Type::kDeleted || IsFinished(*pod) ||
                      pod->metadata.deletion_timestamp.has_value();
  if (leaves) Diminished(*pod);
}

void GangInvariants::Crashed() {
  for (Gang& gang : Gangs()) diminished_.insert(std::move(gang.name));
}

std::string GangInvariants::WhatIsHeld(const scheduler::Engine& engine) const {
  std::string held;
  const cluster::Cluster& cluster = engine.GetCluster();
  cluster.Objects().pod_groups.ForEach([&](const api::PodGroup& group) {
    const std::string_view name = PlainName(group.metadata.name);
    if (!held.empty() || diminished_.contains(name)) return;
    const auto placed = static_cast<int64_t>(cluster::PlacedMemberCount(cluster, group));
    const int64_t min_count = cluster::MinCountOf(group);
    if (placed > 0 && placed < min_count) held = Complaint(name, min_count, placed);
  });
  return held;
}

std::string GangInvariants::WhatIsSplit() const {
  std::map<std::string, int64_t, std::less<>> placed;
  api_.ForEach<api::Pod>([&](const api::Pod& pod) {
    if (!pod.spec.node_name.empty()) ++placed[GroupOf(pod)];
  });
  for (const Gang& gang : Gangs()) {
    const auto own = placed.find(gang.name);
    if (own == placed.end() || diminished_.contains(gang.name)) continue;
    if (own->second < gang.min_count) return Complaint(gang.name, gang.min_count, own->second);
  }
  return "";
}

// Pods that are alike find as many places in any order, so taking the first place is enough.
std::string GangInvariants::WhatIsStarved(
    const std::function<bool(const api::Pod&)>& waits,
    const std::function<std::string(const api::Pod&)>& nominated) const {
  std::map<std::string, std::vector<const api::Pod*>, std::less<>> members;
  std::map<std::string, std::vector<const api::Pod*>, std::less<>> on_node;
  std::set<std::string, std::less<>> excused;
  api_.ForEach<api::Pod>([&](const api::Pod& pod) {
    if (IsFinished(pod)) return;
    const std::string node = pod.spec.node_name.empty() ? nominated(pod) : pod.spec.node_name;
    const std::string group = GroupOf(pod);
    const bool waiting = waits(pod);
    // What is promised to a pod of another group is not free.
    if (!node.empty() && (group.empty() || !waiting)) on_node[node].push_back(&pod);
    if (group.empty()) return;
    members[group].push_back(&pod);
    if (!waiting || !IsPlain(pod)) excused.insert(group);
  });
  for (const Gang& gang : Gangs()) {
    const auto own = members.find(gang.name);
    if (own == members.end() || excused.contains(gang.name)) continue;
    const std::vector<const api::Pod*>& pods = own->second;
    if (static_cast<int64_t>(pods.size()) < gang.min_count) continue;
    auto placed = on_node;
    for (const auto& [other, theirs] : members) {
      if (other == gang.name) continue;
      for (const api::Pod* pod : theirs) {
        const std::string node = nominated(*pod);
        if (waits(*pod) && !node.empty()) placed[node].push_back(pod);
      }
    }
    int64_t fitting = 0;
    for (const api::Pod* pod : pods) {
      bool fits = false;
      api_.ForEach<api::Node>([&](const api::Node& node) {
        auto& there = placed[node.metadata.name];
        if (fits || !WhyNot(*pod, node, there).empty()) return;
        there.push_back(pod);
        fits = true;
      });
      fitting += fits ? 1 : 0;
    }
    if (fitting < gang.min_count) continue;
    return fmt::format("{} waits, and {} of its pods fit, its minimum is {}", gang.name, fitting,
                       gang.min_count);
  }
  return "";
}

}  // namespace berth::sim
