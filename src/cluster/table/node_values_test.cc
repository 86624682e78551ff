#include "cluster/table/node_values.h"

#include <gtest/gtest.h>

#include "cluster/cluster.h"
#include "cluster/inputs.h"
#include "cluster/testing/builders.h"

namespace berth::cluster {
namespace {

api::Node Annotated(const std::string& name, const std::string& value) {
  api::Node node = MakeNode(name);
  node.metadata.annotations["floor"] = value;
  node.metadata.annotations["other"] = "x";
  return node;
}

TEST(NodeValues, AnnotationsOfNamedKeysFollowTheNode) {
  Cluster cluster;
  cluster.Track({.kinds = {}, .node_annotations = {"floor"}, .pod_annotations = {}});
  const NodeIndex n = cluster.SetNode(Annotated("a", "1"));
  ASSERT_NE(cluster.NodeAnnotation(n, "floor"), nullptr);
  EXPECT_EQ(*cluster.NodeAnnotation(n, "floor"), "1");
  EXPECT_EQ(cluster.NodeAnnotation(n, "other"), nullptr) << "nobody named it";
  cluster.SetNode(Annotated("a", "2"));
  EXPECT_EQ(*cluster.NodeAnnotation(n, "floor"), "2");
  cluster.SetNode(MakeNode("a"));
  EXPECT_EQ(cluster.NodeAnnotation(n, "floor"), nullptr);
  cluster.SetNode(Annotated("a", "3"));
  cluster.RemoveNode("a");
  EXPECT_EQ(cluster.NodeAnnotation(n, "floor"), nullptr);
}

TEST(NodeValues, PodsWithOtherAnnotationsHaveOtherShapes) {
  Cluster cluster;
  cluster.Track({.kinds = {}, .node_annotations = {}, .pod_annotations = {"group"}});
  const auto shape = [&](const std::string& name, const std::string& key,
                         const std::string& value) {
    api::Pod pod = MakePod(name);
    pod.metadata.annotations[key] = value;
    return cluster.GetPod(cluster.AddPod(pod)).shape;
  };
  const PodShape* a = shape("a", "group", "1");
  EXPECT_EQ(shape("b", "group", "1"), a);
  EXPECT_NE(shape("c", "group", "2"), a);
  EXPECT_EQ(shape("d", "other", "1"), shape("e", "other", "2")) << "nobody named it";
  EXPECT_EQ(a->source.metadata.annotations.size(), 1u);
  EXPECT_EQ(*api::FindValue(a->source.metadata.annotations, "group"), "1");
}

TEST(NodeValues, PatternsNameAllAnnotationsWithAText) {
  Cluster cluster;
  cluster.Track({.kinds = {}, .node_annotations = {}, .pod_annotations = {"*io/x*", "group"}});
  const auto shape = [&](const std::string& name, const std::string& key,
                         const std::string& value) {
    api::Pod pod = MakePod(name);
    pod.metadata.annotations[key] = value;
    return cluster.GetPod(cluster.AddPod(pod)).shape;
  };
  const PodShape* a = shape("a", "a.io/x.c1", "1");
  EXPECT_EQ(shape("b", "a.io/x.c1", "1"), a);
  EXPECT_NE(shape("c", "a.io/x.c1", "2"), a);
  EXPECT_NE(shape("d", "a.io/x.c2", "1"), a);
  EXPECT_NE(shape("e", "group", "1"), shape("f", "group", "2"));
  EXPECT_EQ(shape("g", "a.io", "1"), shape("h", "group2", "2")) << "nobody named them";
  EXPECT_EQ(*api::FindValue(a->source.metadata.annotations, "a.io/x.c1"), "1");
}

TEST(NodeValues, MetricsAreKeptByNodeAndMakeItsRowDirty) {
  Cluster cluster;
  cluster.SetMetrics("late", {api::Time::FromUnixNano(5), {{"cpu", 0.25}}});
  const NodeIndex n = cluster.SetNode(MakeNode("late"));
  ASSERT_NE(cluster.Metrics(n), nullptr) << "measured before the node was known";
  EXPECT_EQ(cluster.Metrics(n)->values.at("cpu"), 0.25);
  const uint64_t generation = cluster.NodeGeneration();
  cluster.SetMetrics("late", {api::Time::FromUnixNano(9), {{"cpu", 0.5}}});
  EXPECT_EQ(cluster.Metrics(n)->measured.UnixNano(), 9);
  EXPECT_GT(cluster.NodeGeneration(), generation);
  EXPECT_EQ(cluster.Metrics(cluster.SetNode(MakeNode("other"))), nullptr);
}

}  // namespace
}  // namespace berth::cluster
