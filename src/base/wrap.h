// Two's-complement arithmetic that wraps around, as Go's does: amounts come from users and may be
// absurd.
#pragma once

#include <cstdint>

namespace berth {

constexpr int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t WrapSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
constexpr int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
// Go's integer division: truncated, and the one overflowing case wraps. REQUIRES: b != 0.
constexpr int64_t WrapDiv(int64_t a, int64_t b) { return b == -1 ? WrapSub(0, a) : a / b; }

// int64(x) as Go converts on amd64: truncated, and everything that does not fit becomes the
// smallest integer.
constexpr int64_t TruncToInt64(double x) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  return x >= -kLimit && x < kLimit ? static_cast<int64_t>(x) : INT64_MIN;
}

}  // namespace berth
