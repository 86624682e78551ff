#include "cluster/pods/pod_label_index.h"

#include <gmock/gmock.h>

#include "cluster/cluster.h"
#include "cluster/inputs.h"
#include "cluster/testing/builders.h"

namespace berth::cluster {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(PodLabelIndex, FollowsThePodsOfTheCluster) {
  Cluster cluster;
  cluster.Track({.kinds = {}, .node_annotations = {}, .pod_annotations = {}, .pod_labels = {"g"}});
  const PodId a = cluster.AddPod(MakePod("a").Label("g", "x"));
  const PodId b = cluster.AddPod(MakePod("b").Label("g", "x"));
  cluster.AddPod(MakePod("c").Label("other", "x"));
  EXPECT_THAT(cluster.Labelled().Of("g", "x"), UnorderedElementsAre(a, b));
  EXPECT_THAT(cluster.Labelled().Of("other", "x"), IsEmpty()) << "nobody named the key";

  cluster.UpdatePod(b, MakePod("b").Label("g", "y"));
  EXPECT_THAT(cluster.Labelled().Of("g", "x"), UnorderedElementsAre(a));
  EXPECT_THAT(cluster.Labelled().Of("g", "y"), UnorderedElementsAre(b));
  cluster.RemovePod(a);
  EXPECT_THAT(cluster.Labelled().Of("g", "x"), IsEmpty());
}

}  // namespace
}  // namespace berth::cluster
