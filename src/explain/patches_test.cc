#include "explain/patches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "explain/suggestions.h"

namespace berth::explain {
namespace {

using cluster::MakePod;

Workload Owned(const api::Pod& pod, const std::string& kind, const std::string& name) {
  Workload workload;
  workload.members.push_back({cluster::kNoPod, pod, false});
  workload.pending = 1;
  workload.kind = kind;
  workload.name = name;
  return workload;
}

TEST(Patches, ASpecPatchSaysWhatDiffers) {
  api::Pod before = MakePod("p")
                        .Requests("cpu", "4")
                        .Requests("example.com/gpu", "2")
                        .HostPort(80)
                        .NodeSelector("disk", "ssd")
                        .Gate("quota")
                        .Tolerates("a");
  before.spec.tolerations.push_back(
      {"node.kubernetes.io/not-ready", "Exists", "", "NoExecute", 300});
  api::Pod after = before;
  EXPECT_EQ(SpecPatch(before, after), "");
  LowerRequest(after, "cpu", 1500);
  LowerRequest(after, "example.com/gpu", 1);
  after.spec.containers[0].ports[0].host_port = 0;
  after.spec.node_selector.clear();
  after.spec.scheduling_gates.clear();
  after.spec.tolerations.push_back({"b", "Equal", "x", "NoSchedule", std::nullopt});
  EXPECT_EQ(SpecPatch(before, after),
            R"({"nodeSelector":{"disk":null},"tolerations":[{"key":"a","operator":"Exists"},)"
            R"({"key":"b","operator":"Equal","value":"x","effect":"NoSchedule"}],)"
            R"("containers":[{"name":"c","resources":{"requests":{"cpu":"1500m",)"
            R"("example.com/gpu":"1"},"limits":{"example.com/gpu":"1"}},)"
            R"("ports":[{"containerPort":80,"hostPort":null}]}],)"
            R"("schedulingGates":[{"$patch":"delete","name":"quota"}]})");
  after.spec.volumes.emplace_back().name = "v";
  EXPECT_EQ(SpecPatch(before, after), "") << "mounts of a volume are not known here";
}

TEST(Patches, TheCommandSuitsTheController) {
  const api::Pod pod = MakePod("web-1").Namespace("shop");
  const std::string spec = R"({"nodeSelector":{"disk":null}})";
  EXPECT_EQ(WorkloadPatch(Owned(pod, "Deployment", "web"), spec),
            R"(kubectl -n shop patch deployment web --type=strategic -p )"
            R"('{"spec":{"template":{"spec":{"nodeSelector":{"disk":null}}}}}')");
  EXPECT_THAT(WorkloadPatch(Owned(pod, "StatefulSet", "web"), spec),
              testing::EndsWith(" && kubectl -n shop delete pod web-1"));
  EXPECT_EQ(WorkloadPatch(Owned(pod, "Job", "web"), spec),
            "# to change in the manifest of Job shop/web:\n"
            "spec:\n  template:\n    spec:\n      nodeSelector:\n        disk: null\n");
  EXPECT_THAT(WorkloadPatch(Owned(pod, "", ""), spec),
              testing::AllOf(testing::StartsWith("kubectl -n shop get pod web-1 -o yaml | "),
                             testing::EndsWith(" | kubectl replace --force -f -")));
  EXPECT_THAT(WorkloadPatch(Owned(pod, "Deployment", "web;rm"), spec),
              testing::StartsWith("# to change"))
      << "no command with a name that a shell would obey";
}

TEST(Patches, AQuoteInAValueStaysAValue) { EXPECT_EQ(ShellQuoted("it's"), R"('it'\''s')"); }

}  // namespace
}  // namespace berth::explain
