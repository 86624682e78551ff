// Recorded: the cluster that a recording (berth scheduler --record-dir) has at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/codec/manifest.h"
#include "api/object.h"
#include "config/config.h"

namespace berth::cli {

struct RecordedCluster {
  // Of the scheduler that recorded.
  config::KubeSchedulerConfiguration config;
  config::Behaviour behaviour = {};
  std::vector<api::Object> objects;
  std::string damage;  // why the recording was not read further; empty: it was
};

// `at`: Unix, in nanoseconds; absent: as far as the newest run goes.
Result<RecordedCluster> ReadRecorded(const std::string& dir, std::optional<int64_t> at);

}  // namespace berth::cli
