#include "plugins/volume_restrictions/volume_restrictions.h"

#include <gtest/gtest.h>

#include "plugins/common/testing/volumes.h"

namespace berth::plugins::volume_restrictions {
namespace {

const std::string kNoDisk = "Unschedulable: " + std::string(kDiskConflict);
const std::string kInUse = "Unschedulable: " + std::string(kClaimConflict);

std::string Vol(const std::string& source) { return "{'name':'v'," + source + "}"; }

TEST(VolumeRestrictions, DisksThatCannotBeShared) {
  struct Row {
    const char* what;
    std::string existing;
    std::string wanted;
    bool conflict;
  };
  const Row rows[] = {
      {"GCE disk, one writes", Vol("'gcePersistentDisk':{'pdName':'d'}"),
       Vol("'gcePersistentDisk':{'pdName':'d','readOnly':true}"), true},
      {"GCE disk, both read", Vol("'gcePersistentDisk':{'pdName':'d','readOnly':true}"),
       Vol("'gcePersistentDisk':{'pdName':'d','readOnly':true}"), false},
      {"another GCE disk", Vol("'gcePersistentDisk':{'pdName':'e'}"),
       Vol("'gcePersistentDisk':{'pdName':'d'}"), false},
      {"EBS volumes are never shared",
       Vol("'awsElasticBlockStore':{'volumeID':'x','readOnly':true}"),
       Vol("'awsElasticBlockStore':{'volumeID':'x','readOnly':true}"), true},
      {"iSCSI target, one writes", Vol("'iscsi':{'iqn':'i','readOnly':true}"),
       Vol("'iscsi':{'iqn':'i'}"), true},
      {"iSCSI target, both read", Vol("'iscsi':{'iqn':'i','readOnly':true,'lun':1}"),
       Vol("'iscsi':{'iqn':'i','readOnly':true}"), false},
      {"RBD image with a monitor in common",
       Vol("'rbd':{'monitors':['a','b'],'pool':'p','image':'i'}"),
       Vol("'rbd':{'monitors':['b','c'],'pool':'p','image':'i'}"), true},
      {"RBD image without one", Vol("'rbd':{'monitors':['a'],'pool':'p','image':'i'}"),
       Vol("'rbd':{'monitors':['c'],'pool':'p','image':'i'}"), false},
      {"RBD image of another pool", Vol("'rbd':{'monitors':['a'],'pool':'q','image':'i'}"),
       Vol("'rbd':{'monitors':['a'],'pool':'p','image':'i'}"), false},
      {"disks of different kinds", Vol("'awsElasticBlockStore':{'volumeID':'d'}"),
       Vol("'gcePersistentDisk':{'pdName':'d'}"), false},
  };
  for (const Row& row : rows) {
    VolumeWorld world;
    world.Node("a");
    world.Node("b");
    world.Pod("existing", row.existing, "a");
    VolumeRestrictions plugin;
    PluginRun run(plugin, world.cluster, world.Pod("p", row.wanted));
    EXPECT_EQ(run.Run(), row.conflict ? "a " + kNoDisk + " | b ok" : "a ok | b ok") << row.what;
  }
}

TEST(VolumeRestrictions, FilterSeesPodsThatComeAndGoAfterPreFilter) {
  VolumeWorld world;
  world.Node("a");
  const auto existing = world.Pod("existing", Vol("'gcePersistentDisk':{'pdName':'d'}"), "a");
  VolumeRestrictions plugin;
  PluginRun run(plugin, world.cluster, world.Pod("p", Vol("'gcePersistentDisk':{'pdName':'d'}")));
  EXPECT_EQ(run.Run(), "a " + kNoDisk);
  world.cluster.Unplace(existing);
  EXPECT_EQ(run.Filter().at("a"), "");
}

class OncePerPod : public testing::Test {
 protected:
  OncePerPod() {
    world_.Node("a");
    world_.Node("b");
    world_.Claim(
        "{'metadata':{'name':'once','namespace':'ns'},"
        "'spec':{'accessModes':['ReadWriteOncePod']}}");
    world_.Claim(
        "{'metadata':{'name':'many','namespace':'ns'},'spec':{'accessModes':['ReadWriteMany']}}");
  }
  static std::string Uses(const std::string& claim) {
    return Vol("'persistentVolumeClaim':{'claimName':'" + claim + "'}");
  }
  VolumeWorld world_;
  VolumeRestrictions plugin_;
};

TEST_F(OncePerPod, AClaimInUseKeepsThePodFromEveryNode) {
  world_.Pod("user", Uses("once"), "a");
  PluginRun run(plugin_, world_.cluster, world_.Pod("p", Uses("once")));
  EXPECT_EQ(run.Run(), "a " + kInUse + " | b " + kInUse);
}

TEST_F(OncePerPod, ClaimsNobodyUsesAndSharedClaimsAreSkipped) {
  world_.Pod("user", Uses("many"), "a");
  PluginRun free(plugin_, world_.cluster, world_.Pod("p", Uses("once")));
  EXPECT_EQ(free.Run(), "Skip");
  PluginRun shared(plugin_, world_.cluster, world_.Pod("q", Uses("many")));
  EXPECT_EQ(shared.Run(), "Skip");
  PluginRun missing(plugin_, world_.cluster, world_.Pod("r", Uses("gone")));
  EXPECT_EQ(missing.Run(),
            "UnschedulableAndUnresolvable: persistentvolumeclaim \"gone\" not found");
}

TEST_F(OncePerPod, APodOnANodeThatDoesNotExistDoesNotCount) {
  world_.Pod("user", Uses("once"), "ghost");
  PluginRun run(plugin_, world_.cluster, world_.Pod("p", Uses("once")));
  EXPECT_EQ(run.Run(), "Skip");
}

TEST_F(OncePerPod, RemovingAndAddingTheUserAreInverse) {
  const auto user = world_.Pod("user", Uses("once"), "a");
  PluginRun run(plugin_, world_.cluster, world_.Pod("p", Uses("once")));
  ASSERT_EQ(run.PreFilter(), "Success");
  const cluster::Pod& pod = world_.cluster.GetPod(user);
  ASSERT_TRUE(plugin_.RemovePod(run.context(), run.state(), pod, 0).Ok());
  EXPECT_EQ(run.Filter().at("b"), "");
  ASSERT_TRUE(plugin_.AddPod(run.context(), run.state(), pod, 0).Ok());
  EXPECT_EQ(run.Filter().at("b"), kInUse);
}

}  // namespace
}  // namespace berth::plugins::volume_restrictions
