#include "framework/diagnosis.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

namespace berth::framework {
namespace {

// How many nodes were refused with each reason. Equal verdicts have equal words, so text is made
// once per distinct one.
std::map<std::string, size_t> CountReasons(const Cycle& cycle, const Diagnosis& diagnosis) {
  std::unordered_map<uint64_t, std::pair<Verdict, size_t>> distinct;
  size_t rejected = 0;
  diagnosis.rejected.ForEach([&](NodeIndex n) {
    const Verdict& verdict = cycle.verdicts()[n];
    auto& slot = distinct[verdict.Packed()];
    slot.first = verdict;
    ++slot.second;
    ++rejected;
  });
  std::map<std::string, size_t> counts;
  for (const auto& [key, entry] : distinct) {
    for (const std::string& reason : cycle.Reasons(entry.first)) counts[reason] += entry.second;
  }
  if (rejected < diagnosis.num_all_nodes) {
    for (const std::string& reason : diagnosis.absent.reasons()) {
      if (!reason.empty()) counts[reason] += diagnosis.num_all_nodes - rejected;
    }
  }
  return counts;
}

}  // namespace

std::string FitErrorMessage(const Cycle& cycle, const Diagnosis& diagnosis) {
  std::string message = fmt::format("0/{} nodes are available:", diagnosis.num_all_nodes);
  if (!diagnosis.pre_filter_message.empty()) {
    message += fmt::format(" {}.", diagnosis.pre_filter_message);
  } else {
    std::vector<std::string> parts;
    for (const auto& [reason, count] : CountReasons(cycle, diagnosis)) {
      parts.push_back(fmt::format("{} {}", count, reason));
    }
    std::sort(parts.begin(), parts.end());
    if (!parts.empty()) message += fmt::format(" {}.", fmt::join(parts, ", "));
  }
  if (!diagnosis.post_filter_message.empty()) message += " " + diagnosis.post_filter_message;
  return message;
}

}  // namespace berth::framework
