// History: the recent changes of a State, so that a decision can be judged on the cluster as it was
// a moment before or would be a moment later.
//
// A change has the object before and after it, so it can be undone and done again in any state. The
// owner adds what it applies and forgets what is too old.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "shadow/state.h"

namespace berth::shadow {

struct Change {
  int64_t time_ns = 0;
  // A pod got its node. The watched scheduler knew of its own placements before the API server.
  bool placement = false;
  ObjectPtr before;
  ObjectPtr after;
  uint64_t object = 0;  // NumberOf

  // "Node worker-3 changed", for reports.
  std::string Text() const;
};

// Numbers grow by one per change and are never used again.
class History {
 public:
  uint64_t Begin() const { return begin_; }
  uint64_t End() const { return begin_ + changes_.size(); }
  // REQUIRES: Begin() <= number < End().
  const Change& At(uint64_t number) const { return changes_[number - begin_]; }
  // Returns the number of the change.
  uint64_t Add(Change change);
  // Forgets changes before `time_ns`, and the oldest beyond `most`.
  void Forget(int64_t time_ns, size_t most);
  // The first change at or after the time.
  uint64_t FirstSince(int64_t time_ns) const;

 private:
  std::deque<Change> changes_;
  uint64_t begin_ = 0;
};

// Shows a State other versions of some objects, until it is destroyed. Views nest.
class View {
 public:
  explicit View(State& state) : state_(state) {}
  ~View();
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  void Undo(const Change& change) { Show(change.before, change.after); }
  void Redo(const Change& change) { Show(change.after, change.before); }

 private:
  void Show(const ObjectPtr& shown, const ObjectPtr& hidden);
  void Swap(const ObjectPtr& shown, const ObjectPtr& hidden);

  State& state_;
  std::vector<std::pair<ObjectPtr, ObjectPtr>> shown_;
};

}  // namespace berth::shadow
