#include "plugins/common/label_terms.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "plugins/common/testing/volumes.h"

namespace berth::plugins {
namespace {

std::string Matching(const VolumeWorld& world, const LabelTerms& terms) {
  std::string names;
  world.cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
    if (terms.Matches(world.cluster, n)) names += world.cluster.NodeName(n);
  });
  return names;
}

class LabelTermsTest : public testing::Test {
 protected:
  LabelTermsTest() {
    world_.Node("a", "'zone':'z1','gen':'1'");
    world_.Node("b", "'zone':'z2','gen':'5'");
    world_.Node("c");
  }
  LabelTerms Affinity(const std::string& terms) {
    return LabelTerms::OfVolume(world_.cluster,
                                Parse<api::NodeSelector>("{'nodeSelectorTerms':[" + terms + "]}"));
  }
  VolumeWorld world_;
};

TEST_F(LabelTermsTest, VolumeAffinity) {
  struct Row {
    const char* terms;
    const char* nodes;
  };
  const Row rows[] = {
      {"{'matchExpressions':[{'key':'zone','operator':'In','values':['z1','z9']}]}", "a"},
      {"{'matchExpressions':[{'key':'zone','operator':'NotIn','values':['z1']}]}", "bc"},
      {"{'matchExpressions':[{'key':'zone','operator':'Exists'}]}", "ab"},
      {"{'matchExpressions':[{'key':'zone','operator':'DoesNotExist'}]}", "c"},
      {"{'matchExpressions':[{'key':'gen','operator':'Gt','values':['3']}]}", "b"},
      {"{'matchExpressions':[{'key':'gen','operator':'Lt','values':['3']}]}", "a"},
      {"{'matchExpressions':[{'key':'zone','operator':'Exists'},"
       "{'key':'gen','operator':'In','values':['5']}]}",
       "b"},
      {"{'matchExpressions':[{'key':'gen','operator':'In','values':['1']}]},"
       "{'matchExpressions':[{'key':'zone','operator':'DoesNotExist'}]}",
       "ac"},
      {"", ""},
      {"{}", ""},
      {"{'matchFields':[{'key':'metadata.name','operator':'In','values':['a']}]}", "abc"},
      {"{'matchExpressions':[{'key':'zone','operator':'What'}]}", ""},
  };
  for (const Row& row : rows)
    EXPECT_EQ(Matching(world_, Affinity(row.terms)), row.nodes) << row.terms;
  EXPECT_EQ(Matching(world_, LabelTerms::OfVolume(world_.cluster, std::nullopt)), "abc");
}

TEST_F(LabelTermsTest, ValuesThatNodesGetLater) {
  const LabelTerms terms =
      Affinity("{'matchExpressions':[{'key':'zone','operator':'In','values':['late']}]}");
  EXPECT_EQ(Matching(world_, terms), "");
  world_.Node("c", "'zone':'late'");
  EXPECT_EQ(Matching(world_, terms), "c");
}

TEST_F(LabelTermsTest, TopologiesOfAClassAndSegmentsOfACapacity) {
  const auto of_class = [&](const std::string& json) {
    const auto storage_class = Parse<api::StorageClass>("{'allowedTopologies':[" + json + "]}");
    return Matching(world_, LabelTerms::OfClass(world_.cluster, storage_class.allowed_topologies));
  };
  EXPECT_EQ(of_class(""), "abc");
  EXPECT_EQ(of_class("{}"), "");
  EXPECT_EQ(of_class("{'matchLabelExpressions':[{'key':'zone','values':['z1','z2']},"
                     "{'key':'gen','values':['5']}]}"),
            "b");
  EXPECT_EQ(of_class("{'matchLabelExpressions':[{'key':'zone','values':['-bad-']}]}"), "");
  const auto segment = [&](const std::string& json) {
    return Matching(world_,
                    LabelTerms::OfSelector(world_.cluster, Parse<api::LabelSelector>(json)));
  };
  EXPECT_EQ(segment("{}"), "abc");
  EXPECT_EQ(segment("{'matchLabels':{'zone':'z2'}}"), "b");
  EXPECT_EQ(segment("{'matchExpressions':[{'key':'zone','operator':'What'}]}"), "");
  EXPECT_EQ(Matching(world_, LabelTerms::OfSelector(world_.cluster, std::nullopt)), "");
}

TEST_F(LabelTermsTest, EqualNumbersAreEqualTerms) {
  const auto numbers = [](const LabelTerms& terms) {
    std::vector<int64_t> list;
    EXPECT_TRUE(terms.AppendNumbers(&list));
    return list;
  };
  const auto in = [&](const std::string& key, const std::string& values) {
    return Affinity("{'matchExpressions':[{'key':'" + key + "','operator':'In','values':[" +
                    values + "]}]}");
  };
  EXPECT_EQ(numbers(in("zone", "'z1','z2'")), numbers(in("zone", "'z2','z1'")));
  EXPECT_NE(numbers(in("zone", "'z1'")), numbers(in("zone", "'z2'")));
  EXPECT_NE(numbers(in("zone", "'z1'")), numbers(in("gen", "'z1'")));
  EXPECT_NE(numbers(LabelTerms()), numbers(Affinity(""))) << "every node, and none";
  std::vector<int64_t> list;
  const auto by_value =
      Affinity("{'matchExpressions':[{'key':'gen','operator':'Gt','values':['3']}]}");
  EXPECT_FALSE(by_value.AppendNumbers(&list));
}

TEST_F(LabelTermsTest, TheIndexFindsEveryItemThatMatches) {
  const char* const texts[] = {
      "{'matchExpressions':[{'key':'zone','operator':'In','values':['z1']}]}",
      "{'matchExpressions':[{'key':'zone','operator':'In','values':['z1','z2']}]},"
      "{'matchExpressions':[{'key':'gen','operator':'In','values':['1']}]}",
      "{'matchExpressions':[{'key':'zone','operator':'NotIn','values':['z1']}]}",
      "",
  };
  std::vector<LabelTerms> items;
  for (const char* text : texts) items.push_back(Affinity(text));
  items.emplace_back();
  LabelTermIndex index;
  for (uint32_t i = 0; i < items.size(); ++i) index.Add(i, items[i]);
  const auto check = [&](uint32_t gone) {
    world_.cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
      std::vector<uint32_t> found;
      index.ForEach(n, [&](uint32_t i) { found.push_back(i); });
      for (uint32_t i = 0; i < items.size(); ++i) {
        const bool listed = std::find(found.begin(), found.end(), i) != found.end();
        if (i == gone) {
          EXPECT_FALSE(listed) << i;
        } else if (items[i].Matches(world_.cluster, n)) {
          EXPECT_TRUE(listed) << i;
        }
      }
    });
  };
  check(99);
  index.Remove(1, items[1]);
  check(1);
}

}  // namespace
}  // namespace berth::plugins
