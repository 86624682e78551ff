#include "sim/host/model_api.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::sim {
namespace {

api::Pod NamedPod(const std::string& name) {
  api::Pod pod;
  pod.metadata.namespace_ = "ns";
  pod.metadata.name = name;
  return pod;
}

class ModelApiTest : public testing::Test {
 protected:
  ModelApiTest() {
    api_.Subscribe([this](const ApiChange& change) {
      const char* types[] = {"+", "~", "-"};
      changes_ += types[static_cast<int>(change.type)] + api::MetadataOf(*change.object)->name;
    });
  }
  const api::Pod* Pod(const std::string& name) { return api_.Find<api::Pod>("ns", name); }
  std::string Uid(const std::string& name) { return Pod(name)->metadata.uid; }
  scheduler::PodRef Ref(const std::string& name) { return {"ns", name, Uid(name)}; }

  EventLoop loop_{api::Time::FromUnixNano(1'700'000'000 * kSecond)};
  ModelApi api_{loop_};
  std::string changes_;
};

TEST_F(ModelApiTest, ANewObjectGetsItsIdentity) {
  ASSERT_TRUE(api_.Create(NamedPod("a")).Ok());
  ASSERT_TRUE(api_.Create(NamedPod("b")).Ok());
  EXPECT_NE(Uid("a"), Uid("b"));
  EXPECT_EQ(Pod("a")->metadata.generation, 1);
  EXPECT_EQ(Pod("a")->metadata.creation_timestamp, loop_.Time());
  EXPECT_EQ(Pod("b")->metadata.resource_version, std::to_string(api_.Version()));
  EXPECT_EQ(api_.Create(NamedPod("a")).code, 409) << "the name is taken";
  EXPECT_EQ(changes_, "+a+b");
}

TEST_F(ModelApiTest, AnUpdateOfAnOldVersionIsRefused) {
  api_.Create(NamedPod("a"));
  const api::Pod old_version = *Pod("a");
  api::Pod first = old_version;
  first.metadata.labels["x"] = "1";
  EXPECT_TRUE(api_.Update(first).Ok());
  api::Pod second = old_version;
  second.metadata.labels["x"] = "2";
  EXPECT_EQ(api_.Update(second).code, 409);
  EXPECT_EQ(Pod("a")->metadata.labels.at("x"), "1");
  EXPECT_EQ(api_.Update(NamedPod("gone")).code, 404);
}

TEST_F(ModelApiTest, AnUpdateThatChangesNothingIsNoChange) {
  api_.Create(NamedPod("a"));
  const uint64_t version = api_.Version();
  EXPECT_TRUE(api_.Update(*Pod("a")).Ok());
  EXPECT_EQ(api_.Version(), version);
  EXPECT_EQ(changes_, "+a");
}

TEST_F(ModelApiTest, StatusAndSpecAreWrittenApart) {
  api_.Create(NamedPod("a"));
  api::Pod both = *Pod("a");
  both.status.phase = "Running";
  both.spec.priority = 5;
  ASSERT_TRUE(api_.Update(both, true).Ok());
  EXPECT_EQ(Pod("a")->status.phase, "Running");
  EXPECT_FALSE(Pod("a")->spec.priority.has_value());
  EXPECT_EQ(Pod("a")->metadata.generation, 1) << "of the spec only";
  both.metadata.resource_version.clear();
  both.status.phase = "Failed";
  ASSERT_TRUE(api_.Update(both).Ok());
  EXPECT_EQ(Pod("a")->status.phase, "Running");
  EXPECT_EQ(Pod("a")->spec.priority, 5);
  EXPECT_EQ(Pod("a")->metadata.generation, 2);
}

TEST_F(ModelApiTest, APodIsBoundOnce) {
  api_.Create(NamedPod("a"));
  EXPECT_TRUE(api_.Bind(Ref("a"), "n1").Ok());
  EXPECT_EQ(Pod("a")->spec.node_name, "n1");
  ASSERT_EQ(Pod("a")->status.conditions.size(), 1u);
  EXPECT_EQ(Pod("a")->status.conditions[0].type, "PodScheduled");
  EXPECT_EQ(Pod("a")->status.conditions[0].status, "True");
  EXPECT_EQ(api_.Bind(Ref("a"), "n2").code, 409);
  EXPECT_EQ(api_.Bind(Ref("a"), "n1").code, 409) << "not even to the same node";
  EXPECT_EQ(Pod("a")->spec.node_name, "n1");
}

TEST_F(ModelApiTest, BindingsThatAreRefused) {
  api_.Create(NamedPod("a"));
  EXPECT_EQ(api_.Bind({"ns", "gone", "u"}, "n1").code, 404) << "no such pod";
  EXPECT_EQ(api_.Bind({"ns", "a", "another uid"}, "n1").code, 409) << "another pod of the name";
  api::Pod gated = NamedPod("gated");
  gated.spec.scheduling_gates = {{"wait"}};
  api_.Create(gated);
  EXPECT_EQ(api_.Bind(Ref("gated"), "n1").code, 409) << "gated";
  api_.Modify<api::Pod>("ns", "a",
                        [&](api::Pod& pod) { pod.metadata.deletion_timestamp = loop_.Time(); });
  EXPECT_EQ(api_.Bind(Ref("a"), "n1").code, 409) << "going away";
}

TEST_F(ModelApiTest, APatchLeavesTheRest) {
  api_.Create(NamedPod("a"));
  scheduler::PatchPodStatus patch{Ref("a"), api::PodCondition{}, std::nullopt};
  patch.condition->type = "PodScheduled";
  patch.condition->status = "False";
  EXPECT_TRUE(api_.PatchStatus(patch).Ok());
  EXPECT_TRUE(api_.PatchStatus({Ref("a"), std::nullopt, "n1"}).Ok());
  EXPECT_EQ(Pod("a")->status.conditions.size(), 1u);
  EXPECT_EQ(Pod("a")->status.nominated_node_name, "n1");
  EXPECT_TRUE(api_.PatchStatus({Ref("a"), std::nullopt, ""}).Ok());
  EXPECT_EQ(Pod("a")->status.nominated_node_name, "") << "cleared";
  changes_.clear();
  EXPECT_TRUE(api_.PatchStatus(patch).Ok());
  EXPECT_EQ(changes_, "") << "the same condition is no change";
}

TEST_F(ModelApiTest, APodWithoutANodeGoesAtOnce) {
  api_.Create(NamedPod("a"));
  EXPECT_EQ(api_.DeletePod({"ns", "a", "another uid"}).code, 409);
  EXPECT_TRUE(api_.DeletePod(Ref("a")).Ok());
  EXPECT_EQ(Pod("a"), nullptr);
  EXPECT_EQ(api_.DeletePod({"ns", "a", ""}).code, 404);
  EXPECT_EQ(changes_, "+a-a");
}

TEST_F(ModelApiTest, APodWithANodeTakesItsTime) {
  api_.Create(NamedPod("a"));
  api_.Bind(Ref("a"), "n1");
  EXPECT_TRUE(api_.DeletePod(Ref("a"), 5 * kSecond).Ok());
  ASSERT_NE(Pod("a"), nullptr);
  EXPECT_EQ(Pod("a")->metadata.deletion_timestamp, loop_.Time());
  EXPECT_TRUE(api_.DeletePod(Ref("a"), 5 * kSecond).Ok()) << "asking again changes nothing";
  loop_.RunUntil(4 * kSecond);
  EXPECT_NE(Pod("a"), nullptr);
  loop_.RunUntil(5 * kSecond);
  EXPECT_EQ(Pod("a"), nullptr);
  EXPECT_EQ(changes_, "+a~a~a-a");
}

TEST_F(ModelApiTest, ADeletionUnderWayDoesNotHitTheNextPodOfTheName) {
  api_.Create(NamedPod("a"));
  api_.Bind(Ref("a"), "n1");
  api_.DeletePod(Ref("a"), 5 * kSecond);
  api_.DeletePod(Ref("a"), 0);
  api_.Create(NamedPod("a"));
  loop_.RunUntil(kMinute);
  EXPECT_NE(Pod("a"), nullptr);
}

TEST_F(ModelApiTest, ADeletionIsAVersion) {
  api_.Create(NamedPod("a"));
  const uint64_t version = api_.Version();
  api_.Delete("Pod", "ns", "a");
  EXPECT_EQ(api_.Version(), version + 1);
  EXPECT_TRUE(api_.List("Pod").empty());
  EXPECT_EQ(api_.Delete("Pod", "ns", "a").code, 404);
  EXPECT_EQ(api_.Delete("Node", "", "n").code, 404);
}

}  // namespace
}  // namespace berth::sim
