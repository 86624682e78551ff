#include "plan/inventory.h"

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace berth::plan {
namespace {

constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

// Annotations by which users keep pods from being evicted by autoscalers, with the value that does.
constexpr std::pair<std::string_view, std::string_view> kProtections[] = {
    {"cluster-autoscaler.kubernetes.io/safe-to-evict", "false"},
    {"karpenter.sh/do-not-disrupt", "true"},
    {"karpenter.sh/do-not-evict", "true"},
};

const api::OwnerReference* ControllerOf(const api::ObjectMeta& metadata) {
  for (const api::OwnerReference& owner : metadata.owner_references) {
    if (owner.controller.value_or(false)) return &owner;
  }
  return nullptr;
}

std::string OwnerKey(std::string_view kind, std::string_view namespace_, std::string_view name) {
  return fmt::format("{}/{}/{}", kind, namespace_, name);
}

// Cordoning a node makes the API server's controllers add this taint.
api::Taint UnschedulableTaint() {
  api::Taint taint;
  taint.key = "node.kubernetes.io/unschedulable";
  taint.effect = "NoSchedule";
  return taint;
}

// The workload is the controller the pod names; Finish looks for the Deployment behind it.
PodFacts FactsOf(const api::Pod& pod) {
  PodFacts facts;
  const api::StringMap& annotations = pod.metadata.annotations;
  if (const api::OwnerReference* owner = ControllerOf(pod.metadata); owner != nullptr) {
    facts.fate =
        owner->kind == "DaemonSet" || owner->kind == "Node" ? Fate::kStays : Fate::kReplaced;
    facts.workload = fmt::format("{} {}/{}", owner->kind, pod.metadata.namespace_, owner->name);
  }
  if (api::FindValue(annotations, kMirror) != nullptr) facts.fate = Fate::kStays;
  for (const auto& [key, value] : kProtections) {
    const std::string* found = api::FindValue(annotations, key);
    if (found != nullptr && *found == value) facts.protected_by = fmt::format("{}={}", key, value);
  }
  if (const std::string* cost = api::FindValue(annotations, kDeletionCost); cost != nullptr) {
    std::from_chars(cost->data(), cost->data() + cost->size(), facts.deletion_cost);
  }
  facts.local_data =
      std::any_of(pod.spec.volumes.begin(), pod.spec.volumes.end(),
                  [](const api::Volume& volume) { return volume.empty_dir.has_value(); });
  return facts;
}

}  // namespace

Result<void> Inventory::Add(api::Object object) {
  std::visit(
      [&]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, api::Node>) {
          nodes_.insert_or_assign(value.metadata.name, value);
        } else if constexpr (requires {
                               value.metadata.labels;
                               T::kKind;
                             }) {
          const api::ObjectMeta& metadata = value.metadata;
          owners_.insert_or_assign(OwnerKey(T::kKind, metadata.namespace_, metadata.name), true);
          const api::OwnerReference* owner = ControllerOf(metadata);
          if (std::is_same_v<T, api::ReplicaSet> && owner != nullptr) {
            replica_set_of_.insert_or_assign(metadata.namespace_ + "/" + metadata.name,
                                             owner->name);
          }
        }
      },
      object);
  if (const auto* pod = std::get_if<api::Pod>(&object)) {
    const std::string& ns = pod->metadata.namespace_;
    facts_.insert_or_assign((ns.empty() ? "default" : ns) + "/" + pod->metadata.name,
                            FactsOf(*pod));
  }
  return world_.Add(std::move(object));
}

// Controllers come in any order, so pods are matched with theirs after the last object.
Result<void> Inventory::Finish() {
  for (auto& [pod, facts] : facts_) {
    if (facts.workload.empty()) continue;
    const size_t space = facts.workload.find(' ');
    const std::string kind = facts.workload.substr(0, space);
    const std::string name = facts.workload.substr(space + 1);
    facts.owner_missing = !owners_.contains(kind + "/" + name);
    if (kind == "ReplicaSet") {
      const auto deployment = replica_set_of_.find(name);
      if (deployment != replica_set_of_.end()) {
        facts.workload =
            fmt::format("Deployment {}/{}", name.substr(0, name.find('/')), deployment->second);
      }
    }
    if (facts.owner_missing && facts.fate == Fate::kReplaced) ++owners_missing_;
  }
  if (auto ok = world_.Finish(); !ok) return ok;
  return {};
}

const PodFacts& Inventory::Facts(const cluster::Pod& pod) const {
  static const PodFacts kNone;
  const auto it = facts_.find(pod.Key());
  return it == facts_.end() ? kNone : it->second;
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
