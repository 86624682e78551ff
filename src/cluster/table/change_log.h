// ChangeLog: which things have changed, so that what is derived from many of them is brought up to
// date by looking at the few that changed.
//
// Remembers at least as many changes as there are things, so a reader that is too far behind loses
// nothing by reading them all again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

namespace berth::cluster {

template <class Key>
class ChangeLog {
 public:
  // `population`: how many things there are now.
  void Note(Key key, size_t population) {
    ++generation_;
    keys_.push_back(std::move(key));
    while (keys_.size() > std::max(kMinimum, population)) keys_.pop_front();
  }

  // Counts the changes. Zero: nothing ever happened.
  uint64_t Generation() const { return generation_; }

  // Calls f(const Key&) for every change after generation `since`, oldest first. False, and nothing
  // is called, when that is longer ago than the log reaches: anything may have changed.
  template <class F>
  bool ForEachSince(uint64_t since, F&& f) const {
    const uint64_t missed = generation_ - since;
    if (missed > keys_.size()) return false;
    for (size_t i = keys_.size() - static_cast<size_t>(missed); i < keys_.size(); ++i) f(keys_[i]);
    return true;
  }

 private:
  static constexpr size_t kMinimum = 64;

  std::deque<Key> keys_;
  uint64_t generation_ = 0;
};

}  // namespace berth::cluster
