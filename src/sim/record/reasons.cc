#include "sim/record/reasons.h"

#include <algorithm>

namespace berth::sim {
namespace {

constexpr std::string_view kHead = " nodes are available: ";
constexpr std::string_view kDigits = "0123456789";

// Where the list of reasons ends: a full stop that is followed by the word on preemption, or by
// nothing. Reasons themselves may hold full stops, as in names of resources.
size_t EndOfReasons(std::string_view text) {
  for (size_t at = text.find('.'); at != std::string_view::npos; at = text.find('.', at + 1)) {
    if (at + 1 == text.size() || text[at + 1] == ' ') return at;
  }
  return text.size();
}

// "3 Insufficient cpu" without its number; empty when it has none.
std::string_view WithoutCount(std::string_view part) {
  const size_t digits = part.find_first_not_of(kDigits);
  if (digits == 0 || digits == std::string_view::npos || part[digits] != ' ') return {};
  return part.substr(digits + 1);
}

}  // namespace

std::vector<std::string> ReasonsIn(std::string_view message) {
  const size_t head = message.find(kHead);
  if (head == std::string_view::npos) {
    return message.empty() ? std::vector<std::string>() : std::vector{std::string(message)};
  }
  std::string_view rest = message.substr(head + kHead.size());
  rest = rest.substr(0, EndOfReasons(rest));
  std::vector<std::string> reasons;
  while (!rest.empty()) {
    const size_t comma = rest.find(", ");
    const std::string_view part = rest.substr(0, comma);
    const std::string_view reason = WithoutCount(part);
    // A reason with a comma of its own goes on in the next part.
    if (reason.empty() && !reasons.empty()) {
      reasons.back().append(", ").append(part);
    } else {
      reasons.emplace_back(reason.empty() ? part : reason);
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 2);
  }
  std::sort(reasons.begin(), reasons.end());
  reasons.erase(std::unique(reasons.begin(), reasons.end()), reasons.end());
  return reasons;
}

}  // namespace berth::sim
