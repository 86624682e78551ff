#include "plugins/volume_binding/pre_bind.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/common/testing/pre_bind.h"
#include "plugins/common/testing/volumes.h"

namespace berth::plugins::volume_binding {
namespace {

using framework::PreBindStep;
using framework::PreBindTask;
using framework::WriteResult;
using Code = WriteResult::Code;

constexpr int64_t kTimeout = 600;

std::string Uses(const std::string& claim, const std::string& volume = "") {
  return "{'name':'" + (volume.empty() ? claim : volume) +
         "','persistentVolumeClaim':{'claimName':'" + claim + "'}}";
}

class PreBind : public testing::Test {
 public:
  PreBind() {
    a_ = world_.Node("a", "'zone':'a'");
    world_.Node("b", "'zone':'b'");
    world_.Class(
        "{'metadata':{'name':'local'},'provisioner':'kubernetes.io/no-provisioner',"
        "'volumeBindingMode':'WaitForFirstConsumer'}");
    world_.Class(
        "{'metadata':{'name':'csi'},'provisioner':'d',"
        "'volumeBindingMode':'WaitForFirstConsumer'}");
  }

  void Claim(const std::string& name, const std::string& storage_class,
             const std::string& annotations = "", const std::string& volume = "", int version = 5) {
    world_.Claim("{'metadata':{'name':'" + name + "','namespace':'ns','uid':'uid-" + name +
                 "','resourceVersion':'" + std::to_string(version) + "','annotations':{" +
                 annotations + "}},'spec':{'storageClassName':'" + storage_class +
                 "','accessModes':['ReadWriteOnce'],'volumeName':'" + volume +
                 "','resources':{'requests':{'storage':'1Gi'}}}}");
  }
  void Volume(const std::string& name, const std::string& more = "", int version = 5) {
    world_.Volume("{'metadata':{'name':'" + name + "','resourceVersion':'" +
                  std::to_string(version) +
                  "'},'spec':{'storageClassName':'local','accessModes':['ReadWriteOnce'],"
                  "'capacity':{'storage':'1Gi'}" +
                  (more.empty() ? "" : "," + more) + "},'status':{'phase':'Available'}}");
  }
  static std::string ClaimRef(const std::string& claim) {
    return "'claimRef':{'namespace':'ns','name':'" + claim + "','uid':'uid-" + claim + "'}";
  }
  static inline const std::string kCompleted = "'pv.kubernetes.io/bind-completed':'yes'";
  static inline const std::string kSelected = "'volume.kubernetes.io/selected-node':'a'";

  // A cycle of the pod up to PreBind on node a; what went wrong otherwise.
  std::string Schedule(const std::string& name, const std::string& volumes) {
    PluginRun run(plugin_, world_.cluster, world_.Pod(name, volumes));
    if (std::string status = run.PreFilter(); status != "Success") return status;
    if (std::string answer = run.Filter().at("a"); !answer.empty()) return answer;
    const framework::Status status = plugin_.Reserve(run.context(), run.state(), a_);
    if (!status.Ok()) return status.Message();
    task_ = plugin_.PreparePreBind(run.context(), run.state(), a_);
    return "";
  }
  // Long after the cycle.
  void Unreserve(const std::string& name) {
    const cluster::Pod& pod = world_.cluster.GetPod(world_.cluster.FindPod(name));
    plugin_.Unreserve({world_.cluster, pod, *pod.shape}, nullptr, a_);
  }

  // "done", "wait", "fail: why", or what is written: "volume@version=claim claim@version on node".
  std::string Next(const std::vector<WriteResult>& results = {}) {
    PreBindStep step = task_->Next(world_.cluster, now_, results);
    if (step.kind != PreBindStep::Kind::kWrite) return WordOf(step);
    sent_ = std::move(step.writes);
    std::string text;
    for (const auto& write : sent_) {
      EXPECT_EQ(write.verb, framework::ApiWrite::Verb::kUpdate);
      if (!text.empty()) text += ", ";
      if (const auto* volume = std::get_if<api::PersistentVolume>(&write.object)) {
        text += volume->metadata.name + "@" + volume->metadata.resource_version + "=" +
                volume->spec.claim_ref->name;
        if (volume->metadata.annotations.contains("pv.kubernetes.io/bound-by-controller")) {
          text += " by controller";
        }
      } else {
        const auto& meta = std::get<api::PersistentVolumeClaim>(write.object).metadata;
        text += meta.name + "@" + meta.resource_version + " on " +
                meta.annotations.at("volume.kubernetes.io/selected-node");
      }
    }
    return text;
  }

