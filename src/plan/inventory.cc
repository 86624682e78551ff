#include "plan/inventory.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "plugins/coscheduling/pod_group.h"

namespace berth::plan {
namespace {

// Which API a pod group is of.
constexpr std::string_view kNativeGroups = "scheduling.k8s.io";
constexpr std::string_view kPluginGroups = "scheduling.x-k8s.io";

constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

constexpr std::string_view kSafeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict";
constexpr std::string_view kSafeVolumes =
    "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";

// An annotation with the value that counts.
struct Protection {
  std::string_view key;
  std::string_view value;
  std::string_view text;
};

// By which users keep pods from being evicted by autoscalers.
constexpr Protection kPodProtections[] = {
    {kSafeToEvict, "false", "cluster-autoscaler.kubernetes.io/safe-to-evict=false"},
    {"karpenter.sh/do-not-disrupt", "true", "karpenter.sh/do-not-disrupt=true"},
    {"karpenter.sh/do-not-evict", "true", "karpenter.sh/do-not-evict=true"},
};
// By which users keep nodes from being removed.
constexpr Protection kNodeProtections[] = {
    {"cluster-autoscaler.kubernetes.io/scale-down-disabled", "true",
     "cluster-autoscaler.kubernetes.io/scale-down-disabled=true"},
    {"karpenter.sh/do-not-disrupt", "true", "karpenter.sh/do-not-disrupt=true"},
    {"karpenter.sh/do-not-consolidate", "true", "karpenter.sh/do-not-consolidate=true"},
};

std::string_view ProtectionIn(const api::StringMap& annotations,
                              std::span<const Protection> protections) {
  if (annotations.empty()) return {};
  for (const Protection& each : protections) {
    const std::string* found = api::FindValue(annotations, each.key);
    if (found != nullptr && *found == each.value) return each.text;
  }
  return {};
}

const api::OwnerReference* ControllerOf(const api::ObjectMeta& metadata) {
  for (const api::OwnerReference& owner : metadata.owner_references) {
    if (owner.controller.value_or(false)) return &owner;
  }
  return nullptr;
}

// Cordoning a node makes the API server's controllers add this taint.
api::Taint UnschedulableTaint() {
  api::Taint taint;
  taint.key = "node.kubernetes.io/unschedulable";
  taint.effect = "NoSchedule";
  return taint;
}

// Whether `names`, separated by commas, has `name`.
bool Lists(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const size_t comma = names.find(',');
    std::string_view each = names.substr(0, comma);
    while (each.starts_with(' ')) each.remove_prefix(1);
    while (each.ends_with(' ')) each.remove_suffix(1);
    if (each == name) return true;
    if (comma == std::string_view::npos) break;
    names.remove_prefix(comma + 1);
  }
  return false;
}

// Local storage as the cluster autoscaler sees it: hostPath and emptyDir. Its annotations say which
// volumes may be lost.
void FindLocalStorage(const api::Pod& pod, PodFacts* facts) {
  const std::string* safe = api::FindValue(pod.metadata.annotations, kSafeToEvict);
  const bool all_safe = safe != nullptr && *safe == "true";
  const std::string* volumes = api::FindValue(pod.metadata.annotations, kSafeVolumes);
  for (const api::Volume& volume : pod.spec.volumes) {
    const bool scratch = volume.empty_dir.has_value();
    if (scratch) facts->local_data = true;
    if (!scratch && !volume.host_path) continue;
    if (all_safe || (volumes != nullptr && Lists(*volumes, volume.name))) continue;
    facts->local_blocks = true;
  }
}

// Finish looks for the Deployment behind the controller that the pod names.
PodFacts FactsOf(const api::Pod& pod) {
  PodFacts facts;
  const api::StringMap& annotations = pod.metadata.annotations;
  if (const api::OwnerReference* owner = ControllerOf(pod.metadata); owner != nullptr) {
    facts.fate =
        owner->kind == "DaemonSet" || owner->kind == "Node" ? Fate::kStays : Fate::kReplaced;
  }
  if (!annotations.empty()) {
    if (api::FindValue(annotations, kMirror) != nullptr) facts.fate = Fate::kStays;
    facts.protected_by = ProtectionIn(annotations, kPodProtections);
    if (const std::string* cost = api::FindValue(annotations, kDeletionCost); cost != nullptr) {
      std::from_chars(cost->data(), cost->data() + cost->size(), facts.deletion_cost);
    }
  }
  FindLocalStorage(pod, &facts);
  return facts;
}

}  // namespace

