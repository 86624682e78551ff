#include "framework/runtime/ranked_set.h"

#include "base/vectorize.h"

namespace berth::framework {
namespace {

BERTH_VECTORIZED void CountBefore(const uint64_t* words, size_t count, uint32_t* before) {
  uint32_t members = 0;
  for (size_t w = 0; w < count; ++w) {
    before[w] = members;
    members += static_cast<uint32_t>(std::popcount(words[w]));
  }
  before[count] = members;
}

}  // namespace

void RankedSet::Assign(size_t size, bool all) {
  members_.Resize(0);
  members_.Resize(size);
  if (all) {
    std::ranges::fill(members_.MutableWords(), ~uint64_t{0});
    members_.Resize(size);
  }
  current_ = false;
}

void RankedSet::Recount() {
  const auto words = members_.Words();
  before_.resize(words.size() + 1);
  CountBefore(words.data(), words.size(), before_.data());
  current_ = true;
}

}  // namespace berth::framework
