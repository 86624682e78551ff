// GroupMembers: the pods that name a PodGroup, pending or placed, whether the group exists or not.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_hash.h"
#include "cluster/ids.h"
#include "cluster/pods/pod.h"

namespace berth::cluster {

// The name of the pod's group, which is in the pod's namespace; null: it has none.
inline const std::string* GroupNameOf(const Pod& pod) {
  const auto& group = pod.shape->source.spec.scheduling_group;
  return group && group->pod_group_name ? &*group->pod_group_name : nullptr;
}

class GroupMembers {
 public:
  // In no particular order.
  std::span<const PodId> Of(std::string_view namespace_, std::string_view name) const;

  // Pods without a group are passed over. REQUIRES for Remove: the pod was added as it is now.
  void Add(const Pod& pod);
  void Remove(const Pod& pod);

 private:
  ByString<std::vector<PodId>> groups_;  // by "namespace/name"
};

}  // namespace berth::cluster
