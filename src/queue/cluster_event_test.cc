#include "queue/cluster_event.h"

#include <functional>

#include <gtest/gtest.h>

#include "cluster/cluster.h"
#include "cluster/testing/builders.h"

namespace berth::queue {
namespace {

using cluster::FromText;

std::string Labels(const std::vector<ClusterEvent>& events) {
  std::string out;
  for (const ClusterEvent& event : events) out += (out.empty() ? "" : " ") + event.Label();
  return out;
}

TEST(ClusterEventTest, LabelsAreThoseOfMetrics) {
  EXPECT_EQ((ClusterEvent{EventResource::kNode, kUpdateNodeTaint}).Label(), "NodeUpdateNodeTaint");
  EXPECT_EQ((ClusterEvent{EventResource::kCSINode, kUpdate}).Label(),
            "storage.k8s.io/CSINodeUpdate");
  EXPECT_EQ((ClusterEvent{EventResource::kPod, kAll}).Label(), "PodAll");
  EXPECT_EQ((ClusterEvent{EventResource::kNode, kAdd | kUpdateNodeLabel}).Label(), "Node");
  EXPECT_EQ(kForceActivate.Label(), "ForceActivate");
}

TEST(ClusterEventTest, Matches) {
  struct Row {
    const char* what;
    ClusterEvent registered;
    ClusterEvent incoming;
    bool matches;
  };
  using enum EventResource;
  for (const Row& row : std::initializer_list<Row>{
           {"the wildcard hears of everything", {kWildCard, kAll}, {kCSINode, kDelete}, true},
           {"one of the actions is enough", {kNode, kAdd | kUpdateNodeLabel}, {kNode, kAdd}, true},
           {"another action is not", {kNode, kAdd | kUpdateNodeLabel}, {kNode, kDelete}, false},
           {"pods are assigned", {kPod, kDelete}, {kAssignedPod, kDelete}, true},
           {"or not", {kPod, kDelete}, {kUnschedulablePod, kDelete}, true},
           {"assigned pods are not all pods",
            {kAssignedPod, kAdd},
            {kUnschedulablePod, kAdd},
            false},
           {"a general update is more than a special one",
            {kPod, kUpdatePodLabel},
            {kAssignedPod, kUpdate},
            false},
           {"a special update is part of the general",
            {kPod, kUpdate},
            {kAssignedPod, kUpdatePodLabel},
            true},
           {"other resources do not matter", {kNode, kAll}, {kAssignedPod, kAdd}, false}}) {
    EXPECT_EQ(Matches(row.registered, row.incoming), row.matches) << row.what;
  }
}

TEST(ClusterEventTest, PodChanges) {
  constexpr char kOld[] = R"({
    'metadata': {'name': 'p', 'namespace': 'ns', 'uid': 'u', 'labels': {'app': 'web'}},
    'spec': {'schedulingGates': [{'name': 'g'}], 'containers': [
      {'name': 'c', 'resources': {'requests': {'cpu': '500m', 'memory': '1Gi'}}}]}})";
  struct Row {
    const char* what;
    std::function<void(api::Pod&)> change;
    const char* events;
  };
  const auto status = [](const char* json) { return FromText<api::PodStatus>(json); };
  for (const Row& row : std::initializer_list<Row>{
           {"nothing in particular", [](api::Pod&) {}, "UnschedulablePodUpdate"},
           {"a node counts if the new version has it", [](api::Pod& p) { p.spec.node_name = "n"; },
            "AssignedPodUpdate"},
           {"labels", [](api::Pod& p) { p.metadata.labels["app"] = "db"; },
            "UnschedulablePodUpdatePodLabel"},
           {"less than a whole unit less",
            [](api::Pod& p) {
              p.spec.containers[0].resources.requests["cpu"] = cluster::Amount("499m");
            },
            "UnschedulablePodUpdatePodScaleDown"},
           {"a request that is gone",
            [](api::Pod& p) { p.spec.containers[0].resources.requests.erase("memory"); },
            "UnschedulablePodUpdatePodScaleDown"},
           {"more is no event of its own",
            [](api::Pod& p) {
              p.spec.containers[0].resources.requests["cpu"] = cluster::Amount("1");
            },
            "UnschedulablePodUpdate"},
           {"a resize that the kubelet has not carried out frees nothing",
            [&](api::Pod& p) {
              p.spec.containers[0].resources.requests["cpu"] = cluster::Amount("1m");
              p.status = status(
                  "{'containerStatuses': [{'name': 'c', 'resources': {'requests': "
                  "{'cpu': '500m', 'memory': '1Gi'}}}]}");
            },
            "UnschedulablePodUpdate"},
           {"the last gate", [](api::Pod& p) { p.spec.scheduling_gates.clear(); },
            "UnschedulablePodUpdatePodSchedulingGatesEliminated"},
           {"a generated claim",
            [&](api::Pod& p) { p.status = status("{'resourceClaimStatuses': [{'name': 'd'}]}"); },
            "UnschedulablePodUpdatePodGeneratedResourceClaim"},
           {"a claim for extended resources",
            [&](api::Pod& p) {
              p.status = status("{'extendedResourceClaimStatus': {'resourceClaimName': 'x'}}");
            },
            "UnschedulablePodUpdatePodGeneratedResourceClaim"},
           {"several, in order",
            [](api::Pod& p) {
              p.spec.tolerations.emplace_back();
              p.spec.scheduling_gates.clear();
              p.metadata.labels.clear();
            },
            "UnschedulablePodUpdatePodLabel UnschedulablePodUpdatePodSchedulingGatesEliminated "
            "UnschedulablePodUpdatePodToleration"}}) {
    cluster::Cluster cluster;
    const auto before = FromText<api::Pod>(kOld);
    auto after = before;
    row.change(after);
    EXPECT_EQ(Labels(PodChanges(*cluster.Snapshot(before), *cluster.Snapshot(after))), row.events)
        << row.what;
  }
}

