// Job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/codec/schema.h"
#include "api/core/pod.h"
#include "api/meta.h"
#include "api/time.h"

namespace berth::api {

// How many pods run at once and how many must succeed.
struct JobSpec {
  std::optional<int32_t> parallelism;
  std::optional<int32_t> completions;
  std::optional<int64_t> active_deadline_seconds;
  std::optional<int32_t> backoff_limit;
  std::optional<int32_t> backoff_limit_per_index;
  std::optional<int32_t> max_failed_indexes;
  std::optional<LabelSelector> selector;
  std::optional<bool> manual_selector;
  PodTemplateSpec template_;
  std::optional<int32_t> ttl_seconds_after_finished;
  std::optional<std::string> completion_mode;
  std::optional<bool> suspend;
  std::optional<std::string> pod_replacement_policy;
  std::optional<std::string> managed_by;

  bool operator==(const JobSpec&) const = default;
  static const TypeInfo& Type();
};

// How many pods run, succeeded and failed.
struct JobStatus {
  std::optional<Time> start_time;
  std::optional<Time> completion_time;
  int32_t active = 0;
  int32_t succeeded = 0;
  int32_t failed = 0;
  std::optional<int32_t> terminating;
  std::string completed_indexes;
  std::optional<std::string> failed_indexes;
  std::optional<int32_t> ready;

  bool operator==(const JobStatus&) const = default;
  static const TypeInfo& Type();
};

// Runs pods to completion.
struct Job {
  static constexpr std::string_view kApiVersion = "batch/v1";
  static constexpr std::string_view kKind = "Job";

  ObjectMeta metadata;
  JobSpec spec;
  JobStatus status;

  bool operator==(const Job&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
