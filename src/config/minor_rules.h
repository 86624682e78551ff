// MinorRules: differences between Kubernetes minors that matter in one place alone.
//
// They belong to Behaviour but have a header of their own: half of the tree includes behaviour.h,
// and would be rebuilt for the sake of one file. Made from the minor in behaviour.cc, too.
#pragma once

#include "config/behaviour.h"

namespace berth::config {

// The minor a field names is the first one that has it.
struct MinorRules {
  // 1.35: VolumeBinding's assumed objects hide stored ones of the same version alone, whatever the
  // version looks like. Before, those that are not newer, and versions are numbers.
  bool assumes_over_same_version = false;
  // 1.35: an allocation lists the tolerations of each device's request.
  bool allocations_list_tolerations = false;
  // 1.35: pods reach extenders without their managed fields.
  bool drops_managed_fields_of_pods = false;
  // 1.35 alone: with DRAExtendedResource, no two pods are alike for OpportunisticBatching.
  bool extended_resources_end_batches = false;
  // 1.37: OpportunisticBatching scores the node of the last pod again instead of giving up when the
  // next pod fits there too, and passes over nominated pods.
  bool batches_rescore = false;
  // 1.36: in lines of the log that repeat what a cycle adds to all of its lines, that comes first.
  bool log_has_pod_of_cycle_first = false;

  bool operator==(const MinorRules&) const = default;
};

MinorRules MinorRulesOf(const Behaviour& behaviour);

}  // namespace berth::config
