#include "plugins/node_resource_topology/exact_ledger.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "config/args/node_resource_topology_args.h"
#include "plugins/node_resource_topology/pod_fingerprint.h"

namespace berth::plugins::node_resource_topology {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using Verdict = ExactLedger::Verdict;

class ExactLedgerTest : public testing::Test {
 protected:
  ExactLedgerTest() {
    cluster_.SetNode(MakeNode("n").Cpu("100").Memory("100Gi"));
    topology_.policy = Policy::kSingleNumaNode;
    topology_.has_fingerprint = true;
    Cell(8, 8);
    Cell(8, 8);
    Publish({});
  }

  void Cell(int64_t cpus, int64_t free) {
    NumaCell& cell = topology_.cells.emplace_back();
    cell.id = static_cast<int>(topology_.cells.size()) - 1;
    cell.capacity["cpu"] = cell.allocatable["cpu"] = api::Quantity::FromInt(cpus);
    cell.available["cpu"] = api::Quantity::FromInt(free);
    cell.capacity["memory"] = cell.allocatable["memory"] = cell.available["memory"] =
        api::Quantity::FromInt(int64_t{1} << 40);
  }
  void SetFree(size_t cell, int64_t free) {
    topology_.cells[cell].available["cpu"] = api::Quantity::FromInt(free);
  }
  // The fingerprint is of these pods.
  void Publish(const std::vector<std::string>& pods) {
    PodFingerprint fingerprint;
    for (const std::string& pod : pods) fingerprint.Add("ns", pod);
    topology_.fingerprint = fingerprint.Sign();
  }
  // A Guaranteed pod; a container for each number of CPUs.
  static api::Pod PodOf(const std::string& name, const std::vector<std::string>& cpus) {
    api::Pod pod = MakePod(name).NoContainers();
    for (const std::string& n : cpus) {
      api::Container container;
      container.resources.requests["cpu"] = cluster::Amount(n);
      container.resources.requests["memory"] = cluster::Amount("1Gi");
      container.resources.limits = container.resources.requests;
      pod.spec.containers.push_back(container);
    }
    return pod;
  }
  cluster::PodId Place(const std::string& name, const std::vector<std::string>& cpus) {
    api::Pod pod = PodOf(name, cpus);
    pod.spec.node_name = "n";
    return cluster_.AddPod(pod);
  }
  Verdict VerdictOf(const std::vector<std::string>& cpus) {
    const std::vector<const NodeTopology*> topologies(cluster_.Rows(), &topology_);
    ledger_.Update(cluster_, topologies, true);
    const cluster::PodId id = cluster_.AddPod(PodOf("p", cpus));
    const cluster::PodShape& shape = *cluster_.GetPod(id).shape;
    const Verdict verdict = ledger_.VerdictOf(0, shape, ledger_.Of(shape));
    cluster_.RemovePod(id);
    return verdict;
  }

