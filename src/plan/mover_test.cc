#include "plan/mover.h"

#include <string>

#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "plan/consolidate.h"
#include "plan/drain.h"
#include "plan/testing/site.h"

namespace berth::plan {
namespace {

// A pod on node a, in zone x, with a generic ephemeral volume there; node b is in zone y.
std::string WithEphemeralVolume(const std::string& binding_mode) {
  const std::string volume =
      ", volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {accessModes: "
      "[ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}}}}]";
  return Node("a", 4, "zone: zx") + Node("b", 4, "zone: zy") + Pod("w-1", "w", "a", "1", volume) +
         Pod("w-2", "w", "b", "2") +
         "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast, uid: s, "
         "resourceVersion: \"1\"}\nprovisioner: csi.example.org\nvolumeBindingMode: " +
         binding_mode +
         "\n---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: w-1-scratch, "
         "namespace: shop, uid: c, resourceVersion: \"1\", annotations: "
         "{pv.kubernetes.io/bind-completed: \"yes\"}, ownerReferences: [{apiVersion: v1, kind: "
         "Pod, "
         "name: w-1, uid: u-w-1, controller: true}]}\nspec: {accessModes: [ReadWriteOnce], "
         "storageClassName: fast, volumeName: pv-1, resources: {requests: {storage: 1Gi}}}\n"
         "status: {phase: Bound}\n"
         "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-1, uid: v, "
         "resourceVersion: \"1\"}\nspec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, "
         "storageClassName: fast, claimRef: {namespace: shop, name: w-1-scratch, uid: c}, csi: "
         "{driver: csi.example.org, volumeHandle: h}, nodeAffinity: {required: {nodeSelectorTerms: "
         "[{matchExpressions: [{key: zone, operator: In, values: [zx]}]}]}}}\n"
         "status: {phase: Bound}\n";
}

const std::string& VolumeOf(Site& site) {
  const auto& claims = site.inventory.cluster().Objects().persistent_volume_claims;
  return claims.Find("shop", "w-1-scratch")->spec.volume_name;
}

TEST(PlanMover, AnEphemeralVolumeIsMadeAnew) {
  Site site(WithEphemeralVolume("WaitForFirstConsumer"));
  const Plan plan = PlanDrain(site.inventory, *site.mover, {"a"});
  EXPECT_EQ(Told(plan), "w-1 Moves a>b");
  EXPECT_EQ(VolumeOf(site), "");
}

TEST(PlanMover, AVolumeThatIsMadeBeforeThePodStandsIn) {
  Site site(WithEphemeralVolume("Immediate"));
  const Plan plan = PlanDrain(site.inventory, *site.mover, {"a"});
  EXPECT_EQ(plan.homeless, 1);
  EXPECT_EQ(VolumeOf(site), "pv-1");
}

TEST(PlanMover, ATrialGivesTheVolumeBack) {
  // The first pod has a place, the second has none.
  Site site(WithEphemeralVolume("WaitForFirstConsumer") + Pod("w-9", "w", "a", "3"));
  ConsolidateOptions options;
  options.candidates = {"a"};
  EXPECT_TRUE(PlanConsolidation(site.inventory, *site.mover, options).nodes.empty());
  EXPECT_EQ(VolumeOf(site), "pv-1");
}

}  // namespace
}  // namespace berth::plan
