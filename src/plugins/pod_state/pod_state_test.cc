#include "plugins/pod_state/pod_state.h"

#include <string>

#include <gtest/gtest.h>

#include "plugins/common/min_max.h"
#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::pod_state {
namespace {

api::Pod On(const std::string& node, const std::string& name, bool terminating) {
  api::Pod pod = MakePod(name);
  pod.spec.node_name = node;
  if (terminating) pod.metadata.deletion_timestamp.emplace();
  return pod;
}

TEST(PodState, TerminatingPodsMinusNominatedOnes) {
  cluster::Cluster cluster;
  for (const char* name : {"a", "b", "c", "d"}) cluster.SetNode(MakeNode(name));
  OnePlugin plugin(cluster, &Make);
  const auto pod = cluster.AddPod(MakePod("p"));
  EXPECT_EQ(plugin.Score(pod), "a 0>0 | b 0>0 | c 0>0 | d 0>0") << "all equal";

  cluster.AddPod(On("a", "a1", true));
  cluster.AddPod(On("a", "a2", true));
  cluster.AddPod(On("b", "b1", true));
  cluster.AddPod(On("b", "b2", false));
  EXPECT_EQ(plugin.Score(pod), "a 2>100 | b 1>50 | c 0>0 | d 0>0");

  const auto promised = cluster.AddPod(MakePod("n"));
  cluster.MutableNominations().Set(promised, cluster.Strings().Intern("d"));
  EXPECT_EQ(plugin.Score(pod), "a 2>100 | b 1>66 | c 0>33 | d -1>0");
}

TEST(MinMaxNormalize, WrapsAroundAsGoDoes) {
  framework::NodeSet feasible(3);
  for (cluster::NodeIndex n = 0; n < 3; ++n) feasible.Insert(n);
  framework::ScoreColumn column;
  int64_t* scores = column.MakeDense(3);
  scores[0] = INT64_MAX;
  scores[1] = INT64_MIN;
  scores[2] = 0;
  MinMaxNormalize(feasible, column);
  // The range is -1 after wrapping around.
  EXPECT_EQ(column.Get(0), 100);
  EXPECT_EQ(column.Get(1), 0);
  EXPECT_EQ(column.Get(2), 0);
}

}  // namespace
}  // namespace berth::plugins::pod_state
