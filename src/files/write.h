// Writing whole files.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::files {

// Replaces what the file holds. The error names the file.
Result<void> WriteFile(const std::string& path, std::string_view text);

}  // namespace berth::files
