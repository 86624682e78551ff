// AdoptedGroups: pod groups of other APIs, scheduled as PodGroups of scheduling.k8s.io are.
//
// The configuration says which kinds there are (scheduler/group_adoption.h). Each object of such a
// kind is translated into an api::PodGroup, which the ObjectStore keeps beside those of Kubernetes,
// and the pods that belong to it get its name in spec.schedulingGroup. Everything behind that
// (queue, group cycle, preemption) knows one kind of group only.
//
// The name of an adopted group is "API group/name of the object". No other group can have it, as
// names of objects contain no slash.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/pod.h"
#include "api/scheduling/pod_group.h"
#include "api/unknown_object.h"
#include "cluster/objects/custom_kinds.h"

namespace berth::cluster {

struct ObjectStore;

// One API that has pod groups.
struct AdoptedGroupKind {
  CustomKind kind;
  // Where pods name their group, which is in their namespace: the first that is there and not empty
  // counts, labels before annotations.
  std::vector<std::string> pod_labels;
  std::vector<std::string> pod_annotations;
  // The group without its name; nothing: the object cannot be read. `objects`: for references.
  std::optional<api::PodGroup> (*translate)(const api::UnknownObject& object,
                                            const ObjectStore& objects) = nullptr;

  bool operator==(const AdoptedGroupKind&) const = default;
};

class AdoptedGroups {
 public:
  AdoptedGroups() = default;
  // `native`: spec.schedulingGroup counts where a pod has it. Otherwise it is removed.
  AdoptedGroups(std::vector<AdoptedGroupKind> kinds, bool native)
      : kinds_(std::move(kinds)), native_(native) {}

  bool Empty() const { return kinds_.empty(); }
  std::span<const AdoptedGroupKind> Kinds() const { return kinds_; }
  bool Adopts(std::string_view api_version, std::string_view kind) const {
    return Find(api_version, kind) != nullptr;
  }
  // Sets spec.schedulingGroup to the group that the pod names.
  void Join(api::Pod& pod) const;
  // REQUIRES: Adopts.
  std::optional<api::PodGroup> Adopt(const api::UnknownObject& object,
                                     const ObjectStore& objects) const;
  // The name that the group of an object gets.
  static std::string NameOf(std::string_view api_version, std::string_view name);

 private:
  const AdoptedGroupKind* Find(std::string_view api_version, std::string_view kind) const;

  std::vector<AdoptedGroupKind> kinds_;
  bool native_ = true;
};

inline bool IsAdoptedGroup(std::string_view name) {
  return name.find('/') != std::string_view::npos;
}

}  // namespace berth::cluster
