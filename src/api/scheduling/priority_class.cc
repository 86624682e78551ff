#include "api/scheduling/priority_class.h"

namespace berth::api {

const TypeInfo& PriorityClass::Type() {
  static const TypeInfo type = Describe<PriorityClass>("PriorityClass")
                                   .Always(1, "metadata", &PriorityClass::metadata)
                                   .Always(2, "value", &PriorityClass::value)
                                   .Field(3, "globalDefault", &PriorityClass::global_default)
                                   .Field(4, "description", &PriorityClass::description)
                                   .Field(5, "preemptionPolicy", &PriorityClass::preemption_policy)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