const PodFacts Inventory::kNone;

Result<void> Inventory::Add(api::Object object) {
  if (std::holds_alternative<api::Pod>(object)) return AddPod(std::move(object));
  LearnGang(object);
  std::visit(
      [&]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, api::Node>) {
          nodes_.insert_or_assign(value.metadata.name, value);
        } else if constexpr (requires {
                               value.metadata.labels;
                               T::kKind;
                             }) {
          const api::ObjectMeta& metadata = value.metadata;
          const std::string& ns = metadata.namespace_;
          owners_.insert_or_assign(fmt::format("{} {}/{}", T::kKind, ns, metadata.name), true);
          const api::OwnerReference* owner = ControllerOf(metadata);
          if (std::is_same_v<T, api::ReplicaSet> && owner != nullptr) {
            replica_set_of_.insert_or_assign(ns + "/" + metadata.name, owner->name);
          }
        }
      },
      object);
  return world_.Add(std::move(object));
}

// Pods that an API server has seen are in the cluster at once, others after Finish.
Result<void> Inventory::AddPod(api::Object object) {
  const api::Pod& pod = std::get<api::Pod>(object);
  PodFacts facts = FactsOf(pod);
  facts.gang = GangOf(pod);
  facts.workload = WorkloadOf(pod);
  const std::string uid = pod.metadata.uid;
  const std::string& ns = pod.metadata.namespace_;
  const bool by_hand = !api::FromApiServer(pod.metadata);
  if (by_hand) {
    facts_by_hand_.emplace_back((ns.empty() ? "default" : ns) + "/" + pod.metadata.name, facts);
  }
  if (auto ok = world_.Add(std::move(object)); !ok || by_hand) return ok;
  if (const cluster::PodId id = cluster().FindPod(uid); id != cluster::kNoPod) Keep(id, facts);
  return {};
}

uint32_t Inventory::WorkloadOf(const api::Pod& pod) {
  const api::OwnerReference* owner = ControllerOf(pod.metadata);
  if (owner == nullptr) return 0;
  scratch_.clear();
  fmt::format_to(std::back_inserter(scratch_), "{} {}/{}", owner->kind, pod.metadata.namespace_,
                 owner->name);
  const auto [it, is_new] =
      workload_ids_.try_emplace(scratch_, static_cast<uint32_t>(workloads_.size()));
  if (is_new) workloads_.emplace_back().name = scratch_;
  return it->second;
}

// The pod's group of scheduling.k8s.io, otherwise that of scheduler-plugins.
uint32_t Inventory::GangOf(const api::Pod& pod) {
  const auto& group = pod.spec.scheduling_group;
  const std::string* label =
      api::FindValue(pod.metadata.labels, plugins::coscheduling::kGroupLabel);
  const bool native = pod_groups_ && group && group->pod_group_name;
  if (!native && (label == nullptr || label->empty())) return 0;
  const std::string& ns = pod.metadata.namespace_;
  const Gang& gang = GangCalled(native ? kNativeGroups : kPluginGroups, ns.empty() ? "default" : ns,
                                native ? *group->pod_group_name : *label);
  return static_cast<uint32_t>(&gang - gangs_.data());
}

Gang& Inventory::GangCalled(std::string_view api_group, std::string_view namespace_,
                            std::string_view name) {
  const auto [it, is_new] = gang_ids_.try_emplace(
      fmt::format("{} {}/{}", api_group, namespace_, name), static_cast<uint32_t>(gangs_.size()));
  if (is_new) gangs_.emplace_back().name = fmt::format("{}/{}", namespace_, name);
  return gangs_[it->second];
}