  cluster::Cluster cluster_;
  NodeTopology topology_;
  ExactLedger ledger_;
};

TEST_F(ExactLedgerTest, APodMustFitInACell) {
  EXPECT_EQ(VerdictOf({"8"}), Verdict::kFits);
  EXPECT_EQ(VerdictOf({"9"}), Verdict::kUnaligned);
  EXPECT_EQ(VerdictOf({"8", "8"}), Verdict::kFits);
  EXPECT_EQ(VerdictOf({"5", "5", "5"}), Verdict::kUnaligned);
  topology_.scope = Scope::kPod;
  EXPECT_EQ(VerdictOf({"8", "8"}), Verdict::kUnaligned);
}

TEST_F(ExactLedgerTest, FractionsOfCpusAreOfNoCell) {
  SetFree(0, 0);
  SetFree(1, 0);
  EXPECT_EQ(VerdictOf({"1500m"}), Verdict::kFits);
  EXPECT_EQ(VerdictOf({"1"}), Verdict::kUnaligned);
}

TEST_F(ExactLedgerTest, ContainersStayWhereAnInitContainerLeftCpus) {
  api::Pod pod = PodOf("p", {"6", "6"});
  pod.spec.init_containers = PodOf("i", {"2"}).spec.containers;
  const std::vector<const NodeTopology*> topologies(cluster_.Rows(), &topology_);
  ledger_.Update(cluster_, topologies, true);
  const auto verdict = [&] {
    const cluster::PodShape& shape = *cluster_.GetPod(cluster_.AddPod(pod)).shape;
    return ledger_.VerdictOf(0, shape, ledger_.Of(shape));
  };
  EXPECT_EQ(verdict(), Verdict::kUnaligned)
      << "the first takes new CPUs of cell 0, and the second may not go elsewhere";
  pod.spec.init_containers[0].restart_policy = "Always";
  EXPECT_EQ(verdict(), Verdict::kFits) << "what a sidecar has is not used again";
}

TEST_F(ExactLedgerTest, PodsOnTheirWayMayComeInAnyOrder) {
  SetFree(1, 5);
  Place("a", {"4"});
  EXPECT_EQ(VerdictOf({"5"}), Verdict::kFits)
      << "one takes from 0, the other from 1, or both from 0";
  EXPECT_EQ(VerdictOf({"6"}), Verdict::kUnaligned) << "a may come first and take from cell 0";
  Publish({"a"});
  EXPECT_EQ(VerdictOf({"6"}), Verdict::kFits) << "the amounts are without it already";
}

TEST_F(ExactLedgerTest, PodsOnTheirWayKeepTheirPlace) {
  SetFree(1, 2);
  Place("a", {"7"});
  EXPECT_EQ(VerdictOf({"2"}), Verdict::kUnaligned) << "it may come first, to cell 0";
  SetFree(0, 10);
  EXPECT_EQ(VerdictOf({"2"}), Verdict::kFits);
}

TEST_F(ExactLedgerTest, AFingerprintOfUnknownPodsTellsNothing) {
  Publish({"stranger"});
  EXPECT_EQ(VerdictOf({"1"}), Verdict::kUnknown);
  EXPECT_EQ(VerdictOf({"500m"}), Verdict::kUnknown) << "its memory is of a cell";
  topology_.has_fingerprint = false;
  EXPECT_EQ(VerdictOf({"1"}), Verdict::kUnknown);
}

TEST_F(ExactLedgerTest, APodThatHasGoneMayFreeAnyCell) {
  const cluster::PodId gone = Place("a", {"4"});
  SetFree(0, 4);
  Publish({"a"});
  EXPECT_EQ(VerdictOf({"4", "4"}), Verdict::kFits);
  cluster_.RemovePod(gone);
  EXPECT_EQ(VerdictOf({"4"}), Verdict::kFits) << "more room is no harm to one container";
  EXPECT_EQ(VerdictOf({"4", "4"}), Verdict::kUnknown);
  Publish({});
  SetFree(0, 8);
  EXPECT_EQ(VerdictOf({"4", "4"}), Verdict::kFits);
}

TEST_F(ExactLedgerTest, ManyPodsMayComeAndGoAtOnce) {
  std::vector<std::string> names;
  std::vector<cluster::PodId> pods;
  for (int i = 0; i < 20; ++i)
    pods.push_back(Place(names.emplace_back("a" + std::to_string(i)), {"1"}));
  Publish(names);
  SetFree(0, 0);
  SetFree(1, 4);
  EXPECT_EQ(VerdictOf({"4"}), Verdict::kFits);
  for (const cluster::PodId pod : pods) cluster_.RemovePod(pod);
  names.clear();
  for (int i = 0; i < 20; ++i) Place(names.emplace_back("b" + std::to_string(i)), {"1"});
  EXPECT_EQ(VerdictOf({"4"}), Verdict::kUnknown) << "those that are counted have gone";
  Publish(names);
  EXPECT_EQ(VerdictOf({"4"}), Verdict::kFits);
}

TEST_F(ExactLedgerTest, RestrictedAllowsSeveralCellsWhereOneCouldNeverDo) {
  topology_.policy = Policy::kRestricted;
  EXPECT_EQ(VerdictOf({"12"}), Verdict::kUnaligned) << "its memory is of one cell alone";
  for (NumaCell& cell : topology_.cells) cell.available.erase("memory");
  EXPECT_EQ(VerdictOf({"12"}), Verdict::kFits);
  SetFree(0, 3);
  SetFree(1, 3);
  EXPECT_EQ(VerdictOf({"4"}), Verdict::kUnaligned) << "one cell could, if it were empty";
}

TEST(NumaAccuracyTest, IsExactOrAbsent) {
  config::NodeResourceTopologyMatchArgs args;
  args.SetDefaults();
  const auto errors = [&] {
    std::vector<std::string> all;
    args.Validate(all);
    return all;
  };
  args.accuracy = "Exact";
  EXPECT_TRUE(errors().empty());
  args.accuracy = "exact";
  ASSERT_EQ(errors().size(), 1U);
  EXPECT_NE(errors()[0].find("accuracy: Invalid value: \"exact\""), std::string::npos);
  args.accuracy = "Exact";
  args.cache_resync_period_seconds = 5;
  EXPECT_EQ(errors().size(), 1U);
}

}  // namespace
}  // namespace berth::plugins::node_resource_topology
