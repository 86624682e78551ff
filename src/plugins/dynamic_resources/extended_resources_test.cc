#include "plugins/dynamic_resources/extended_resources.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/points/device_claims.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/diagnosis.h"
#include "plugins/common/testing/pre_bind.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/testing/devices.h"

namespace berth::plugins::dynamic_resources {
namespace {

using framework::PreBindStep;
using framework::WriteResult;
using testing::ElementsAre;
using Code = WriteResult::Code;

class Extended : public testing::Test {
 protected:
  explicit Extended(bool enabled = true, int minor = 34) {
    config::ResolvedProfile resolved;
    using config::ExtensionPoint;
    for (const ExtensionPoint point :
         {ExtensionPoint::kPreFilter, ExtensionPoint::kFilter, ExtensionPoint::kPostFilter,
          ExtensionPoint::kReserve, ExtensionPoint::kPreBind}) {
      resolved.points[config::Index(point)].push_back({std::string(kName), 0});
    }
    resolved.plugin_config.push_back({std::string(kName), {}, config::DynamicResourcesArgs()});
    config::Behaviour behaviour{config::FeatureGates(minor)};
    behaviour.dra.extended_resource = enabled;
    static constexpr framework::RegistryRow kRow{kName, &Make};
    profile = framework::Profile::Make(resolved, {&kRow, 1}, {*cluster, 0, behaviour}).value();
    cycle = std::make_unique<framework::Cycle>(*profile);
    cluster.Objects().device_classes.Set(Parse<api::DeviceClass>(
        R"({"metadata": {"name": "gpus"}, "spec": {"extendedResourceName": "x.com/gpu"}})"));
  }

  void Node(const std::string& name, const std::string& allocatable = "") {
    (*cluster).SetNode(Parse<api::Node>(R"({"metadata": {"name": ")" + name +
                                        R"("}, "status": {"allocatable": {)" + allocatable +
                                        "}}}"));
  }
  // `requests`: by container, the first of which is an init container.
  const cluster::Pod& Pod(const std::string& name, const std::vector<std::string>& requests,
                          const std::string& claims = "") {
    const auto container = [&](size_t i) {
      return R"({"name": "c)" + std::to_string(i) + R"(", "resources": {"requests": {)" +
             requests[i] + "}}}";
    };
    std::string containers;
    for (size_t i = 1; i < requests.size(); ++i) {
      containers += (i > 1 ? ", " : "") + container(i);
    }
    return (*cluster).GetPod((*cluster).AddPod(Parse<api::Pod>(
        R"({"metadata": {"name": ")" + name + R"(", "namespace": "default", "uid": "uid-)" + name +
        R"("}, "spec": {"initContainers": [)" + container(0) + R"(], "containers": [)" +
        containers + R"(], "resourceClaims": [)" + claims + "]}}")));
  }
  const cluster::Pod& Pod(const std::string& name, const std::string& requests) {
    return Pod(name, {"", requests});
  }

  // "a: possible, b: why not", by row; "skip"; or why PreFilter refused.
  std::string Filter(const cluster::Pod& pod) {
    cycle->Begin(*cluster, pod);
    if (const auto status = cycle->RunPreFilter(); !status.Ok()) return status.Message();
    if (cycle->FilterSkipped(0)) return "skip";
    cluster::NodeSet nodes = (*cluster).Nodes();
    cycle->RunFilter(nodes);
    std::string out;
    (*cluster).Nodes().ForEach([&](cluster::NodeIndex n) {
      out += (out.empty() ? "" : ", ") + (*cluster).NodeName(n) + ": ";
      if (nodes.Contains(n)) {
        out += "possible";
        return;
      }
      for (const std::string& reason : cycle->Reasons(cycle->verdicts()[n])) out += reason;
    });
    return out;
  }
  void Bind(const std::string& node) {
    const cluster::NodeIndex n = (*cluster).FindNode(node);
    ASSERT_TRUE(profile->reserve[0].plugin->Reserve(cycle->context(), cycle->state(0), n).Ok());
    task = profile->pre_bind[0].plugin->PreparePreBind(cycle->context(), cycle->state(0), n);
  }
  // The next step in words.
  std::string Next(const std::vector<WriteResult>& results = {}) {
    PreBindStep step = task->Next(*cluster, {}, results);
    if (const auto status = dynamic_cast<framework::PodPreBindTask&>(*task).TakePodStatus()) {
      EXPECT_EQ(step.kind, PreBindStep::Kind::kWrite);
      EXPECT_TRUE(step.writes.empty());
      std::string text = "pod uses " + status->resource_claim_name;
      for (const auto& m : status->request_mappings) {
        text += " " + m.container_name + "/" + m.resource_name + "=" + m.request_name;
      }
      return text;
    }
    if (step.kind != PreBindStep::Kind::kWrite) return WordOf(step);
    sent = std::get<api::ResourceClaim>(step.writes[0].object);
    using Verb = framework::ApiWrite::Verb;
    return (step.writes[0].verb == Verb::kCreate         ? "create "
            : step.writes[0].verb == Verb::kUpdateStatus ? "status "
                                                         : "claim ") +
           sent.metadata.name;
  }
  // The write as the API server took it.
  WriteResult Taken(const std::string& version) {
    if (sent.metadata.name.empty()) {
      sent.metadata.name = sent.metadata.generate_name + "x";
      sent.metadata.uid = "made";
    }
    sent.metadata.resource_version = version;
    return {Code::kOk, "", sent};
  }
  size_t InFlight() { return cluster.Objects().in_flight_claims.Size(); }

