#include "plugins/volume_binding/volume_binding.h"

#include <random>

#include <gtest/gtest.h>

#include "plugins/common/testing/volumes.h"
#include "plugins/common/volume_claims.h"
#include "plugins/volume_binding/bind_progress.h"
#include "plugins/volume_binding/storage_use.h"

namespace berth::plugins::volume_binding {
namespace {

const std::string kRejected = "UnschedulableAndUnresolvable: ";
const std::string kNoMatch = kRejected + std::string(kNodeConflict);
const std::string kNoVolume = kRejected + std::string(kBindConflict);
const std::string kNoSpace = kRejected + std::string(kNotEnoughSpace);

std::string Uses(const std::string& claim) {
  return "{'name':'" + claim + "','persistentVolumeClaim':{'claimName':'" + claim + "'}}";
}

std::string AffinityTo(const std::string& zone) {
  return "'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':["
         "{'key':'zone','operator':'In','values':['" +
         zone + "']}]}]}}";
}

class Binding : public testing::Test {
 protected:
  explicit Binding(const config::MinorRules& rules = {})
      : plugin_(config::VolumeBindingArgs(), rules) {
    a_ = world_.Node("a", "'zone':'a'");
    b_ = world_.Node("b", "'zone':'b'");
    world_.Class(
        "{'metadata':{'name':'local'},'provisioner':'kubernetes.io/no-provisioner',"
        "'volumeBindingMode':'WaitForFirstConsumer'}");
    world_.Class(
        "{'metadata':{'name':'csi'},'provisioner':'d',"
        "'volumeBindingMode':'WaitForFirstConsumer'}");
    world_.Class("{'metadata':{'name':'now'},'provisioner':'d','volumeBindingMode':'Immediate'}");
  }

  void Claim(const std::string& name, const std::string& storage_class, const std::string& size,
             const std::string& more = "", const std::string& annotations = "") {
    world_.Claim("{'metadata':{'name':'" + name + "','namespace':'ns','uid':'uid-" + name +
                 "','resourceVersion':'5','annotations':{" + annotations +
                 "}},'spec':{'storageClassName':'" + storage_class +
                 "','accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'" + size +
                 "'}}" + (more.empty() ? "" : "," + more) + "}}");
  }
  void BoundClaim(const std::string& name, const std::string& volume) {
    Claim(name, "local", "1Gi", "'volumeName':'" + volume + "'",
          "'pv.kubernetes.io/bind-completed':'yes'");
  }
  void Volume(const std::string& name, const std::string& size, const std::string& more,
              const std::string& labels = "", int version = 5) {
    world_.Volume("{'metadata':{'name':'" + name + "','resourceVersion':'" +
                  std::to_string(version) + "','labels':{" + labels +
                  "}},'spec':{'storageClassName':'local','accessModes':['ReadWriteOnce'],"
                  "'capacity':{'storage':'" +
                  size + "'}" + (more.empty() ? "" : "," + more) +
                  "},'status':{'phase':'Available'}}");
  }
  std::string Run(const std::string& volumes) {
    return PluginRun(plugin_, world_.cluster, world_.Pod("p", volumes)).Run();
  }
  // Runs a pod of this name and reserves `node`: "claim=volume ... +claim" or what went wrong.
  std::string Reserve(const std::string& name, const std::string& volumes,
                      cluster::NodeIndex node) {
    PluginRun run(plugin_, world_.cluster, world_.Pod(name, volumes));
    if (std::string status = run.PreFilter(); status != "Success") return status;
    if (std::string answer = run.Filter().at(world_.cluster.NodeName(node)); !answer.empty()) {
      return answer;
    }
    const framework::Status status = plugin_.Reserve(run.context(), run.state(), node);
    if (!status.Ok()) return status.Message();
    const ReservedVolumes* reserved = VolumeBinding::Reserved(*run.state());
    EXPECT_EQ(reserved, plugin_.Reserved(name));
    if (reserved == nullptr) return "nothing";
    std::string text;
    for (const auto& b : reserved->bindings) {
      text += b.claim->metadata.name + "=" + b.volume->metadata.name + " ";
    }
    for (const auto& claim : reserved->provisions) text += "+" + claim->metadata.name + " ";
    return text;
  }
  void Unreserve(const std::string& name, cluster::NodeIndex node) {
    PluginRun run(plugin_, world_.cluster, world_.cluster.FindPod(name));
    plugin_.Unreserve(run.context(), run.state(), node);
  }

