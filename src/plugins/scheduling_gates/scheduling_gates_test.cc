#include "plugins/scheduling_gates/scheduling_gates.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace berth::plugins::scheduling_gates {
namespace {

TEST(SchedulingGates, AGatedPodWaits) {
  cluster::Cluster cluster;
  const SchedulingGates plugin;
  const auto ask = [&](const api::Pod& pod) {
    return plugin.PreEnqueue(cluster, cluster.GetPod(cluster.AddPod(pod)));
  };
  EXPECT_TRUE(ask(cluster::MakePod("free")).Ok());
  const framework::Status status = ask(cluster::MakePod("gated").Gate("b").Gate("a"));
  EXPECT_EQ(status.code(), framework::Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(status.Message(), "waiting for scheduling gates: [b a]");
}

}  // namespace
}  // namespace berth::plugins::scheduling_gates
