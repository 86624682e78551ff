#include "config/args/coscheduling_args.h"

#include "api/go/go_text.h"
#include "config/config.h"
#include "config/field_error.h"

namespace berth::config {

const api::TypeInfo& CoschedulingArgs::Type() {
  using T = CoschedulingArgs;
  static const api::TypeInfo type =
      api::Describe<T>("CoschedulingArgs")
          .Object(kApiVersion, "CoschedulingArgs")
          .Always(0, "permitWaitingTimeSeconds", &T::permit_waiting_time_seconds)
          .Always(0, "podGroupBackoffSeconds", &T::pod_group_backoff_seconds)
          .Always(0, "podGroupRejectPercentage", &T::pod_group_reject_percentage)
          .Field(0, "mode", &T::mode)
          .Field(0, "searchSteps", &T::search_steps)
          .Build();
  return type;
}

// Zero is allowed, whatever the message says.
void CoschedulingArgs::Validate(std::vector<std::string>& errors) const {
  if (permit_waiting_time_seconds < 0) {
    errors.push_back(
        Invalid("permitWaitingTimeSeconds", permit_waiting_time_seconds, "must be greater than 0"));
  }
  if (pod_group_backoff_seconds < 0) {
    errors.push_back(
        Invalid("podGroupBackoffSeconds", pod_group_backoff_seconds, "must be greater than 0"));
  }
  if (pod_group_reject_percentage < 0 || pod_group_reject_percentage > 100) {
    errors.push_back(Invalid("podGroupRejectPercentage", pod_group_reject_percentage,
                             "must be between 0 and 100"));
  }
  constexpr int64_t kMostSteps = 1'000'000;
  if (search_steps < 0 || search_steps > kMostSteps) {
    errors.push_back(Invalid("searchSteps", search_steps, "must be between 0 and 1000000"));
  } else if (search_steps > 0 && !GroupMode()) {
    errors.push_back(Invalid("searchSteps", search_steps, "needs mode: Group"));
  }
  if (!mode.empty() && mode != "Permit" && mode != "Group") {
    errors.push_back(Invalid("mode", api::GoQuote(mode), "must be Permit or Group"));
  }
}

}  // namespace berth::config
