#include "plugins/dynamic_resources/pre_bind.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/points/device_claims.h"
#include "framework/runtime/cycle.h"
#include "plugins/common/testing/pre_bind.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/testing/devices.h"

namespace berth::plugins::dynamic_resources {
namespace {

using framework::ApiWrite;
using framework::PreBindStep;
using framework::PreBindTask;
using framework::WriteResult;
using testing::ElementsAre;
using Code = WriteResult::Code;

constexpr std::string_view kVersion = R"(, "resourceVersion": "5")";
constexpr std::string_view kProtected =
    R"(, "resourceVersion": "5", "finalizers": ["resource.kubernetes.io/delete-protection"])";

class PreBind : public testing::Test {
 protected:
  explicit PreBind(const config::DraFeatures& features = {}, int minor = 34) {
    cluster.Class("gpu", "device.driver == 'gpu'");
    config::ResolvedProfile resolved;
    using config::ExtensionPoint;
    for (const ExtensionPoint point : {ExtensionPoint::kPreFilter, ExtensionPoint::kFilter,
                                       ExtensionPoint::kReserve, ExtensionPoint::kPreBind}) {
      resolved.points[config::Index(point)].push_back({std::string(kName), 0});
    }
    resolved.plugin_config.push_back({std::string(kName), {}, config::DynamicResourcesArgs()});
    config::Behaviour behaviour{config::FeatureGates(minor)};
    behaviour.dra = features;
    static constexpr framework::RegistryRow kRow{kName, &Make};
    profile = framework::Profile::Make(resolved, {&kRow, 1}, {*cluster, 0, behaviour}).value();
    cycle = std::make_unique<framework::Cycle>(*profile);
    cluster.Node("a");
    cluster.Slice("sa", "gpu", "pool", R"("nodeName": "a")", TestCluster::Plain(2));
  }

  void Claim(const std::string& name, std::string_view meta, const std::string& status = "") {
    cluster.Claim(name, Request("gpu", 1), status, std::string(meta));
  }

  // A cycle of the pod up to PreBind; its status if there is none.
  std::string Schedule(const cluster::Pod& pod) {
    cycle->Begin(*cluster, pod);
    if (auto status = cycle->RunPreFilter(); !status.Ok()) return status.Message();
    cluster::NodeSet nodes = (*cluster).Nodes();
    cycle->RunFilter(nodes);
    const cluster::NodeIndex node = (*cluster).FindNode("a");
    if (!nodes.Contains(node)) return "does not fit";
    if (auto status = profile->reserve[0].plugin->Reserve(cycle->context(), cycle->state(0), node);
        !status.Ok()) {
      return status.Message();
    }
    task = profile->pre_bind[0].plugin->PreparePreBind(cycle->context(), cycle->state(0), node);
    return "";
  }

  // "done", "wait", "fail: why", or what is written: "name@version finalizers allocated users".
  std::string Next(const std::vector<WriteResult>& results = {}) {
    PreBindStep step = task->Next(*cluster, now, results);
    const auto told = dynamic_cast<framework::PodPreBindTask&>(*task).TakeEvent();
    event = told ? told->reason + ": " + told->note : "";
    waited = Waited();
    if (step.kind != PreBindStep::Kind::kWrite) return WordOf(step);
    EXPECT_EQ(step.writes.size(), 1u);
    sent = std::get<api::ResourceClaim>(step.writes[0].object);
    return Text(step.writes[0]);
  }

