#include "framework/classes/pod_class.h"

#include <vector>

#include <gtest/gtest.h>

namespace berth::framework {
namespace {

using Traits = std::vector<int64_t>;

const PodClass::Cell* CellWith(PodClass& nodes, const Traits& traits) {
  for (const PodClass::Cell& cell : nodes.Cells()) {
    if (cell.traits == traits) return &cell;
  }
  return nullptr;
}

TEST(PodClass, NodesWithEqualTraitsAreOneCell) {
  PodClass nodes;
  nodes.Reset(100);
  nodes.Put(1, Traits{5}, 40);
  nodes.Put(2, Traits{5}, 50);
  nodes.Put(3, Traits{6}, 90);
  EXPECT_EQ(nodes.FeasibleCount(), 3u);
  EXPECT_EQ(nodes.LiveCells(), 2u);
  const PodClass::Cell* cell = CellWith(nodes, {5});
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->count, 2u);
  EXPECT_EQ(cell->HighestLocal(), 50);
  EXPECT_EQ(nodes.Sets().First(cell->Highest()), 2u);
}

TEST(PodClass, ANodeMovesWithItsScoreAndItsTraits) {
  PodClass nodes;
  nodes.Reset(100);
  nodes.Put(1, Traits{5}, 40);
  nodes.Put(2, Traits{5}, 50);
  nodes.Put(2, Traits{5}, 30);
  EXPECT_EQ(CellWith(nodes, {5})->HighestLocal(), 40);
  nodes.Put(1, Traits{7}, 40);
  EXPECT_EQ(CellWith(nodes, {5})->HighestLocal(), 30);
  EXPECT_EQ(nodes.CellOf(1)->traits, Traits{7});
  EXPECT_EQ(nodes.FeasibleCount(), 2u);
}

TEST(PodClass, ANodeThatDoesNotFitIsInNoCell) {
  PodClass nodes;
  nodes.Reset(100);
  nodes.Put(1, Traits{}, 40);
  nodes.Remove(1);
  nodes.Remove(1);
  nodes.Remove(2);
  EXPECT_EQ(nodes.FeasibleCount(), 0u);
  EXPECT_EQ(nodes.LiveCells(), 0u);
  EXPECT_EQ(nodes.CellOf(1), nullptr);
  nodes.Put(1, Traits{}, 10);
  EXPECT_EQ(nodes.CellOf(1)->HighestLocal(), 10);
}

TEST(PodClass, ACellNamesAMemberAlsoAfterTheLastNamedOneHasGone) {
  PodClass nodes;
  nodes.Reset(100);
  nodes.Put(1, Traits{5}, 40);
  nodes.Put(2, Traits{5}, 50);
  PodClass::Cell& cell = nodes.Cells()[0];
  EXPECT_EQ(nodes.MemberOf(cell), 2u);
  nodes.Remove(2);
  EXPECT_EQ(nodes.MemberOf(cell), 1u);
}

}  // namespace
}  // namespace berth::framework
