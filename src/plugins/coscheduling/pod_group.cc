#include "plugins/coscheduling/pod_group.h"

namespace berth::plugins::coscheduling {

const api::TypeInfo& PodGroupSpec::Type() {
  using T = PodGroupSpec;
  static const api::TypeInfo type =
      api::Describe<T>("PodGroupSpec")
          .Field(0, "minMember", &T::min_member)
          .Field(0, "minResources", &T::min_resources)
          .Field(0, "scheduleTimeoutSeconds", &T::schedule_timeout_seconds)
          .Build();
  return type;
}

const api::TypeInfo& PodGroup::Type() {
  using T = PodGroup;
  static const api::TypeInfo type = api::Describe<T>("PodGroup")
                                        .Object("scheduling.x-k8s.io/v1alpha1", "PodGroup")
                                        .Field(0, "metadata", &T::metadata)
                                        .Always(0, "spec", &T::spec)
                                        .Build();
  return type;
}

}  // namespace berth::plugins::coscheduling
