#include "server/metrics/pod_resources.h"

#include <gtest/gtest.h>

#include "api/codec/json.h"

namespace berth::server {
namespace {

api::Pod PodOf(const std::string& name, const std::string& node, int priority,
               const std::string& resources) {
  const std::string json = R"({"metadata":{"namespace":"default","name":")" + name +
                           R"(","uid":")" + name +
                           R"("},"spec":{"schedulerName":"default-scheduler",)" +
                           (node.empty() ? "" : "\"nodeName\":\"" + node + "\",") +
                           "\"priority\":" + std::to_string(priority) +
                           ",\"containers\":[{\"name\":\"c\",\"resources\":" + resources + "}]}}";
  auto pod = api::FromJson<api::Pod>(json);
  EXPECT_TRUE(pod) << pod.error().Message();
  return *pod;
}

constexpr std::string_view kRequestHelp =
    "# HELP kube_pod_resource_request [STABLE] Resources requested by workloads on the cluster, "
    "broken down by pod. This shows the resource usage the scheduler and kubelet expect per pod "
    "for "
    "resources along with the unit for the resource if any.\n"
    "# TYPE kube_pod_resource_request gauge\n";

TEST(PodResources, RequestsAsRecorded) {
  cluster::Cluster cluster;
  cluster.AddPod(PodOf("h", "n1", 1000, R"({"requests":{"cpu":"1500m","memory":"64Mi"}})"));
  cluster.AddPod(PodOf("fail", "", 0, R"({"requests":{"cpu":"50","memory":"64Mi"}})"));
  EXPECT_EQ(
      WritePodResources(*CollectPodResources(cluster, {})),
      std::string(kRequestHelp) +
          "kube_pod_resource_request{namespace=\"default\",node=\"\",pod=\"fail\",priority=\"0\","
          "resource=\"cpu\",scheduler=\"default-scheduler\",unit=\"cores\"} 50\n"
          "kube_pod_resource_request{namespace=\"default\",node=\"\",pod=\"fail\",priority=\"0\","
          "resource=\"memory\",scheduler=\"default-scheduler\",unit=\"bytes\"} 6.7108864e+07\n"
          "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"h\",priority=\"1000\","
          "resource=\"cpu\",scheduler=\"default-scheduler\",unit=\"cores\"} 1.5\n"
          "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"h\",priority=\"1000\","
          "resource=\"memory\",scheduler=\"default-scheduler\",unit=\"bytes\"} 6.7108864e+07\n");
}

TEST(PodResources, LimitsComeFirstAndZerosNotAtAll) {
  cluster::Cluster cluster;
  cluster.AddPod(PodOf("p", "", 0, R"({"limits":{"hugepages-2Mi":"4Mi","memory":"0"}})"));
  const std::string text = WritePodResources(*CollectPodResources(cluster, {}));
  EXPECT_TRUE(text.starts_with("# HELP kube_pod_resource_limit [STABLE] Resources limit for "))
      << text;
  EXPECT_NE(text.find("resource=\"hugepages-2Mi\",scheduler=\"default-scheduler\",unit=\"bytes\"} "
                      "4.194304e+06\n"),
            std::string::npos);
  EXPECT_EQ(text.find("memory"), std::string::npos);
}

TEST(PodResources, PodsOfOtherSchedulersAreThereToo) {
  cluster::Cluster cluster;
  cluster.AddPod(PodOf("h", "n1", 1000, R"({"requests":{"cpu":"1500m"}})"));
  api::Pod other = PodOf("other", "", 0, R"({"requests":{"cpu":"100m"}})");
  other.metadata.uid = "u";
  other.spec.scheduler_name = "none";
  kube::OtherPods others;
  others.Serve({"default-scheduler"});
  others.Upsert(other);
  const std::string text = WritePodResources(*CollectPodResources(cluster, others));
  EXPECT_NE(text.find("kube_pod_resource_request{namespace=\"default\",node=\"\",pod=\"other\","
                      "priority=\"0\",resource=\"cpu\",scheduler=\"none\",unit=\"cores\"} 0.1\n"),
            std::string::npos)
      << text;
}

TEST(PodResources, NoPodsNoText) {
  cluster::Cluster cluster;
  EXPECT_EQ(WritePodResources(*CollectPodResources(cluster, {})), "");
}

TEST(PodResources, UnitsByResource) {
  const struct {
    const char* resource;
    const char* unit;
  } kRows[] = {{"cpu", "cores"},
               {"ephemeral-storage", "bytes"},
               {"attachable-volumes-csi-x", "integer"},
               {"example.com/gpu", ""}};
  for (const auto& row : kRows) {
    const ShapeUse use =
        UseOf(PodOf("p", "", 0, std::string(R"({"requests":{")") + row.resource + R"(":"2"}})"));
    ASSERT_EQ(use.requests.size(), 1u) << row.resource;
    EXPECT_EQ(use.requests[0].unit, row.unit) << row.resource;
  }
}

}  // namespace
}  // namespace berth::server