  VolumeWorld world_;
  VolumeBinding plugin_;
  cluster::NodeIndex a_, b_;
};

class BindingFrom135 : public Binding {
 protected:
  BindingFrom135() : Binding({.assumes_over_same_version = true}) {}
};

TEST_F(Binding, ClaimsThatKeepThePodFromEveryNode) {
  EXPECT_EQ(Run(""), "Skip");
  EXPECT_EQ(Run("{'name':'v','awsElasticBlockStore':{'volumeID':'x'}}"), "Skip");
  EXPECT_EQ(Run(Uses("gone")), kRejected + "persistentvolumeclaim \"gone\" not found");
  EXPECT_EQ(Run("{'name':'s','ephemeral':{}}"),
            kRejected +
                "waiting for ephemeral volume controller to create the "
                "persistentvolumeclaim \"p-s\"");
  Claim("p-s", "local", "1Gi");
  EXPECT_EQ(Run("{'name':'s','ephemeral':{}}"),
            kRejected + "PVC ns/p-s was not created for pod ns/p (pod is not owner)");
  Claim("now", "now", "1Gi");
  EXPECT_EQ(Run(Uses("now")), kRejected + "pod has unbound immediate PersistentVolumeClaims");
  Claim("prebound", "local", "1Gi", "'volumeName':'pv'");
  EXPECT_EQ(Run(Uses("prebound")), kRejected + "pod has unbound immediate PersistentVolumeClaims");
  Claim("classless", "", "1Gi");
  EXPECT_EQ(Run(Uses("classless")), kRejected + "pod has unbound immediate PersistentVolumeClaims");
  world_.Class("{'metadata':{'name':'modeless'},'provisioner':'d'}");
  Claim("modeless", "modeless", "1Gi");
  EXPECT_EQ(Run(Uses("modeless")),
            "Error: VolumeBindingMode not set for StorageClass \"modeless\"");
  world_.Claim(
      "{'metadata':{'name':'lost','namespace':'ns'},'spec':{'volumeName':'pv'},"
      "'status':{'phase':'Lost'}}");
  EXPECT_EQ(
      Run(Uses("lost")),
      kRejected + "persistentvolumeclaim \"lost\" bound to non-existent persistentvolume \"pv\"");
  world_.Claim(
      "{'metadata':{'name':'going','namespace':'ns',"
      "'deletionTimestamp':'2024-01-01T00:00:00Z'}}");
  EXPECT_EQ(Run(Uses("going")), kRejected + "persistentvolumeclaim \"going\" is being deleted");
}

TEST_F(Binding, BoundVolumesMustBeReached) {
  BoundClaim("data", "pv-a");
  BoundClaim("ghost", "pv-gone");
  BoundClaim("anywhere", "pv-any");
  Volume("pv-a", "1Gi", AffinityTo("a"));
  Volume("pv-any", "1Gi", "");
  EXPECT_EQ(Run(Uses("anywhere")), "a ok | b ok");
  EXPECT_EQ(Run(Uses("data")), "a ok | b " + kNoMatch);
  const std::string missing = kRejected + std::string(kVolumeMissing);
  EXPECT_EQ(Run(Uses("data") + "," + Uses("ghost")), "a " + missing + " | b " + kNoMatch);
}

TEST_F(Binding, InTreeVolumesAreTranslatedWhereTheirDriverHasTakenOver) {
  world_.Node("c", "'topology.gke.io/zone':'a'");
  BoundClaim("data", "pv");
  Volume("pv", "1Gi",
         "'gcePersistentDisk':{'pdName':'d'},'nodeAffinity':{'required':{'nodeSelectorTerms':[{"
         "'matchExpressions':[{'key':'topology.kubernetes.io/zone','operator':'In',"
         "'values':['a']}]}]}}");
  EXPECT_EQ(Run(Uses("data")), "a " + kNoMatch + " | b " + kNoMatch + " | c " + kNoMatch);
  world_.objects().csi_nodes.Set(Parse<api::CSINode>(
      "{'metadata':{'name':'c','annotations':{"
      "'storage.alpha.kubernetes.io/migrated-plugins':'kubernetes.io/gce-pd'}}}"));
  EXPECT_EQ(Run(Uses("data")), "a " + kNoMatch + " | b " + kNoMatch + " | c ok");
  Volume("pv", "1Gi", "'azureDisk':{'diskURI':'u','kind':'Shared'}");
  world_.objects().csi_nodes.Set(Parse<api::CSINode>(
      "{'metadata':{'name':'c','annotations':{"
      "'storage.alpha.kubernetes.io/migrated-plugins':'kubernetes.io/azure-disk'}}}"));
  EXPECT_EQ(Run(Uses("data")),
            "a ok | b ok | c Error: could not translate pv: kind(Shared) is not supported in csi "
            "migration");
}

TEST_F(Binding, TheSmallestVolumeThatFitsIsTaken) {
  Claim("data", "local", "5Gi");
  Volume("small", "1Gi", AffinityTo("a"));
  Volume("large", "20Gi", AffinityTo("a"));
  Volume("fits", "10Gi", AffinityTo("a"));
  Volume("elsewhere", "6Gi", AffinityTo("b"));
  Volume("block", "5Gi", "'volumeMode':'Block'");
  Volume("classy", "5Gi", "'volumeAttributesClassName':'gold'");
  world_.Volume(
      "{'metadata':{'name':'other-class'},'spec':{'capacity':{'storage':'5Gi'}},"
      "'status':{'phase':'Available'}}");
  world_.Volume(
      "{'metadata':{'name':'released'},'spec':{'storageClassName':'local',"
      "'accessModes':['ReadWriteOnce'],'capacity':{'storage':'5Gi'}},"
      "'status':{'phase':'Released'}}");
  Volume("reader", "5Gi", "'accessModes':['ReadOnlyMany']");
  EXPECT_EQ(Reserve("p", Uses("data"), a_), "data=fits ");
  Unreserve("p", a_);
  EXPECT_EQ(Reserve("q", Uses("data"), b_), "data=elsewhere ");
}

TEST_F(Binding, SelectorsAndTheirErrors) {
  Claim("data", "local", "1Gi", "'selector':{'matchLabels':{'tier':'fast'}}");
  Volume("slow", "1Gi", "", "'tier':'slow'");
  EXPECT_EQ(Run(Uses("data")), "a " + kNoVolume + " | b " + kNoVolume);
  Volume("fast", "2Gi", "", "'tier':'fast'");
  EXPECT_EQ(Reserve("q", Uses("data"), a_), "data=fast ");
  Claim("bad", "local", "1Gi", "'selector':{'matchExpressions':[{'key':'k','operator':'What'}]}");
  EXPECT_EQ(Run(Uses("bad")),
            "a Error: error creating internal label selector for claim: ns/bad: \"What\" is not a "
            "valid label selector operator | b Error: error creating internal label selector for "
            "claim: ns/bad: \"What\" is not a valid label selector operator");
}

TEST_F(Binding, AVolumeMadeForTheClaimIsTakenOrNone) {
  Claim("data", "local", "1Gi");
  Volume("smaller", "1Gi", "");
  Volume("mine", "2Gi", AffinityTo("a") + ",'claimRef':{'namespace':'ns','name':'data'}");
  Volume("theirs", "1Gi", "'claimRef':{'namespace':'ns','name':'data','uid':'other'}");
  EXPECT_EQ(Run(Uses("data")), "a ok | b " + kNoVolume);
  EXPECT_EQ(Reserve("q", Uses("data"), a_), "data=mine ");
  const auto& mine = *plugin_.Reserved("q")->bindings[0].volume;
  EXPECT_EQ(mine.spec.claim_ref->uid, "uid-data");
  EXPECT_FALSE(mine.metadata.annotations.contains(kBoundByControllerAnnotation)) << "by the user";
}

TEST_F(Binding, TwoClaimsOfAPodGetTwoVolumes) {
  Claim("big", "local", "5Gi");
  Claim("small", "local", "1Gi");
  Volume("pv-5", "5Gi", "");
  EXPECT_EQ(Run(Uses("big") + "," + Uses("small")), "a " + kNoVolume + " | b " + kNoVolume)
      << "the smaller claim chooses first and takes the only volume";
  Volume("pv-6", "6Gi", AffinityTo("a"));
  EXPECT_EQ(Run(Uses("big") + "," + Uses("small")), "a ok | b " + kNoVolume);
  EXPECT_EQ(Reserve("q", Uses("big") + "," + Uses("small"), a_), "small=pv-5 big=pv-6 ");
}

TEST_F(Binding, ManyGroupsOfVolumesGiveTheSameAnswers) {
  for (int i = 0; i < 100; ++i) {
    const std::string zone = "z" + std::to_string(i);
    world_.Node("n" + std::to_string(i), "'zone':'" + zone + "'");
    Volume("pv-" + std::to_string(i), "2Gi", AffinityTo(zone));
    Volume("tiny-" + std::to_string(i), "1Gi", AffinityTo(zone));
  }
  Claim("data", "local", "2Gi");
  EXPECT_EQ(Reserve("q", Uses("data"), world_.cluster.FindNode("n77")), "data=pv-77 ");
  Claim("more", "local", "2Gi");
  EXPECT_EQ(Reserve("r", Uses("more"), world_.cluster.FindNode("n77")), kNoVolume);
  EXPECT_EQ(Reserve("s", Uses("more"), world_.cluster.FindNode("n78")), "more=pv-78 ");
}

TEST_F(Binding, ProvisioningByTopologyAndCapacity) {
  Claim("data", "csi", "5Gi");
  EXPECT_EQ(Run(Uses("data")), "a ok | b ok");
  Claim("static-only", "local", "5Gi");
  EXPECT_EQ(Run(Uses("static-only")), "a " + kNoVolume + " | b " + kNoVolume);
  world_.Class(
      "{'metadata':{'name':'csi'},'provisioner':'d','volumeBindingMode':"
      "'WaitForFirstConsumer','allowedTopologies':[{'matchLabelExpressions':["
      "{'key':'zone','values':['b']}]}]}");
  EXPECT_EQ(Run(Uses("data")), "a " + kNoVolume + " | b ok");

  world_.objects().csi_drivers.Set(
      Parse<api::CSIDriver>("{'metadata':{'name':'d'},'spec':{'storageCapacity':true}}"));
  EXPECT_EQ(Run(Uses("data")), "a " + kNoVolume + " | b " + kNoSpace);
  const auto capacity = [&](const std::string& more) {
    world_.objects().csi_storage_capacities.Set(Parse<api::CSIStorageCapacity>(
        "{'metadata':{'name':'c','namespace':'x'},'storageClassName':'csi'," + more + "}"));
  };
  capacity("'nodeTopology':{'matchLabels':{'zone':'b'}},'capacity':'6Gi'");
  EXPECT_EQ(Run(Uses("data")), "a " + kNoVolume + " | b ok");
  capacity(
      "'nodeTopology':{'matchLabels':{'zone':'b'}},'capacity':'6Gi','maximumVolumeSize':'1Gi'");
  EXPECT_EQ(Run(Uses("data")), "a " + kNoVolume + " | b " + kNoSpace);
  capacity("'capacity':'6Gi'");
  EXPECT_EQ(Run(Uses("data")), "a " + kNoVolume + " | b " + kNoSpace) << "reached from nowhere";
}

// Every node's score for a pod, by a plugin with a shape: "a 90, b 0".
std::string Scores(const VolumeBinding& plugin, VolumeWorld& world, const std::string& volumes) {
  PluginRun run(plugin, world.cluster, world.Pod("scored", volumes));
  run.PreFilter();
  const cluster::NodeSet& nodes = world.cluster.Nodes();
  const framework::Status status = plugin.PreScore(run.context(), run.state(), nodes);
  if (!status.Ok()) return std::string(framework::CodeName(status.code()));
  if (const auto uniform = plugin.UniformScore(run.context(), run.state(), nodes)) {
    return "all " + std::to_string(*uniform);
  }
  std::vector<int64_t> scores(world.cluster.Rows());
  framework::ScoreBatch batch(nodes, scores.data(), 0, nodes.Words().size());
  plugin.Score(run.context(), run.state(), batch);
  std::string all;
  nodes.ForEach([&](cluster::NodeIndex n) {
    all += (all.empty() ? "" : ", ") + std::string(world.cluster.NodeName(n)) + " " +
           std::to_string(scores[n]);
  });
  return all;
}

TEST_F(Binding, WithAShapeNodesScoreByHowFullStorageWouldBe) {
  config::VolumeBindingArgs args;
  args.shape = {{0, 10}, {100, 0}};
  const VolumeBinding scoring(args);
  Claim("data", "local", "1Gi");
  Claim("more", "local", "5Gi");
  Volume("pv-a", "1Gi", AffinityTo("a"));
  Volume("pv-b", "4Gi", AffinityTo("b"));
  EXPECT_EQ(Scores(plugin_, world_, Uses("data")), "Skip") << "no shape";
  EXPECT_EQ(Scores(scoring, world_, ""), "all 0") << "no claims";
  EXPECT_EQ(Scores(scoring, world_, Uses("data")), "a 0, b 75") << "1 of 1 and of 4 GiB";
  Volume("pv-b2", "20Gi", AffinityTo("b"));
  EXPECT_EQ(Scores(scoring, world_, Uses("data") + "," + Uses("more")), "a 0, b 75")
      << "6 of 24 GiB of one class";

  world_.objects().csi_drivers.Set(
      Parse<api::CSIDriver>("{'metadata':{'name':'d'},'spec':{'storageCapacity':true}}"));
  const auto capacity = [&](const std::string& zone, const std::string& size) {
    world_.objects().csi_storage_capacities.Set(Parse<api::CSIStorageCapacity>(
        "{'metadata':{'name':'" + zone +
        "','namespace':'x'},'storageClassName':'csi','nodeTopology':{'matchLabels':{'zone':'" +
        zone + "'}},'capacity':'" + size + "'}"));
  };
  Claim("new", "csi", "1Gi");
  Claim("newer", "csi", "2Gi");
  capacity("a", "10Gi");
  capacity("b", "5Gi");
  EXPECT_EQ(Scores(scoring, world_, Uses("new")), "a 90, b 80") << "to be provisioned";
  EXPECT_EQ(Scores(scoring, world_, Uses("new") + "," + Uses("newer")), "a 70, b 40")
      << "both from one pool";
  EXPECT_EQ(Scores(scoring, world_, Uses("new") + "," + Uses("data")), "a 0, b 75")
      << "where volumes exist, only they count";
  BoundClaim("done", "pv-a");
  EXPECT_EQ(Scores(scoring, world_, Uses("done")), "all 0");
}

TEST(StorageUseTest, TheMeanOfTheClassesIsRoundedAndFullIsFull) {
  UtilizationScores scores{};
  for (size_t p = 0; p <= 100; ++p) scores[p] = static_cast<int64_t>(p);
  const auto claim =
      Parse<api::PersistentVolumeClaim>("{'spec':{'resources':{'requests':{'storage':'50'}}}}");
  const auto volume = [](const std::string& storage_class, const std::string& size) {
    return Parse<api::PersistentVolume>("{'spec':{'storageClassName':'" + storage_class +
                                        "','capacity':{'storage':'" + size + "'}}}");
  };
  const auto half = volume("x", "100"), whole = volume("y", "49"), third = volume("y", "150");
  StorageUse use;
  EXPECT_TRUE(use.Empty());
  use.Add({{{&claim, &half}, {&claim, &whole}}, {}});
  EXPECT_EQ(use.Score(scores), 75) << "50 and 100: more than there is counts as full";
  use.Clear();
  use.Add({{{&claim, &half}, {&claim, &third}}, {}});
  EXPECT_EQ(use.Score(scores), 42) << "50 and 33";
}

TEST_F(Binding, ASelectedNodeIsTheOnlyOne) {
  Claim("data", "csi", "1Gi", "", "'volume.kubernetes.io/selected-node':'b'");
  EXPECT_EQ(Run(Uses("data")), "a " + kNoVolume + " | b ok");
  Claim("data", "csi", "1Gi", "", "'volume.kubernetes.io/selected-node':'gone'");
  EXPECT_EQ(Run(Uses("data")), "a " + kNoVolume + " | b " + kNoVolume);
}

TEST_F(Binding, TheNextPodSeesWhatWasReservedAndUnreserveTakesItBack) {
  Volume("pv", "1Gi", "");
  Claim("one", "local", "1Gi");
  Claim("two", "local", "1Gi");
  EXPECT_EQ(Reserve("p1", Uses("one"), a_), "one=pv ");
  const auto& volume = *plugin_.Reserved("p1")->bindings[0].volume;
  EXPECT_EQ(volume.spec.claim_ref->name, "one");
  EXPECT_EQ(volume.spec.claim_ref->kind, "PersistentVolumeClaim");
  EXPECT_EQ(volume.spec.claim_ref->resource_version, "5");
  EXPECT_EQ(volume.metadata.annotations.at(std::string(kBoundByControllerAnnotation)), "yes");
  EXPECT_EQ(Reserve("p2", Uses("two"), a_), kNoVolume);
  EXPECT_EQ(Reserve("p3", Uses("one"), b_), "one=pv ") << "the same claim finds its volume";
  Unreserve("p3", b_);
  Unreserve("p1", a_);
  EXPECT_EQ(plugin_.Reserved("p1"), nullptr);
  EXPECT_EQ(Reserve("p4", Uses("two"), a_), "two=pv ");
}

TEST_F(Binding, ProvisioningIsAssumedForOneNode) {
  Claim("data", "csi", "1Gi");
  EXPECT_EQ(Reserve("p1", Uses("data"), b_), "+data ");
  EXPECT_EQ(Run(Uses("data")), "a " + kNoVolume + " | b ok");
  Unreserve("p1", b_);
  EXPECT_EQ(Run(Uses("data")), "a ok | b ok");
}

TEST_F(Binding, TheApiServerHasTheLastWord) {
  Volume("pv", "1Gi", "");
  Claim("one", "local", "1Gi");
  Claim("two", "local", "1Gi");
  EXPECT_EQ(Reserve("p1", Uses("one"), a_), "one=pv ");
  Volume("pv", "1Gi", "", "", 5);
  EXPECT_EQ(Reserve("p2", Uses("two"), a_), kNoVolume) << "an echo of the old object";
  Volume("pv", "1Gi", "", "", 6);
  EXPECT_EQ(Reserve("p3", Uses("two"), a_), "two=pv ") << "a newer object without claimRef";
  world_.objects().persistent_volumes.Remove("", "pv");
  EXPECT_EQ(Reserve("p4", Uses("one"), a_), kNoVolume);
  Unreserve("p3", a_);
  EXPECT_EQ(Reserve("p5", Uses("one"), a_), kNoVolume);
}

TEST_F(Binding, BoundPodsReserveNothing) {
  BoundClaim("data", "pv");
  Volume("pv", "1Gi", "");
  EXPECT_EQ(Reserve("p1", Uses("data"), a_), "nothing");
}

TEST_F(Binding, ObjectsWithoutAVersionCannotBeAssumed) {
  world_.Volume(
      "{'metadata':{'name':'pv','resourceVersion':'x'},'spec':{'storageClassName':"
      "'local','accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'}},"
      "'status':{'phase':'Available'}}");
  Claim("one", "local", "1Gi");
  EXPECT_EQ(Reserve("p1", Uses("one"), a_),
            "error parsing ResourceVersion \"x\" for v1.PersistentVolume \"pv\": "
            "strconv.ParseInt: parsing \"x\": invalid syntax");
  EXPECT_EQ(plugin_.Reserved("p1"), nullptr);
}

TEST_F(BindingFrom135, AnyVersionCanBeAssumed) {
  world_.Volume(
      "{'metadata':{'name':'pv','resourceVersion':'x'},'spec':{'storageClassName':"
      "'local','accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'}},"
      "'status':{'phase':'Available'}}");
  Claim("one", "local", "1Gi");
  EXPECT_EQ(Reserve("p1", Uses("one"), a_), "one=pv ");
}

// After any sequence of events the indexes kept give the answers of a plugin that starts afresh.
TEST_F(Binding, KeptIndexesEqualNewOnes) {
  std::mt19937 random(11);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto zone = [&] { return std::string(1, static_cast<char>('a' + pick(3))); };
  world_.objects().csi_drivers.Set(
      Parse<api::CSIDriver>("{'metadata':{'name':'d'},'spec':{'storageCapacity':true}}"));
  const std::string wanted = Uses("x") + "," + Uses("y") + "," + Uses("z");
  const auto decide = [&](VolumeBinding& plugin, cluster::PodId pod) {
    PluginRun run(plugin, world_.cluster, pod);
    std::string text = run.Run();
    for (const auto n : {a_, b_}) {
      if (!text.starts_with("a ") || !run.Filter().at(world_.cluster.NodeName(n)).empty()) continue;
      EXPECT_TRUE(plugin.Reserve(run.context(), run.state(), n).Ok());
      for (const auto& b : VolumeBinding::Reserved(*run.state())->bindings) {
        text += " " + b.claim->metadata.name + "=" + b.volume->metadata.name;
      }
      plugin.Unreserve(run.context(), run.state(), n);
    }
    return text;
  };
  int version = 10;
  for (int step = 0; step < 800; ++step) {
    const std::string volume = "pv-" + std::to_string(pick(12));
    switch (pick(6)) {
      case 0:
      case 1:
        Volume(volume, std::to_string(1 + pick(9)) + "Gi",
               pick(3) == 0 ? ""
                            : AffinityTo(zone()) +
                                  (pick(5) == 0 ? ",'claimRef':{'name':'x','namespace':'ns'}" : ""),
               "", ++version);
        break;
      case 2:
        world_.objects().persistent_volumes.Remove("", volume);
        break;
      case 3:
        Claim(std::string(1, static_cast<char>('x' + pick(3))), pick(3) == 0 ? "csi" : "local",
              std::to_string(1 + pick(6)) + "Gi");
        break;
      case 4:
        world_.objects().csi_storage_capacities.Set(Parse<api::CSIStorageCapacity>(
            "{'metadata':{'name':'c" + std::to_string(pick(3)) +
            "','namespace':'x'},'storageClassName':'csi','capacity':'" + std::to_string(pick(7)) +
            "Gi','nodeTopology':{'matchLabels':{'zone':'" + zone() + "'}}}"));
        break;
      default:
        world_.objects().csi_storage_capacities.Remove("x", "c" + std::to_string(pick(3)));
    }
    const auto pod = world_.Pod("p", wanted);
    VolumeBinding afresh{config::VolumeBindingArgs{}};
    EXPECT_EQ(decide(plugin_, pod), decide(afresh, pod)) << "step " << step;
    world_.cluster.RemovePod(pod);
  }
}

// --- After Reserve

std::string Progress(const BindProgress& progress) {
  if (progress.step == BindProgress::Step::kFailed) return progress.error;
  return progress.step == BindProgress::Step::kDone ? "done" : "wait";
}

TEST_F(Binding, WaitsUntilTheControllerHasBoundTheVolume) {
  Volume("pv", "1Gi", "");
  Claim("one", "local", "1Gi");
  ASSERT_EQ(Reserve("p1", Uses("one"), a_), "one=pv ");
  const ReservedVolumes written = *plugin_.Reserved("p1");
  const auto progress = [&] {
    return Progress(CheckBindings(world_.cluster, written, "p1", true));
  };
  EXPECT_EQ(progress(), "ClaimRef got reset for pv \"pv\"");
  Volume("pv", "1Gi", "", "", 4);
  EXPECT_EQ(progress(), "wait") << "older than what was written";
  Volume("pv", "1Gi", "'claimRef':{'namespace':'ns','name':'one','uid':'uid-one'}", "", 6);
  EXPECT_EQ(progress(), "wait");
  BoundClaim("one", "pv");
  EXPECT_EQ(progress(), "done");
  EXPECT_EQ(Progress(CheckBindings(world_.cluster, written, "p1", false)),
            "pod does not exist any more: pod \"p1\" not found");
  Volume("pv", "1Gi", AffinityTo("b"), "", 7);
  EXPECT_EQ(progress(),
            "pv \"pv\" node affinity doesn't match node \"a\": no matching NodeSelectorTerms");
  world_.cluster.RemoveNode("a");
  EXPECT_EQ(progress(), "failed to get node \"a\": node \"a\" not found");
}

TEST_F(Binding, WaitsUntilTheVolumeIsProvisioned) {
  Claim("data", "csi", "1Gi");
  ASSERT_EQ(Reserve("p1", Uses("data"), b_), "+data ");
  const ReservedVolumes written = *plugin_.Reserved("p1");
  const auto progress = [&] {
    return Progress(CheckBindings(world_.cluster, written, "p1", true));
  };
  EXPECT_EQ(progress(), "selectedNode annotation reset for PVC \"data\"");
  const std::string selected = "'volume.kubernetes.io/selected-node':'b'";
  Claim("data", "csi", "1Gi", "", "'volume.kubernetes.io/selected-node':'a'");
  EXPECT_EQ(progress(), "provisioning failed for PVC \"data\"");
  Claim("data", "csi", "1Gi", "", selected);
  EXPECT_EQ(progress(), "wait");
  Claim("data", "csi", "1Gi", "'volumeName':'new'",
        selected + ",'pv.kubernetes.io/bind-completed':'yes'");
  EXPECT_EQ(progress(), "wait") << "the volume has not come yet";
  Volume("new", "1Gi", AffinityTo("b"));
  EXPECT_EQ(progress(), "done");
  world_.objects().persistent_volume_claims.Remove("ns", "data");
  EXPECT_EQ(progress(),
            "failed to check provisioning pvc: could not find v1.PersistentVolumeClaim "
            "\"ns/data\"");
  EXPECT_EQ(Progress(CheckBindings(world_.cluster, written, "p1", true,
                                   {.assumes_over_same_version = true})),
            "failed to check provisioning pvc: persistentvolumeclaims \"ns/data\" not found");
}

}  // namespace
}  // namespace berth::plugins::volume_binding
