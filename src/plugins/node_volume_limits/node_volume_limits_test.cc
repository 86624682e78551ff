#include "plugins/node_volume_limits/node_volume_limits.h"

#include <random>

#include <gtest/gtest.h>

#include "plugins/common/testing/volumes.h"

namespace berth::plugins::node_volume_limits {
namespace {

const std::string kFull = "Unschedulable: " + std::string(kReason);

std::string Uses(const std::string& claim) {
  return "{'name':'" + claim + "','persistentVolumeClaim':{'claimName':'" + claim + "'}}";
}
std::string Inline(const std::string& source) { return "{'name':'v'," + source + "}"; }

class Limits : public testing::Test {
 protected:
  void CsiNode(const std::string& name, const std::string& drivers,
               const std::string& annotations = "") {
    world_.objects().csi_nodes.Set(Parse<api::CSINode>("{'metadata':{'name':'" + name +
                                                       "','annotations':{" + annotations +
                                                       "}},'spec':{'drivers':[" + drivers + "]}}"));
  }
  static std::string Driver(const std::string& name, int count) {
    return "{'name':'" + name + "','allocatable':{'count':" + std::to_string(count) + "}}";
  }
  // A claim bound to a CSI volume of driver "d".
  void BoundClaim(const std::string& name, const std::string& handle) {
    world_.Volume("{'metadata':{'name':'pv-" + name +
                  "'},'spec':{'csi':{'driver':'d','volumeHandle':'" + handle + "'}}}");
    world_.Claim("{'metadata':{'name':'" + name + "','namespace':'ns'},'spec':{'volumeName':'pv-" +
                 name + "'}}");
  }
  std::string Run(const std::string& volumes) {
    const auto pod = world_.Pod("new", volumes);
    PluginRun run(plugin_, world_.cluster, pod);
    std::string answer = run.Run();
    world_.cluster.RemovePod(pod);
    return answer;
  }

