#include "kube/host/other_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::kube {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

api::Pod MakePod(const char* uid, const char* scheduler, const char* node = "") {
  api::Pod pod;
  pod.metadata.namespace_ = "ns";
  pod.metadata.name = std::string("pod-") + uid;
  pod.metadata.uid = uid;
  pod.spec.scheduler_name = scheduler;
  pod.spec.node_name = node;
  pod.spec.containers.emplace_back();
  pod.spec.containers[0].resources.requests["cpu"] = *api::Quantity::Parse("250m");
  return pod;
}

TEST(OtherPodsTest, KnowsThoseOfOtherSchedulersUntilTheyHaveANode) {
  OtherPods others;
  others.Serve({"ours"});
  others.Upsert(MakePod("1", "ours"));
  others.Upsert(MakePod("2", "theirs"));
  others.Upsert(MakePod("3", "theirs"));
  others.Upsert(MakePod("4", "theirs", "n1"));
  ASSERT_THAT(others.ByUid(), SizeIs(2));
  const OtherPod& pod = others.ByUid().at("2");
  EXPECT_EQ(pod.name, "pod-2");
  EXPECT_EQ(pod.scheduler_name, "theirs");
  EXPECT_EQ(pod.requests.at("cpu").AsApproxDouble(), 0.25);
  others.Upsert(MakePod("2", "theirs", "n1"));
  EXPECT_THAT(others.ByUid(), SizeIs(1)) << "it has a node";
  others.Delete(MakePod("3", "theirs"));
  EXPECT_THAT(others.ByUid(), IsEmpty());
}

TEST(OtherPodsTest, WhatIsNotInANewListIsGone) {
  OtherPods others;
  others.Serve({"ours"});
  others.Upsert(MakePod("1", "theirs"));
  others.Replace("Node", {}, scheduler::ListPart::kWhole);
  EXPECT_THAT(others.ByUid(), SizeIs(1)) << "that was about nodes";
  others.Replace("Pod", {MakePod("2", "theirs")}, scheduler::ListPart::kFirst);
  others.Replace("Pod", {MakePod("3", "theirs")}, scheduler::ListPart::kLast);
  EXPECT_THAT(others.ByUid(), SizeIs(2));
  EXPECT_FALSE(others.ByUid().contains("1"));
  others.Serve({"theirs"});
  EXPECT_THAT(others.ByUid(), IsEmpty()) << "new profiles: what is known comes anew";
}

}  // namespace
}  // namespace berth::kube
