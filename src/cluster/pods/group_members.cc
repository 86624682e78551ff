#include "cluster/pods/group_members.h"

#include <algorithm>

namespace berth::cluster {
namespace {

std::string KeyOf(std::string_view namespace_, std::string_view name) {
  std::string key(namespace_);
  return key.append("/").append(name);
}

}  // namespace

std::span<const PodId> GroupMembers::Of(std::string_view namespace_, std::string_view name) const {
  const auto it = groups_.find(KeyOf(namespace_, name));
  if (it == groups_.end()) return {};
  return it->second;
}

void GroupMembers::Add(const Pod& pod) {
  const std::string* name = GroupNameOf(pod);
  if (name != nullptr) groups_[KeyOf(pod.namespace_(), *name)].push_back(pod.id);
}

void GroupMembers::Remove(const Pod& pod) {
  const std::string* name = GroupNameOf(pod);
  if (name == nullptr) return;
  const auto it = groups_.find(KeyOf(pod.namespace_(), *name));
  if (it == groups_.end()) return;
  std::erase(it->second, pod.id);
  if (it->second.empty()) groups_.erase(it);
}

}  // namespace berth::cluster
