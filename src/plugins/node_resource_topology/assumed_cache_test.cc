#include "plugins/node_resource_topology/assumed_cache.h"

#include <string>

#include <gtest/gtest.h>

#include "cluster/inputs.h"
#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "plugins/node_resource_topology/pod_fingerprint.h"

namespace berth::plugins::node_resource_topology {
namespace {

using cluster::MakeNode;
using cluster::MakePod;

constexpr int64_t kPeriod = 5;

class AssumedCacheTest : public testing::Test {
 protected:
  AssumedCacheTest() {
    cluster_.Track({.kinds = {TopologyKind()}, .node_annotations = {}, .pod_annotations = {}});
    node_ = cluster_.SetNode(MakeNode("n").Cpu("100"));
  }

  // Two cells with so many CPUs each.
  void Publish(const std::string& cpus, const std::string& fingerprint,
               const std::string& scope = "container") {
    const auto zone = [&](const std::string& name) {
      return R"({"name":")" + name + R"(","type":"Node","resources":[{"name":"cpu","available":")" +
             cpus + R"("}]})";
    };
    api::UnknownObject object{TopologyKind().ApiVersion(), TopologyKind().kind, {}, ""};
    object.metadata.name = "n";
    object.json = R"({"attributes":[{"name":"topologyManagerPolicy","value":"single-numa-node"},)"
                  R"({"name":"topologyManagerScope","value":")" +
                  scope + R"("},{"name":"nodeTopologyPodsFingerprint","value":")" + fingerprint +
                  R"("}],"zones":[)" + zone("node-0") + "," + zone("node-1") + "]}";
    cluster_.MutableObjects().custom.Find(object.api_version, object.kind)->Set(object);
  }
  cluster::PodId Run(const std::string& name, const std::string& scheduler) {
    api::Pod pod = MakePod(name).On("n");
    pod.spec.scheduler_name = scheduler;
    const cluster::PodId id = cluster_.AddPod(pod);
    cluster_.MutablePod(id).start_time = api::Time::FromUnixNano(1);
    return id;
  }
  static std::string FingerprintOf(const std::string& pod) {
    PodFingerprint fingerprint;
    fingerprint.Add("ns", pod);
    return fingerprint.Sign();
  }
  void Update() {
    now_.seconds += kPeriod;
    cache_.Update(cluster_, "berth", now_, needs_);
  }
  // The free CPUs of both cells.
  std::string Free() const {
    const NodeTopology* topology = cache_.TopologyOf(node_);
    if (topology == nullptr) return "unknown";
    return topology->cells[0].available.at("cpu").String() + " " +
           topology->cells[1].available.at("cpu").String();
  }
  static Needs Cpus(int64_t n) { return {{"cpu", api::Quantity::FromInt(n)}}; }

  cluster::Cluster cluster_;
  cluster::NodeIndex node_ = cluster::kNoNode;
  AssumedCache::NeedsOf needs_;
  api::Time now_;
  AssumedCache cache_{[] {
    config::NodeResourceTopologyMatchArgs args;
    args.cache_resync_period_seconds = kPeriod;
    args.SetDefaults();
    return args;
  }()};
};

TEST_F(AssumedCacheTest, PlacedPodsTakeFromEveryCell) {
  Update();
  EXPECT_EQ(Free(), "unknown");
  Publish("8", "");
  Update();
  EXPECT_EQ(Free(), "8 8");
  cache_.Reserve("n", "default/a", Cpus(3));
  cache_.Reserve("n", "default/b", Cpus(2));
  EXPECT_EQ(Free(), "3 3");
  cache_.Unreserve("n", "default/b");
  EXPECT_EQ(Free(), "5 5");
  cache_.Reserve("n", "default/c", Cpus(9));
  EXPECT_EQ(Free(), "0 0") << "never less than nothing";
}

TEST_F(AssumedCacheTest, AnObjectCountsWhenAPodWasRefusedAndTheFingerprintMatches) {
  Publish("8", "");
  Update();
  cache_.Reserve("n", "default/a", Cpus(3));
  const cluster::PodId pod = Run("a", "berth");
  Publish("6", FingerprintOf("a"));
  Update();
  EXPECT_EQ(Free(), "5 5") << "nothing was refused";
  cache_.NoteRefused(node_);
  Publish("6", FingerprintOf("other"));
  Update();
  EXPECT_EQ(Free(), "5 5") << "it is of other pods";
  Publish("6", FingerprintOf("a"));
  cluster_.MutablePod(pod).start_time = {};
  Update();
  EXPECT_EQ(Free(), "5 5") << "the kubelet does not know the pod yet";
  cluster_.MutablePod(pod).start_time = api::Time::FromUnixNano(1);
  Update();
  EXPECT_EQ(Free(), "6 6");
}

TEST_F(AssumedCacheTest, ForeignPodsCloseTheNodeUntilTheyArePublished) {
  Publish("8", "");
  Update();
  EXPECT_FALSE(cache_.IsClosed(node_));
  Run("b", "other");
  Update();
  EXPECT_TRUE(cache_.IsClosed(node_));
  Publish("7", FingerprintOf("b"));
  Update();
  EXPECT_FALSE(cache_.IsClosed(node_));
  EXPECT_EQ(Free(), "7 7");
}

TEST_F(AssumedCacheTest, AnotherScopeOfTheKubeletCountsAtOnce) {
  Publish("8", "");
  Update();
  cache_.Reserve("n", "default/a", Cpus(3));
  Publish("4", "", "pod");
  Update();
  EXPECT_EQ(Free(), "4 4");
  EXPECT_EQ(cache_.TopologyOf(node_)->scope, Scope::kPod);
}

}  // namespace
}  // namespace berth::plugins::node_resource_topology