  // How waiting for conditions has ended, and for which devices; empty: it has not.
  std::string Waited() {
    const auto wait = dynamic_cast<framework::PodPreBindTask&>(*task).TakeWait();
    if (!wait) return "";
    std::string text =
        std::string(wait->result) + " " + std::to_string(wait->waited_ns / 1'000'000'000) + " s";
    for (const auto& device : wait->devices) {
      text += " " + device.driver + (device.has_conditions ? "+" : "");
    }
    return text;
  }

  static std::string Text(const ApiWrite& write) {
    const auto& claim = std::get<api::ResourceClaim>(write.object);
    std::string text = write.verb == ApiWrite::Verb::kUpdateStatus ? "status " : "claim ";
    text += claim.metadata.name + "@" + claim.metadata.resource_version;
    for (const std::string& finalizer : claim.metadata.finalizers) {
      text += finalizer == kFinalizer ? " protected" : " " + finalizer;
    }
    if (claim.status.allocation) {
      for (const auto& d : claim.status.allocation->devices.results) text += " " + d.device;
    }
    for (const auto& user : claim.status.reserved_for) text += " for " + user.name;
    return text;
  }

  // The write as the API server took it.
  WriteResult Taken(const std::string& version) {
    sent.metadata.resource_version = version;
    return {Code::kOk, "", sent};
  }
  static WriteResult Refused(Code code, const std::string& message) { return {code, message, {}}; }

  size_t InFlight() { return cluster.Objects().in_flight_claims.Size(); }
  const api::ResourceClaim& Stored(const std::string& name) {
    return *cluster.Objects().resource_claims.Find("default", name);
  }
  void Unreserve(const cluster::Pod& pod) {
    const framework::CycleContext context{*cluster, pod, *pod.shape};
    profile->reserve[0].plugin->Unreserve(context, nullptr, (*cluster).FindNode("a"));
  }

  TestCluster cluster;
  std::unique_ptr<framework::Profile> profile;
  std::unique_ptr<framework::Cycle> cycle;
  std::unique_ptr<PreBindTask> task;
  api::ResourceClaim sent;  // by the last step
  std::string event;        // of the last step
  std::string waited;       // in the last step
  api::Time now;
};

TEST_F(PreBind, APodWithoutClaimsNeedsNothing) {
  EXPECT_EQ(Schedule(cluster.Pod("p", {})), "");
  EXPECT_EQ(task, nullptr);
}

TEST_F(PreBind, FirstTheFinalizerThenAllocationAndReservation) {
  Claim("c", kVersion);
  Claim("had", kVersion, Allocated("gpu", "pool", "gone"));
  ASSERT_EQ(Schedule(cluster.Pod("p", {"c", "had"})), "");
  EXPECT_EQ(InFlight(), 1u);
  EXPECT_EQ(Next(), "claim c@5 protected");
  EXPECT_EQ(Next({Taken("6")}), "status c@6 protected d0 for p");
  EXPECT_EQ(InFlight(), 1u);
  // The second claim has its allocation; the first is in the store and no longer in flight.
  EXPECT_EQ(Next({Taken("7")}), "status had@5 gone for p");
  EXPECT_EQ(InFlight(), 0u);
  EXPECT_EQ(Stored("c").metadata.resource_version, "7");
  EXPECT_TRUE(Stored("c").status.allocation);
  EXPECT_EQ(Next({Taken("8")}), "done");
  EXPECT_EQ(Stored("had").metadata.resource_version, "8");

  // The device stays taken, and the claim may be shared.
  Claim("more", kVersion);
  Claim("evenmore", kVersion);
  EXPECT_EQ(Schedule(cluster.Pod("q", {"more", "evenmore"})), "does not fit");
  EXPECT_EQ(Schedule(cluster.Pod("shares", {"c"})), "");
  EXPECT_EQ(Next(), "status c@7 protected d0 for p for shares");
}

TEST_F(PreBind, WritesTheWholeAllocation) {
  cluster.Claim(
      "c",
      Request("gpu", 1) +
          R"(, "config": [{"requests": ["r"], "opaque": {"driver": "d", "parameters": {"x": 1}}},)"
          R"( {"requests": ["other"], "opaque": {"driver": "d", "parameters": {"y": 1}}}])",
      "", std::string(kProtected));
  ASSERT_EQ(Schedule(cluster.Pod("p", {"c"})), "");
  ASSERT_EQ(Next(), "status c@5 protected d0 for p");
  EXPECT_EQ(
      api::ToJson(sent.status),
      R"({"allocation":{"devices":{"results":[{"request":"r","driver":"gpu","pool":"pool","device":"d0"}],)"
      R"("config":[{"source":"FromClass","requests":["r"],"opaque":{"driver":"d","parameters":{"of":"gpu"}}},)"
      R"({"source":"FromClaim","requests":["r"],"opaque":{"driver":"d","parameters":{"x":1}}}]},)"
      R"("nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In",)"
      R"("values":["a"]}]}]}},"reservedFor":[{"resource":"pods","name":"p","uid":"uid-p"}]})");
}

TEST_F(PreBind, TheStoreNeverGoesBack) {
  Claim("c", kProtected);
  ASSERT_EQ(Schedule(cluster.Pod("p", {"c"})), "");
  ASSERT_EQ(Next(), "status c@5 protected d0 for p");
  WriteResult taken = Taken("6");
  // The watch was faster: it shows this write and one that came after it.
  api::ResourceClaim later = sent;
  later.metadata.resource_version = "10";
  cluster.Objects().resource_claims.Set(later);
  EXPECT_EQ(Next({taken}), "done");
  EXPECT_EQ(Stored("c").metadata.resource_version, "10");
  EXPECT_EQ(InFlight(), 0u);
}

TEST_F(PreBind, AnAnswerWithoutTheObjectIsBelieved) {
  Claim("c", kVersion);
  ASSERT_EQ(Schedule(cluster.Pod("p", {"c"})), "");
  ASSERT_EQ(Next(), "claim c@5 protected");
  ASSERT_EQ(Next({{Code::kOk, "", {}}}), "status c@5 protected d0 for p");
  EXPECT_EQ(Next({{Code::kOk, "", {}}}), "done");
  EXPECT_TRUE(Stored("c").status.allocation);
}

TEST_F(PreBind, AClaimThatWasDeletedDoesNotComeBack) {
  Claim("c", kProtected);
  ASSERT_EQ(Schedule(cluster.Pod("p", {"c"})), "");
  ASSERT_EQ(Next(), "status c@5 protected d0 for p");
  cluster.Objects().resource_claims.Remove("default", "c");
  EXPECT_EQ(Next({Taken("6")}), "done");
  EXPECT_EQ(cluster.Objects().resource_claims.Find("default", "c"), nullptr);
}

TEST_F(PreBind, AfterAConflictTheNewerClaimIsTried) {
  Claim("c", kVersion);
  ASSERT_EQ(Schedule(cluster.Pod("p", {"c"})), "");
  ASSERT_EQ(Next(), "claim c@5 protected");
  // The store has nothing newer yet.
  EXPECT_EQ(Next({Refused(Code::kConflict, "modified")}), "wait");
  EXPECT_EQ(Next(), "wait");
  Claim("c", R"(, "resourceVersion": "10", "finalizers": ["mine"])");
  EXPECT_EQ(Next(), "claim c@10 mine protected");
  EXPECT_EQ(Next({Taken("11")}), "status c@11 mine protected d0 for p");
  // Meanwhile the store shows a version older than the one that was written.
  EXPECT_EQ(Next({Refused(Code::kConflict, "modified")}), "wait");
  Claim("c", R"(, "resourceVersion": "12")");
  EXPECT_EQ(Next(), "claim c@12 protected");
  EXPECT_EQ(Next({Taken("13")}), "status c@13 protected d0 for p");
  EXPECT_EQ(Next({Taken("14")}), "done");
}

TEST_F(PreBind, ConflictsEnd) {
  Claim("c", kProtected);
  const cluster::Pod& pod = cluster.Pod("p", {"c"});
  ASSERT_EQ(Schedule(pod), "");
  std::string step = Next();
  for (int version = 6; version < 10; ++version) {
    EXPECT_EQ(step, "status c@" + std::to_string(version - 1) + " protected d0 for p");
    Claim("c",
          R"(, "finalizers": ["resource.kubernetes.io/delete-protection"], "resourceVersion": ")" +
              std::to_string(version) + R"(")");
    step = Next({Refused(Code::kConflict, "modified")});
  }
  EXPECT_EQ(Next({Refused(Code::kConflict, "modified")}),
            "fail: add allocation and reservation to claim default/c: modified");
  EXPECT_EQ(InFlight(), 0u);

