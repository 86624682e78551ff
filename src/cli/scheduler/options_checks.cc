// Checks of flags: see options_checks.h.
#include "cli/scheduler/options_checks.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "api/go/error_list.h"
#include "api/go/go_text.h"
#include "cli/scheduler/flags_values.h"

namespace berth::cli::scheduler {

namespace {

constexpr std::string_view kComponent = "kube";

// The version that a flag names for this component; nothing: none.
Result<std::optional<ParsedVersion>> ParseVersionFlag(const std::vector<std::string>& items) {
  std::map<std::string, ParsedVersion> versions;
  for (const std::string& item : items) {
    const size_t equal = item.find('=');
    const bool named = equal != std::string::npos;
    const std::string component(named ? TrimSpace(std::string_view(item).substr(0, equal))
                                      : kComponent);
    const std::string text(named ? TrimSpace(std::string_view(item).substr(equal + 1)) : item);
    auto version = ParseVersion(text, true);
    if (!version) version = ParseVersion(text, false);
    if (!version) return Fail(std::move(version.error()));
    if (version->At(2) != 0) {
      return Fail(
          fmt::format("patch version not allowed, got: {}={}", component, version->Format()));
    }
    if (const auto it = versions.find(component); it != versions.end()) {
      return Fail(fmt::format("duplicate version flag, {}={} and {}={}", component,
                              it->second.Format(), component, version->Format()));
    }
    versions[component] = std::move(*version);
  }
  for (const auto& [component, version] : versions) {
    if (component != kComponent) return Fail("component not registered: " + component);
  }
  if (versions.empty()) return std::optional<ParsedVersion>();
  return std::optional<ParsedVersion>(std::move(versions.begin()->second));
}

// The minor version to take gates from. Versions out of range are refused
// later; until then they count as what is nearest.
int MinorOf(const ParsedVersion& version, int newest) {
  if (version.At(0) == 0) return 0;
  if (version.At(0) > 1) return newest;
  return static_cast<int>(std::min<uint64_t>(version.At(1), static_cast<uint64_t>(newest)));
}

void CheckHeaders(std::string_view flag, const std::vector<std::string>& names,
                  std::vector<std::string>& errors) {
  if (std::any_of(names.begin(), names.end(),
                  [](const std::string& name) { return TrimSpace(name).empty(); })) {
    errors.push_back(fmt::format("empty value in \"{}\"", flag));
  }
}

bool MissesStandard(const std::vector<std::string>& names, const char* standard) {
  return !names.empty() && std::none_of(names.begin(), names.end(), [&](const std::string& name) {
    return strcasecmp(name.c_str(), standard) == 0;
  });
}

std::string NotStandard(std::string_view flag, std::string_view what) {
  return fmt::format(
      "--{} is set without specifying the standard {} - API aggregation will not "
      "work",
      flag, what);
}

void CheckRequestHeader(const FlagValues& flags, const config::FeatureGates& gates,
                        std::vector<std::string>& errors, std::vector<std::string>& warnings) {
  CheckHeaders("requestheader-username-headers", flags.requestheader_username_headers, errors);
  CheckHeaders("requestheader-group-headers", flags.requestheader_group_headers, errors);
  CheckHeaders("requestheader-extra-headers-prefix", flags.requestheader_extra_headers_prefix,
               errors);
  CheckHeaders("requestheader-allowed-names", flags.requestheader_allowed_names, errors);
  if (MissesStandard(flags.requestheader_username_headers, "X-Remote-User")) {
    warnings.push_back(NotStandard("requestheader-username-headers", "X-Remote-User header"));
  }
  if (MissesStandard(flags.requestheader_group_headers, "X-Remote-Group")) {
    warnings.push_back(NotStandard("requestheader-group-headers", "X-Remote-Group header"));
  }
  if (MissesStandard(flags.requestheader_extra_headers_prefix, "X-Remote-Extra-")) {
    warnings.push_back(
        NotStandard("requestheader-extra-headers-prefix", "X-Remote-Extra- header prefix"));
  }
  if (!gates.Enabled(config::Gate::kRemoteRequestHeaderUID)) {
    if (!flags.requestheader_uid_headers.empty()) {
      errors.emplace_back(
          "--requestheader-uid-headers requires the \"RemoteRequestHeaderUID\" feature to be "
          "enabled");
    }
    return;
  }
  CheckHeaders("requestheader-uid-headers", flags.requestheader_uid_headers, errors);
  if (MissesStandard(flags.requestheader_uid_headers, "X-Remote-Uid")) {
    errors.push_back(NotStandard("requestheader-uid-headers", "X-Remote-Uid header"));
  }
}

bool IsName(std::string_view text, bool colons) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (c == ':' && colons);
  });
}

bool IsMetricAndLabel(std::string_view key) {
  const size_t comma = key.find(',');
  return comma != std::string_view::npos && IsName(key.substr(0, comma), true) &&
         IsName(key.substr(comma + 1), false);
}

void CheckMetrics(const FlagValues& flags, const config::FeatureGates& gates,
                  std::vector<std::string>& errors) {
  const std::string previous = fmt::format("1.{}", gates.Minor() - 1);
  const std::string& version = flags.show_hidden_metrics_for_version;
  if (!version.empty() && version != previous) {
    errors.push_back(fmt::format(
        "--show-hidden-metrics-for-version must be omitted or have the value '{}'. Only the "
        "previous minor version is allowed",
        previous));
  }
  for (const auto& [key, values] : flags.allow_metric_labels) {
    if (IsMetricAndLabel(key)) continue;
    errors.emplace_back(
        "--allow-metric-labels must have a list of kv pair with format "
        "`metricName,labelName=labelValue, labelValue,...`");
    break;
  }
}

