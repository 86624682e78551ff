// CronJob.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/batch/job.h"
#include "api/codec/schema.h"
#include "api/core/reference.h"
#include "api/meta.h"
#include "api/time.h"

namespace berth::api {

// What the job is made from.
struct JobTemplateSpec {
  ObjectMeta metadata;
  JobSpec spec;

  bool operator==(const JobTemplateSpec&) const = default;
  static const TypeInfo& Type();
};

// When jobs are made.
struct CronJobSpec {
  std::string schedule;
  std::optional<std::string> time_zone;
  std::optional<int64_t> starting_deadline_seconds;
  std::string concurrency_policy;
  std::optional<bool> suspend;
  JobTemplateSpec job_template;
  std::optional<int32_t> successful_jobs_history_limit;
  std::optional<int32_t> failed_jobs_history_limit;

  bool operator==(const CronJobSpec&) const = default;
  static const TypeInfo& Type();
};

// The jobs running now.
struct CronJobStatus {
  std::vector<ObjectReference> active;
  std::optional<Time> last_schedule_time;
  std::optional<Time> last_successful_time;

  bool operator==(const CronJobStatus&) const = default;
  static const TypeInfo& Type();
};

// Makes jobs on a schedule.
struct CronJob {
  static constexpr std::string_view kApiVersion = "batch/v1";
  static constexpr std::string_view kKind = "CronJob";

  ObjectMeta metadata;
  CronJobSpec spec;
  CronJobStatus status;

  bool operator==(const CronJob&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
