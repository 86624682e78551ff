// Versions: see version.h.
#include "cli/scheduler/version.h"

#include <fmt/format.h>

#include <utility>

#include "api/go/go_text.h"
#include "cli/scheduler/flags_values.h"

namespace berth::cli::scheduler {

Result<std::string> ParseVersionFlag(const std::string& value) {
  if (value == "raw") return value;
  if (value.empty() || value[0] != 'v') {
    const auto parsed = ParseBool(value);
    if (!parsed) return Fail(parsed.error());
    return std::string(*parsed ? "true" : "false");
  }
  if (value == kKubernetesVersion) return value;
  const auto asked = ParseVersion(value, true);
  if (!asked) return Fail(asked.error());
  if (asked->numbers != ParseVersion(kKubernetesVersion, true)->numbers) {
    return Fail(fmt::format("version {} must match major/minor/patch of default version {}",
                            api::GoQuote(value), api::GoQuote(kKubernetesVersion)));
  }
  return value;
}

std::string ReportedVersion(const std::string& flag_value) {
  return flag_value.empty() || flag_value[0] != 'v' ? std::string(kKubernetesVersion) : flag_value;
}

std::string VersionText(const std::string& flag_value) {
  if (flag_value == "true") return fmt::format("Kubernetes {}\n", kKubernetesVersion);
  if (flag_value != "raw") return {};
  const ParsedVersion version = *ParseVersion(kKubernetesVersion, true);
  return fmt::format(
      "version.Info{{Major:\"{}\", Minor:\"{}\", EmulationMajor:\"\", EmulationMinor:\"\", "
      "MinCompatibilityMajor:\"\", MinCompatibilityMinor:\"\", GitVersion:\"{}\", GitCommit:\"\", "
      "GitTreeState:\"\", BuildDate:\"1970-01-01T00:00:00Z\", GoVersion:\"\", "
      "Compiler:\"berth {}\", Platform:\"linux/amd64\"}}\n",
      version.At(0), version.At(1), kKubernetesVersion, kBerthVersion);
}

std::string UserAgent(std::string_view version, std::string_view suffix) {
  std::string agent = fmt::format("kube-scheduler/{} (linux/amd64) kubernetes/berth", version);
  if (!suffix.empty()) agent.append("/").append(suffix);
  return agent;
}

}  // namespace berth::cli::scheduler