  // The `i`th write as the API server took it.
  WriteResult Taken(size_t i, const std::string& version) const {
    WriteResult result{Code::kOk, "", sent_[i].object};
    std::visit([&](auto& object) { object.metadata.resource_version = version; }, *result.written);
    return result;
  }
  static WriteResult Refused(Code code, const std::string& message) { return {code, message, {}}; }
  void Pass(int64_t seconds) { now_.seconds += seconds; }

  VolumeWorld world_;
  VolumeBinding plugin_{config::VolumeBindingArgs{.bind_timeout_seconds = kTimeout, .shape = {}}};
  cluster::NodeIndex a_;
  api::Time now_ = api::Time::FromUnixNano(1'700'000'000'500'000'000);
  std::unique_ptr<PreBindTask> task_;
  std::vector<framework::ApiWrite> sent_;  // by the last step that wrote
};

TEST_F(PreBind, APodWhoseClaimsAreBoundNeedsNothing) {
  EXPECT_EQ(Schedule("none", ""), "Skip");
  Volume("pv");
  Claim("data", "local", kCompleted, "pv");
  ASSERT_EQ(Schedule("p", Uses("data")), "");
  EXPECT_EQ(task_, nullptr);
}

TEST_F(PreBind, WritesEverythingThenWaitsUntilItIsBound) {
  Volume("pv");
  Claim("one", "local");
  Claim("two", "csi");
  ASSERT_EQ(Schedule("p", Uses("one") + "," + Uses("two")), "");
  EXPECT_EQ(Next(), "pv@5=one by controller, two@5 on a");
  // The watch is behind what was written.
  EXPECT_EQ(Next({Taken(0, "6"), Taken(1, "7")}), "wait");
  Pass(1);
  EXPECT_EQ(Next(), "wait");
  Volume("pv", ClaimRef("one"), 6);
  Claim("one", "local", kCompleted, "pv", 8);
  Claim("two", "csi", kSelected, "", 7);
  EXPECT_EQ(Next(), "wait");
  Volume("new", ClaimRef("two"), 9);
  Claim("two", "csi", kSelected + "," + kCompleted, "new", 10);
  EXPECT_NE(plugin_.Reserved("p"), nullptr);
  EXPECT_EQ(Next(), "done");
  EXPECT_EQ(plugin_.Reserved("p"), nullptr);
}

TEST_F(PreBind, BoundAtOnceIsDoneAtOnce) {
  Claim("data", "csi");
  Volume("new", ClaimRef("data"));
  ASSERT_EQ(Schedule("p", Uses("data")), "");
  ASSERT_NE(Next(), "");
  Claim("data", "csi", kSelected + "," + kCompleted, "new", 7);
  EXPECT_EQ(Next({Taken(0, "6")}), "done");
}

TEST_F(PreBind, AClaimUsedTwiceIsWrittenOnce) {
  Claim("data", "csi");
  ASSERT_EQ(Schedule("p", Uses("data", "x") + "," + Uses("data", "y")), "");
  EXPECT_EQ(Next(), "data@5 on a");
}

TEST_F(PreBind, AWriteThatFailsFailsThePod) {
  for (const Code code : {Code::kConflict, Code::kNotFound, Code::kError}) {
    Volume("pv");
    Volume("pv2");
    Claim("one", "local");
    Claim("two", "csi");
    ASSERT_EQ(Schedule("p", Uses("one") + "," + Uses("two")), "");
    ASSERT_EQ(Next(), "pv@5=one by controller, two@5 on a");
    // The words are the API server's, without any of ours.
    EXPECT_EQ(Next({Taken(0, "6"), Refused(code, "boom")}), "fail: boom");
    EXPECT_TRUE(task_->Undo(world_.cluster).empty());
    task_ = nullptr;
    EXPECT_NE(plugin_.Reserved("p"), nullptr);
    Unreserve("p");
    EXPECT_EQ(plugin_.Reserved("p"), nullptr);
    Unreserve("p");
    world_.cluster.RemovePod(world_.cluster.FindPod("p"));
  }
}

TEST_F(PreBind, WritesThatWereNotTriedAreAskedForAgain) {
  Claim("one", "csi");
  Claim("two", "csi");
  ASSERT_EQ(Schedule("p", Uses("one") + "," + Uses("two")), "");
  ASSERT_EQ(Next(), "one@5 on a, two@5 on a");
  EXPECT_EQ(Next({Taken(0, "6")}), "two@5 on a");
  EXPECT_EQ(Next(), "fail: the writes to the API were not carried out");
}

TEST_F(PreBind, WaitingEnds) {
  Claim("data", "csi");
  ASSERT_EQ(Schedule("p", Uses("data")), "");
  ASSERT_EQ(Next(), "data@5 on a");
  Pass(100);  // The time to write does not count.
  EXPECT_EQ(Next({Taken(0, "6")}), "wait");
  Claim("data", "csi", kSelected, "", 6);
  Pass(kTimeout - 1);
  now_.nanos = 999'999'999;
  EXPECT_EQ(Next(), "wait");
  Pass(1);
  now_.nanos = 500'000'000;
  EXPECT_EQ(Next(), "fail: binding volumes: context deadline exceeded");
}

TEST_F(PreBind, WhatGoesWrongWhileWaiting) {
  struct Row {
    std::string_view what;
    void (*change)(PreBind&);
    std::string_view expected;
  };
  const Row rows[] = {
      {"the provisioner gives up", [](PreBind& t) { t.Claim("data", "csi", "'x':'y'", "", 7); },
       "fail: binding volumes: provisioning failed for PVC \"data\""},
      {"the claim is deleted",
       [](PreBind& t) { t.world_.objects().persistent_volume_claims.Remove("ns", "data"); },
       "fail: binding volumes: failed to check provisioning pvc: could not find "
       "v1.PersistentVolumeClaim \"ns/data\""},
      {"the pod is deleted",
       [](PreBind& t) { t.world_.cluster.RemovePod(t.world_.cluster.FindPod("p")); },
       "fail: binding volumes: pod does not exist any more: pod \"p\" not found"},
      {"the node is deleted", [](PreBind& t) { t.world_.cluster.RemoveNode("a"); },
       "fail: binding volumes: failed to get node \"a\": node \"a\" not found"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    a_ = world_.Node("a", "'zone':'a'");
    Claim("data", "csi");
    ASSERT_EQ(Schedule("p", Uses("data")), "");
    ASSERT_EQ(Next(), "data@5 on a");
    row.change(*this);
    // At first the watch may just be behind.
    EXPECT_EQ(Next({Taken(0, "6")}), "wait");
    Pass(1);
    EXPECT_EQ(Next(), row.expected);
    const cluster::PodId pod = world_.cluster.FindPod("p");
    if (pod == cluster::kNoPod) {
      plugin_.Release("p");
      continue;
    }
    Unreserve("p");
    world_.cluster.RemovePod(pod);
  }
}

TEST_F(PreBind, UnreserveFreesTheVolumeForOthers) {
  Volume("pv");
  Claim("one", "local");
  Claim("two", "local");
  ASSERT_EQ(Schedule("p", Uses("one")), "");
  ASSERT_EQ(Next(), "pv@5=one by controller");
  auto first = std::move(task_);
  EXPECT_EQ(Schedule("q", Uses("two")),
            "UnschedulableAndUnresolvable: " + std::string(kBindConflict));
  Unreserve("p");
  first = nullptr;
  ASSERT_EQ(Schedule("r", Uses("two")), "");
  EXPECT_EQ(Next(), "pv@5=two by controller");
}

TEST_F(PreBind, TwoPodsShareAClaim) {
  Volume("pv");
  Claim("data", "local");
  ASSERT_EQ(Schedule("p", Uses("data")), "");
  auto first = std::move(task_);
  ASSERT_EQ(Schedule("q", Uses("data")), "");
  auto second = std::move(task_);
  task_ = std::move(first);
  EXPECT_EQ(Next(), "pv@5=data by controller");
  EXPECT_EQ(Next({Taken(0, "6")}), "wait");
  first = std::move(task_);
  // The second writes the same, but to a version that is gone.
  task_ = std::move(second);
  EXPECT_EQ(Next(), "pv@5=data by controller");
  EXPECT_EQ(Next({Refused(Code::kConflict, "modified")}), "fail: modified");
  task_ = nullptr;
  Unreserve("q");
  Volume("pv", ClaimRef("data"), 6);
  Claim("data", "local", kCompleted, "pv", 7);
  task_ = std::move(first);
  EXPECT_EQ(Next(), "done");
  // Tried again, the second finds its claim bound.
  world_.cluster.RemovePod(world_.cluster.FindPod("q"));
  ASSERT_EQ(Schedule("q", Uses("data")), "");
  EXPECT_EQ(task_, nullptr);
}

}  // namespace
}  // namespace berth::plugins::volume_binding
