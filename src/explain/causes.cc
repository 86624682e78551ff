#include "explain/causes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/rules/pod_requests.h"
#include "cluster/objects/object_store.h"
#include "explain/suggestions.h"

namespace berth::explain {
namespace {

constexpr size_t kMaxValues = 5;

// A remedy is pasted into a shell: no name in it may mean anything there.
bool IsPlain(const std::string& name) {
  return name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") ==
         std::string::npos;
}

// As AmountText() takes it: cpu in thousandths.
int64_t AmountOf(const std::string& resource, const api::Quantity& quantity) {
  return resource == "cpu" ? quantity.MilliValue() : quantity.Value();
}

void AddAmounts(const scheduler::NodeObjects& nodes, const api::Pod& pod,
                std::vector<Cause>* causes) {
  for (const auto& [resource, quantity] : api::PodRequests(pod)) {
    const int64_t wanted = AmountOf(resource, quantity);
    int64_t largest = 0;
    for (const auto& [name, node] : nodes) {
      const auto it = node->status.allocatable.find(resource);
      if (it != node->status.allocatable.end()) {
        largest = std::max(largest, AmountOf(resource, it->second));
      }
    }
    if (wanted <= largest) continue;
    if (largest == 0) {
      causes->push_back({"NoSuchResource", fmt::format("no node has {}", resource), ""});
      continue;
    }
    causes->push_back(
        {"LargerThanAnyNode",
         fmt::format("it requests {} {}, more than any node has: the largest has {}",
                     AmountText(resource, wanted), resource, AmountText(resource, largest)),
         ""});
  }
}

// The values that nodes have for the label, "" if none has the label.
std::string ValuesOf(const scheduler::NodeObjects& nodes, const std::string& key) {
  std::set<std::string> values;
  for (const auto& [name, node] : nodes) {
    const auto it = node->metadata.labels.find(key);
    if (it != node->metadata.labels.end()) values.insert(it->second);
  }
  if (values.empty()) return "";
  const size_t count = values.size();
  while (values.size() > kMaxValues) values.erase(std::prev(values.end()));
  return fmt::format("{}{}", fmt::join(values, ", "), count > kMaxValues ? ", ..." : "");
}

void AddLabels(const scheduler::NodeObjects& nodes, const api::Pod& pod,
               std::vector<Cause>* causes) {
  for (const auto& [key, value] : pod.spec.node_selector) {
    const bool found = std::any_of(nodes.begin(), nodes.end(), [&](const auto& entry) {
      const auto& labels = entry.second->metadata.labels;
      const auto it = labels.find(key);
      return it != labels.end() && it->second == value;
    });
    if (found) continue;
    const std::string values = ValuesOf(nodes, key);
    causes->push_back({"NoSuchLabel",
                       fmt::format("no node has the label {}={} of its nodeSelector{}", key, value,
                                   values.empty() ? "" : fmt::format(" (nodes have {})", values)),
                       IsPlain(key) && IsPlain(value)
                           ? fmt::format("kubectl label node NODE {}={}", key, value)
                           : ""});
  }
}

std::string CreateClaim(const std::string& namespace_, const std::string& name) {
  if (!IsPlain(namespace_) || !IsPlain(name)) return "";
  return fmt::format(
      R"(kubectl create -f - <<< '{{"apiVersion": "v1", "kind": "PersistentVolumeClaim", )"
      R"("metadata": {{"namespace": "{}", "name": "{}"}}, "spec": {{"accessModes": )"
      R"(["ReadWriteOnce"], "resources": {{"requests": {{"storage": "1Gi"}}}}}}}}')",
      namespace_, name);
}

void AddClaims(const cluster::ObjectStore& objects, const api::Pod& pod,
               std::vector<Cause>* causes) {
  const std::string& ns = pod.metadata.namespace_;
  for (const api::Volume& volume : pod.spec.volumes) {
    if (!volume.persistent_volume_claim) continue;
    const std::string& name = volume.persistent_volume_claim->claim_name;
    const auto* claim = objects.persistent_volume_claims.Find(ns, name);
    if (claim == nullptr) {
      causes->push_back({"MissingClaim",
                         fmt::format("PersistentVolumeClaim {}/{} of its volume {} does not exist",
                                     ns, name, volume.name),
                         CreateClaim(ns, name)});
      continue;
    }
    const std::string storage_class = claim->spec.storage_class_name.value_or("");
    if (!claim->spec.volume_name.empty() || storage_class.empty()) continue;
    if (objects.storage_classes.Find(storage_class) != nullptr) continue;
    causes->push_back({"MissingStorageClass",
                       fmt::format("StorageClass {} of PersistentVolumeClaim {}/{} does not exist",
                                   storage_class, ns, name),
                       "kubectl get storageclass"});
  }
}

bool Siblings(const cluster::Pod& a, const cluster::Pod& b) {
  const auto& mine = a.shape->source.metadata.owner_references;
  const auto& theirs = b.shape->source.metadata.owner_references;
  return !mine.empty() && !theirs.empty() && a.namespace_() == b.namespace_() &&
         mine.front().kind == theirs.front().kind && mine.front().name == theirs.front().name;
}

}  // namespace

std::vector<Cause> RootCauses(const scheduler::Source& source, const api::Pod& pod) {
  std::vector<Cause> causes;
  AddClaims(source.cluster->Objects(), pod, &causes);
  if (source.nodes != nullptr && !source.nodes->empty()) {
    AddLabels(*source.nodes, pod, &causes);
    AddAmounts(*source.nodes, pod, &causes);
  }
  return causes;
}

bool AnySibling(const cluster::Cluster& cluster, cluster::PodId pod,
                const std::vector<cluster::PodId>& others) {
  return std::any_of(others.begin(), others.end(), [&](cluster::PodId other) {
    return Siblings(cluster.GetPod(pod), cluster.GetPod(other));
  });
}

}  // namespace berth::explain
