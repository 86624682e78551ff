#include "plugins/default_binder/default_binder.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace berth::plugins::default_binder {
namespace {

TEST(DefaultBinder, NamesThePodAndTheNode) {
  cluster::Cluster cluster;
  cluster.SetNode(cluster::MakeNode("a"));
  const auto b = cluster.SetNode(cluster::MakeNode("b"));
  api::Pod from = cluster::MakePod("p").Namespace("team");
  from.metadata.uid = "uid-1";
  const cluster::Pod& pod = cluster.GetPod(cluster.AddPod(from));
  api::Binding binding;
  EXPECT_TRUE(DefaultBinder().Bind({cluster, pod, *pod.shape}, b, &binding).Ok());
  EXPECT_EQ(binding.metadata.namespace_, "team");
  EXPECT_EQ(binding.metadata.name, "p");
  EXPECT_EQ(binding.metadata.uid, "uid-1") << "a pod of the same name that came later is not bound";
  EXPECT_EQ(binding.target.kind, "Node");
  EXPECT_EQ(binding.target.name, "b");
}

}  // namespace
}  // namespace berth::plugins::default_binder
