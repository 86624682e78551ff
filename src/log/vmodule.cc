// Verbosity by file: see vmodule.h.
#include "log/vmodule.h"

#include <charconv>
#include <utility>

#include "log/line.h"

namespace berth::log {

namespace {

constexpr std::string_view kSyntax = "syntax error: expect comma-separated list of filename=N";

Result<ModuleLevel> ParseModule(std::string_view item) {
  const size_t equal = item.find('=');
  if (equal == std::string_view::npos || equal == 0) return Fail(std::string(kSyntax));
  const std::string_view number = item.substr(equal + 1);
  int level = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), level);
  if (number.empty() || read.ec != std::errc() || read.ptr != number.data() + number.size()) {
    return Fail(std::string(kSyntax));
  }
  if (level < 0) return Fail("negative value for vmodule level");
  return ModuleLevel{std::string(item.substr(0, equal)), level};
}

// One element of a pattern at *at against `c`; *at is moved behind it. False when it does not match
// or is malformed (then *at is at the end and *broken is set).
bool MatchOne(std::string_view pattern, size_t* at, char c, bool* broken) {
  const auto fail = [&] {
    *broken = true;
    *at = pattern.size();
    return false;
  };
  const char kind = pattern[(*at)++];
  if (kind == '?') return true;
  if (kind == '\\') return *at == pattern.size() ? fail() : pattern[(*at)++] == c;
  if (kind != '[') return kind == c;
  const bool negated = *at < pattern.size() && pattern[*at] == '^';
  if (negated) ++*at;
  bool found = false;
  for (bool first = true; first || *at >= pattern.size() || pattern[*at] != ']'; first = false) {
    const auto bound = [&](char* out) {
      if (*at < pattern.size() && pattern[*at] == '\\') ++*at;
      if (*at >= pattern.size()) return false;
      *out = pattern[(*at)++];
      return true;
    };
    char low = 0;
    if (!bound(&low)) return fail();
    char high = low;
    if (*at < pattern.size() && pattern[*at] == '-') {
      ++*at;
      if (!bound(&high)) return fail();
    }
    found = found || (low <= c && c <= high);
  }
  ++*at;
  return found != negated;
}

}  // namespace

bool MatchPattern(std::string_view pattern, std::string_view name) {
  size_t at = 0;
  size_t pos = 0;
  size_t star = std::string_view::npos;  // behind the last *, where matching may start again
  size_t star_pos = 0;
  bool broken = false;
  while (pos < name.size() || at < pattern.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      star_pos = pos;
      continue;
    }
    if (at < pattern.size() && pos < name.size() && MatchOne(pattern, &at, name[pos], &broken)) {
      ++pos;
      continue;
    }
    if (broken || star == std::string_view::npos || star_pos >= name.size()) return false;
    at = star;
    pos = ++star_pos;
  }
  return !broken;
}

Result<std::vector<ModuleLevel>> ParseVmodule(std::string_view text) {
  std::vector<ModuleLevel> modules;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (item.empty()) continue;
    auto module = ParseModule(item);
    if (!module) return Fail(std::move(module.error()));
    if (module->level > 0) modules.push_back(std::move(*module));
  }
  return modules;
}

int LevelFor(const std::vector<ModuleLevel>& modules, std::string_view path) {
  std::string_view name = BaseName(path);
  name = name.substr(0, name.rfind('.'));
  for (const ModuleLevel& module : modules) {
    if (MatchPattern(module.pattern, name)) return module.level;
  }
  return 0;
}

}  // namespace berth::log
