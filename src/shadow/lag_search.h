// LagSearch: looks for a state of the cluster within the lag window on which a decision is equal.
//
// When kube-scheduler decided, it knew placements of its own that the API server showed later, and
// did not know changes that the API server had made a moment before. In which order it decided is
// not visible. So changes around the decision are undone and done ahead in turn: first the latest
// changes of other objects, then placements, then both; subsets of the nearest placements; at last
// single changes of the two nodes in question. Bounded by kMostViews.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "shadow/history.h"

namespace berth::shadow {

// What a look at one state found.
struct Look {
  bool explained = false;
  std::string better;  // otherwise a node that is better than the chosen one; may be empty
};

struct LagWindow {
  uint64_t first = 0;  // the oldest change that may be undone
  uint64_t at = 0;     // the decision became visible before this change
  uint64_t end = 0;    // changes from here on are not done ahead
  // The pod itself, and what is written for it: their changes stay as they are. Sorted.
  std::vector<uint64_t> objects = {};
  std::string node = {};  // the chosen one; empty: none
};

class LagSearch {
 public:
  static constexpr size_t kMostViews = 1000;
  static constexpr size_t kMostToggles = 8;  // single changes moved before or after a decision

  LagSearch(State& state, const History& history, const LagWindow& window,
            FunctionRef<Look()> look);

  // REQUIRES: the state is that before the change window.at. Returns how the state that explains
  // the decision differs; nothing: no state does.
  std::optional<std::string> Run();

 private:
  using Numbers = std::vector<uint64_t>;

  // Undoes and redoes these changes, as far as later changes of the same object allow, and looks.
  bool Try(const Numbers& undo, const Numbers& redo);
  bool TryPrefixes();
  bool TryEach(const Numbers& numbers, FunctionRef<bool(const Numbers&)> attempt);
  bool TrySubsets(const Numbers& undo);
  bool TryAllSingles();
  bool TryPairs();
  bool TrySingles(Numbers undo, Numbers redo);
  Numbers AllSince(uint64_t number) const;
  static Numbers First(const Numbers& numbers, size_t count);
  bool IsOwn(uint64_t number) const;
  // The node itself, or a pod on it.
  bool IsAbout(uint64_t number, const std::string& node) const;

  State& state_;
  const History& history_;
  const LagWindow window_;
  FunctionRef<Look()> look_;
  Numbers past_places_;  // newest first
  Numbers past_others_;
  Numbers next_places_;  // oldest first
  Numbers next_others_;
  size_t views_ = 0;
  Look last_;
  std::string found_;
};

}  // namespace berth::shadow
