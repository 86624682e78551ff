#include "cli/observe/own_flags.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/time.h"

namespace berth::cli {
namespace {

// "--duration=10m" and "-o": is it of these, and does its value follow?
bool IsOwn(const std::string& arg, const std::vector<std::string_view>& names, bool* takes_next) {
  const std::string name = arg.substr(0, arg.find('='));
  *takes_next = name.size() == arg.size();
  if (arg == "--help" || arg == "-h") {
    *takes_next = false;
    return true;
  }
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::function<Result<void>(const std::string&)> DurationInto(int64_t low, int64_t high,
                                                             int64_t* out) {
  return [=](const std::string& text) -> Result<void> {
    const auto value = api::Duration::Parse(text);
    if (!value) return Fail(fmt::format("\"{}\" is not a duration such as 90s or 10m", text));
    if (value->ns < low || value->ns > high) return Fail(fmt::format("{} is out of range", text));
    *out = value->ns;
    return {};
  };
}

void AddDuration(term::Flags& flags, int64_t* out) {
  flags.Add("duration", "TIME", "stop after this time, such as 10m (default: until interrupted)",
            DurationInto(1, INT64_MAX, out));
}

Result<std::vector<std::string>> ParseOwn(term::Flags& flags,
                                          const std::vector<std::string_view>& names,
                                          const std::vector<std::string>& args) {
  std::vector<std::string> rest;
  std::vector<std::string> own;
  for (size_t i = 0; i < args.size(); ++i) {
    bool takes_next = false;
    if (!IsOwn(args[i], names, &takes_next)) {
      rest.push_back(args[i]);
      continue;
    }
    own.push_back(args[i]);
    if (takes_next && i + 1 < args.size()) own.push_back(args[++i]);
  }
  std::vector<std::string> none;
  if (auto parsed = flags.Parse(own, &none); !parsed) return Fail(parsed.error());
  return rest;
}

}  // namespace berth::cli