void Inventory::LearnGang(const api::Object& object) {
  const auto namespace_of = [](const api::ObjectMeta& metadata) {
    return metadata.namespace_.empty() ? std::string("default") : metadata.namespace_;
  };
  if (const auto* group = std::get_if<api::PodGroup>(&object)) {
    const auto& gang = group->spec.scheduling_policy.gang;
    if (!gang) return;
    GangCalled(kNativeGroups, namespace_of(group->metadata), group->metadata.name).min =
        gang->min_count;
    return;
  }
  const auto* unknown = std::get_if<api::UnknownObject>(&object);
  if (unknown == nullptr || unknown->kind != "PodGroup") return;
  if (unknown->api_version != plugins::coscheduling::PodGroupKind().ApiVersion()) return;
  const auto group = api::FromJson<plugins::coscheduling::PodGroup>(unknown->json);
  if (!group) return;  // as if it were not there
  GangCalled(kPluginGroups, namespace_of(group->metadata), group->metadata.name).min =
      group->spec.min_member;
}

void Inventory::Keep(cluster::PodId id, const PodFacts& facts) {
  if (id >= facts_.size()) facts_.resize(id + 1);
  facts_[id] = facts;
}

// Controllers come in any order, so pods are matched with theirs after the last object.
Result<void> Inventory::Finish() {
  if (auto ok = world_.Finish(); !ok) return ok;
  if (!facts_by_hand_.empty()) {
    ByString<cluster::PodId> ids;
    for (cluster::PodId id = 0; id < cluster().PodIdLimit(); ++id) {
      if (cluster().PodExists(id)) ids.insert_or_assign(cluster().GetPod(id).Key(), id);
    }
    for (const auto& [key, facts] : facts_by_hand_) {
      if (const auto it = ids.find(key); it != ids.end()) Keep(it->second, facts);
    }
    facts_by_hand_ = {};
  }
  for (cluster::PodId id = 0; id < facts_.size(); ++id) {
    if (facts_[id].gang != 0) gangs_[facts_[id].gang].pods.push_back(id);
  }
  for (const PodFacts& facts : facts_) {
    if (facts.fate == Fate::kReplaced) ++workloads_[facts.workload].pods;
  }
  for (WorkloadFacts& workload : workloads_) {
    if (workload.name.empty()) continue;
    if (!owners_.contains(workload.name)) owners_missing_ += workload.pods;
    constexpr std::string_view kReplicaSet = "ReplicaSet ";
    if (!workload.name.starts_with(kReplicaSet)) continue;
    const std::string key = workload.name.substr(kReplicaSet.size());
    const auto deployment = replica_set_of_.find(key);
    if (deployment == replica_set_of_.end()) continue;
    workload.name =
        fmt::format("Deployment {}/{}", key.substr(0, key.find('/')), deployment->second);
  }
  return {};
}

std::string_view Inventory::ProtectionOf(std::string_view node) const {
  const api::Node* found = FindNode(node);
  return found == nullptr ? std::string_view()
                          : ProtectionIn(found->metadata.annotations, kNodeProtections);
}

const api::Node* Inventory::FindNode(std::string_view name) const {
  const auto it = nodes_.find(name);
  return it == nodes_.end() ? nullptr : &it->second;
}

std::vector<std::string> Inventory::Select(const api::Selector& selector) const {
  std::vector<std::string> names;
  for (const auto& [name, node] : nodes_) {
    if (selector.Matches(node.metadata.labels)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void Inventory::SetCordoned(std::string_view name, bool cordoned) {
  api::Node node = *FindNode(name);
  if (cordoned && !node.spec.unschedulable) {
    node.spec.unschedulable = true;
    node.spec.taints.push_back(UnschedulableTaint());
  }
  cluster().SetNode(node);
}

void Inventory::RemoveNode(std::string_view name) {
  cluster().RemoveNode(name);
  nodes_.erase(nodes_.find(name));
}

std::string Inventory::AddNodeLike(const api::Node& model) {
  api::Node node = model;
  do {
    node.metadata.name = fmt::format("new-{}", ++added_nodes_);
  } while (nodes_.contains(node.metadata.name));
  node.metadata.labels.insert_or_assign("kubernetes.io/hostname", node.metadata.name);
  node.metadata.uid.clear();
  node.spec.provider_id.clear();
  node.spec.unschedulable = false;
  std::erase_if(node.spec.taints, [](const api::Taint& taint) {
    return taint.key.starts_with("node.kubernetes.io/");
  });
  node.status.images.clear();
  cluster().SetNode(node);
  const std::string name = node.metadata.name;
  nodes_.insert_or_assign(name, std::move(node));
  return name;
}

}  // namespace berth::plan