  Claim("d", kProtected);
  ASSERT_EQ(Schedule(cluster.Pod("q", {"d"})), "");
  ASSERT_EQ(Next(), "status d@5 protected d0 for q");
  step = Next({Refused(Code::kConflict, "modified")});
  int waits = 0;
  for (; step == "wait" && waits < 100; ++waits) step = Next();
  EXPECT_EQ(step, "fail: add allocation and reservation to claim default/d: modified");
  EXPECT_LT(waits, 100);
}

TEST_F(PreBind, WhatMayBeWrongAfterAConflict) {
  struct Row {
    std::string_view what;
    std::string_view meta;
    std::string status;
    std::string_view expected;
  };
  const Row rows[] = {
      {"it was allocated by somebody", R"(, "resourceVersion": "6")",
       Allocated("gpu", "pool", "d1"),
       "fail: claim default/c got allocated elsewhere in the meantime"},
      {"it is being deleted",
       R"(, "resourceVersion": "6", "deletionTimestamp": "2024-01-01T00:00:00Z")", "",
       "fail: claim default/c got deleted in the meantime"},
      {"it is gone", "", "",
       "fail: get updated claim default/c after conflict: resourceclaims.resource.k8s.io \"c\" not "
       "found"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Claim("c", kVersion);
    ASSERT_EQ(Schedule(cluster.Pod("p", {"c"})), "");
    ASSERT_EQ(Next(), "claim c@5 protected");
    if (row.meta.empty()) {
      cluster.Objects().resource_claims.Remove("default", "c");
    } else {
      Claim("c", row.meta, row.status);
    }
    EXPECT_EQ(Next({Refused(Code::kConflict, "modified")}), row.expected);
    EXPECT_EQ(InFlight(), 0u);
  }
}

TEST_F(PreBind, WritesThatFail) {
  struct Row {
    std::string_view what;
    std::string_view meta;
    std::string status;
    std::string_view expected;
  };
  const Row rows[] = {
      {"the finalizer", kVersion, "", "fail: add finalizer to claim default/c: boom"},
      {"the allocation", kProtected, "",
       "fail: add allocation and reservation to claim default/c: boom"},
      {"the reservation", kProtected, Allocated("gpu", "pool", "d1"),
       "fail: add reservation to claim default/c: boom"},
  };
  for (const Row& row : rows) {
    for (const Code code : {Code::kError, Code::kNotFound}) {
      SCOPED_TRACE(row.what);
      Claim("c", row.meta, row.status);
      ASSERT_EQ(Schedule(cluster.Pod("p", {"c"})), "");
      Next();
      EXPECT_EQ(Next({Refused(code, "boom")}), row.expected);
      EXPECT_EQ(InFlight(), 0u);
      EXPECT_TRUE(task->Undo(*cluster).empty());
    }
  }
  Claim("c", kVersion);
  ASSERT_EQ(Schedule(cluster.Pod("p", {"c"})), "");
  Next();
  EXPECT_EQ(Next(), "fail: the write to the API was not carried out");
}

TEST_F(PreBind, UndoTakesBackReservations) {
  Claim("c", kProtected);
  Claim("next", kProtected);
  Claim("before", kProtected,
        Allocated("gpu", "pool", "gone", "",
                  R"(, "reservedFor": [{"resource": "pods", "name": "o", "uid": "uid-o"},)"
                  R"( {"resource": "pods", "name": "p", "uid": "uid-p"}])"));
  ASSERT_EQ(Schedule(cluster.Pod("p", {"before", "c", "next"})), "");
  // The pod was listed already by an earlier attempt.
  ASSERT_EQ(Next(), "status c@5 protected d0 for p");
  ASSERT_EQ(Next({Taken("6")}), "status next@5 protected d1 for p");
  EXPECT_EQ(InFlight(), 1u);
  std::vector<std::string> undone;
  for (const ApiWrite& write : task->Undo(*cluster)) undone.push_back(Text(write));
  EXPECT_THAT(undone,
              ElementsAre("status before@5 protected gone for o", "status c@6 protected d0"));
  EXPECT_EQ(InFlight(), 0u);
}

TEST_F(PreBind, UndoSeesWhatWasWrittenWithoutAnAnswer) {
  Claim("c", kProtected);
  ASSERT_EQ(Schedule(cluster.Pod("p", {"c"})), "");
  ASSERT_EQ(Next(), "status c@5 protected d0 for p");
  ASSERT_EQ(Next({Refused(Code::kError, "timeout")}),
            "fail: add allocation and reservation to claim default/c: timeout");
  sent.metadata.resource_version = "6";
  cluster.Objects().resource_claims.Set(sent);
  const auto writes = task->Undo(*cluster);
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(Text(writes[0]), "status c@6 protected d0");
}

TEST_F(PreBind, NothingStaysInFlight) {
  Claim("c", kVersion);
  const cluster::Pod& p = cluster.Pod("p", {"c"});
  const cluster::Pod& q = cluster.Pod("q", {"c"});
  ASSERT_EQ(Schedule(p), "");
  ASSERT_EQ(Next(), "claim c@5 protected");
  EXPECT_EQ(Schedule(q), "resource claim default/c is in the process of being allocated");
  Unreserve(q);
  EXPECT_EQ(InFlight(), 1u) << "it is not q's";
  task = nullptr;
  EXPECT_EQ(InFlight(), 0u);

  // Without the cycle's state, and before the task goes.
  ASSERT_EQ(Schedule(p), "");
  EXPECT_EQ(InFlight(), 1u);
  std::unique_ptr<PreBindTask> old = std::move(task);
  Unreserve(p);
  EXPECT_EQ(InFlight(), 0u);
  Unreserve(p);
  ASSERT_EQ(Schedule(q), "");
  old = nullptr;
  EXPECT_EQ(InFlight(), 1u) << "it is q's now";
}

TEST_F(PreBind, TwoPodsShareAClaim) {
  Claim("c", kProtected, Allocated("gpu", "pool", "d0"));
  ASSERT_EQ(Schedule(cluster.Pod("p", {"c"})), "");
  std::unique_ptr<PreBindTask> first = std::move(task);
  ASSERT_EQ(Schedule(cluster.Pod("q", {"c"})), "");
  std::unique_ptr<PreBindTask> second = std::move(task);
  // Both start from the same version; the API server takes the first.
  task = std::move(second);
  ASSERT_EQ(Next(), "status c@5 protected d0 for q");
  task.swap(first);
  ASSERT_EQ(Next(), "status c@5 protected d0 for p");
  EXPECT_EQ(Next({Taken("6")}), "done");
  task.swap(first);
  EXPECT_EQ(Next({Refused(Code::kConflict, "modified")}), "status c@6 protected d0 for p for q");
  EXPECT_EQ(Next({Taken("7")}), "done");
  // The first is not bound after all: the second keeps its place.
  const auto writes = first->Undo(*cluster);
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(Text(writes[0]), "status c@7 protected d0 for q");
}

// Devices that are made ready only when they are allocated.
class BindingConditions : public PreBind {
 protected:
  BindingConditions() : PreBind({.binding_conditions = true}) {
    cluster.Slice("sa", "gpu", "pool", R"("nodeName": "a")",
                  R"([{"name": "d0", "bindingConditions": ["Ready"],)"
                  R"( "bindingFailureConditions": ["Broken"]}, {"name": "d1"}])");
    now = *api::Time::Parse("2026-01-01T10:00:00Z");
    SetTime();
  }

  // A pod whose claim is written, up to where it waits.
  std::string Written(const std::string& pod, const std::string& claim) {
    Claim(claim, kProtected);
    if (std::string failed = Schedule(cluster.Pod(pod, {claim})); !failed.empty()) return failed;
    Next();
    return Next({Taken("6")});
  }
  // The driver reports a condition of the device.
  void Report(const std::string& claim, const std::string& type, const std::string& device = "d0") {
    api::ResourceClaim changed = Stored(claim);
    changed.status.devices = Parse<api::ResourceClaimStatus>(
                                 R"({"devices": [{"driver": "gpu", "pool": "pool", "device": ")" +
                                 device + R"(", "conditions": [{"type": ")" + type +
                                 R"(", "status": "True", "reason": "R", "message": "m \"q\""}]}]})")
                                 .devices;
    changed.metadata.resource_version += "0";
    cluster.Objects().resource_claims.Set(changed);
  }
  void SetTime() { dynamic_cast<framework::TimeAwarePlugin&>(*profile->Plugins()[0]).SetTime(now); }
  void Sleep(int64_t seconds) {
    now = api::Time::FromUnixNano(now.UnixNano() + seconds * 1'000'000'000);
    SetTime();
  }
};

