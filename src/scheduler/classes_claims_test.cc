// When pods with volumes of their own share a class, and what is looked at again for it.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/claims.h"
#include "scheduler/testing/classes.h"

namespace berth::scheduler {
namespace {

using cluster::FromText;
using cluster::MakeNode;
using cluster::MakePod;

const Flavor kDisk = [] {
  Flavor flavor;
  flavor.source = "'csi':{'driver':'d0','volumeHandle':'@'}";
  return flavor;
}();

Flavor InZone(const std::string& zone) {
  Flavor flavor = kDisk;
  flavor.affinity = VolumeAffinity("topology.kubernetes.io/zone", "In", zone);
  return flavor;
}

class ClassesOfClaims : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 10; ++i) {
      lab_.cluster.SetNode(MakeNode(Name(i)).Cpu("8").Memory("8Gi").Zone(i % 2 == 0 ? "a" : "b"));
      Limit(i, 3);
    }
  }

  static std::string Name(int i) { return fmt::format("n{}", i); }
  cluster::ObjectStore& Objects() { return lab_.cluster.MutableObjects(); }
  framework::ClassCache::Statistics Seen() { return lab_.cycle->classes().statistics(); }

  void Limit(int node, int count) {
    Objects().csi_nodes.Set(FromText<api::CSINode>(
        fmt::format("{{'metadata':{{'name':'{}'}},'spec':{{'drivers':[{{'name':'d0','nodeID':'x',"
                    "'allocatable':{{'count':{}}}}}]}}}}",
                    Name(node), count)));
  }

  // A pod that uses the claim, or one that is made for it.
  MakePod Pod(const Flavor& flavor, std::string claim = "") {
    const std::string name = fmt::format("p{}", ++pods_);
    if (claim.empty()) claim = "of-" + name;
    if (!flavor.waits) Objects().persistent_volumes.Set(MakeVolume(claim, claim, flavor));
    Objects().persistent_volume_claims.Set(MakeClaim(claim, flavor, ""));
    MakePod pod(name);
    pod.Requests("cpu", "100m")
        .Volume(fmt::format("{{'name':'v','persistentVolumeClaim':{{'claimName':'{}'}}}}", claim));
    return pod;
  }

  // Decides and places; was it decided from a class?
  bool FromClass(const api::Pod& pod) {
    const cluster::PodId id = lab_.cluster.AddPod(pod);
    lab_.Decide(id);
    if (lab_.decision.outcome == Outcome::kScheduled) lab_.Place(id);
    return lab_.decision.from_class;
  }

  Lab lab_{0, /*classes=*/true, /*eager=*/false};
  int pods_ = 0;
};

TEST_F(ClassesOfClaims, VolumesThatMeanTheSameShareOne) {
  EXPECT_FALSE(FromClass(Pod(kDisk)));
  EXPECT_TRUE(FromClass(Pod(kDisk)));
  EXPECT_TRUE(FromClass(Pod(kDisk)));
  EXPECT_EQ(Seen().builds, 1u);
  EXPECT_EQ(Seen().rows, 1u) << "only the node of the pod before";
}

TEST_F(ClassesOfClaims, VolumesElsewhereAreAnotherClass) {
  for (int i = 0; i < 2; ++i) {
    for (const char* zone : {"a", "b"}) EXPECT_EQ(FromClass(Pod(InZone(zone))), i > 0);
  }
  EXPECT_EQ(Seen().builds, 2u);
  EXPECT_EQ(lab_.decision.feasible_count, 5u);
  Flavor labelled = kDisk;
  labelled.labels = "'topology.kubernetes.io/zone':'a'";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(FromClass(Pod(labelled)), i > 0);
  EXPECT_EQ(Seen().builds, 3u);
  EXPECT_EQ(lab_.decision.feasible_count, 5u);
}

TEST_F(ClassesOfClaims, PodsThatDifferOtherwiseAreAnotherClass) {
  FromClass(Pod(kDisk));
  FromClass(Pod(kDisk));
  EXPECT_TRUE(FromClass(Pod(kDisk).Label("app", "x"))) << "nobody looks at its labels";
  EXPECT_FALSE(FromClass(Pod(kDisk).Requests("cpu", "200m")));
  EXPECT_TRUE(FromClass(Pod(kDisk).Requests("cpu", "200m")));
  EXPECT_TRUE(FromClass(Pod(kDisk)));
}

TEST_F(ClassesOfClaims, ANodeWithoutRoomForVolumesIsNotTaken) {
  for (int i = 0; i < 30; ++i) EXPECT_EQ(FromClass(Pod(kDisk)), i > 0) << i;
  EXPECT_FALSE(FromClass(Pod(kDisk)));
  EXPECT_EQ(lab_.decision.outcome, Outcome::kUnschedulable) << "ten nodes with three volumes each";
  Limit(4, 4);
  EXPECT_TRUE(FromClass(Pod(kDisk)));
  EXPECT_EQ(lab_.decision.feasible_count, 1u) << "the limit was raised, and nothing else happened";
  EXPECT_EQ(Seen().builds, 1u);
}

