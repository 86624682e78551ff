#include "plugins/coscheduling/volcano_group.h"

namespace berth::plugins::coscheduling {

const api::TypeInfo& VolcanoPodGroupSpec::Type() {
  using T = VolcanoPodGroupSpec;
  static const api::TypeInfo type = api::Describe<T>("PodGroupSpec")
                                        .Field(0, "minMember", &T::min_member)
                                        .Field(0, "priorityClassName", &T::priority_class_name)
                                        .Build();
  return type;
}

const api::TypeInfo& VolcanoPodGroup::Type() {
  using T = VolcanoPodGroup;
  static const api::TypeInfo type = api::Describe<T>("PodGroup")
                                        .Object("scheduling.volcano.sh/v1beta1", "PodGroup")
                                        .Field(0, "metadata", &T::metadata)
                                        .Always(0, "spec", &T::spec)
                                        .Build();
  return type;
}

}  // namespace berth::plugins::coscheduling
