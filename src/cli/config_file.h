// The KubeSchedulerConfiguration that commands other than the scheduler run with.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "config/config.h"

namespace berth::cli {

// Reads v1 and v1beta3; what is deprecated is told on standard error in the name of `program`. The
// defaults when `path` is empty.
Result<config::KubeSchedulerConfiguration> ReadConfig(const std::string& path,
                                                      const config::Behaviour& behaviour,
                                                      std::string_view program);

}  // namespace berth::cli