void CheckAlpha(const config::FeatureGates& gates, std::vector<std::string>& warnings) {
  std::string names;
  for (const config::FeatureGates::Value& gate : gates.All()) {
    if (gate.spec.stage != config::FeatureStage::kAlpha || !gate.enabled) continue;
    names += (names.empty() ? "" : " ") + std::string(gate.name);
  }
  if (names.empty()) return;
  warnings.push_back(
      "component has alpha features enabled in emulated version, this is unsupported: features=[" +
      names + "]");
}

}  // namespace

Result<config::FeatureGates> MakeFeatureGates(const FlagValues& flags, int minor,
                                              std::vector<std::string>* warnings) {
  auto emulated = ParseVersionFlag(flags.emulated_version);
  if (!emulated) return Fail(std::move(emulated.error()));
  auto oldest = ParseVersionFlag(flags.min_compatibility_version);
  if (!oldest) return Fail(std::move(oldest.error()));
  const auto minor_of = [&](const std::optional<ParsedVersion>& version) {
    return version ? std::optional(MinorOf(*version, minor)) : std::nullopt;
  };
  config::FeatureGates gates(minor, minor_of(*emulated), minor_of(*oldest));
  if (*oldest && !gates.HasMinCompatibility()) {
    return Fail("unknown flag: --min-compatibility-version");
  }
  if (flags.feature_gates.contains("") && flags.feature_gates.contains(std::string(kComponent))) {
    return Fail(
        "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix "
        "use");
  }
  for (const auto& [component, items] : flags.feature_gates) {
    if (!component.empty() && component != kComponent) {
      return Fail("component not registered: " + component);
    }
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
    if (auto set = gates.Set(text, warnings); !set) return Fail(std::move(set.error()));
  }
  return gates;
}

std::vector<std::string> CheckVersions(const FlagValues& flags, const config::FeatureGates& gates) {
  using Version = std::pair<uint64_t, uint64_t>;
  const auto given = [](const std::vector<std::string>& flag, Version otherwise) {
    const auto version = ParseVersionFlag(flag);
    return version && *version ? Version((*version)->At(0), (*version)->At(1)) : otherwise;
  };
  const auto text = [](Version version) {
    return fmt::format("{}.{}", version.first, version.second);
  };
  const Version newest(1, gates.Minor());
  const Version oldest(1, gates.OldestEmulated());
  const Version emulated = given(flags.emulated_version, newest);
  const Version before(emulated.first, emulated.second == 0 ? 0 : emulated.second - 1);
  const Version compatible = given(flags.min_compatibility_version, std::max(before, oldest));
  std::vector<std::string> errors;
  if (emulated < oldest || newest < emulated) {
    errors.push_back(fmt::format("emulation version {} is not between [{}, {}.0]", text(emulated),
                                 text(oldest), text(newest)));
  }
  if (compatible < oldest || emulated < compatible) {
    errors.push_back(fmt::format("minCompatibilityVersion version {} is not between [{}, {}]",
                                 text(compatible), text(oldest), text(emulated)));
  }
  return errors;
}

Result<void> CheckLogging(const FlagValues& flags, const config::FeatureGates& gates) {
  std::vector<std::string> errors;
  if (flags.logging_format != "text" && flags.logging_format != "json") {
    errors.push_back(api::InvalidString("format", flags.logging_format, "Unsupported log format"));
  } else if (flags.logging_format == "json" && !gates.Enabled(config::Gate::kLoggingBetaOptions)) {
    errors.emplace_back(
        "format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature");
  }
  if (!flags.vmodule.empty() && !flags.logging_format.empty() && flags.logging_format != "text") {
    errors.emplace_back("vmodule: Forbidden: Only supported for text log format");
  }
  if (!gates.Enabled(config::Gate::kLoggingAlphaOptions)) {
    const auto forbid = [&](bool given, std::string_view path) {
      if (!given) return;
      errors.push_back(
          fmt::format("options.{}: Forbidden: Feature LoggingAlphaOptions is disabled", path));
    };
    forbid(flags.log_text_split_stream, "text.splitStream");
    forbid(flags.log_text_info_buffer_size != "0", "text.infoBufferSize");
    forbid(flags.log_json_split_stream, "json.splitStream");
    forbid(flags.log_json_info_buffer_size != "0", "json.infoBufferSize");
  }
  if (!errors.empty()) return Fail(api::JoinErrors(errors));
  return {};
}

std::vector<std::string> CheckFlags(const FlagValues& flags, const config::FeatureGates& gates,
                                    std::vector<std::string>* warnings) {
  std::vector<std::string> errors = CheckVersions(flags, gates);
  CheckAlpha(gates, *warnings);
  if (flags.secure_port > 65535) {
    errors.push_back(
        fmt::format("--secure-port {} must be between 1 and 65535, inclusive. It cannot be turned "
                    "off with 0",
                    flags.secure_port));
  } else if (flags.secure_port < 0) {
    errors.push_back(fmt::format(
        "--secure-port {} must be between 0 and 65535, inclusive. 0 for turning off secure port",
        flags.secure_port));
  }
  CheckRequestHeader(flags, gates, errors, *warnings);
  CheckMetrics(flags, gates, errors);
  return errors;
}

}  // namespace berth::cli::scheduler
