#include "kube/kinds.h"

#include <gtest/gtest.h>

namespace berth::kube {
namespace {

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
