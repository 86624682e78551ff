#include "framework/classes/row_sets.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace berth::framework {
namespace {

using cluster::NodeIndex;

TEST(RowSets, NthFollowsRowOrderAcrossLevels) {
  RowSets sets;
  const RowSets::Id id = sets.Make();
  const std::vector<NodeIndex> rows = {0, 63, 64, 4095, 4096, 262143, 262144, 1'000'000};
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) sets.Insert(id, *row);
  ASSERT_EQ(sets.Count(id), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(sets.Nth({&id, 1}, i), rows[i]) << i;
  EXPECT_EQ(sets.First(id), 0u);
}

TEST(RowSets, AnErasedSetIsEmptyAndItsMemoryIsUsedAgain) {
  RowSets sets;
  const RowSets::Id a = sets.Make();
  for (NodeIndex row = 0; row < 10'000; ++row) sets.Insert(a, row);
  const size_t bytes = sets.MemoryBytes();
  for (NodeIndex row = 0; row < 10'000; ++row) sets.Erase(a, row);
  EXPECT_EQ(sets.Count(a), 0u);
  sets.Free(a);
  const RowSets::Id b = sets.Make();
  EXPECT_EQ(b, a);
  for (NodeIndex row = 0; row < 10'000; ++row) sets.Insert(b, row);
  EXPECT_EQ(sets.MemoryBytes(), bytes);
  EXPECT_EQ(sets.Nth({&b, 1}, 9'999), 9'999u);
}

TEST(RowSets, ThreeSetsChangeAtRandomAsSetsOfNumbersDo) {
  Random random(7);
  RowSets sets;
  std::vector<RowSets::Id> ids;
  std::vector<std::set<NodeIndex>> model(3);
  std::vector<int> where(600'000, -1);
  for (size_t i = 0; i < model.size(); ++i) ids.push_back(sets.Make());
  for (int step = 0; step < 40'000; ++step) {
    // Mostly few rows, so that many are met again.
    const auto row = static_cast<NodeIndex>(random.Below(4) == 0 ? random.Below(600'000)
                                                                 : random.Below(300) * 1999);
    if (where[row] >= 0) {
      sets.Erase(ids[where[row]], row);
      model[where[row]].erase(row);
    }
    where[row] = static_cast<int>(random.Below(4)) - 1;
    if (where[row] >= 0) {
      sets.Insert(ids[where[row]], row);
      model[where[row]].insert(row);
    }
    if (step % 100 != 0) continue;
    std::set<NodeIndex> both = model[0];
    both.insert(model[2].begin(), model[2].end());
    if (both.empty()) continue;
    const size_t rank = random.Below(both.size());
    const RowSets::Id two[] = {ids[0], ids[2]};
    ASSERT_EQ(sets.Nth(two, rank), *std::next(both.begin(), static_cast<int64_t>(rank)));
    for (size_t i = 0; i < model.size(); ++i) ASSERT_EQ(sets.Count(ids[i]), model[i].size());
  }
}

}  // namespace
}  // namespace berth::framework
