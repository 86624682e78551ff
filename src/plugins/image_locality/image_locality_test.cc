#include "plugins/image_locality/image_locality.h"

#include <gtest/gtest.h>

#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::image_locality {
namespace {

constexpr int64_t kMiB = 1024 * 1024;

TEST(ImageLocality, ScoreOfASum) {
  struct Case {
    const char* what;
    int64_t sum;
    int64_t containers;
    int64_t want;
  };
  const Case cases[] = {
      {"nothing", 0, 1, 0},
      {"23 MiB are as good as nothing", 23 * kMiB, 1, 0},
      {"half of what counts", 500 * kMiB, 1, 48},
      {"1000 MiB per container", 1000 * kMiB, 1, 100},
      {"more does not count", INT64_MAX, 1, 100},
      {"two containers need twice as much", 1000 * kMiB, 2, 49},
      {"less than nothing", -5, 1, 0},
      {"no containers", 0, 0, 0},
  };
  for (const Case& c : cases) EXPECT_EQ(ScoreOf(c.sum, c.containers), c.want) << c.what;
}

TEST(ImageLocality, LargeImagesThatManyNodesHold) {
  cluster::Cluster cluster;
  cluster.SetNode(MakeNode("a").Image({"big:1"}, 1000 * kMiB));
  cluster.SetNode(MakeNode("b").Image({"big:1"}, 1000 * kMiB).Image({"small:latest"}, 100 * kMiB));
  cluster.SetNode(MakeNode("c"));
  cluster.SetNode(MakeNode("d"));
  struct Case {
    const char* what;
    MakePod pod;
    std::string want;
  };
  const auto pod = [] { return MakePod("p"); };
  const Case cases[] = {
      {"no node has it", pod().Image("none:1"), "a 0>0 | b 0>0 | c 0>0 | d 0>0"},
      {"half of the nodes have it", pod().Image("big:1"), "a 48>48 | b 48>48 | c 0>0 | d 0>0"},
      {"one of four has it", pod().Image("small"), "a 0>0 | b 0>0 | c 0>0 | d 0>0"},
      {"both", pod().Image("big:1").Container("2", "small"), "a 24>24 | b 25>25 | c 0>0 | d 0>0"},
      {"the same image twice counts twice", pod().Image("big:1").Container("2", "big:1"),
       "a 49>49 | b 49>49 | c 0>0 | d 0>0"},
      {"no containers", pod().NoContainers(), "a 0>0 | b 0>0 | c 0>0 | d 0>0"},
  };
  OnePlugin plugin(cluster, &Make);
  for (const Case& c : cases) {
    const auto id = cluster.AddPod(c.pod);
    EXPECT_EQ(plugin.Score(id), c.want) << c.what;
    cluster.RemovePod(id);
  }
}

TEST(ImageLocality, AbsurdSizesStayInRange) {
  cluster::Cluster cluster;
  cluster.SetNode(MakeNode("a").Image({"x:1"}, INT64_MAX).Image({"y:1"}, INT64_MAX));
  cluster.SetNode(MakeNode("b").Image({"z:1"}, INT64_MIN));
  OnePlugin plugin(cluster, &Make);
  EXPECT_EQ(plugin.Score(cluster.AddPod(MakePod("p").Image("x:1"))), "a 100>100 | b 0>0");
  EXPECT_EQ(plugin.Score(cluster.AddPod(MakePod("q").Image("z:1"))), "a 0>0 | b 0>0");
}

}  // namespace
}  // namespace berth::plugins::image_locality