TEST_F(ClassesOfClaims, AnAttachmentIsSeen) {
  FromClass(Pod(kDisk));
  FromClass(Pod(kDisk));
  Limit(7, 1);
  Objects().persistent_volumes.Set(MakeVolume("other", "other", kDisk));
  Objects().volume_attachments.Set(FromText<api::VolumeAttachment>(
      "{'metadata':{'name':'a'},'spec':{'attacher':'d0','nodeName':'n7','source':"
      "{'persistentVolumeName':'pv-other'}}}"));
  EXPECT_TRUE(FromClass(Pod(kDisk)));
  EXPECT_EQ(lab_.decision.feasible_count, 9u);
  Objects().volume_attachments.Remove({}, "a");
  const size_t full = lab_.cluster.Record(7).pods.empty() ? 0 : 1;
  EXPECT_TRUE(FromClass(Pod(kDisk)));
  EXPECT_EQ(lab_.decision.feasible_count, 10 - full);
}

TEST_F(ClassesOfClaims, AVolumeThatIsOnNodesCountsOnceThere) {
  for (int i = 0; i < 10; ++i) Limit(i, 1);
  Pod(kDisk, "shared");
  for (int i = 0; i < 12; ++i) {
    const bool from_class = FromClass(Pod(kDisk, "shared"));
    EXPECT_EQ(lab_.decision.feasible_count, 10u) << "the node that has it can take it again";
    EXPECT_EQ(from_class, i > 1) << "the first is the only one whose volume is nowhere";
  }
  EXPECT_FALSE(FromClass(Pod(kDisk)));
  EXPECT_EQ(lab_.decision.outcome, Outcome::kUnschedulable) << "there is no room for another";
}

TEST_F(ClassesOfClaims, MigrationOfANodeIsSeen) {
  Flavor in_tree;
  in_tree.source = "'awsElasticBlockStore':{'volumeID':'@'}";
  in_tree.labels = "'topology.kubernetes.io/zone':'a'";
  FromClass(Pod(in_tree));
  EXPECT_TRUE(FromClass(Pod(in_tree)));
  EXPECT_EQ(lab_.decision.feasible_count, 5u);
  auto csi_node = *Objects().csi_nodes.Find("n2");
  csi_node.metadata.annotations["storage.alpha.kubernetes.io/migrated-plugins"] =
      "kubernetes.io/aws-ebs";
  Objects().csi_nodes.Set(csi_node);
  EXPECT_TRUE(FromClass(Pod(in_tree)));
  EXPECT_EQ(lab_.decision.feasible_count, 4u) << "as a CSI volume it asks for another label";
}

class ClaimsThatWait : public ClassesOfClaims {
 protected:
  void SetUp() override {
    ClassesOfClaims::SetUp();
    waits_.waits = true;
    SetClass("");
  }
  void SetClass(const std::string& more) {
    Objects().storage_classes.Set(FromText<api::StorageClass>(
        "{'metadata':{'name':'waits'},'provisioner':'d0','volumeBindingMode':"
        "'WaitForFirstConsumer'" +
        more + "}"));
  }
  // As an external provisioner publishes it for each zone.
  void SetCapacity(const std::string& zone, const std::string& amount) {
    Objects().csi_storage_capacities.Set(FromText<api::CSIStorageCapacity>(
        fmt::format("{{'metadata':{{'namespace':'ns','name':'{}'}},'storageClassName':'waits',"
                    "'nodeTopology':{{'matchLabels':{{'topology.kubernetes.io/zone':'{}'}}}},"
                    "'capacity':'{}'}}",
                    zone, zone, amount)));
  }

  Flavor waits_ = kDisk;
};

TEST_F(ClaimsThatWait, ShareOneWhereVolumesAreProvisioned) {
  for (int i = 0; i < 6; ++i) EXPECT_EQ(FromClass(Pod(waits_)), i > 0);
  EXPECT_EQ(lab_.decision.outcome, Outcome::kScheduled);
  EXPECT_EQ(Seen().builds, 1u);
  SetClass(
      ",'allowedTopologies':[{'matchLabelExpressions':[{'key':'topology.kubernetes.io/zone',"
      "'values':['a']}]}]");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(FromClass(Pod(waits_)), i > 0);
  EXPECT_EQ(lab_.decision.feasible_count, 5u);
}

TEST_F(ClaimsThatWait, FollowWhatIsPublishedAboutRoom) {
  Objects().csi_drivers.Set(
      FromText<api::CSIDriver>("{'metadata':{'name':'d0'},'spec':{'storageCapacity':true}}"));
  SetCapacity("a", "10Gi");
  SetCapacity("b", "10Gi");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(FromClass(Pod(waits_)), i > 0) << i;
  EXPECT_EQ(lab_.decision.feasible_count, 10u);
  SetCapacity("b", "500Mi");
  EXPECT_TRUE(FromClass(Pod(waits_)));
  EXPECT_EQ(lab_.decision.feasible_count, 5u) << "no room for another volume in zone b";
  EXPECT_EQ(Seen().builds, 2u);
}

TEST_F(ClaimsThatWait, AreDecidedWithoutWhereTheyMayHaveVolumesThatAreThere) {
  auto volume = MakeVolume("free", "free", kDisk);
  volume.spec.claim_ref.reset();
  volume.spec.storage_class_name = "waits";
  volume.status.phase = "Available";
  Objects().persistent_volumes.Set(volume);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(FromClass(Pod(waits_)));
  Objects().persistent_volumes.Remove({}, volume.metadata.name);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(FromClass(Pod(waits_)), i > 0);
}

}  // namespace
}  // namespace berth::scheduler
