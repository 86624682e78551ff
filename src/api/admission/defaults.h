// Defaults: what the API server would add to an object a person wrote by hand, as far as scheduling
// sees it.
//
// Two steps, as there: SetDefaults() needs nothing but the object; Admission also knows the
// priority classes, storage classes and limit ranges of the cluster. Objects that come from an API
// server (they have a uid or a creation time) went through both and are left alone. Applying the
// steps twice changes nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/core/limit_range.h"
#include "api/core/persistent_volume_claim.h"
#include "api/core/pod.h"
#include "api/object.h"
#include "api/scheduling/priority_class.h"
#include "api/storage/storage_class.h"
#include "base/error.h"

namespace berth::api {

// Whether an API server has seen the object.
bool FromApiServer(const ObjectMeta& metadata);

// Namespace, scheduler name, restart policy, requests from limits, host ports of host-network pods,
// allocatable from capacity, replicas, binding mode, ... Knows every kind of Object; other kinds
// stay as they are.
void SetDefaults(Object& object);

void SetDefaults(Pod& pod);
// The part of a pod's defaults that also applies to templates.
void SetPodSpecDefaults(PodSpec& spec);

// The labels of matchLabelKeys and mismatchLabelKeys become requirements of the selectors they
// belong to.
void MergeLabelKeys(Pod& pod);

// Tolerations for not-ready and unreachable nodes (300 s), unless the pod has tolerations for these
// taints.
void AddDefaultTolerations(Pod& pod);

// What admission knows of the cluster.
class Admission {
 public:
  Admission();

  // Takes note of a PriorityClass, StorageClass or LimitRange; other kinds are ignored. A later
  // object of the same name replaces the earlier.
  void Learn(const Object& object);

  // SetDefaults() and what depends on other objects. Errors are those of the API server, e.g. "no
  // PriorityClass with name gold was found". Objects that come from an API server are not changed.
  Result<void> Apply(Object& object) const;

  // The parts. REQUIRES: SetDefaults() was applied.
  Result<void> ResolvePriority(PodSpec& spec) const;
  void ApplyLimitRanges(Pod& pod) const;
  void ChooseStorageClass(PersistentVolumeClaim& claim) const;

 private:
  struct Priority {
    int32_t value;
    std::optional<std::string> preemption_policy;
    bool global_default;
  };

  std::map<std::string, Priority, std::less<>> priority_classes_;
  std::map<std::string, StorageClass, std::less<>> storage_classes_;
  std::map<std::string, std::map<std::string, LimitRange>, std::less<>>
      limit_ranges_;  // by namespace, name
};

}  // namespace berth::api