  TestCluster cluster;
  std::unique_ptr<framework::Profile> profile;
  std::unique_ptr<framework::Cycle> cycle;
  std::unique_ptr<framework::PreBindTask> task;
  api::ResourceClaim sent;
};

TEST_F(Extended, DevicesWhereTheNodeHasNothing) {
  Node("bare");
  Node("devices");
  Node("says", R"("x.com/gpu": "0")");
  cluster.Slice("s", "d", "p", R"("nodeName": "devices")", TestCluster::Plain(1));
  EXPECT_EQ(Filter(Pod("one", R"("x.com/gpu": "1")")),
            "bare: cannot allocate all claims, devices: possible, says: possible");
  EXPECT_EQ(Filter(Pod("two", R"("x.com/gpu": "2")")),
            "bare: cannot allocate all claims, devices: cannot allocate all claims, says: possible")
      << "how much the node has is for NodeResourcesFit to say";
  EXPECT_EQ(Filter(Pod("none", R"("x.com/gpu": "0")")), "skip");
  EXPECT_EQ(Filter(Pod("other", R"("x.com/fpga": "1")")), "skip");
  EXPECT_EQ(Filter(Pod("by-class", R"("deviceclass.resource.kubernetes.io/gpus": "1")")), "skip");
  EXPECT_EQ(Filter(Pod("both", R"("x.com/gpu": "1", "x.com/fpga": "1")")),
            "bare: cannot fit resource, devices: cannot fit resource, says: cannot fit resource");
}

TEST_F(Extended, TheClaimIsMadeAllocatedAndShown) {
  Node("a");
  cluster.Slice("s", "d", "p", R"("nodeName": "a")", TestCluster::Plain(4));
  const cluster::Pod& pod =
      Pod("p", {R"("x.com/gpu": "1")", R"("cpu": "1", "memory": "1Gi", "x.com/gpu": "2")", ""});
  ASSERT_EQ(Filter(pod), "a: possible");
  Bind("a");
  EXPECT_EQ(InFlight(), 1u);
  ASSERT_EQ(Next(), "create ");
  EXPECT_EQ(api::ToJson(sent.metadata),
            R"({"generateName":"p-extended-resources-","namespace":"default","annotations":)"
            R"({"resource.kubernetes.io/extended-resource-claim":"true"},"ownerReferences":)"
            R"([{"apiVersion":"v1","kind":"Pod","name":"p","uid":"uid-p","controller":true,)"
            R"("blockOwnerDeletion":true}]})");
  std::vector<std::string> requests;
  for (const auto& request : sent.spec.devices.requests) {
    requests.push_back(request.name + " " + std::to_string(request.exactly->count) + " " +
                       request.exactly->device_class_name);
  }
  EXPECT_THAT(requests,
              ElementsAre("container-0-request-0 1 gpus", "container-1-request-2 2 gpus"));
  ASSERT_EQ(Next({Taken("5")}), "claim p-extended-resources-x");
  ASSERT_EQ(Next({Taken("6")}), "status p-extended-resources-x");
  EXPECT_EQ(sent.status.allocation->devices.results.size(), 3u);
  EXPECT_EQ(Next({Taken("7")}),
            "pod uses p-extended-resources-x c0/x.com/gpu=container-0-request-0 "
            "c1/x.com/gpu=container-1-request-2");
  // Its devices stay in flight until the watch shows it.
  EXPECT_EQ(Next({{Code::kOk, "", {}}}), "wait");
  EXPECT_EQ(InFlight(), 1u);
  api::ResourceClaim first = sent;
  first.status = {};
  first.metadata.resource_version = "5";
  cluster.Objects().resource_claims.Set(first);
  EXPECT_EQ(Next(), "done");
  EXPECT_EQ(InFlight(), 0u);
  EXPECT_EQ(cluster.Objects()
                .resource_claims.Find("default", "p-extended-resources-x")
                ->metadata.resource_version,
            "7");
  const auto undone = task->Undo(*cluster);
  ASSERT_EQ(undone.size(), 1u);
  EXPECT_EQ(undone[0].verb, framework::ApiWrite::Verb::kDelete);
  EXPECT_EQ(std::get<api::ResourceClaim>(undone[0].object).metadata.name, sent.metadata.name);
}

