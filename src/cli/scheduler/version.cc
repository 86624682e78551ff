// Versions: see version.h.
#include "cli/scheduler/version.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/go/go_text.h"
#include "cli/scheduler/flags_values.h"

namespace berth::cli::scheduler {
namespace {

constexpr std::array<std::string_view, 4> kReleases{"v1.34.10", "v1.35.8", "v1.36.4", "v1.37.1"};

bool SameNumbers(const ParsedVersion& asked, std::string_view release) {
  return asked.numbers == ParseVersion(release, true)->numbers;
}

}  // namespace

std::string_view KubernetesVersion(config::Release release) {
  return kReleases.at(static_cast<size_t>(release));
}

Result<std::string> ParseVersionFlag(const std::string& value) {
  if (value == "raw") return value;
  if (value.empty() || value[0] != 'v') {
    const auto parsed = ParseBool(value);
    if (!parsed) return Fail(parsed.error());
    return std::string(*parsed ? "true" : "false");
  }
  const auto asked = ParseVersion(value, true);
  if (!asked) return Fail(asked.error());
  const bool known = std::any_of(kReleases.begin(), kReleases.end(), [&](std::string_view release) {
    return SameNumbers(*asked, release);
  });
  if (!known) {
    return Fail(fmt::format("version {} must match major/minor/patch of default version {}",
                            api::GoQuote(value), api::GoQuote(kReleases.back())));
  }
  return value;
}

std::string ReportedVersion(const std::string& flag_value, config::Release release) {
  const auto asked = ParseVersion(flag_value, true);
  const bool fits =
      flag_value.starts_with('v') && asked && SameNumbers(*asked, KubernetesVersion(release));
  return fits ? flag_value : std::string(KubernetesVersion(release));
}

std::string VersionText(const std::string& flag_value, config::Release release) {
  const std::string_view kubernetes = KubernetesVersion(release);
  if (flag_value == "true") return fmt::format("Kubernetes {}\n", kubernetes);
  if (flag_value != "raw") return {};
  const ParsedVersion version = *ParseVersion(kubernetes, true);
  return fmt::format(
      "version.Info{{Major:\"{}\", Minor:\"{}\", EmulationMajor:\"\", EmulationMinor:\"\", "
      "MinCompatibilityMajor:\"\", MinCompatibilityMinor:\"\", GitVersion:\"{}\", GitCommit:\"\", "
      "GitTreeState:\"\", BuildDate:\"1970-01-01T00:00:00Z\", GoVersion:\"\", "
      "Compiler:\"berth {}\", Platform:\"linux/amd64\"}}\n",
      version.At(0), version.At(1), kubernetes, kBerthVersion);
}

std::string UserAgent(std::string_view version, std::string_view suffix) {
  std::string agent = fmt::format("kube-scheduler/{} (linux/amd64) kubernetes/berth", version);
  if (!suffix.empty()) agent.append("/").append(suffix);
  return agent;
}

}  // namespace berth::cli::scheduler
