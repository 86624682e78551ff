#include "shadow/lag_search.h"

#include <algorithm>

#include <fmt/format.h>
#include <boost/unordered/unordered_flat_set.hpp>

namespace berth::shadow {
namespace {

constexpr size_t kMostOfAKind = 500;
constexpr size_t kStepsPerDoubling = 16;
constexpr size_t kNearest = 4;            // placements on each side, of which subsets are tried
constexpr size_t kSubsetsWithOthers = 2;  // other changes that are undone beside subsets
constexpr size_t kSteps[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64};

bool Has(const std::vector<uint64_t>& numbers, uint64_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

}  // namespace

LagSearch::LagSearch(State& state, const History& history, const LagWindow& window,
                     FunctionRef<Look()> look)
    : state_(state), history_(history), window_(window), look_(look) {
  const auto add = [&](uint64_t number, Numbers* places, Numbers* others) {
    const Change& change = history_.At(number);
    if (IsOwn(number)) return;
    Numbers& to = change.placement ? *places : *others;
    if (to.size() < kMostOfAKind) to.push_back(number);
  };
  for (uint64_t n = window_.at; n > window_.first; --n) add(n - 1, &past_places_, &past_others_);
  for (uint64_t n = window_.at; n < window_.end; ++n) add(n, &next_places_, &next_others_);
}

std::optional<std::string> LagSearch::Run() {
  if (TryPrefixes() || TrySubsets({}) || TryAllSingles() || TryPairs()) return found_;
  return std::nullopt;
}

bool LagSearch::TryAllSingles() {
  if (TrySingles({}, {}) || TrySingles({}, next_others_)) return true;
  for (const size_t others : kSteps) {
    if (others > past_others_.size()) break;
    const Numbers undo = First(past_others_, others);
    if (TrySingles(undo, {}) || (others <= kSubsetsWithOthers && TrySubsets(undo))) return true;
  }
  return TrySingles(past_others_, {});
}

// Any of the nearest placements before and after the decision may be on the other side of it.
bool LagSearch::TrySubsets(const Numbers& undo) {
  const Numbers back = First(past_places_, kNearest);
  const Numbers ahead = First(next_places_, kNearest);
  const size_t members = back.size() + ahead.size();
  for (size_t subset = 1; subset < size_t{1} << members; ++subset) {
    Numbers undone = undo;
    Numbers redone;
    for (size_t i = 0; i < members; ++i) {
      if ((subset >> i & 1) == 0) continue;
      if (i < back.size()) {
        undone.push_back(back[i]);
      } else {
        redone.push_back(ahead[i - back.size()]);
      }
    }
    if (Try(undone, redone)) return true;
  }
  return false;
}

bool LagSearch::TryPrefixes() {
  return TryEach(past_others_, [&](const Numbers& n) { return Try(n, {}); }) ||
         TryEach(past_places_, [&](const Numbers& n) { return Try(n, {}); }) ||
         TryEach(next_places_, [&](const Numbers& n) { return Try({}, n); }) ||
         TryEach(next_others_, [&](const Numbers& n) { return Try({}, n); }) ||
         TryEach(past_others_, [&](const Numbers& n) { return Try(AllSince(n.back()), {}); });
}

// One more each time; by and by in larger steps.
bool LagSearch::TryEach(const Numbers& numbers, FunctionRef<bool(const Numbers&)> attempt) {
  for (size_t n = 1; n <= numbers.size(); n += 1 + n / kStepsPerDoubling) {
    if (attempt(First(numbers, n))) return true;
  }
  return !numbers.empty() && attempt(numbers);
}

bool LagSearch::TryPairs() {
  for (const size_t a : kSteps) {
    if (a > past_others_.size()) break;
    for (const size_t b : kSteps) {
      if (b > past_places_.size()) break;
      Numbers both = First(past_others_, a);
      const Numbers more = First(past_places_, b);
      both.insert(both.end(), more.begin(), more.end());
      if (Try(both, {})) return true;
    }
    for (const size_t b : kSteps) {
      if (b > next_places_.size()) break;
      if (Try(First(past_others_, a), First(next_places_, b))) return true;
    }
  }
  return false;
}

// Moves single changes to the other side of the decision, while there are any: what makes a better
// node worse or the chosen one better.
bool LagSearch::TrySingles(Numbers undo, Numbers redo) {
  if (Try(undo, redo)) return true;
  for (size_t toggles = 0; toggles < kMostToggles; ++toggles) {
    const auto move = [&](const Numbers& from, const std::string& node, Numbers* to) {
      const auto found = std::find_if(from.begin(), from.end(),
                                      [&](uint64_t n) { return !Has(*to, n) && IsAbout(n, node); });
      if (found == from.end()) return false;
      to->push_back(*found);
      return true;
    };
    const std::string better = last_.better;
    if (!move(next_places_, better, &redo) && !move(past_others_, better, &undo) &&
        !move(past_places_, window_.node, &undo) && !move(past_others_, window_.node, &undo)) {
      return false;
    }
    if (Try(undo, redo)) return true;
  }
  return false;
}

bool LagSearch::Try(const Numbers& undo, const Numbers& redo) {
  if (++views_ > kMostViews) return false;
  View view(state_);
  boost::unordered_flat_set<uint64_t> kept;  // objects with a change that stays as it is
  kept.insert(window_.objects.begin(), window_.objects.end());
  if (!undo.empty()) {
    const boost::unordered_flat_set<uint64_t> chosen(undo.begin(), undo.end());
    const uint64_t oldest = *std::min_element(undo.begin(), undo.end());
    for (uint64_t n = window_.at; n > oldest; --n) {
      const Change& change = history_.At(n - 1);
      if (!chosen.contains(n - 1)) {
        kept.insert(change.object);
      } else if (!kept.contains(change.object)) {
        view.Undo(change);
      }
    }
  }
  if (!redo.empty()) {
    const boost::unordered_flat_set<uint64_t> chosen(redo.begin(), redo.end());
    const uint64_t newest = *std::max_element(redo.begin(), redo.end());
    for (uint64_t n = window_.at; n <= newest; ++n) {
      const Change& change = history_.At(n);
      if (!chosen.contains(n)) {
        kept.insert(change.object);
      } else if (!kept.contains(change.object)) {
        view.Redo(change);
      }
    }
  }
  last_ = look_();
  if (!last_.explained) return false;
  const uint64_t example = undo.empty() ? (redo.empty() ? 0 : redo.front()) : undo.back();
  found_ = fmt::format("equal before {} and after {} more changes", undo.size(), redo.size());
  if (!undo.empty() || !redo.empty()) {
    found_ += fmt::format(", such as {}", history_.At(example).Text());
  }
  return true;
}

LagSearch::Numbers LagSearch::AllSince(uint64_t number) const {
  Numbers all;
  for (uint64_t n = window_.at; n > number; --n) {
    if (!IsOwn(n - 1)) all.push_back(n - 1);
  }
  return all;
}

LagSearch::Numbers LagSearch::First(const Numbers& numbers, size_t count) {
  return {numbers.begin(),
          numbers.begin() + static_cast<ptrdiff_t>(std::min(count, numbers.size()))};
}

bool LagSearch::IsOwn(uint64_t number) const {
  return std::binary_search(window_.objects.begin(), window_.objects.end(),
                            history_.At(number).object);
}

bool LagSearch::IsAbout(uint64_t number, const std::string& node) const {
  const auto about = [&](const ObjectPtr& object) {
    if (!object || node.empty()) return false;
    if (const auto* pod = std::get_if<api::Pod>(object.get())) return pod->spec.node_name == node;
    const auto* changed = std::get_if<api::Node>(object.get());
    return changed != nullptr && changed->metadata.name == node;
  };
  return about(history_.At(number).before) || about(history_.At(number).after);
}

}  // namespace berth::shadow
