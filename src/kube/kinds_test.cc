#include "kube/kinds.h"

#include <set>

#include <gtest/gtest.h>

#include "api/object.h"

namespace berth::kube {
namespace {

TEST(Kinds, EighteenAreWatchedAndEachCanBeDecoded) {
  std::set<std::string_view> names;
  for (const Kind& kind : WatchedKinds()) {
    names.insert(kind.kind);
    EXPECT_NE(api::FindObjectKind(kind.api_version, kind.kind), nullptr) << kind.kind;
    EXPECT_EQ(FindKind(kind.kind), &kind);
  }
  EXPECT_EQ(names.size(), 18u);
}

TEST(Kinds, RulesOfTaintsAreWatchedBesides) {
  for (const Kind& kind : WatchedForTaints()) {
    EXPECT_NE(api::FindObjectKind(kind.api_version, kind.kind), nullptr) << kind.kind;
    EXPECT_EQ(CollectionPath(kind), "/apis/resource.k8s.io/v1alpha3/devicetaintrules");
  }
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
