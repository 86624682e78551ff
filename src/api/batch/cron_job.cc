#include "api/batch/cron_job.h"

namespace berth::api {

const TypeInfo& JobTemplateSpec::Type() {
  static const TypeInfo type = Describe<JobTemplateSpec>("JobTemplateSpec")
                                   .Always(1, "metadata", &JobTemplateSpec::metadata)
                                   .Always(2, "spec", &JobTemplateSpec::spec)
                                   .Build();
  return type;
}

const TypeInfo& CronJobSpec::Type() {
  static const TypeInfo type =
      Describe<CronJobSpec>("CronJobSpec")
          .Always(1, "schedule", &CronJobSpec::schedule)
          .Field(8, "timeZone", &CronJobSpec::time_zone)
          .Field(2, "startingDeadlineSeconds", &CronJobSpec::starting_deadline_seconds)
          .Field(3, "concurrencyPolicy", &CronJobSpec::concurrency_policy)
          .Field(4, "suspend", &CronJobSpec::suspend)
          .Always(5, "jobTemplate", &CronJobSpec::job_template)
          .Field(6, "successfulJobsHistoryLimit", &CronJobSpec::successful_jobs_history_limit)
          .Field(7, "failedJobsHistoryLimit", &CronJobSpec::failed_jobs_history_limit)
          .Build();
  return type;
}

const TypeInfo& CronJobStatus::Type() {
  static const TypeInfo type =
      Describe<CronJobStatus>("CronJobStatus")
          .Field(1, "active", &CronJobStatus::active)
          .Field(4, "lastScheduleTime", &CronJobStatus::last_schedule_time)
          .Field(5, "lastSuccessfulTime", &CronJobStatus::last_successful_time)
          .Build();
  return type;
}

const TypeInfo& CronJob::Type() {
  static const TypeInfo type = Describe<CronJob>("CronJob")
                                   .Always(1, "metadata", &CronJob::metadata)
                                   .Always(2, "spec", &CronJob::spec)
                                   .Always(3, "status", &CronJob::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
