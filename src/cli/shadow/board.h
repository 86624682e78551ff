// Board: what a running `berth shadow` has found, for its terminal, its API and its metrics.
//
// Threads: every method may be called from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "api/codec/schema.h"
#include "cli/shadow/report.h"
#include "server/metrics/registry.h"
#include "shadow/comparison.h"
#include "shadow/summary.h"

namespace berth::cli {

// GET /apis/shadow/v1/summary.
struct ShadowOverview {
  ShadowStatus status;
  shadow::Summary summary;              // without the differences
  std::vector<std::string> suspicions;  // what the differences have in common

  static const api::TypeInfo& Type();
};

// GET /apis/shadow/v1/comparisons.
struct ComparisonQuery {
  std::string outcome;  // one of its names, "unexplained" or "" for all
  std::string search;   // part of "namespace/name" or of a node, in lower case
  size_t limit = 100;
};
struct ComparisonList {
  std::vector<shadow::Comparison> items;  // newest first
  int64_t total = 0;                      // kept ones that match

  static const api::TypeInfo& Type();
};

class Board {
 public:
  // The last comparisons that are kept: of all, and of races and unexplained ones.
  static constexpr size_t kRecent = 1000;
  static constexpr size_t kDiffering = 2000;

  Board(std::string server, std::string kubernetes_version, double lag_seconds);

  void Add(const shadow::Comparison& comparison);
  void SetStatus(const ShadowStatus& status);
  void SetUnseen(uint64_t bindings);

  ShadowOverview Look() const;
  ComparisonList List(const ComparisonQuery& query) const;
  // The newest unexplained ones, newest last.
  std::vector<shadow::Comparison> Latest(size_t most) const;
  // With everything that the report needs.
  shadow::Summary Conclude(const std::string& from, const std::string& to) const;

  // Adds the families of berth_shadow. Before the first comparison; the registry outlives the board
  // and is not written after it.
  void Count(server::Registry& registry);

 private:
  mutable std::mutex mutex_;
  ShadowStatus status_;
  shadow::Summary summary_;
  std::array<server::Counter*, shadow::kOutcomes> counters_{};
  server::Counter* unexplained_ = nullptr;
  std::deque<shadow::Comparison> recent_;     // newest last
  std::deque<shadow::Comparison> differing_;  // likewise
};

}  // namespace berth::cli
