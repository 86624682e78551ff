#include "api/batch/job.h"

namespace berth::api {

const TypeInfo& JobSpec::Type() {
  static const TypeInfo type =
      Describe<JobSpec>("JobSpec")
          .Field(1, "parallelism", &JobSpec::parallelism)
          .Field(2, "completions", &JobSpec::completions)
          .Field(3, "activeDeadlineSeconds", &JobSpec::active_deadline_seconds)
          .Field(7, "backoffLimit", &JobSpec::backoff_limit)
          .Field(12, "backoffLimitPerIndex", &JobSpec::backoff_limit_per_index)
          .Field(13, "maxFailedIndexes", &JobSpec::max_failed_indexes)
          .Field(4, "selector", &JobSpec::selector)
          .Field(5, "manualSelector", &JobSpec::manual_selector)
          .Always(6, "template", &JobSpec::template_)
          .Field(8, "ttlSecondsAfterFinished", &JobSpec::ttl_seconds_after_finished)
          .Field(9, "completionMode", &JobSpec::completion_mode)
          .Field(10, "suspend", &JobSpec::suspend)
          .Field(14, "podReplacementPolicy", &JobSpec::pod_replacement_policy)
          .Field(15, "managedBy", &JobSpec::managed_by)
          .Ignore({"podFailurePolicy", "successPolicy"})
          .Build();
  return type;
}

const TypeInfo& JobStatus::Type() {
  static const TypeInfo type = Describe<JobStatus>("JobStatus")
                                   .Field(2, "startTime", &JobStatus::start_time)
                                   .Field(3, "completionTime", &JobStatus::completion_time)
                                   .Field(4, "active", &JobStatus::active)
                                   .Field(5, "succeeded", &JobStatus::succeeded)
                                   .Field(6, "failed", &JobStatus::failed)
                                   .Field(11, "terminating", &JobStatus::terminating)
                                   .Field(7, "completedIndexes", &JobStatus::completed_indexes)
                                   .Field(10, "failedIndexes", &JobStatus::failed_indexes)
                                   .Field(9, "ready", &JobStatus::ready)
                                   .Ignore({"conditions", "uncountedTerminatedPods"})
                                   .Build();
  return type;
}

const TypeInfo& Job::Type() {
  static const TypeInfo type = Describe<Job>("Job")
                                   .Always(1, "metadata", &Job::metadata)
                                   .Always(2, "spec", &Job::spec)
                                   .Always(3, "status", &Job::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
