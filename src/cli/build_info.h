// What this program was built from. The definition is generated at every build: cmake/Stamp.cmake.
#pragma once

#include <string_view>

namespace berth::cli {

// "6a116e9d1c2b"; with "-dirty" if files of the checkout had changed; "unknown" outside of one.
std::string_view BuildCommit();

}  // namespace berth::cli
