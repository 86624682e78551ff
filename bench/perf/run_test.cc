#include "bench/perf/run.h"

#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace berth::bench {
namespace {

const std::map<std::string, std::string> kFiles = {
    {"node.yaml",
     "kind: Node\napiVersion: v1\nmetadata: {generateName: n-}\n"
     "status: {capacity: {pods: '10', cpu: '1', memory: 1Gi}}\n"},
    {"named-node.yaml",
     "kind: Node\napiVersion: v1\nmetadata: {name: 'node-{{.Index}}'}\n"
     "status: {capacity: {pods: '10', cpu: 1m, memory: 1Gi}}\n"},
    {"grown-node.yaml",
     "kind: Node\napiVersion: v1\nmetadata: {name: 'node-{{.Index}}'}\n"
     "status: {capacity: {pods: '10', cpu: '1', memory: 1Gi}}\n"},
    {"pod.yaml",
     "kind: Pod\napiVersion: v1\nmetadata: {generateName: p-}\n"
     "spec:\n  terminationGracePeriodSeconds: 0\n"
     "  containers: [{name: c, resources: {requests: {cpu: 100m}}}]\n"},
    {"big.yaml",
     "kind: Pod\napiVersion: v1\nmetadata: {generateName: big-}\n"
     "spec:\n  priority: 10\n"
     "  containers: [{name: c, resources: {requests: {cpu: 900m}}}]\n"},
    {"huge.yaml",
     "kind: Pod\napiVersion: v1\nmetadata: {generateName: huge-}\n"
     "spec:\n  priority: 10\n  containers: [{name: c, resources: {requests: {cpu: '9'}}}]\n"},
    {"gated.yaml",
     "kind: Pod\napiVersion: v1\nmetadata: {generateName: g-}\n"
     "spec:\n  schedulingGates: [{name: hold}]\n  containers: [{name: c}]\n"},
    {"class.yaml", "kind: DeviceClass\napiVersion: resource.k8s.io/v1\nmetadata: {name: class}\n"},
    {"claim.yaml",
     "kind: ResourceClaim\napiVersion: resource.k8s.io/v1\nmetadata: {name: 'claim-{{.Index}}'}\n"
     "spec: {devices: {requests: [{name: one, exactly: {deviceClassName: class}}]}}\n"},
    {"claims.yaml",
     "kind: ResourceClaimTemplate\napiVersion: resource.k8s.io/v1\n"
     "metadata: {name: claims}\nspec: {spec: {devices: {requests: "
     "[{name: one, exactly: {deviceClassName: class}}]}}}\n"},
    {"claiming.yaml",
     "kind: Pod\napiVersion: v1\nmetadata: {generateName: c-}\n"
     "spec:\n  resourceClaims: [{name: d, resourceClaimTemplateName: claims}]\n"
     "  containers: [{name: c}]\n"},
    {"extended-class.yaml",
     "kind: DeviceClass\napiVersion: resource.k8s.io/v1\nmetadata: {name: gpus}\n"
     "spec: {extendedResourceName: example.com/gpu}\n"},
    {"extended.yaml",
     "kind: Pod\napiVersion: v1\nmetadata: {generateName: e-}\nspec:\n  containers:\n"
     "  - {name: c, resources: {requests: {example.com/gpu: '1'}, limits: {example.com/gpu: "
     "'1'}}}\n"},
    {"taint.yaml",
     "kind: DeviceTaintRule\napiVersion: resource.k8s.io/v1alpha3\nmetadata: {name: rule}\n"
     "spec:\n  deviceSelector: {pool: node-0}\n  taint: {key: broken, effect: NoSchedule}\n"},
    {"pv.yaml",
     "kind: PersistentVolume\napiVersion: v1\nspec:\n  accessModes: [ReadOnlyMany]\n"
     "  capacity: {storage: 1Gi}\n  csi: {driver: d}\n"},
    {"pvc.yaml",
     "kind: PersistentVolumeClaim\napiVersion: v1\n"
     "metadata: {annotations: {pv.kubernetes.io/bind-completed: 'true'}}\n"
     "spec: {accessModes: [ReadOnlyMany], resources: {requests: {storage: 1Gi}}}\n"},
};

Result<PerfOutcome> RunOps(const std::string& ops, const std::string& gates = "") {
  const auto cases = ParseSuite(
      fmt::format("- name: A\n  defaultPodTemplatePath: pod.yaml\n  featureGates: {{{}}}\n"
                  "  workloadTemplate:\n{}  workloads: [{{name: w, params: {{nodes: 5}}}}]\n",
                  gates, ops));
  if (!cases) return Fail(cases.error());
  const auto read = [](const std::string& path) -> Result<std::string> {
    const auto it = kFiles.find(path);
    if (it == kFiles.end()) return Fail(path + ": no such file");
    return it->second;
  };
  return RunWorkload(cases->front(), cases->front().workloads.front(), read, {});
}

struct Row {
  const char* what;
  const char* ops;
  int64_t bound;
  int64_t without_node;
};

TEST(RunTest, CountsPodsOfTheCollection) {
  const Row rows[] = {
      {"pods of two operations, one of them measured",
       R"(
  - {opcode: createNodes, countParam: $nodes, nodeTemplatePath: node.yaml}
  - {opcode: createNamespaces, prefix: ns, count: 2}
  - {opcode: createPods, count: 10, namespace: ns-0}
  - {opcode: createPods, count: 20, namespace: ns-1, collectMetrics: true}
)",
       20, 0},
      {"more pods than there is room for",
       R"(
  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}
  - {opcode: createPods, count: 14, collectMetrics: true}
)",
       10, 4},
      {"important pods drive others out",
       R"(
  - {opcode: createNodes, count: 2, nodeTemplatePath: node.yaml}
  - {opcode: createPods, count: 20}
  - {opcode: createPods, count: 2, podTemplatePath: big.yaml, collectMetrics: true}
)",
       2, 0},
      {"gated pods wait without being counted",
       R"(
  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}
  - {opcode: createPods, count: 3, podTemplatePath: gated.yaml, skipWaitToCompletion: true}
  - {opcode: barrier, stageRequirement: Attempted}
  - {opcode: startCollectingMetrics, name: all}
  - {opcode: createPods, count: 4}
  - {opcode: stopCollectingMetrics}
)",
       4, 0},
      {"nodes that grow take the pods that waited",
       R"(
  - {opcode: startCollectingMetrics, name: all}
  - {opcode: createNodes, count: 2, nodeTemplatePath: named-node.yaml}
  - {opcode: createPods, count: 5, skipWaitToCompletion: true, namespace: a}
  - {opcode: barrier, stageRequirement: Attempted}
  - {opcode: updateAny, count: 2, templatePath: grown-node.yaml, updatePerSecond: 10}
  - {opcode: barrier}
  - {opcode: stopCollectingMetrics}
)",
       5, 0},
      {"deleted pods make room",
       R"(
  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}
  - {opcode: createPods, count: 10, namespace: old}
  - {opcode: deletePods, namespace: old, deletePodsPerSecond: 10, skipWaitToCompletion: true}
  - {opcode: createPods, count: 6, collectMetrics: true}
)",
       6, 0},
      {"sets of pods, each in a namespace of its own",
       R"(
  - {opcode: createNodes, count: 5, nodeTemplatePath: node.yaml}
  - {opcode: startCollectingMetrics, name: sets, namespaces: [set-1, set-2]}
  - {opcode: createPodSets, count: 3, namespacePrefix: set, createPodsOp: {opcode: createPods, count: 4}}
  - {opcode: stopCollectingMetrics}
)",
       8, 0},
      {"bound volumes",
       R"(
  - opcode: createNodes
    count: 2
    nodeTemplatePath: node.yaml
    nodeAllocatableStrategy: {csiNodeAllocatable: {d: {count: 3}}}
  - opcode: createPods
    count: 8
    persistentVolumeTemplatePath: pv.yaml
    persistentVolumeClaimTemplatePath: pvc.yaml
    collectMetrics: true
)",
       6, 2},
      {"a steady state comes round and round",
       R"(
  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}
  - {opcode: createPods, count: 10, steadyState: true, duration: 95ms, collectMetrics: true}
)",
       100, 0},
      {"devices that claims without a pod have taken",
       R"(
  - {opcode: createNodes, count: 2, nodeTemplatePath: node.yaml}
  - {opcode: createResourceDriver, driverName: d, nodes: n-*, maxClaimsPerNode: 2}
  - {opcode: createAny, templatePath: class.yaml}
  - {opcode: createAny, templatePath: claim.yaml, namespace: taken, count: 3}
  - {opcode: allocResourceClaims, namespace: taken}
  - {opcode: createAny, templatePath: claims.yaml, namespace: a}
  - {opcode: createPods, count: 2, namespace: a, podTemplatePath: claiming.yaml, collectMetrics: true}
)",
       1, 1},
      {"devices, claimed by templates and free again after their pods",
       R"(
  - {opcode: createNodes, count: 2, nodeTemplatePath: node.yaml}
  - {opcode: createResourceDriver, driverName: d, nodes: n-*, maxClaimsPerNode: 2}
  - {opcode: createAny, templatePath: class.yaml}
  - {opcode: createAny, templatePath: claims.yaml, namespace: a}
  - {opcode: createPods, count: 4, namespace: a, podTemplatePath: claiming.yaml, steadyState: true, duration: 15ms, collectMetrics: true}
)",
       16, 0},
  };
  for (const Row& row : rows) {
    const auto outcome = RunOps(row.ops);
    ASSERT_TRUE(outcome) << row.what << ": " << outcome.error().Message();
    ASSERT_EQ(outcome->phases.size(), 1U) << row.what;
    EXPECT_EQ(outcome->phases[0].counters.bound, row.bound) << row.what;
    EXPECT_EQ(outcome->phases[0].without_node, row.without_node) << row.what;
    EXPECT_GE(outcome->phases[0].counters.attempts, row.bound) << row.what;
  }
}

