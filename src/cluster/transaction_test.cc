#include "cluster/transaction.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "cluster/testing/dump.h"

namespace berth::cluster {
namespace {

api::ResourceClaim Claim(const std::string& name, const std::string& version = "1") {
  api::ResourceClaim claim;
  claim.metadata.namespace_ = "ns";
  claim.metadata.name = name;
  claim.metadata.resource_version = version;
  return claim;
}

std::vector<PodPredicate> Predicates() {
  std::vector<PodPredicate> predicates;
  for (const char* selector : {"app=a", "app!=a", "app"}) {
    PodPredicate predicate;
    predicate.parts.push_back({false, {"ns"}, *api::Selector::Parse(selector)});
    predicates.push_back(predicate);
    predicate.count_terminating = false;
    predicates.push_back(predicate);
  }
  return predicates;
}

// Three nodes with four pods, two of which share a host port, and a pending one.
class TransactionTest : public ::testing::Test {
 protected:
  TransactionTest() {
    for (const char* name : {"a", "b", "c"}) {
      cluster_.SetNode(MakeNode(name).Cpu("4").Memory("8Gi").Zone(name));
    }
    first_ = cluster_.AddPod(MakePod("first").Requests("cpu", "1").HostPort(80).On("a"));
    second_ = cluster_.AddPod(MakePod("second").Label("app", "a").HostPort(80).On("a"));
    third_ = cluster_.AddPod(MakePod("third").Requests("memory", "1Gi").On("a"));
    pending_ = cluster_.AddPod(MakePod("pending").Label("app", "a").Requests("cpu", "2"));
    ghost_ = cluster_.AddPod(MakePod("ghost").On("gone"));
    other_ = cluster_.AddPod(MakePod("other"));
    cluster_.MutableObjects().resource_claims.Set(Claim("kept"));
    cluster_.MutableObjects().in_flight_claims.Set(Claim("flying"));
  }

  std::string Dump() { return cluster::Dump(cluster_, Predicates()); }
  StringId Name(const char* name) { return cluster_.Strings().Intern(name); }

  Cluster cluster_;
  PodId first_, second_, third_, pending_, ghost_, other_;
};

TEST_F(TransactionTest, RollbackRestoresTheOrderOfPodsOnANode) {
  const std::string before = Dump();
  Transaction trial(cluster_);
  cluster_.Unplace(first_);  // the last pod takes its place
  cluster_.Place(pending_, 0, true);
  cluster_.Unplace(third_);
  cluster_.Place(first_, 1, false);
  trial.Rollback();
  EXPECT_EQ(Dump(), before);
  EXPECT_EQ(cluster_.Record(0).pods, (std::vector<PodId>{first_, second_, third_}));
}

TEST_F(TransactionTest, ASharedHostPortIsTakenAgain) {
  const std::string before = Dump();
  Transaction trial(cluster_);
  cluster_.Unplace(first_);   // gives the port back for both
  cluster_.Unplace(second_);  // which had it no more
  trial.Rollback();
  EXPECT_EQ(Dump(), before);
}

TEST_F(TransactionTest, AssumeAndForgetIncludeNominationAndNodeName) {
  cluster_.MutableNominations().Set(other_, Name("b"));
  cluster_.MutableNominations().Set(pending_, Name("b"));
  const std::string before = Dump();
  Transaction trial(cluster_);
  cluster_.Assume(other_, 1);
  EXPECT_EQ(cluster_.GetPod(other_).node_name, "b");
  EXPECT_EQ(cluster_.Nominated().NodeOf(other_), kNoString);
  const std::string assumed = Dump();
  {
    Transaction inner(cluster_);
    cluster_.Forget(other_);
    EXPECT_EQ(cluster_.GetPod(other_).node_name, "");
  }
  EXPECT_EQ(Dump(), assumed);
  trial.Rollback();
  EXPECT_EQ(Dump(), before);
  EXPECT_EQ(*cluster_.Nominated().On(Name("b")), (std::vector<PodId>{other_, pending_}));
}

TEST_F(TransactionTest, TheRowOfANodeThatIsGoneComesBackWithItsLastPod) {
  const std::string before = Dump();
  {
    Transaction trial(cluster_);
    cluster_.Unplace(ghost_);
  }
  EXPECT_EQ(Dump(), before);
  // The row is not free: a new node gets another.
  EXPECT_NE(cluster_.SetNode(MakeNode("d")), cluster_.GetPod(ghost_).node);
}

TEST_F(TransactionTest, ClaimsComeBackInTheirOrder) {
  auto& flying = cluster_.MutableObjects().in_flight_claims;
  flying.Set(Claim("second"));
  const std::string before = Dump();
  const uint64_t generation = flying.Generation();
  {
    Transaction trial(cluster_);
    flying.Remove("ns", "flying");
    flying.Set(Claim("third"));
    flying.Set(Claim("second", "2"));
    flying.Remove("ns", "third");
    flying.Set(Claim("flying", "3"));
    cluster_.MutableObjects().resource_claims.Set(Claim("kept", "9"));
  }
  EXPECT_EQ(Dump(), before);
  EXPECT_GT(flying.Generation(), generation) << "those who saw the change see that it is gone";
  flying.Set(Claim("later"));  // outside of a transaction: stays
  EXPECT_NE(flying.Find("ns", "later"), nullptr);
}

TEST_F(TransactionTest, AnInnerCommitIsUndoneWithTheOuterOne) {
  const std::string before = Dump();
  Transaction outer(cluster_);
  cluster_.Unplace(first_);
  {
    Transaction inner(cluster_);
    cluster_.Place(pending_, 0, true);
    inner.Commit();
  }
  EXPECT_EQ(cluster_.GetPod(pending_).node, 0U);
  outer.Rollback();
  EXPECT_FALSE(outer.IsOpen());
  EXPECT_EQ(Dump(), before);
}

TEST_F(TransactionTest, ACommitKeepsTheChanges) {
  {
    Transaction trial(cluster_);
    cluster_.Assume(pending_, 2);
    trial.Commit();
  }
  EXPECT_EQ(cluster_.GetPod(pending_).node, 2U);
  cluster_.RemovePod(pending_);  // nothing is recorded any more
  const std::string before = Dump();
  { const Transaction empty(cluster_); }
  EXPECT_EQ(Dump(), before);
}

TEST_F(TransactionTest, ReadersOfTheRowLogHearOfTheRollback) {
  Transaction trial(cluster_);
  cluster_.Unplace(third_);
  const uint64_t position = cluster_.Changes().Read();
  trial.Rollback();
  std::vector<NodeIndex> rows;
  EXPECT_TRUE(cluster_.Changes().ForEachSince(position, [&](NodeIndex n) { rows.push_back(n); }));
  EXPECT_EQ(rows, std::vector<NodeIndex>{0});
}

// Random changes in nested transactions of random ends.
class RandomTransactions {
 public:
  explicit RandomTransactions(uint32_t seed) : random_(seed) {
    for (int i = 0; i < 6; ++i) {
      MakeNode node("n" + std::to_string(i));
      cluster.SetNode(node.Cpu("8").Memory("8Gi").Zone(std::string(1, "xyz"[i % 3])));
    }
    for (int i = 0; i < 30; ++i) {
      MakePod pod("p" + std::to_string(i));
      pod.Requests("cpu", std::to_string(Pick(9)) + "00m").Label("app", Pick(2) == 0 ? "a" : "b");
      if (Pick(3) == 0) pod.Requests("example.com/gpu", "1");
      if (Pick(3) == 0) pod.HostPort(static_cast<int32_t>(80 + Pick(3)));
      if (Pick(3) == 0) {
        pod.Volume("{'name':'v','persistentVolumeClaim':{'claimName':'c" + std::to_string(Pick(3)) +
                   "'}}");
      }
      if (Pick(4) == 0) pod.Get().metadata.deletion_timestamp.emplace();
      if (Pick(4) == 0) AddTerm(pod.Get());
      if (Pick(2) == 0) pod.On((Pick(9) == 0 ? "gone" : "n") + std::to_string(Pick(6)));
      pods_.push_back(cluster.AddPod(pod));
    }
    cluster.RemoveNode("n5");
  }