class ExtendedSince135 : public Extended {
 protected:
  ExtendedSince135() : Extended(true, 35) {}

  // The requests of the claim for the pod on the node.
  std::vector<std::string> Requests(const std::string& node) {
    Bind(node);
    EXPECT_EQ(Next(), "create ");
    std::vector<std::string> requests;
    for (const auto& request : sent.spec.devices.requests) {
      requests.push_back(request.name + " " + std::to_string(request.exactly->count) + " " +
                         request.exactly->device_class_name);
    }
    return requests;
  }
};

TEST_F(ExtendedSince135, ANodeWithNoneOfItGetsDevices) {
  Node("devices");
  Node("empty", R"("x.com/gpu": "0")");
  Node("has", R"("x.com/gpu": "1")");
  cluster.Slice("s", "d", "p", R"("nodeName": "devices")", TestCluster::Plain(1));
  EXPECT_EQ(Filter(Pod("one", R"("x.com/gpu": "1")")),
            "devices: possible, empty: cannot allocate all claims, has: possible");
  EXPECT_EQ(
      Filter(Pod("by-class", R"("deviceclass.resource.kubernetes.io/gpus": "1")")),
      "devices: possible, empty: cannot allocate all claims, has: cannot allocate all claims");
}

TEST_F(ExtendedSince135, WhatTheNodeProvidesIsNotInTheClaim) {
  Node("a", R"("x.com/gpu": "4")");
  cluster.Slice("s", "d", "p", R"("nodeName": "a")", TestCluster::Plain(1));
  ASSERT_EQ(
      Filter(Pod("both", R"("x.com/gpu": "3", "deviceclass.resource.kubernetes.io/gpus": "1")")),
      "a: possible");
  EXPECT_THAT(Requests("a"), ElementsAre("container-1-request-0 1 gpus"));
}

TEST_F(ExtendedSince135, AnInitContainerUsesTheDevicesOfLaterOnes) {
  Node("a");
  cluster.Slice("s", "d", "p", R"("nodeName": "a")", TestCluster::Plain(4));
  ASSERT_EQ(Filter(Pod("p", {R"("x.com/gpu": "3")", R"("x.com/gpu": "1")", R"("x.com/gpu": "1")"})),
            "a: possible");
  EXPECT_THAT(Requests("a"),
              ElementsAre("container-0-request-0 1 gpus", "container-1-request-0 1 gpus",
                          "container-2-request-0 1 gpus"));
  EXPECT_FALSE(sent.metadata.owner_references[0].block_owner_deletion.has_value());
  Next({Taken("5")});
  Next({Taken("6")});
  EXPECT_EQ(Next({Taken("7")}),
            "pod uses p-extended-resources-x c1/x.com/gpu=container-1-request-0 "
            "c2/x.com/gpu=container-2-request-0 c0/x.com/gpu=container-1-request-0 "
            "c0/x.com/gpu=container-2-request-0 c0/x.com/gpu=container-0-request-0");
}

TEST_F(ExtendedSince135, TheNewestClassStandsForTheResource) {
  Node("a");
  cluster.Objects().device_classes.Set(Parse<api::DeviceClass>(
      R"({"metadata": {"name": "newer", "creationTimestamp": "2026-01-01T00:00:00Z"},
          "spec": {"extendedResourceName": "x.com/gpu"}})"));
  cluster.Slice("s", "d", "p", R"("nodeName": "a")", TestCluster::Plain(1));
  ASSERT_EQ(Filter(Pod("p", R"("x.com/gpu": "1")")), "a: possible");
  EXPECT_THAT(Requests("a"), ElementsAre("container-1-request-0 1 newer"));
}