TEST(RunTest, ChurnGoesOnWhilePodsAreMeasured) {
  const char* churn = R"(
  - {{opcode: createNodes, count: 20, nodeTemplatePath: node.yaml}}
  - {{opcode: churn, mode: {}, number: {}, intervalMilliseconds: 10, templatePaths: [huge.yaml]}}
  - {{opcode: createPods, count: 100, collectMetrics: true}}
)";
  const auto creates = RunOps(fmt::format(fmt::runtime(churn), "create", 3));
  ASSERT_TRUE(creates) << creates.error().Message();
  EXPECT_EQ(creates->phases[0].counters.failed_attempts, 3);
  const auto forever = RunOps(fmt::format(fmt::runtime(churn), "create", 0));
  ASSERT_TRUE(forever) << forever.error().Message();
  EXPECT_GE(forever->phases[0].counters.failed_attempts, 9);
  const auto recreates = RunOps(fmt::format(fmt::runtime(churn), "recreate", 1));
  ASSERT_TRUE(recreates) << recreates.error().Message();
  EXPECT_EQ(recreates->phases[0].counters.failed_attempts, 5);
}

TEST(RunTest, ErrorsNameTheOperation) {
  const struct {
    const char* what;
    const char* ops;
    const char* says;
  } rows[] = {
      {"a file that is not there",
       "\n  - {opcode: createNodes, count: 1, nodeTemplatePath: none.yaml}\n",
       "op 0 (createNodes): none.yaml: no such file"},
      {"a pod where a node should be",
       "\n  - {opcode: createNodes, count: 1, nodeTemplatePath: pod.yaml}\n",
       "op 0 (createNodes): pod.yaml: a Pod instead of a Node"},
      {"an update of nothing", "\n  - {opcode: updateAny, templatePath: grown-node.yaml}\n",
       "op 0 (updateAny): grown-node.yaml"},
      {"pods that find no node and are not what is measured",
       "\n  - {opcode: createPods, count: 2, namespace: a}\n",
       "op 0 (createPods): only 0 of 2 pods in namespace a"},
      {"a collection inside another",
       "\n  - {opcode: startCollectingMetrics}\n  - {opcode: startCollectingMetrics}\n",
       "op 1 (startCollectingMetrics): metrics are being collected already"},
      {"a namespace for what has none",
       "\n  - {opcode: createAny, templatePath: class.yaml, namespace: a}\n", "DeviceClass"},
  };
  for (const auto& row : rows) {
    const auto outcome = RunOps(row.ops);
    ASSERT_FALSE(outcome) << row.what;
    EXPECT_NE(outcome.error().Message().find(row.says), std::string::npos)
        << row.what << ": " << outcome.error().Message();
  }
}

