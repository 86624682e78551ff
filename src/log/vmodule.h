// The verbosity of single source files: "watch=4,rest_*=6". Private to this module.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::log {

struct ModuleLevel {
  std::string pattern;
  int level = 0;
};

Result<std::vector<ModuleLevel>> ParseVmodule(std::string_view text);

// The level of the first pattern that matches the file's name without its ending; 0: none does.
int LevelFor(const std::vector<ModuleLevel>& modules, std::string_view path);

// A shell pattern: *, ?, [a-z], [^a-z], \x. Malformed patterns match nothing.
bool MatchPattern(std::string_view pattern, std::string_view name);

}  // namespace berth::log
