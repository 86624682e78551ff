// Versions the scheduler command speaks of.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "config/behaviour.h"

namespace berth::cli::scheduler {

// Whose kube-scheduler berth is beside an API server of that minor, to the letter: "v1.37.1".
std::string_view KubernetesVersion(config::Release release);
// berth's own, as the build file of the project has it.
inline constexpr std::string_view kBerthVersion = "0.1.0";

// The value of --version: "true", "false", "raw", or a version that only adds to one of the above
// ("v1.34.10-distro.1"). The error is kube-scheduler's.
Result<std::string> ParseVersionFlag(const std::string& value);

// What the value of --version asks to print, empty: nothing.
std::string VersionText(const std::string& flag_value, config::Release release);
// The version to report: the release's, or what --version put in its place.
std::string ReportedVersion(const std::string& flag_value, config::Release release);

// The name requests go by: "kube-scheduler/v1.34.10 (linux/amd64) kubernetes/berth[/SUFFIX]".
std::string UserAgent(std::string_view version, std::string_view suffix);

}  // namespace berth::cli::scheduler
