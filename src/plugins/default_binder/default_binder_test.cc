#include "plugins/default_binder/default_binder.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace berth::plugins::default_binder {
namespace {

TEST(DefaultBinder, BindsEveryPod) {
  cluster::Cluster cluster;
  const auto a = cluster.SetNode(cluster::MakeNode("a"));
  const cluster::Pod& pod = cluster.GetPod(cluster.AddPod(cluster::MakePod("p")));
  EXPECT_TRUE(DefaultBinder().Bind({cluster, pod, *pod.shape}, a).Ok());
}

}  // namespace
}  // namespace berth::plugins::default_binder
