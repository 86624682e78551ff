// BERTH_DCHECK: a contract between functions, checked where speed does not matter.
//
// Compiled in unless NDEBUG is defined, so in debug, sanitizer and fuzz builds. A failure is a bug
// of ours, never a consequence of input: input is rejected with a Status or an Error.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace berth {

#ifdef NDEBUG
inline constexpr bool kDebugChecks = false;
#else
inline constexpr bool kDebugChecks = true;
#endif

[[noreturn]] inline void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace berth

#define BERTH_DCHECK(condition)                            \
  (!::berth::kDebugChecks || static_cast<bool>(condition)) \
      ? static_cast<void>(0)                               \
      : ::berth::CheckFailed(#condition, __FILE__, __LINE__)
