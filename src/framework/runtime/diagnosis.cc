#include "framework/runtime/diagnosis.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

namespace berth::framework {
namespace {

// Distinct verdicts of rejected nodes. Neighbours are often refused alike.
std::vector<VerdictCount> CountVerdicts(const Cycle& cycle, const Diagnosis& diagnosis) {
  std::unordered_map<uint64_t, VerdictCount> distinct;
  VerdictCount* last = nullptr;
  diagnosis.rejected.ForEach([&](NodeIndex n) {
    const Verdict& verdict = cycle.verdicts()[n];
    if (last == nullptr || last->verdict != verdict) {
      last = &distinct[verdict.Packed()];
      last->verdict = verdict;
    }
    ++last->nodes;
  });
  std::vector<VerdictCount> counts;
  for (const auto& [key, count] : distinct) counts.push_back(count);
  return counts;
}

// Why nodes were rejected. Equal verdicts have equal reasons, so each distinct verdict is formatted
// once.
std::vector<ReasonCount> CountReasons(const Cycle& cycle, const Diagnosis& diagnosis) {
  std::vector<VerdictCount> distinct =
      diagnosis.counted.empty() ? CountVerdicts(cycle, diagnosis) : diagnosis.counted;
  // Sorted, so that the order does not depend on how they were counted.
  std::sort(distinct.begin(), distinct.end(), [](const VerdictCount& a, const VerdictCount& b) {
    return a.verdict.Packed() < b.verdict.Packed();
  });
  size_t rejected = 0;
  std::vector<ReasonCount> counts;
  for (const auto& [verdict, nodes] : distinct) {
    const std::string_view plugin =
        verdict.plugin == kNoPlugin ? "" : cycle.profile().At(verdict.plugin).Name();
    rejected += nodes;
    for (std::string& reason : cycle.Reasons(verdict)) {
      counts.push_back({plugin, verdict.code, std::move(reason), nodes});
    }
  }
  if (rejected < diagnosis.num_all_nodes) {
    for (const std::string& reason : diagnosis.absent.reasons()) {
      if (reason.empty()) continue;
      counts.push_back({diagnosis.absent.plugin(), diagnosis.absent.code(), reason,
                        diagnosis.num_all_nodes - rejected});
    }
  }
  return counts;
}

// Equal reasons of several plugins or codes count together.
std::map<std::string, size_t> ByWords(const std::vector<ReasonCount>& counts) {
  std::map<std::string, size_t> words;
  for (const ReasonCount& count : counts) words[count.reason] += count.nodes;
  return words;
}

}  // namespace

std::string FitErrorMessage(const Cycle& cycle, const Diagnosis& diagnosis,
                            std::vector<ReasonCount>* reasons) {
  std::string message = fmt::format("0/{} nodes are available:", diagnosis.num_all_nodes);
  if (!diagnosis.pre_filter_message.empty()) {
    message += fmt::format(" {}.", diagnosis.pre_filter_message);
    if (reasons != nullptr) {
      reasons->push_back({diagnosis.absent.plugin(), diagnosis.absent.code(),
                          diagnosis.pre_filter_message, diagnosis.num_all_nodes});
    }
  } else {
    std::vector<std::string> parts;
    std::vector<ReasonCount> counts = CountReasons(cycle, diagnosis);
    for (const auto& [reason, count] : ByWords(counts)) {
      parts.push_back(fmt::format("{} {}", count, reason));
    }
    std::sort(parts.begin(), parts.end());
    if (!parts.empty()) message += fmt::format(" {}.", fmt::join(parts, ", "));
    if (reasons != nullptr) *reasons = std::move(counts);
  }
  if (!diagnosis.post_filter_message.empty()) message += " " + diagnosis.post_filter_message;
  return message;
}

}  // namespace berth::framework
