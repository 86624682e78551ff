#include "api/apps/daemon_set.h"

namespace berth::api {

const TypeInfo& DaemonSetSpec::Type() {
  static const TypeInfo type =
      Describe<DaemonSetSpec>("DaemonSetSpec")
          .Always(1, "selector", &DaemonSetSpec::selector)
          .Always(2, "template", &DaemonSetSpec::template_)
          .Field(4, "minReadySeconds", &DaemonSetSpec::min_ready_seconds)
          .Field(6, "revisionHistoryLimit", &DaemonSetSpec::revision_history_limit)
          .Ignore({"updateStrategy"})
          .Build();
  return type;
}

const TypeInfo& DaemonSetStatus::Type() {
  static const TypeInfo type =
      Describe<DaemonSetStatus>("DaemonSetStatus")
          .Always(1, "currentNumberScheduled", &DaemonSetStatus::current_number_scheduled)
          .Always(2, "numberMisscheduled", &DaemonSetStatus::number_misscheduled)
          .Always(3, "desiredNumberScheduled", &DaemonSetStatus::desired_number_scheduled)
          .Always(4, "numberReady", &DaemonSetStatus::number_ready)
          .Field(5, "observedGeneration", &DaemonSetStatus::observed_generation)
          .Field(6, "updatedNumberScheduled", &DaemonSetStatus::updated_number_scheduled)
          .Field(7, "numberAvailable", &DaemonSetStatus::number_available)
          .Field(8, "numberUnavailable", &DaemonSetStatus::number_unavailable)
          .Field(9, "collisionCount", &DaemonSetStatus::collision_count)
          .Ignore({"conditions"})
          .Build();
  return type;
}

const TypeInfo& DaemonSet::Type() {
  static const TypeInfo type = Describe<DaemonSet>("DaemonSet")
                                   .Always(1, "metadata", &DaemonSet::metadata)
                                   .Always(2, "spec", &DaemonSet::spec)
                                   .Always(3, "status", &DaemonSet::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
