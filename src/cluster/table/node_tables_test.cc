// The tables from a value to the nodes that have it: images, taint sets, label columns.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/table/images.h"
#include "cluster/table/label_columns.h"
#include "cluster/table/taints.h"

namespace berth::cluster {
namespace {

TEST(ImageTable, NodesByImageNameAndTheSizeOfTheFirstReport) {
  Dictionary strings;
  ImageTable table;
  const auto on3 = table.AddNode(3, {{{"nginx:1", "nginx@sha"}, 100}, {{"redis:1"}, 50}}, strings);
  const auto on1 = table.AddNode(1, {{{"nginx:1"}, 999}, {{"nginx:1"}, 5}}, strings);
  EXPECT_EQ(on3.size(), 3u);
  EXPECT_EQ(on1.size(), 1u) << "an image listed twice is held once";
  const auto* nginx = table.Find(strings.Find("nginx:1"));
  ASSERT_NE(nginx, nullptr);
  EXPECT_EQ(nginx->size, 100) << "the first node's report stays";
  EXPECT_EQ(nginx->nodes, (std::vector<NodeIndex>{1, 3}));
  EXPECT_EQ(table.Find(strings.Find("nginx@sha"))->nodes, (std::vector<NodeIndex>{3}));
  EXPECT_EQ(table.Find(strings.Intern("none")), nullptr);

  table.RemoveNode(3, on3);
  EXPECT_EQ(table.Find(strings.Find("nginx:1"))->nodes, (std::vector<NodeIndex>{1}));
  EXPECT_EQ(table.Find(strings.Find("redis:1")), nullptr);
  table.RemoveNode(1, on1);
  EXPECT_EQ(table.Find(strings.Find("nginx:1")), nullptr);
  table.AddNode(2, {{{"nginx:1"}, 7}}, strings);
  EXPECT_EQ(table.Find(strings.Find("nginx:1"))->size, 7) << "forgotten with its last node";
}

api::Taint Taint(const std::string& key, const std::string& value, const std::string& effect) {
  api::Taint taint;
  taint.key = key;
  taint.value = value;
  taint.effect = effect;
  return taint;
}

TEST(TaintSets, EqualListsShareAnId) {
  TaintSets sets;
  EXPECT_EQ(sets.Intern({}), kNoTaints);
  const TaintSetId a = sets.Intern({Taint("k", "v", "NoSchedule")});
  EXPECT_NE(a, kNoTaints);
  api::Taint later = Taint("k", "v", "NoSchedule");
  later.time_added.emplace();
  EXPECT_EQ(sets.Intern({later}), a) << "when it was added does not matter";
  EXPECT_FALSE(sets.Get(a)[0].time_added.has_value());
  const TaintSetId ab = sets.Intern({Taint("a", "", "NoSchedule"), Taint("b", "", "NoExecute")});
  const TaintSetId ba = sets.Intern({Taint("b", "", "NoExecute"), Taint("a", "", "NoSchedule")});
  EXPECT_NE(ab, ba) << "the order decides which is named first";
  EXPECT_EQ(sets.Get(ba)[0].key, "b");
  EXPECT_EQ(sets.Size(), 4u);
}

TEST(TaintSets, PartsDoNotRunIntoEachOther) {
  TaintSets sets;
  const TaintSetId one = sets.Intern({Taint("ab", "c", "NoSchedule")});
  EXPECT_NE(sets.Intern({Taint("a", "bc", "NoSchedule")}), one);
  EXPECT_NE(sets.Intern({Taint("ab1:c", "", "NoSchedule")}), one);
}

TEST(LabelColumns, AreMadeOnFirstUseAndFollowTheRows) {
  constexpr StringId kZone = 1, kRack = 2, kA = 10, kB = 11, kC = 12;
  std::vector<NodeLabels> rows{{{kZone, kA}}, {{kRack, kC}, {kZone + 5, kA}}, {{kZone, kB}}};
  LabelColumns columns;
  const auto labels = [&](size_t row) -> const NodeLabels& { return rows[row]; };
  const LabelColumn& zone = columns.Get(kZone, rows.size(), labels);
  EXPECT_EQ(zone.codes, (std::vector<uint32_t>{1, LabelColumn::kAbsent, 2}));
  EXPECT_EQ(zone.values, (std::vector<StringId>{kNoString, kA, kB}));
  EXPECT_EQ(zone.CodeOf(kB), 2u);
  EXPECT_EQ(zone.CodeOf(kC), LabelColumn::kAbsent);

  columns.Resize(5);
  EXPECT_EQ(zone.codes.size(), 5u);
  columns.SetRow(4, {{kZone, kC}});
  columns.SetRow(0, {});
  columns.SetRow(2, {{kZone, kC}});
  EXPECT_EQ(zone.codes, (std::vector<uint32_t>{0, 0, 3, 0, 3}));
  columns.SetRow(0, {{kZone, kB}});
  EXPECT_EQ(zone.codes[0], 2u) << "the number of a value nobody has is not given to another";
  EXPECT_EQ(&columns.Get(kZone, 5, labels), &zone);
}

TEST(LabelColumns, LabelValueFindsTheKeyOrNothing) {
  const NodeLabels labels{{3, 30}, {5, 50}};
  EXPECT_EQ(LabelValue(labels, 3), 30u);
  EXPECT_EQ(LabelValue(labels, 5), 50u);
  EXPECT_EQ(LabelValue(labels, 4), kNoString);
  EXPECT_EQ(LabelValue(labels, 6), kNoString);
  EXPECT_EQ(LabelValue({}, 3), kNoString);
}

}  // namespace
}  // namespace berth::cluster