  // Changes something, or opens a transaction and rolls it back: then everything is as before.
  void Step(int depth) {
    const PodId id = pods_[Pick(pods_.size())];
    const bool placed = cluster.GetPod(id).node != kNoNode;
    switch (Pick(8)) {
      case 0:
        cluster.MutableNominations().Set(id,
                                         cluster.Strings().Intern("n" + std::to_string(Pick(6))));
        return;
      case 1:
        return cluster.MutableNominations().Clear(id);
      case 2:
        return cluster.MutableObjects().in_flight_claims.Set(
            Claim("c" + std::to_string(Pick(5)), std::to_string(Pick(99))));
      case 3:
        cluster.MutableObjects().in_flight_claims.Remove("ns", "c" + std::to_string(Pick(5)));
        return;
      case 4:
        if (depth < 4) Nested(depth + 1);
        return;
      default:
        if (placed) {
          cluster.GetPod(id).assumed ? cluster.Forget(id) : cluster.Unplace(id);
        } else if (cluster.GetPod(id).node_name.empty()) {
          cluster.Assume(id, static_cast<NodeIndex>(Pick(5)));
        } else {
          cluster.Place(id, static_cast<NodeIndex>(Pick(5)), /*assumed=*/false);
        }
    }
  }

  void Nested(int depth) {
    const std::string before = cluster::Dump(cluster, Predicates());
    Transaction transaction(cluster);
    for (size_t i = Pick(12); i > 0; --i) Step(depth);
    if (depth > 1 && Pick(3) == 0) {
      transaction.Commit();
      return;
    }
    transaction.Rollback();
    ASSERT_EQ(cluster::Dump(cluster, Predicates()), before);
  }

  Cluster cluster;

 private:
  size_t Pick(size_t below) { return random_() % below; }

  void AddTerm(api::Pod& pod) {
    api::PodAffinityTerm term;
    term.topology_key = "topology.kubernetes.io/zone";
    term.label_selector.emplace();
    term.label_selector->match_labels.emplace("app", Pick(2) == 0 ? "a" : "b");
    pod.spec.affinity.emplace();
    pod.spec.affinity->pod_anti_affinity.emplace();
    pod.spec.affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution
        .push_back(term);
  }

  std::mt19937 random_;
  std::vector<PodId> pods_;
};

TEST(TransactionPropertyTest, AfterARollbackTheDumpIsAsBefore) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomTransactions random(seed);
    for (int round = 0; round < 10; ++round) {
      random.Nested(1);
      if (::testing::Test::HasFatalFailure()) return;
      for (int i = 0; i < 5; ++i) random.Step(9);  // for good
    }
  }
}

}  // namespace
}  // namespace berth::cluster
