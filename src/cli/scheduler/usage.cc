// Usage: see usage.h.
#include "cli/scheduler/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace berth::cli::scheduler {

namespace {

// "  -v, --v Level"
std::string Synopsis(const Flag& flag) {
  std::string text = flag.shorthand != 0 ? fmt::format("  -{}, --{}", flag.shorthand, flag.name)
                                         : fmt::format("      --{}", flag.name);
  if (flag.type != "bool") text += " " + flag.type;
  if (!flag.no_value.empty() && flag.type != "bool") text += "[=" + flag.no_value + "]";
  return text;
}

// Which defaults go without saying, by type.
bool DefaultIsZero(const Flag& flag) {
  const std::string& value = flag.default_value;
  if (flag.type == "duration") return value == "0s";
  if (flag.type == "strings") return value == "[]";
  return value.empty() || value == "0" || value == "false";
}

std::string Description(const Flag& flag) {
  if (DefaultIsZero(flag)) return flag.help;
  return flag.help + (flag.type == "string" ? fmt::format(" (default \"{}\")", flag.default_value)
                                            : fmt::format(" (default {})", flag.default_value));
}

// One flag; further lines of its description are indented like the first.
void AppendFlag(std::string& out, const Flag& flag, size_t width) {
  std::string line = Synopsis(flag);
  line.resize(width + 3, ' ');
  std::string description = Description(flag);
  for (size_t at = description.find('\n'); at != std::string::npos;
       at = description.find('\n', at + 1)) {
    description.insert(at + 1, width + 3, ' ');
  }
  out += line + description + "\n";
}

}  // namespace

std::string UsageText(const Flags& flags) {
  std::string text = "Usage:\n  kube-scheduler [flags]\n";
  std::vector<std::string_view> sections;
  for (const Flag& flag : flags.All()) {
    if (!flag.section.empty() && (sections.empty() || sections.back() != flag.section)) {
      sections.push_back(flag.section);
    }
  }
  for (const std::string_view section : sections) {
    size_t width = 0;
    for (const Flag& flag : flags.All()) {
      if (flag.section == section) width = std::max(width, Synopsis(flag).size());
    }
    text += fmt::format("\n{} flags:\n\n", section);
    for (const Flag& flag : flags.All()) {
      if (flag.section == section) AppendFlag(text, flag, width);
    }
  }
  return text;
}

std::string HelpText(const Flags& flags) {
  return "berth scheduler is a drop-in replacement for kube-scheduler: flags, configuration,\n"
         "decisions and HTTP endpoints are those of kube-scheduler v1.34 to v1.37,\n"
         "by default of the one that the cluster's API server has the version of.\n"
         "\n" +
         UsageText(flags);
}

}  // namespace berth::cli::scheduler
