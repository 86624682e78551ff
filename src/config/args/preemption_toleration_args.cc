#include "config/args/preemption_toleration_args.h"

#include "config/args_validation.h"
#include "config/config.h"

namespace berth::config {

const api::TypeInfo& PreemptionTolerationArgs::Type() {
  using T = PreemptionTolerationArgs;
  static const api::TypeInfo type =
      api::Describe<T>("PreemptionTolerationArgs")
          .Object(kApiVersion, "PreemptionTolerationArgs")
          .Always(0, "minCandidateNodesPercentage", &T::min_candidate_nodes_percentage)
          .Always(0, "minCandidateNodesAbsolute", &T::min_candidate_nodes_absolute)
          .Build();
  return type;
}

// The root of the path is an empty name, which prints as an index.
void PreemptionTolerationArgs::Validate(std::vector<std::string>& errors) const {
  ValidateArgs("[]",
               DefaultPreemptionArgs{min_candidate_nodes_percentage, min_candidate_nodes_absolute},
               {}, errors);
}

}  // namespace berth::config
