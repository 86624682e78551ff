#include "kube/host/cache_debugger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"

namespace berth::kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

api::Pod MakePod(const std::string& name) {
  api::Pod pod;
  pod.metadata.name = name;
  pod.metadata.namespace_ = "shop";
  pod.metadata.uid = "uid-" + name;
  pod.spec.scheduler_name = "default-scheduler";
  pod.spec.containers.emplace_back();
  pod.spec.containers[0].resources.requests["cpu"] = *api::Quantity::Parse("1500m");
  return pod;
}

TEST(CacheDebugger, DumpsNodesPodsNominationsAndQueues) {
  auto made =
      scheduler::Engine::Make(config::Default(), {}, api::Time::FromUnixNano(1'000'000'000));
  ASSERT_TRUE(made) << made.error().Message();
  scheduler::Engine& engine = **made;
  api::Node node;
  node.metadata.name = "n1";
  node.status.allocatable["cpu"] = *api::Quantity::Parse("2");
  node.status.allocatable["pods"] = *api::Quantity::Parse("10");
  engine.Upsert(node);
  engine.Upsert(MakePod("first"));
  ASSERT_TRUE(engine.Step());
  api::Pod second = MakePod("second");
  second.status.nominated_node_name = "n1";
  engine.Upsert(second);
  EXPECT_EQ(NodesText(engine),
            "Node name: n1\n"
            "Deleted: false\n"
            "Requested Resources: {cpu: 1500, pods: 1}\n"
            "Allocatable Resources:{cpu: 2000, pods: 10}\n"
            "Scheduled Pods(number: 1):\n"
            "name: first, namespace: shop, uid: uid-first, place: binding, nominated node: \n"
            "Nominated Pods(number: 1):\n"
            "name: second, namespace: shop, uid: uid-second, place: active, nominated node: n1\n");
  EXPECT_THAT(QueueSummary(engine), HasSubstr("activeQ:1; backoffQ:0; unschedulablePods:0"));
  EXPECT_EQ(QueuedPodsText(engine),
            "name: second, namespace: shop, uid: uid-second, place: active, nominated node: n1\n");
}

TEST(CacheDebugger, ComparesInAnyOrder) {
  const Difference difference = Compare({"c", "a", "b"}, {"d", "b"});
  EXPECT_THAT(difference.missed, ElementsAre("a", "c"));
  EXPECT_THAT(difference.redundant, ElementsAre("d"));
  EXPECT_THAT(Compare({"a"}, {"a"}).missed, IsEmpty());
}

}  // namespace
}  // namespace berth::kube