  VolumeWorld world_;
  NodeVolumeLimits plugin_;
};

TEST_F(Limits, CountsEachVolumeOfTheNodeOnce) {
  world_.Node("a");
  CsiNode("a", Driver("d", 2));
  for (const char* name : {"one", "two", "three"}) BoundClaim(name, name);
  BoundClaim("also-one", "one");
  EXPECT_EQ(Run(Uses("one") + "," + Uses("two")), "a ok");
  EXPECT_EQ(Run(Uses("one") + "," + Uses("two") + "," + Uses("three")), "a " + kFull);
  EXPECT_EQ(Run(Uses("one") + "," + Uses("also-one") + "," + Uses("two")), "a ok");
  world_.Pod("p", Uses("one"), "a");
  world_.Pod("q", Uses("one") + "," + Uses("two"), "a");
  EXPECT_EQ(Run(Uses("three")), "a " + kFull);
  EXPECT_EQ(Run(Uses("also-one")), "a ok") << "on the node already";
}

TEST_F(Limits, NodesWithoutLimitsTakeEverything) {
  world_.Node("a");
  world_.Node("b");
  CsiNode("b", "{'name':'d'}");
  BoundClaim("one", "one");
  EXPECT_EQ(Run(Uses("one")), "a ok | b ok");
  EXPECT_EQ(Run(Inline("'emptyDir':{}")), "Skip");
}

TEST_F(Limits, AttachmentsCountUnlessAPodOfTheNodeUsesThem) {
  world_.Node("a");
  CsiNode("a", Driver("d", 2));
  BoundClaim("one", "one");
  BoundClaim("two", "two");
  const auto attach = [&](const std::string& name, const std::string& volume) {
    world_.objects().volume_attachments.Set(Parse<api::VolumeAttachment>(
        "{'metadata':{'name':'" + name +
        "'},'spec':{'attacher':'d','nodeName':'a','source':{'persistentVolumeName':'" + volume +
        "'}}}"));
  };
  attach("va-1", "pv-one");
  EXPECT_EQ(Run(Uses("two")), "a ok");
  EXPECT_EQ(Run(Uses("one") + "," + Uses("two")), "a " + kFull)
      << "an attached volume that no pod uses counts beside the pod's own use of it";
  world_.Pod("p", Uses("one"), "a");
  EXPECT_EQ(Run(Uses("two")), "a ok");
  attach("va-2", "pv-gone");
  EXPECT_EQ(Run(Uses("two")), "a ok");
  world_.Volume("{'metadata':{'name':'pv-gone'},'spec':{'csi':{'driver':'d','volumeHandle':'g'}}}");
  EXPECT_EQ(Run(Uses("two")), "a " + kFull) << "the attachment's volume has come";
  world_.objects().volume_attachments.Remove("", "va-2");
  EXPECT_EQ(Run(Uses("two")), "a ok");
}

TEST_F(Limits, UnboundClaimsCountByTheirClass) {
  world_.Node("a");
  CsiNode("a", Driver("d", 1) + "," + Driver("ebs.csi.aws.com", 0));
  world_.Class("{'metadata':{'name':'sc'},'provisioner':'d'}");
  world_.Class("{'metadata':{'name':'in-tree'},'provisioner':'kubernetes.io/aws-ebs'}");
  const auto claim = [&](const std::string& name, const std::string& storage_class) {
    world_.Claim("{'metadata':{'name':'" + name +
                 "','namespace':'ns'},'spec':{'storageClassName':'" + storage_class + "'}}");
  };
  claim("x", "sc");
  claim("y", "sc");
  claim("old", "in-tree");
  claim("lost", "gone");
  EXPECT_EQ(Run(Uses("x")), "a ok");
  EXPECT_EQ(Run(Uses("x") + "," + Uses("y")), "a " + kFull);
  EXPECT_EQ(Run(Uses("old")), "a " + kFull);
  EXPECT_EQ(Run(Uses("lost")), "a ok");
  world_.Pod("p", Uses("x"), "a");
  EXPECT_EQ(Run(Uses("y")), "a " + kFull);
  // Bound to a volume of another driver, x makes room.
  world_.Volume("{'metadata':{'name':'pv'},'spec':{'csi':{'driver':'e','volumeHandle':'h'}}}");
  world_.Claim("{'metadata':{'name':'x','namespace':'ns'},'spec':{'volumeName':'pv'}}");
  EXPECT_EQ(Run(Uses("y")), "a ok");
}

TEST_F(Limits, InTreeVolumesCountWhereTheirDriverHasTakenOver) {
  world_.Node("a");
  world_.Node("b");
  world_.Node("c");
  CsiNode("a", Driver("pxd.portworx.com", 0) + "," + Driver("ebs.csi.aws.com", 0));
  CsiNode("b", Driver("pxd.portworx.com", 0) + "," + Driver("ebs.csi.aws.com", 0),
          "'storage.alpha.kubernetes.io/migrated-plugins':'x,kubernetes.io/portworx-volume'");
  EXPECT_EQ(Run(Inline("'awsElasticBlockStore':{'volumeID':'vol-1'}")),
            "a " + kFull + " | b " + kFull + " | c ok");
  EXPECT_EQ(Run(Inline("'portworxVolume':{'volumeID':'v'}")), "a ok | b " + kFull + " | c ok");
  EXPECT_EQ(Run(Inline("'vsphereVolume':{'volumePath':'v'}")), "a ok | b ok | c ok");
  const std::string bad =
      "Error: converting volume(v) from inline to csi: kind(Dedicated) is not supported in csi "
      "migration";
  EXPECT_EQ(Run(Inline("'azureDisk':{'diskURI':'u','kind':'Dedicated'}")),
            "a " + bad + " | b " + bad + " | c ok");
}

TEST_F(Limits, ClaimsThatAreNotAsTheyShouldBe) {
  world_.Node("a");
  CsiNode("a", Driver("d", 1));
  EXPECT_EQ(Run(Uses("gone")),
            "a UnschedulableAndUnresolvable: looking up PVC ns/gone: persistentvolumeclaim "
            "\"gone\" not found");
  EXPECT_EQ(Run("{'name':'v','persistentVolumeClaim':{'claimName':''}}"),
            "a Error: PersistentVolumeClaim had no name");
  BoundClaim("one", "one");
  world_.Claim("{'metadata':{'name':'p-scratch','namespace':'ns'},'spec':{'volumeName':'x'}}");
  world_.Pod("p", "{'name':'scratch','ephemeral':{}}", "a");
  EXPECT_EQ(Run(Uses("one")),
            "a Error: PVC ns/p-scratch was not created for pod ns/p (pod is not owner)");
}

TEST_F(Limits, FilterSeesPodsThatComeAndGoAfterPreFilter) {
  world_.Node("a");
  CsiNode("a", Driver("d", 1));
  BoundClaim("one", "one");
  BoundClaim("two", "two");
  const auto existing = world_.Pod("p", Uses("one"), "a");
  PluginRun run(plugin_, world_.cluster, world_.Pod("new", Uses("two")));
  EXPECT_EQ(run.Run(), "a " + kFull);
  world_.cluster.Unplace(existing);
  EXPECT_EQ(run.Filter().at("a"), "");
  world_.cluster.Place(existing, 0, false);
  EXPECT_EQ(run.Filter().at("a"), kFull);
}

TEST_F(Limits, ARowGivenToAnotherNodeForgetsTheFirst) {
  world_.Node("a");
  CsiNode("a", Driver("d", 0));
  BoundClaim("one", "one");
  EXPECT_EQ(Run(Uses("one")), "a " + kFull);
  world_.cluster.RemoveNode("a");
  world_.Node("b");
  EXPECT_EQ(Run(Uses("one")), "b ok");
  CsiNode("b", Driver("d", -7));
  EXPECT_EQ(Run(Uses("one")), "b " + kFull);
}

// After any sequence of events the counts kept equal those of a plugin that starts afresh.
TEST_F(Limits, KeptCountsEqualARecount) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  constexpr int kNodes = 6, kClaims = 12;
  const auto node = [](int i) { return "n" + std::to_string(i); };
  const auto claim = [](int i) { return "c" + std::to_string(i); };
  for (int i = 0; i < kNodes; ++i) world_.Node(node(i));
  for (int i = 0; i < kClaims; ++i) BoundClaim(claim(i), std::to_string(i / 2));
  world_.Class("{'metadata':{'name':'sc'},'provisioner':'d'}");
  std::vector<cluster::PodId> pods;
  for (int step = 0; step < 600; ++step) {
    const int c = pick(kClaims);
    switch (pick(7)) {
      case 0:
        pods.push_back(world_.Pod("p" + std::to_string(step),
                                  Uses(claim(c)) + "," + Uses(claim(pick(kClaims))),
                                  node(pick(kNodes))));
        break;
      case 1:
        if (pods.empty()) break;
        std::swap(pods[static_cast<size_t>(pick(static_cast<int>(pods.size())))], pods.back());
        world_.cluster.RemovePod(pods.back());
        pods.pop_back();
        break;
      case 2:
        CsiNode(node(pick(kNodes)), pick(4) == 0 ? "" : Driver("d", pick(5)));
        break;
      case 3:
        BoundClaim(claim(c), std::to_string(pick(kClaims)));
        break;
      case 4:
        world_.Claim("{'metadata':{'name':'" + claim(c) +
                     "','namespace':'ns'},'spec':{'storageClassName':'sc'}}");
        break;
      case 5:
        world_.objects().persistent_volumes.Remove("", "pv-" + claim(c));
        break;
      default:
        world_.objects().volume_attachments.Set(Parse<api::VolumeAttachment>(
            "{'metadata':{'name':'va" + std::to_string(pick(5)) +
            "'},'spec':{'attacher':'d','nodeName':'" + node(pick(kNodes)) +
            "','source':{'persistentVolumeName':'pv-" + claim(c) + "'}}}"));
    }
    const auto pod = world_.Pod("new", Uses(claim(pick(kClaims))) + "," + Uses(claim(c)));
    NodeVolumeLimits afresh;
    EXPECT_EQ(PluginRun(plugin_, world_.cluster, pod).Run(),
              PluginRun(afresh, world_.cluster, pod).Run())
        << "step " << step;
    world_.cluster.RemovePod(pod);
  }
}

}  // namespace
}  // namespace berth::plugins::node_volume_limits
