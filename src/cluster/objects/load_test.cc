#include "cluster/objects/load.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cluster/inputs.h"
#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"

namespace berth::cluster {
namespace {

bool LoadJson(Cluster& cluster, std::string json) {
  std::replace(json.begin(), json.end(), '\'', '"');
  auto object = api::DecodeObject(json);
  EXPECT_TRUE(object.has_value()) << json;
  return Load(cluster, std::move(*object));
}

TEST(Load, EveryKindGoesToItsStore) {
  struct Case {
    const char* api_version;
    const char* kind;
    std::function<size_t(const ObjectStore&)> size;
  };
  const Case cases[] = {
      {"v1", "Namespace", [](const ObjectStore& s) { return s.namespaces.Size(); }},
      {"v1", "Service", [](const ObjectStore& s) { return s.services.Size(); }},
      {"v1", "ReplicationController",
       [](const ObjectStore& s) { return s.replication_controllers.Size(); }},
      {"apps/v1", "ReplicaSet", [](const ObjectStore& s) { return s.replica_sets.Size(); }},
      {"apps/v1", "StatefulSet", [](const ObjectStore& s) { return s.stateful_sets.Size(); }},
      {"v1", "PersistentVolume", [](const ObjectStore& s) { return s.persistent_volumes.Size(); }},
      {"v1", "PersistentVolumeClaim",
       [](const ObjectStore& s) { return s.persistent_volume_claims.Size(); }},
      {"storage.k8s.io/v1", "StorageClass",
       [](const ObjectStore& s) { return s.storage_classes.Size(); }},
      {"storage.k8s.io/v1", "CSINode", [](const ObjectStore& s) { return s.csi_nodes.Size(); }},
      {"storage.k8s.io/v1", "CSIDriver", [](const ObjectStore& s) { return s.csi_drivers.Size(); }},
      {"storage.k8s.io/v1", "CSIStorageCapacity",
       [](const ObjectStore& s) { return s.csi_storage_capacities.Size(); }},
      {"storage.k8s.io/v1", "VolumeAttachment",
       [](const ObjectStore& s) { return s.volume_attachments.Size(); }},
      {"policy/v1", "PodDisruptionBudget",
       [](const ObjectStore& s) { return s.pod_disruption_budgets.Size(); }},
      {"resource.k8s.io/v1", "ResourceClaim",
       [](const ObjectStore& s) { return s.resource_claims.Size(); }},
      {"resource.k8s.io/v1", "ResourceSlice",
       [](const ObjectStore& s) { return s.resource_slices.Size(); }},
      {"resource.k8s.io/v1", "DeviceClass",
       [](const ObjectStore& s) { return s.device_classes.Size(); }},
      {"resource.k8s.io/v1alpha3", "DeviceTaintRule",
       [](const ObjectStore& s) { return s.device_taint_rules.Size(); }},
      {"scheduling.k8s.io/v1beta1", "PodGroup",
       [](const ObjectStore& s) { return s.pod_groups.Size(); }},
  };
  for (const Case& c : cases) {
    Cluster cluster;
    EXPECT_TRUE(LoadJson(cluster, std::string("{'apiVersion':'") + c.api_version + "','kind':'" +
                                      c.kind + "','metadata':{'name':'x','namespace':'n'}}"))
        << c.kind;
    EXPECT_EQ(c.size(cluster.Objects()), 1u) << c.kind;
  }
}

TEST(Load, NodesAndPodsGoToTheTable) {
  Cluster cluster;
  EXPECT_TRUE(Load(cluster, api::Object(api::Node(MakeNode("a")))));
  EXPECT_TRUE(Load(cluster, api::Object(api::Pod(MakePod("p").On("a")))));
  EXPECT_EQ(cluster.NodeCount(), 1u);
  EXPECT_EQ(cluster.GetPod(cluster.FindPod("p")).node, cluster.FindNode("a"));
}

TEST(Load, CustomResourcesAreKeptWhenAPluginNamesThem) {
  Cluster cluster;
  PluginInputs inputs;
  inputs.kinds.push_back({"example.com", "v1", "Floor", "floors", false});
  cluster.Track(inputs);
  EXPECT_TRUE(LoadJson(
      cluster, "{'apiVersion':'example.com/v1','kind':'Floor','metadata':{'name':'a'},'n':1}"));
  EXPECT_FALSE(
      LoadJson(cluster, "{'apiVersion':'example.com/v2','kind':'Floor','metadata':{'name':'b'}}"));
  const auto* floors = cluster.Objects().custom.Find("example.com/v1", "Floor");
  ASSERT_NE(floors, nullptr);
  ASSERT_NE(floors->Find("", "a"), nullptr);
  EXPECT_NE(floors->Find("", "a")->json.find("\"n\":1"), std::string::npos);
}

TEST(Load, WhatSchedulingDoesNotReadIsLeftOut) {
  Cluster cluster;
  for (const char* phase : {"Succeeded", "Failed"}) {
    api::Pod done = MakePod(phase).On("a");
    done.status.phase = phase;
    EXPECT_FALSE(Load(cluster, api::Object(std::move(done)))) << phase;
  }
  EXPECT_EQ(cluster.PodCountTotal(), 0u);
  EXPECT_FALSE(LoadJson(cluster, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'x'}}"));
  EXPECT_FALSE(LoadJson(cluster, "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{}}"));
  EXPECT_FALSE(LoadJson(cluster, "{'apiVersion':'v1','kind':'Status'}"));
}

}  // namespace
}  // namespace berth::cluster
