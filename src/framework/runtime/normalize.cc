#include "framework/runtime/normalize.h"

#include <algorithm>

#include "base/wrap.h"
#include "framework/points/plugin.h"

namespace berth::framework {
namespace {

int64_t Scaled(int64_t raw, int64_t largest, bool reverse) {
  const int64_t score = WrapMul(kMaxNodeScore, raw) / largest;
  return reverse ? WrapSub(kMaxNodeScore, score) : score;
}

}  // namespace

void DefaultNormalize(const NodeSet& feasible, bool reverse, ScoreColumn& column) {
  int64_t largest = 0;
  if (column.IsUniform()) {
    largest = std::max(largest, column.Uniform());
  } else {
    feasible.ForEach([&](NodeIndex n) { largest = std::max(largest, column.Dense()[n]); });
  }
  if (largest == 0) {
    // Raw scores below 0 are left alone unless reversed, as kube-scheduler does.
    if (reverse) column.SetUniform(kMaxNodeScore);
    return;
  }
  if (column.IsUniform()) {
    column.SetUniform(Scaled(column.Uniform(), largest, reverse));
    return;
  }
  int64_t* scores = column.Dense();
  feasible.ForEach([&](NodeIndex n) { scores[n] = Scaled(scores[n], largest, reverse); });
}

}  // namespace berth::framework
