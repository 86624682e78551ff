#include "kube/watch/known_pods.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/codec/proto.h"

namespace berth::kube {
namespace {

api::Pod Ours() {
  api::Pod pod;
  pod.metadata.namespace_ = "ns";
  pod.metadata.name = "web-0";
  pod.metadata.uid = "8d2a4cbe-3d0f-4b55-9a3f-1c54c2a1b1c7";
  pod.metadata.resource_version = "7";
  pod.metadata.labels["app"] = "web";
  pod.spec.scheduler_name = "default-scheduler";
  pod.spec.containers.resize(1);
  pod.spec.containers[0].name = "main";
  pod.spec.containers[0].image = "example.com/web:1";
  pod.status.phase = "Pending";
  return pod;
}

api::Pod OnNode(std::string node = "a") {
  api::Pod pod = Ours();
  pod.spec.node_name = std::move(node);
  return pod;
}

class KnownPodsTest : public ::testing::Test {
 protected:
  KnownPodsTest() { pods_.Serve({"default-scheduler"}); }
  void Note(const api::Pod& pod) { pods_.Note(api::ToProto(pod)); }
  bool Decode(const api::Pod& pod) { return pods_.DecodeUpdate(api::ToProto(pod), &(got_ = {})); }

  KnownPods pods_{0x9876543210fedcba};
  api::Pod got_;
};

TEST_F(KnownPodsTest, ThatAPodGotItsNodeIsNoChangeOfItsSpec) {
  Note(Ours());
  api::Pod bound = OnNode();
  bound.metadata.resource_version = "8";
  bound.status.conditions.resize(1);
  bound.status.conditions[0].type = "PodScheduled";
  ASSERT_TRUE(Decode(bound));
  EXPECT_EQ(got_.metadata, bound.metadata);
  EXPECT_EQ(got_.status, bound.status);
  EXPECT_EQ(got_.spec.node_name, "a");
  EXPECT_EQ(got_.spec.scheduler_name, "default-scheduler");
  EXPECT_TRUE(got_.spec.containers.empty());
}

TEST_F(KnownPodsTest, EveryChangeOfAnotherPartIsSeen) {
  const std::vector<std::pair<std::string, std::function<void(api::Pod&)>>> changes = {
      {"a label", [](api::Pod& pod) { pod.metadata.labels["app"] = "shop"; }},
      {"a new label", [](api::Pod& pod) { pod.metadata.labels["b"] = ""; }},
      {"an owner", [](api::Pod& pod) { pod.metadata.owner_references.emplace_back().name = "rs"; }},
      {"an image", [](api::Pod& pod) { pod.spec.containers[0].image = "example.com/web:2"; }},
      {"a container", [](api::Pod& pod) { pod.spec.containers.emplace_back().name = "second"; }},
      {"a toleration", [](api::Pod& pod) { pod.spec.tolerations.emplace_back().key = "k"; }},
      {"a deadline", [](api::Pod& pod) { pod.spec.active_deadline_seconds = 5; }},
      {"its scheduler", [](api::Pod& pod) { pod.spec.scheduler_name = "other"; }},
      {"its uid", [](api::Pod& pod) { pod.metadata.uid += '0'; }},
  };
  for (const auto& [what, change] : changes) {
    Note(OnNode());
    ASSERT_TRUE(Decode(OnNode())) << what;
    api::Pod changed = OnNode();
    change(changed);
    EXPECT_FALSE(Decode(changed)) << what;
    Note(changed);
    EXPECT_EQ(Decode(changed), true) << what;
  }
}

TEST_F(KnownPodsTest, APodWithoutANodeIsAlwaysWhole) {
  Note(Ours());
  EXPECT_FALSE(Decode(Ours()));
}

TEST_F(KnownPodsTest, OthersPodsAreKnownOnceTheyHaveANode) {
  api::Pod pod = Ours();
  pod.spec.scheduler_name = "other";
  Note(pod);
  EXPECT_EQ(pods_.Size(), 0u);
  pod.spec.node_name = "a";
  EXPECT_FALSE(Decode(pod)) << "the engine has not heard of it";
  Note(pod);
  EXPECT_TRUE(Decode(pod));
}

TEST_F(KnownPodsTest, ForgetsPodsThatAreGoneAndEverythingWhenAsked) {
  Note(OnNode());
  pods_.Forget(OnNode().metadata.uid);
  EXPECT_FALSE(Decode(OnNode()));
  Note(OnNode());
  pods_.Serve({"another"});
  EXPECT_FALSE(Decode(OnNode()));
  EXPECT_EQ(pods_.Size(), 0u);
}

TEST_F(KnownPodsTest, BytesThatAreNoPodAreLeftToTheDecoder) {
  const std::string message = api::ToProto(OnNode());
  Note(OnNode());
  api::Pod pod;
  for (size_t size = 0; size < message.size(); ++size) {
    EXPECT_FALSE(pods_.DecodeUpdate(message.substr(0, size), &pod)) << size;
  }
  EXPECT_FALSE(pods_.DecodeUpdate(message + message, &pod)) << "parts in two pieces";
  EXPECT_TRUE(pods_.DecodeUpdate(message, &pod));
  pods_.Note(message.substr(0, message.size() - 1));
  EXPECT_EQ(pods_.Size(), 0u) << "whoever it was about, nothing is believed any more";
}

}  // namespace
}  // namespace berth::kube