TEST_F(BindingConditions, ThePodWaitsUntilTheyAreTrue) {
  EXPECT_EQ(Written("p", "c"), "wait");
  EXPECT_EQ(event, "BindingConditionsPending: waiting for binding conditions for device on node a");
  const api::AllocationResult& allocation = *sent.status.allocation;
  EXPECT_EQ(allocation.allocation_timestamp, now);
  EXPECT_THAT(allocation.devices.results[0].binding_conditions, ElementsAre("Ready"));
  EXPECT_THAT(allocation.devices.results[0].binding_failure_conditions, ElementsAre("Broken"));
  EXPECT_EQ(InFlight(), 0u);
  Report("c", "Ready", "d1");
  EXPECT_EQ(Next(), "wait") << "that is another device";
  EXPECT_EQ(event, "") << "it is told once";
  EXPECT_EQ(waited, "");
  Report("c", "Ready");
  Sleep(2);
  EXPECT_EQ(Next(), "done");
  EXPECT_EQ(waited, "success 2 s gpu+");
  task->Undo(*cluster);
  EXPECT_EQ(Waited(), "") << "it is reported once";
}

TEST_F(BindingConditions, GivingTheBindingUpEndsTheWait) {
  ASSERT_EQ(Written("p", "c"), "wait");
  task->Undo(*cluster);
  EXPECT_EQ(Waited(), "error 0 s gpu+");
}

