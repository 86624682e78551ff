#include "plugins/volume_zone/volume_zone.h"

#include <gtest/gtest.h>

#include "plugins/common/testing/volumes.h"

namespace berth::plugins::volume_zone {
namespace {

constexpr const char* kUsesData = "{'name':'v','persistentVolumeClaim':{'claimName':'data'}}";
constexpr const char* kNoZone =
    "UnschedulableAndUnresolvable: node(s) had no available volume zone";

struct Row {
  const char* what;
  const char* volume_labels;
  std::string answer;  // of nodes a (zone a), b (old label, zone b), c (no label at all)
};

TEST(VolumeZone, ComparesLabelsOfVolumeAndNode) {
  const std::string no = kNoZone;
  const Row rows[] = {
      {"no labels: nothing to say", "", "Skip"},
      {"zone of the volume", "'topology.kubernetes.io/zone':'a'", "a ok | b " + no + " | c ok"},
      {"an old label finds the new one on the node", "'failure-domain.beta.kubernetes.io/zone':'a'",
       "a ok | b " + no + " | c ok"},
      {"an old label finds the old one", "'failure-domain.beta.kubernetes.io/zone':'b'",
       "a " + no + " | b ok | c ok"},
      {"several zones, with blanks", "'topology.kubernetes.io/zone':'x__ a '",
       "a ok | b " + no + " | c ok"},
      {"an empty zone in the list: the label is ignored", "'topology.kubernetes.io/zone':'a__'",
       "Skip"},
      {"the region is missing on every node with a zone", "'topology.kubernetes.io/region':'r'",
       "a " + no + " | b " + no + " | c ok"},
  };
  for (const Row& row : rows) {
    VolumeWorld world;
    world.Node("a", "'topology.kubernetes.io/zone':'a'");
    world.Node("b", "'failure-domain.beta.kubernetes.io/zone':'b'");
    world.Node("c");
    world.Volume("{'metadata':{'name':'pv','labels':{" + std::string(row.volume_labels) + "}}}");
    world.Claim("{'metadata':{'name':'data','namespace':'ns'},'spec':{'volumeName':'pv'}}");
    VolumeZone plugin;
    PluginRun run(plugin, world.cluster, world.Pod("p", kUsesData));
    EXPECT_EQ(run.Run(), row.answer) << row.what;
  }
}

TEST(VolumeZone, AClaimMustBeBoundOrWait) {
  struct ClaimRow {
    const char* what;
    const char* spec;
    const char* storage_class;
    const char* answer;
  };
  const ClaimRow rows[] = {
      {"no volume and no class", "", "",
       "UnschedulableAndUnresolvable: PersistentVolumeClaim had no pv name and storageClass name"},
      {"a class that is not there", "'storageClassName':'sc'", "",
       "UnschedulableAndUnresolvable: storageclass.storage.k8s.io \"sc\" not found"},
      {"a class without a mode", "'storageClassName':'sc'", "'provisioner':'p'",
       "UnschedulableAndUnresolvable: VolumeBindingMode not set for StorageClass \"sc\""},
      {"a class that binds at once", "'storageClassName':'sc'", "'volumeBindingMode':'Immediate'",
       "UnschedulableAndUnresolvable: PersistentVolume had no name"},
      {"a class that waits", "'storageClassName':'sc'",
       "'volumeBindingMode':'WaitForFirstConsumer'", "Skip"},
      {"a volume that is not there", "'volumeName':'pv'", "",
       "UnschedulableAndUnresolvable: persistentvolume \"pv\" not found"},
  };
  for (const ClaimRow& row : rows) {
    VolumeWorld world;
    world.Node("a");
    world.Claim("{'metadata':{'name':'data','namespace':'ns'},'spec':{" + std::string(row.spec) +
                "}}");
    if (*row.storage_class) {
      world.Class("{'metadata':{'name':'sc'}," + std::string(row.storage_class) + "}");
    }
    VolumeZone plugin;
    PluginRun run(plugin, world.cluster, world.Pod("p", kUsesData));
    EXPECT_EQ(run.Run(), row.answer) << row.what;
  }
}

TEST(VolumeZone, ClaimsThatAreMissingOrHaveNoName) {
  VolumeWorld world;
  world.Node("a");
  VolumeZone plugin;
  PluginRun missing(plugin, world.cluster, world.Pod("p", kUsesData));
  EXPECT_EQ(missing.Run(),
            "UnschedulableAndUnresolvable: persistentvolumeclaim \"data\" not found");
  PluginRun nameless(plugin, world.cluster,
                     world.Pod("q", "{'name':'v','persistentVolumeClaim':{'claimName':''}}"));
  EXPECT_EQ(nameless.Run(), "UnschedulableAndUnresolvable: PersistentVolumeClaim had no name");
  PluginRun none(plugin, world.cluster, world.Pod("r", ""));
  EXPECT_EQ(none.Run(), "Skip");
}

}  // namespace
}  // namespace berth::plugins::volume_zone
