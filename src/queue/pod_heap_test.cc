#include "queue/pod_heap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace berth::queue {
namespace {

struct ByKey {
  const std::vector<int>* keys;
  bool operator()(uint32_t a, uint32_t b) const {
    return std::pair((*keys)[a], a) < std::pair((*keys)[b], b);
  }
};

TEST(PodHeapTest, ComesOutInOrderWhateverHappensToTheKeys) {
  std::mt19937 random(7);
  std::vector<int> keys(40, 0);
  PodHeap<ByKey> heap(ByKey{&keys});
  std::set<std::pair<int, uint32_t>> sorted;
  for (int step = 0; step < 20'000; ++step) {
    const uint32_t slot = random() % keys.size();
    const bool there = sorted.contains({keys[slot], slot});
    ASSERT_EQ(heap.Contains(slot), there);
    const int key = static_cast<int>(random() % 20);
    if (!there) {
      keys[slot] = key;
      heap.Push(slot);
      sorted.emplace(key, slot);
    } else if (random() % 2 == 0) {
      sorted.erase({keys[slot], slot});
      keys[slot] = key;
      heap.Update(slot);
      sorted.emplace(key, slot);
    } else if (random() % 2 == 0) {
      heap.Remove(slot);
      sorted.erase({keys[slot], slot});
    } else {
      ASSERT_EQ(heap.Pop(), sorted.begin()->second);
      sorted.erase(sorted.begin());
    }
    ASSERT_EQ(heap.size(), sorted.size());
    if (!sorted.empty()) {
      ASSERT_EQ(heap.Top(), sorted.begin()->second);
    }
  }
}

}  // namespace
}  // namespace berth::queue