TEST(ClusterEventTest, NodeChanges) {
  struct Row {
    const char* what;
    std::function<void(api::Node&)> change;
    const char* events;
  };
  constexpr char kOld[] = R"({
    'metadata': {'name': 'n', 'labels': {'zone': 'a'}},
    'spec': {'unschedulable': true, 'taints': [{'key': 'k', 'effect': 'NoSchedule'}]},
    'status': {'allocatable': {'cpu': '1'}, 'conditions': [{'type': 'Ready', 'status': 'True'}]}})";
  for (const Row& row : std::initializer_list<Row>{
           {"nothing", [](api::Node&) {}, ""},
           {"the same amount in other words",
            [](api::Node& n) { n.status.allocatable["cpu"] = cluster::Amount("1000m"); }, ""},
           {"a message of a condition",
            [](api::Node& n) { n.status.conditions[0].message = "still ready"; }, ""},
           {"the cordon and a taint are told one by one",
            [](api::Node& n) {
              n.spec.unschedulable = false;
              n.spec.taints.clear();
            },
            "NodeUpdateNodeTaint NodeUpdateNodeTaint"},
           {"everything else, in order",
            [](api::Node& n) {
              n.status.allocatable["cpu"] = cluster::Amount("2");
              n.metadata.labels.clear();
              n.status.conditions[0].status = "False";
              n.metadata.annotations["a"] = "b";
            },
            "NodeUpdateNodeAllocatable NodeUpdateNodeLabel NodeUpdateNodeCondition "
            "NodeUpdateNodeAnnotation"}}) {
    const auto before = FromText<api::Node>(kOld);
    auto after = before;
    row.change(after);
    EXPECT_EQ(Labels(NodeChanges(before, after)), row.events) << row.what;
  }
  auto ready = FromText<api::Node>(kOld);
  auto cordoned = ready;
  ready.spec.unschedulable = false;
  EXPECT_EQ(Labels(NodeChanges(ready, cordoned)), "") << "a cordon helps nobody";
}

}  // namespace
}  // namespace berth::queue
