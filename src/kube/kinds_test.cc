#include "kube/kinds.h"

#include <set>

#include <gtest/gtest.h>

#include "api/object.h"

namespace berth::kube {
namespace {

TEST(Kinds, EighteenAreWatchedAndEachCanBeDecoded) {
  std::set<std::string_view> names;
  for (const Kind* kind : WatchedKinds(config::Behaviour())) {
    names.insert(kind->kind);
    EXPECT_NE(api::FindObjectKind(kind->api_version, kind->kind), nullptr) << kind->kind;
    EXPECT_EQ(FindKind(kind->kind), kind);
  }
  EXPECT_EQ(names.size(), 18u);
}

TEST(Kinds, DevicesAreWatchedAsTheirGatesSay) {
  config::Behaviour behaviour;
  behaviour.dra.taint_rules = true;
  const auto with_taints = WatchedKinds(behaviour);
  ASSERT_EQ(with_taints.size(), 19u);
  const Kind& rules = *with_taints.back();
  EXPECT_NE(api::FindObjectKind(rules.api_version, rules.kind), nullptr) << rules.kind;
  EXPECT_EQ(CollectionPath(rules), "/apis/resource.k8s.io/v1alpha3/devicetaintrules");
  config::FeatureGates gates;
  ASSERT_TRUE(gates.Set("DynamicResourceAllocation=false,DRADeviceTaints=true"));
  EXPECT_EQ(WatchedKinds(config::Behaviour(gates)).size(), 15u);
}

TEST(Kinds, TaintRulesAreReadInTheVersionOfTheRelease) {
  const auto path = [](int minor, std::string_view on) {
    config::FeatureGates gates(minor);
    EXPECT_TRUE(gates.Set(on));
    const Kind& rules = *WatchedKinds(config::Behaviour(gates)).back();
    EXPECT_NE(api::FindObjectKind(rules.api_version, rules.kind), nullptr) << rules.api_version;
    return CollectionPath(rules);
  };
  EXPECT_EQ(path(34, "DRADeviceTaints=true"), "/apis/resource.k8s.io/v1alpha3/devicetaintrules");
  EXPECT_EQ(path(35, "DRADeviceTaints=true,DRADeviceTaintRules=true"),
            "/apis/resource.k8s.io/v1alpha3/devicetaintrules");
  EXPECT_EQ(path(36, "DRADeviceTaintRules=true"), "/apis/resource.k8s.io/v1beta2/devicetaintrules");
  EXPECT_EQ(path(37, ""), "/apis/resource.k8s.io/v1/devicetaintrules");
}

TEST(Kinds, PathsAreTheApiServers) {
  EXPECT_EQ(CollectionPath(*FindKind("Pod")), "/api/v1/pods");
  EXPECT_EQ(CollectionPath(*FindKind("ReplicaSet")), "/apis/apps/v1/replicasets");
  EXPECT_EQ(CollectionPath(*FindKind("DeviceClass")), "/apis/resource.k8s.io/v1/deviceclasses");
  EXPECT_EQ(ObjectPath(*FindKind("Pod"), "default", "ok", "binding"),
            "/api/v1/namespaces/default/pods/ok/binding");
  EXPECT_EQ(ObjectPath(*FindKind("PersistentVolume"), "", "pv1"), "/api/v1/persistentvolumes/pv1");
  EXPECT_EQ(NamespacePath(*FindKind("Event"), "default"),
            "/apis/events.k8s.io/v1/namespaces/default/events");
  EXPECT_EQ(ObjectPath(*FindKind("Lease"), "kube-system", "kube-scheduler"),
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler");
}

TEST(Kinds, NamesCannotLeaveTheirSegment) {
  EXPECT_EQ(ObjectPath(*FindKind("Pod"), "a/b", "../x?y#z%"),
            "/api/v1/namespaces/a%2Fb/pods/..%2Fx%3Fy%23z%25");
}

TEST(Kinds, QueryValuesAreEscapedAsGoDoes) {
  EXPECT_EQ(QueryEscape("status.phase!=Succeeded,status.phase!=Failed"),
            FindKind("Pod")->field_selector);
  EXPECT_EQ(QueryEscape("a b+c/d=~_-.\xff"), "a+b%2Bc%2Fd%3D~_-.%FF");
}

TEST(Kinds, UnknownKindsAreNotFound) {
  EXPECT_EQ(FindKind("ConfigMap"), nullptr);
  EXPECT_EQ(FindKind(""), nullptr);
}

}  // namespace
}  // namespace berth::kube