TEST_F(BindingConditions, DevicesWithoutAreNotWaitedFor) {
  EXPECT_EQ(Written("p", "c"), "wait");
  EXPECT_EQ(Written("q", "d"), "done");
  EXPECT_EQ(event, "");
  EXPECT_EQ(waited, "");
  EXPECT_EQ(sent.status.allocation->allocation_timestamp, now) << "of every claim";
}

TEST_F(BindingConditions, AFailureIsReportedAndTheClaimIsOfNoUse) {
  ASSERT_EQ(Written("p", "c"), "wait");
  Report("c", "Broken");
  EXPECT_EQ(Next(), "fail: claim c binding failed: reason=R, message=\"m \\\"q\\\"\"");
  EXPECT_EQ(waited, "failure 0 s gpu+");
  const auto writes = task->Undo(*cluster);
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(Text(writes[0]), "status c@60 protected d0");
  cluster.Objects().resource_claims.Set(std::get<api::ResourceClaim>(writes[0].object));
  EXPECT_EQ(Schedule(cluster.Pod("p", {"c"})), "does not fit");
}

TEST_F(BindingConditions, ItEnds) {
  ASSERT_EQ(Written("p", "c"), "wait");
  for (int second = 0; second < 599; ++second) {
    Sleep(1);
    ASSERT_EQ(Next(), "wait") << second;
  }
  Sleep(1);
  EXPECT_EQ(Next(), "fail: device binding timeout");
  EXPECT_EQ(waited, "timeout 600 s gpu+");
  EXPECT_EQ(Schedule(cluster.Pod("q", {"c"})), "") << "the last second counts";
  Sleep(1);
  EXPECT_EQ(Schedule(cluster.Pod("q", {"c"})), "does not fit");
}

