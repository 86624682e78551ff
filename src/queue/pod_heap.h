// PodHeap: a binary heap of slots that tracks their positions, so any slot can be removed or
// updated in O(log n).
//
// A slot is a small number that the owner assigns to a pod; it is in the heap at most once.
// `Before` is a strict total order on slots, so the order of removal depends on the keys alone,
// never on the history of the heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace berth::queue {

template <class Before>
class PodHeap {
 public:
  explicit PodHeap(Before before) : before_(std::move(before)) {}

  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  bool Contains(uint32_t slot) const {
    return slot < position_.size() && position_[slot] != kAbsent;
  }
  // The slot before all others. The heap is not empty.
  uint32_t Top() const { return heap_.front(); }

  // `slot` is not in the heap.
  void Push(uint32_t slot) {
    if (slot >= position_.size()) position_.resize(slot + size_t{1}, kAbsent);
    heap_.push_back(slot);
    SiftUp(heap_.size() - 1);
  }
  uint32_t Pop() {
    const uint32_t top = Top();
    Remove(top);
    return top;
  }
  // `slot` is in the heap.
  void Remove(uint32_t slot) {
    size_t hole = position_[slot];
    position_[slot] = kAbsent;
    const uint32_t last = heap_.back();
    heap_.pop_back();
    if (last == slot) return;
    // The last slot mostly comes after everything below the hole. So the better child moves up at
    // each level without a comparison with it, and it sifts up from the end of that path.
    for (size_t child = 2 * hole + 1; child < heap_.size(); child = 2 * hole + 1) {
      if (child + 1 < heap_.size() && before_(heap_[child + 1], heap_[child])) ++child;
      Put(hole, heap_[child]);
      hole = child;
    }
    Put(hole, last);
    SiftUp(hole);
  }
  // The key of `slot`, which is in the heap, has changed.
  void Update(uint32_t slot) {
    SiftUp(position_[slot]);
    SiftDown(position_[slot]);
  }

 private:
  static constexpr uint32_t kAbsent = std::numeric_limits<uint32_t>::max();

  void Put(size_t at, uint32_t slot) {
    heap_[at] = slot;
    position_[slot] = static_cast<uint32_t>(at);
  }
  void SiftUp(size_t at) {
    const uint32_t slot = heap_[at];
    while (at > 0) {
      const size_t parent = (at - 1) / 2;
      if (!before_(slot, heap_[parent])) break;
      Put(at, heap_[parent]);
      at = parent;
    }
    Put(at, slot);
  }
  void SiftDown(size_t at) {
    const uint32_t slot = heap_[at];
    for (size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && before_(heap_[child + 1], heap_[child])) ++child;
      if (!before_(heap_[child], slot)) break;
      Put(at, heap_[child]);
      at = child;
    }
    Put(at, slot);
  }

  Before before_;
  std::vector<uint32_t> heap_;
  std::vector<uint32_t> position_;  // by slot
};

}  // namespace berth::queue
