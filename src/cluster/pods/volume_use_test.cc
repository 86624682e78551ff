#include "cluster/pods/volume_use.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"

namespace berth::cluster {
namespace {

api::Pod PodWith(const std::string& name, std::vector<api::Volume> volumes,
                 const std::string& node) {
  api::Pod pod;
  pod.metadata.name = name;
  pod.metadata.uid = name;
  pod.metadata.namespace_ = "ns";
  pod.spec.volumes = std::move(volumes);
  pod.spec.node_name = node;
  return pod;
}

api::Volume Claim(const std::string& name) {
  api::Volume v;
  v.name = "v";
  v.persistent_volume_claim.emplace().claim_name = name;
  return v;
}

api::Volume Ebs(const std::string& id) {
  api::Volume v;
  v.name = "v";
  v.aws_elastic_block_store.emplace().volume_id = id;
  return v;
}

size_t Uses(const Cluster& cluster, const std::string& key) {
  return cluster.VolumeUse().UsesOf(cluster.Strings().Find(key)).size();
}

TEST(VolumeUse, FollowsPodsAsTheyComeMoveAndGo) {
  Cluster cluster;
  const PodId a = cluster.AddPod(PodWith("a", {Claim("data"), Ebs("vol-1")}, "node-0"));
  const PodId b = cluster.AddPod(PodWith("b", {Claim("data")}, "node-1"));
  EXPECT_EQ(Uses(cluster, ClaimUseKey("ns", "data")), 2u);
  EXPECT_EQ(Uses(cluster, DiskUseKey(Ebs("vol-1"))), 1u);
  EXPECT_EQ(Uses(cluster, ClaimUseKey("other", "data")), 0u);

  cluster.Unplace(a);
  const auto uses = cluster.VolumeUse().UsesOf(cluster.Strings().Find(ClaimUseKey("ns", "data")));
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].pod, b);
  EXPECT_EQ(Uses(cluster, DiskUseKey(Ebs("vol-1"))), 0u);

  cluster.RemovePod(b);
  EXPECT_EQ(Uses(cluster, ClaimUseKey("ns", "data")), 0u);
}

TEST(VolumeUse, APodThatMountsAClaimTwiceCountsTwiceAndLeavesNothingBehind) {
  Cluster cluster;
  const PodId a = cluster.AddPod(PodWith("a", {Claim("data"), Claim("data")}, "node-0"));
  EXPECT_EQ(Uses(cluster, ClaimUseKey("ns", "data")), 2u);
  cluster.RemovePod(a);
  EXPECT_EQ(Uses(cluster, ClaimUseKey("ns", "data")), 0u);
}

TEST(VolumeUse, OnlyPodsWithVolumesChangeANode) {
  Cluster cluster;
  cluster.AddPod(PodWith("a", {}, "node-0"));
  EXPECT_EQ(cluster.VolumeUse().Changes().Generation(), 0u);
  cluster.AddPod(PodWith("b", {Claim("data")}, "node-0"));
  std::vector<NodeIndex> changed;
  ASSERT_TRUE(
      cluster.VolumeUse().Changes().ForEachSince(0, [&](NodeIndex n) { changed.push_back(n); }));
  EXPECT_EQ(changed, std::vector<NodeIndex>{0});
  EXPECT_EQ(cluster.VolumeUse().ChangedAt(0), 1u);
  EXPECT_EQ(cluster.VolumeUse().ChangedAt(7), 0u);
}

TEST(ChangeLog, ForgetsWhatIsOlderThanThereAreThings) {
  ChangeLog<int> log;
  for (int i = 0; i < 1000; ++i) log.Note(i, 100);
  std::vector<int> seen;
  EXPECT_FALSE(log.ForEachSince(899, [&](int i) { seen.push_back(i); }));
  EXPECT_TRUE(seen.empty());
  EXPECT_TRUE(log.ForEachSince(998, [&](int i) { seen.push_back(i); }));
  EXPECT_EQ(seen, (std::vector<int>{998, 999}));
  EXPECT_TRUE(log.ForEachSince(1000, [&](int) { FAIL(); }));
}

TEST(ObjectStore, TellsWhichObjectsChanged) {
  Store<api::StorageClass> store;
  api::StorageClass fast;
  fast.metadata.name = "fast";
  store.Set(fast);
  const uint64_t before = store.Generation();
  store.Remove({}, "fast");
  std::vector<std::string> changed;
  ASSERT_TRUE(store.Changes().ForEachSince(
      before, [&](const std::string& key) { changed.push_back(key); }));
  EXPECT_EQ(changed, std::vector<std::string>{"/fast"});
  EXPECT_EQ(store.FindKey("/fast"), nullptr);
}

}  // namespace
}  // namespace berth::cluster