TEST_F(BindingConditions, ASecondPodWaitsOnlyForTheRest) {
  ASSERT_EQ(Written("p", "c"), "wait");
  Sleep(300);
  ASSERT_EQ(Schedule(cluster.Pod("q", {"c"})), "");
  ASSERT_EQ(Next(), "status c@6 protected d0 for p for q");
  EXPECT_EQ(Next({Taken("7")}), "wait");
  EXPECT_EQ(sent.status.allocation->allocation_timestamp->UnixNano(),
            now.UnixNano() - 300'000'000'000);
  Sleep(300);
  EXPECT_EQ(Next(), "wait");
  Sleep(5);
  EXPECT_EQ(Next(), "fail: claim c binding timeout");
}

TEST_F(BindingConditions, AClaimThatIsGoneIsNotWaitedFor) {
  ASSERT_EQ(Written("p", "c"), "wait");
  cluster.Objects().resource_claims.Remove("default", "c");
  EXPECT_EQ(Next(), "fail: could not find ResourceClaim \"default/c\"");
  EXPECT_EQ(waited, "error 0 s gpu+");
}

// The claim is allocated when the cycle sees it, and no longer when it is written.
class Deallocated : public PreBind {
 protected:
  explicit Deallocated(int minor) : PreBind({.binding_conditions = true}, minor) {
    Claim("c", kProtected, Allocated("gpu", "pool", "d0"));
    EXPECT_EQ(Schedule(cluster.Pod("p", {"c"})), "");
    Claim("c", R"(, "resourceVersion": "6")");
  }
};
class DeallocatedIn135 : public Deallocated {
 protected:
  DeallocatedIn135() : Deallocated(35) {}
};
class DeallocatedIn136 : public Deallocated {
 protected:
  DeallocatedIn136() : Deallocated(36) {}
};

TEST_F(DeallocatedIn135, TheApiServerDecides) { EXPECT_EQ(Next(), "status c@6 for p"); }

TEST_F(DeallocatedIn136, PreBindFails) {
  EXPECT_EQ(Next(), "fail: claim default/c got deallocated elsewhere in the meantime");
}

TEST_F(PreBind, WithoutTheFeatureDevicesWithConditionsAreLeftAlone) {
  cluster.Slice("sa", "gpu", "pool", R"("nodeName": "a")",
                R"([{"name": "d0", "bindingConditions": ["Ready"]}, {"name": "d1"}])");
  Claim("c", kProtected);
  ASSERT_EQ(Schedule(cluster.Pod("p", {"c"})), "");
  EXPECT_EQ(Next(), "status c@5 protected d1 for p");
  EXPECT_EQ(sent.status.allocation->allocation_timestamp, std::nullopt);
  EXPECT_EQ(Next({Taken("6")}), "done");
}

}  // namespace
}  // namespace berth::plugins::dynamic_resources
