#include "cluster/table/row_log.h"

#include <vector>

#include <gtest/gtest.h>

namespace berth::cluster {
namespace {

std::vector<NodeIndex> Since(const RowLog& log, uint64_t position, bool* complete) {
  std::vector<NodeIndex> rows;
  *complete = log.ForEachSince(position, [&](NodeIndex row) { rows.push_back(row); });
  return rows;
}

TEST(RowLog, AReaderGetsWhatChangedSinceItCame) {
  RowLog log;
  log.Note(1);
  const uint64_t position = log.Read();
  log.Note(2);
  log.Note(3);
  bool complete = false;
  EXPECT_EQ(Since(log, position, &complete), (std::vector<NodeIndex>{2, 3}));
  EXPECT_TRUE(complete);
  EXPECT_EQ(log.Missed(position), 2u);
}

TEST(RowLog, ARowThatChangesAgainUnreadIsNotedOnce) {
  RowLog log;
  const uint64_t position = log.Read();
  for (int i = 0; i < 5; ++i) log.Note(7);
  EXPECT_EQ(log.Missed(position), 1u);
}

TEST(RowLog, ARowThatChangesAfterItWasReadIsNotedAgain) {
  RowLog log;
  log.Note(7);
  const uint64_t position = log.Read();
  log.Note(7);
  EXPECT_EQ(log.Missed(position), 1u);
}

TEST(RowLog, WhoIsTooFarBehindIsToldSo) {
  RowLog log;
  const uint64_t position = log.Read();
  for (NodeIndex row = 0; row < 3000; ++row) log.Note(row);
  bool complete = true;
  EXPECT_TRUE(Since(log, position, &complete).empty());
  EXPECT_FALSE(complete);
}

TEST(RowLog, GrowingForgetsThePast) {
  RowLog log;
  log.Note(1);
  const uint64_t position = log.Read();
  log.Note(2);
  log.SetRows(1'000'000);
  bool complete = true;
  EXPECT_TRUE(Since(log, position, &complete).empty());
  EXPECT_FALSE(complete);
  const uint64_t later = log.Read();
  for (NodeIndex row = 0; row < 100'000; ++row) log.Note(row);
  EXPECT_EQ(Since(log, later, &complete).size(), 100'000u);
  EXPECT_TRUE(complete);
}

}  // namespace
}  // namespace berth::cluster
