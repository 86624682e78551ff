#include "sim/record/workload_name.h"

#include <gtest/gtest.h>

namespace berth::sim {
namespace {

api::Pod PodOf(const std::string& name, const std::string& kind, const std::string& owner) {
  api::Pod pod;
  pod.metadata.namespace_ = "shop";
  pod.metadata.name = name;
  if (kind.empty()) return pod;
  api::OwnerReference& reference = pod.metadata.owner_references.emplace_back();
  reference.kind = kind;
  reference.name = owner;
  reference.controller = true;
  return pod;
}

TEST(WorkloadName, OfPodsWithAController) {
  EXPECT_EQ(WorkloadName(PodOf("db-0", "StatefulSet", "db")), "StatefulSet shop/db");
  api::Pod pod = PodOf("web-5d4f-x", "ReplicaSet", "web-5d4f");
  EXPECT_EQ(WorkloadName(pod), "ReplicaSet shop/web-5d4f");
  pod.metadata.labels["pod-template-hash"] = "5d4f";
  EXPECT_EQ(WorkloadName(pod), "Deployment shop/web");
  pod.metadata.labels["pod-template-hash"] = "web-5d4f";
  EXPECT_EQ(WorkloadName(pod), "ReplicaSet shop/web-5d4f");
}

TEST(WorkloadName, OfPodsWithout) {
  EXPECT_EQ(WorkloadName(PodOf("batch-17", "", "")), "Pod shop/batch-*");
  EXPECT_EQ(WorkloadName(PodOf("batch", "", "")), "Pod shop/batch");
  EXPECT_EQ(WorkloadName(PodOf("v2", "", "")), "Pod shop/v2");
  EXPECT_EQ(WorkloadName(PodOf("17", "", "")), "Pod shop/17");
}

}  // namespace
}  // namespace berth::sim
