#include "framework/runtime/heap_choice.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace berth::framework {
namespace {

using cluster::NodeIndex;

struct Scored {
  NodeIndex row;
  int64_t total;
};

// A max-heap as Go's container/heap builds it.
void SiftDown(std::vector<Scored>& heap, size_t i) {
  for (;;) {
    size_t child = 2 * i + 1;
    if (child >= heap.size()) return;
    if (child + 1 < heap.size() && heap[child + 1].total > heap[child].total) ++child;
    if (heap[child].total <= heap[i].total) return;
    std::swap(heap[i], heap[child]);
    i = child;
  }
}
NodeIndex RootOfHeap(std::vector<Scored> list) {
  for (size_t i = list.size() / 2; i > 0; --i) SiftDown(list, i - 1);
  return list.front().row;
}

// Nodes in a random order, some of which fit, with totals among which many are equal.
struct Sample {
  explicit Sample(Random& random) {
    const size_t nodes = 1 + random.Below(random.Below(8) == 0 ? 600 : 40);
    order.resize(nodes);
    std::iota(order.begin(), order.end(), NodeIndex{0});
    for (size_t i = nodes; i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
    start = random.Below(nodes);
    const uint64_t misfits = random.Below(4);
    const uint64_t totals = 1 + random.Below(5);
    fits.resize(nodes);
    total.resize(nodes);
    for (size_t n = 0; n < nodes; ++n) {
      fits[n] = random.Below(4) >= misfits;
      total[n] = static_cast<int64_t>(random.Below(totals));
      if (fits[n]) highest = std::max(highest, total[n]);
    }
    for (size_t i = 0; i < nodes; ++i) {
      const NodeIndex row = order[(start + i) % nodes];
      if (fits[row]) list.push_back({row, total[row]});
    }
  }
  bool IsBest(NodeIndex row) const { return fits[row] && total[row] == highest; }

  std::vector<NodeIndex> order;
  std::vector<bool> fits;
  std::vector<int64_t> total;
  std::vector<Scored> list;
  int64_t highest = -1;
  size_t start = 0;
};

TEST(HeapChoiceTest, TakesTheRootOfTheHeapThatGoBuilds) {
  Random random(1);
  for (int round = 0; round < 20000; ++round) {
    const Sample sample(random);
    if (sample.list.empty()) continue;
    const NodeIndex root = RootOfHeap(sample.list);
    const auto is_best = [&](NodeIndex row) { return sample.IsBest(row); };

    EXPECT_EQ(
        HeapChoice(
            sample.order, sample.start, [&](NodeIndex row) { return sample.fits[row]; }, is_best),
        root);

    RankedSet fits;
    fits.Assign(sample.order.size(), false);
    std::vector<std::pair<size_t, NodeIndex>> ties;
    for (uint32_t i = 0; i < sample.order.size(); ++i) {
      const NodeIndex row = sample.order[i];
      if (sample.fits[row]) fits.Insert(i);
      if (is_best(row)) ties.emplace_back(i, row);
    }
    fits.Prepare();
    const FeasibleList list(sample.order, fits, sample.start);
    ASSERT_EQ(list.Size(), sample.list.size());
    const auto for_each = [&](const auto& f) {
      for (const auto& [position, row] : ties) f(position, row);
    };
    // Without a walk, with the usual one, and with one that goes to the end.
    for (const size_t count : {size_t{0}, ties.size(), 8 * sample.order.size()}) {
      ASSERT_EQ(HeapChoice(list, count, is_best, for_each), root) << round;
    }
  }
}

TEST(HeapChoiceTest, ListIndicesAndNodesAgree) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const Sample sample(random);
    RankedSet fits;
    fits.Assign(sample.order.size(), true);
    for (uint32_t i = 0; i < sample.order.size(); ++i) fits.Set(i, sample.fits[sample.order[i]]);
    fits.Prepare();
    const FeasibleList list(sample.order, fits, sample.start);
    ASSERT_EQ(list.Size(), sample.list.size());
    for (size_t i = 0; i < list.Size(); ++i) {
      ASSERT_EQ(list.At(i), sample.list[i].row);
      const auto at = std::ranges::find(sample.order, list.At(i)) - sample.order.begin();
      ASSERT_EQ(list.IndexOf(static_cast<size_t>(at)), i);
    }
  }
}

TEST(HeapChoiceTest, KeysOrderIndicesAsAWalkVisitsThem) {
  for (size_t size = 1; size < 300; ++size) {
    std::vector<size_t> by_key(size);
    std::iota(by_key.begin(), by_key.end(), size_t{0});
    std::ranges::sort(by_key, {}, PreOrderKey);
    size_t at = 0;
    for (const size_t i : by_key) {
      ASSERT_EQ(at, i) << "of " << size;
      at = NextInPreOrder(at, size);
    }
    ASSERT_EQ(at, size);
  }
}

TEST(HeapChoiceTest, TheFirstFeasibleNodeWinsIfAllAreEqual) {
  const std::vector<NodeIndex> order = {4, 2, 0, 3, 1};
  const auto yes = [](NodeIndex) { return true; };
  EXPECT_EQ(HeapChoice(order, 0, yes, yes), 4u);
  EXPECT_EQ(HeapChoice(order, 3, yes, yes), 3u);
  EXPECT_EQ(HeapChoice(
                order, 3, [](NodeIndex n) { return n != 3; }, yes),
            1u);
}

}  // namespace
}  // namespace berth::framework