// As many pods as devices that are free of taints are bound.
TEST(RunTest, GatesAboutDevicesAreFollowed) {
  constexpr const char* kOps = R"(
  - {{opcode: createNodes, count: 2, nodeTemplatePath: named-node.yaml}}
  - {{opcode: createAny, templatePath: {}}}
  - {{opcode: createResourceDriver, driverName: d, nodes: 'node-*', maxClaimsPerNode: 3}}
  - {{opcode: createAny, templatePath: extended-class.yaml}}
  - {{opcode: createPods, count: 5, podTemplatePath: extended.yaml, collectMetrics: true}}
)";
  const struct {
    const char* what;
    const char* gates;
    const char* rule;
    int64_t bound;
  } rows[] = {
      {"no gate: nothing provides the resource", "", "class.yaml", 0},
      {"devices stand for the resource", "DRAExtendedResource: true", "class.yaml", 5},
      {"a rule taints them, and is not looked at", "DRAExtendedResource: true", "taint.yaml", 5},
      {"a rule taints those of one node", "DRAExtendedResource: true, DRADeviceTaints: true",
       "taint.yaml", 3},
  };
  for (const auto& row : rows) {
    const auto outcome = RunOps(fmt::format(fmt::runtime(kOps), row.rule), row.gates);
    ASSERT_TRUE(outcome) << row.what << ": " << outcome.error().Message();
    EXPECT_EQ(outcome->phases[0].counters.bound, row.bound) << row.what;
    EXPECT_EQ(outcome->phases[0].without_node, 5 - row.bound) << row.what;
  }
}

TEST(RunTest, AWorkloadThatDemandsAGateOfAnotherVersionIsSkippedWithAReason) {
  const auto outcome = RunOps("\n  - {opcode: barrier}\n", "GenericWorkload: true");
  ASSERT_TRUE(outcome) << outcome.error().Message();
  EXPECT_NE(outcome->skipped.find("GenericWorkload"), std::string::npos);
}

}  // namespace
}  // namespace berth::bench
