#include "record/pseudonyms.h"

#include <algorithm>
#include <cstdint>

namespace berth::record {
namespace {

constexpr uint64_t kBase = 36;
constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
// Digits that are looked at together, behind those that both bounds have in common.
constexpr size_t kWindow = 8;
// Distance to the word added last, if it is a neighbour: sorted words, as lists have them, must not
// halve their gap each time.
constexpr uint64_t kStep = kBase * kBase * kBase * kBase;

uint64_t DigitAt(std::string_view text, size_t i) {
  return i < text.size() ? kDigits.find(text[i]) : 0;
}

// The digits from `from` on as a number.
uint64_t Window(std::string_view text, size_t from) {
  uint64_t number = 0;
  for (size_t i = 0; i < kWindow; ++i) number = number * kBase + DigitAt(text, from + i);
  return number;
}

void Append(uint64_t number, std::string* out) {
  std::string digits(kWindow, '0');
  for (size_t i = kWindow; i-- > 0; number /= kBase) digits[i] = kDigits[number % kBase];
  *out += digits;
}

constexpr uint64_t WindowEnd() {
  uint64_t end = 1;
  for (size_t i = 0; i < kWindow; ++i) end *= kBase;
  return end;
}

}  // namespace

// Both bounds are fractions, and so is the result: digits that are missing are zeros.
std::string StringBetween(std::string_view low, std::string_view high, Part part) {
  size_t from = 0;
  if (!high.empty()) {
    while (from < high.size() && DigitAt(low, from) == DigitAt(high, from)) ++from;
  }
  std::string result(high.substr(0, from));
  bool bounded = !high.empty();
  for (;; from += kWindow) {
    const uint64_t least = Window(low, from);
    const uint64_t most = bounded ? Window(high, from) : WindowEnd();
    if (most - least >= 2) {
      const uint64_t half = (most - least) / 2;
      const uint64_t step = part == Part::kMiddle ? half : std::min(half, kStep);
      Append(part == Part::kEnd ? most - step : least + step, &result);
      break;
    }
    // No number lies between: the digits of `low`, and more behind them.
    Append(least, &result);
    if (most > least) bounded = false;
  }
  while (result.ends_with('0')) result.pop_back();
  return result;
}

std::string_view Pseudonyms::Of(std::string_view word) {
  const auto next = table_.lower_bound(word);
  if (next != table_.end() && next->first == word) return next->second;
  const std::string_view high = next == table_.end() ? std::string_view() : next->second;
  const std::string_view low =
      next == table_.begin() ? std::string_view() : std::string_view(std::prev(next)->second);
  Part part = Part::kMiddle;
  if (next != table_.begin() && std::prev(next)->first == last_) part = Part::kBegin;
  if (next != table_.end() && next->first == last_) part = Part::kEnd;
  last_ = word;
  return table_.emplace_hint(next, word, StringBetween(low, high, part))->second;
}

}  // namespace berth::record