TEST_F(Extended, TwoPodsInFlight) {
  Node("a");
  cluster.Slice("s", "d", "p", R"("nodeName": "a")", TestCluster::Plain(2));
  ASSERT_EQ(Filter(Pod("p", R"("x.com/gpu": "1")")), "a: possible");
  Bind("a");
  const auto first = std::move(task);
  ASSERT_EQ(Filter(Pod("q", R"("x.com/gpu": "1")")), "a: possible");
  Bind("a");
  EXPECT_EQ(InFlight(), 2u);
  EXPECT_EQ(Filter(Pod("r", R"("x.com/gpu": "1")")), "a: cannot allocate all claims");
  task = nullptr;
  EXPECT_EQ(InFlight(), 1u);
}

TEST_F(Extended, WhatMayFail) {
  Node("a");
  cluster.Slice("s", "d", "p", R"("nodeName": "a")", TestCluster::Plain(1));
  ASSERT_EQ(Filter(Pod("p", R"("x.com/gpu": "1")")), "a: possible");
  Bind("a");
  Next();
  EXPECT_EQ(Next({{Code::kError, "forbidden", {}}}),
            "fail: create claim for extended resources : forbidden");
  EXPECT_TRUE(task->Undo(*cluster).empty());
  EXPECT_EQ(InFlight(), 0u);

  ASSERT_EQ(Filter(Pod("q", R"("x.com/gpu": "1")")), "a: possible");
  Bind("a");
  Next();
  Next({Taken("5")});
  Next({Taken("6")});
  Next({Taken("7")});
  EXPECT_EQ(Next({{Code::kError, "boom", {}}}),
            "fail: update pod default/q ExtendedResourceClaimStatus: boom");
  EXPECT_EQ(task->Undo(*cluster).size(), 1u);
}

TEST_F(ExtendedSince135, AFailureToCreateTheClaimNamesTheNamespace) {
  Node("a");
  cluster.Slice("s", "d", "p", R"("nodeName": "a")", TestCluster::Plain(1));
  ASSERT_EQ(Filter(Pod("p", R"("x.com/gpu": "1")")), "a: possible");
  Bind("a");
  Next();
  EXPECT_EQ(Next({{Code::kError, "forbidden", {}}}),
            "fail: create claim for extended resources default/: forbidden");
}

TEST_F(Extended, ANodeThatHasTheResourceNeedsNoClaim) {
  Node("a", R"("x.com/gpu": "1")");
  ASSERT_EQ(Filter(Pod("p", R"("x.com/gpu": "1")")), "a: possible");
  Bind("a");
  EXPECT_EQ(InFlight(), 0u);
  EXPECT_EQ(Next(), "done");
}

TEST_F(Extended, AClaimOfAnEarlierAttemptIsRemoved) {
  Node("a");
  cluster.Slice("s", "d", "p", R"("nodeName": "a")", TestCluster::Plain(2));
  const cluster::Pod& pod = Pod("p", R"("x.com/gpu": "1")");
  const auto owned_by = [&](const std::string& uid) {
    return R"(, "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},)"
           R"( "ownerReferences": [{"name": "p", "controller": true, "uid": ")" +
           uid + R"("}])";
  };
  cluster.Claim("others", Request("gpus", 1), "", owned_by("another"));
  EXPECT_EQ(Filter(pod), "a: possible");
  cluster.Claim("left", Request("gpus", 1), Allocated("d", "p", "d0"), owned_by("uid-p"));
  EXPECT_EQ(Filter(pod), "a: cannot schedule extended resource claim");
  framework::Diagnosis diagnosis;
  framework::PostFilterResult proposal;
  EXPECT_EQ(
      profile->post_filter[0].plugin->PostFilter(*cycle, *cluster, diagnosis, &proposal).Message(),
      "deletion of ResourceClaim completed");
  ASSERT_NE(proposal.deallocated_claim, nullptr);
  EXPECT_EQ(proposal.deallocated_claim->metadata.name, "left");
  EXPECT_TRUE(proposal.deletes_claim);
}

class NotExtended : public Extended {
 protected:
  NotExtended() : Extended(false) {}
};

TEST_F(NotExtended, WithoutTheFeatureNobodyLooks) {
  Node("a");
  EXPECT_EQ(Filter(Pod("p", R"("x.com/gpu": "1")")), "skip");
}

}  // namespace
}  // namespace berth::plugins::dynamic_resources
