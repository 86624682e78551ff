#include "cluster/topology/topology_counters.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"

namespace berth::cluster {
namespace {

api::Selector Parse(const std::string& text) { return *api::Selector::Parse(text); }

PodPredicate Predicate(std::vector<std::string> namespaces, const std::string& selector,
                       bool count_terminating = true) {
  PodPredicate predicate;
  predicate.parts.push_back({namespaces.empty(), std::move(namespaces), Parse(selector)});
  predicate.count_terminating = count_terminating;
  return predicate;
}

api::PodAffinityTerm Term(const std::string& key, const std::string& app) {
  api::PodAffinityTerm term;
  term.topology_key = key;
  term.label_selector.emplace();
  term.label_selector->match_labels.emplace("app", app);
  return term;
}

// A cluster that random events happen to, and a recount of everything from its pods.
class RandomCluster {
 public:
  explicit RandomCluster(unsigned seed) : random_(seed) {
    predicates_ = {
        Predicate({"a"}, "app=x"),
        Predicate({"a", "b"}, "app=x"),
        Predicate({}, "app=x"),
        Predicate({"a"}, "app=x", false),
        Predicate({"b"}, "app!=x", false),
        Predicate({"none"}, "app=x"),
        Predicate({}, "tier"),
    };
    PodPredicate both = Predicate({"a"}, "app=x");
    both.parts.push_back(Predicate({}, "tier").parts[0]);
    predicates_.push_back(both);
    handles_.resize(predicates_.size());
  }

  void Step() {
    switch (Pick(10)) {
      case 0:
        cluster.SetNode(RandomNode());
        return;
      case 1:
        if (Pick(4) == 0) cluster.RemoveNode("n" + std::to_string(Pick(12)));
        return;
      case 2:
        if (!pods_.empty()) {
          const size_t i = Pick(pods_.size());
          cluster.RemovePod(pods_[i]);
          pods_.erase(pods_.begin() + static_cast<long>(i));
        }
        return;
      case 3:
        if (!pods_.empty()) {
          const PodId id = pods_[Pick(pods_.size())];
          api::Pod pod = RandomPod();
          pod.metadata.uid = cluster.GetPod(id).uid;
          cluster.UpdatePod(id, pod);
        }
        return;
      case 4:
        // A hypothesis, taken back.
        for (const PodId id : pods_) {
          const NodeIndex n = cluster.GetPod(id).node;
          if (n == kNoNode || !cluster.Nodes().Contains(n) || Pick(3) != 0) continue;
          cluster.Unplace(id);
          cluster.Place(id, n, false);
        }
        return;
      default:
        pods_.push_back(cluster.AddPod(RandomPod()));
    }
  }

  void Check() {
    for (size_t i = 0; i < predicates_.size(); ++i) {
      // Not every counter is asked every time, so that some are made late and some lag behind.
      if (Pick(3) == 0) continue;
      PodCounter& counter = cluster.Topology().Use(predicates_[i], handles_[i]);
      CheckCounter(counter, [&](const Pod& pod) {
        const bool counts = !pod.terminating || predicates_[i].count_terminating;
        return counts && predicates_[i].Matches(*pod.shape) ? 1 : 0;
      });
    }
    std::string key;
    for (const PodId id : pods_) {
      for (const OwnTerm& own : cluster.Topology().TermsOf(*cluster.GetPod(id).shape)) {
        CheckTerm(own);
      }
    }
  }

  Cluster cluster;

 private:
  size_t Pick(size_t n) { return random_() % n; }

  api::Node RandomNode() {
    api::Node node;
    node.metadata.name = "n" + std::to_string(Pick(12));
    if (Pick(5) != 0) node.metadata.labels.emplace("zone", "z" + std::to_string(Pick(3)));
    if (Pick(5) != 0) node.metadata.labels.emplace("host", node.metadata.name);
    return node;
  }

  api::Pod RandomPod() {
    api::Pod pod;
    pod.metadata.name = "p" + std::to_string(next_);
    pod.metadata.uid = std::to_string(next_++);
    pod.metadata.namespace_ = Pick(2) == 0 ? "a" : "b";
    pod.metadata.labels.emplace("app", Pick(2) == 0 ? "x" : "y");
    if (Pick(3) == 0) pod.metadata.labels.emplace("tier", "t");
    if (Pick(4) != 0) pod.spec.node_name = "n" + std::to_string(Pick(14));
    if (Pick(6) == 0) pod.metadata.deletion_timestamp.emplace();
    if (Pick(3) == 0) {
      pod.spec.affinity.emplace();
      auto& anti = pod.spec.affinity->pod_anti_affinity.emplace();
      auto& required = anti.required_during_scheduling_ignored_during_execution;
      for (size_t i = Pick(3); i > 0; --i) {
        required.push_back(Term(Pick(2) == 0 ? "zone" : "host", Pick(2) == 0 ? "x" : "y"));
      }
      anti.preferred_during_scheduling_ignored_during_execution.push_back(
          {static_cast<int32_t>(Pick(2)), Term("zone", "x")});
    }
    return pod;
  }

  template <class Weight>
  void CheckCounter(PodCounter& counter, Weight&& weight) {
    std::map<uint32_t, int64_t> rows;
    int64_t total = 0;
    for (const PodId id : pods_) {
      const Pod& pod = cluster.GetPod(id);
      if (pod.node == kNoNode || weight(pod) == 0) continue;
      rows[pod.node] += weight(pod);
      total += weight(pod);
    }
    std::map<uint32_t, int64_t> found;
    counter.Rows().ForEach([&](uint32_t row, int32_t count) { found[row] = count; });
    EXPECT_EQ(found, rows);
    EXPECT_EQ(counter.Total(), total);
    for (const char* key : {"zone", "host"}) {
      const LabelColumn& column = cluster.Labels(cluster.Strings().Intern(key));
      for (const auto& mask : {std::shared_ptr<NodeMask>(), Mask()}) {
        std::map<uint32_t, int64_t> domains;
        for (const auto& [row, count] : rows) {
          if (!mask || mask->nodes.Contains(row)) domains[column.codes[row]] += count;
        }
        std::map<uint32_t, int64_t> by_code;
        cluster.Topology()
            .Domains(counter, column, mask)
            .ForEach([&](uint32_t code, int32_t count) { by_code[code] = count; });
        EXPECT_EQ(by_code, domains) << key;
      }
    }
  }

  void CheckTerm(const OwnTerm& own) {
    std::string key;
    AppendTermKey(own, &key);
    const auto times = [&](const Pod& pod) {
      int64_t same = 0;
      for (const OwnTerm& other : cluster.Topology().TermsOf(*pod.shape)) {
        std::string other_key;
        AppendTermKey(other, &other_key);
        same += other_key == key;
      }
      return same;
    };
    size_t found = 0;
    cluster.Topology().ForEachTerm(
        own.term.namespaces.at(0), 0, [&](const CounterHandle& handle, const OwnTerm& other) {
          std::string other_key;
          AppendTermKey(other, &other_key);
          if (other_key != key) return;
          ++found;
          CheckCounter(cluster.Topology().FindTerm(handle)->counter, times);
        });
    EXPECT_EQ(found, 1u);
  }

  // The even rows that are nodes, kept up to date as whoever made a mask must.
  std::shared_ptr<NodeMask> Mask() {
    if (!mask_) mask_ = std::make_shared<NodeMask>();
    mask_->nodes.Resize(cluster.Rows());
    if (mask_->generation != cluster.Topology().Generation()) {
      mask_->generation = cluster.Topology().Generation();
      mask_->nodes.Clear();
      for (NodeIndex n = 0; n < cluster.Rows(); n += 2) {
        mask_->nodes.Set(n, cluster.Nodes().Contains(n));
      }
    }
    return mask_;
  }

  std::mt19937 random_;
  std::vector<PodId> pods_;
  int next_ = 0;
  std::vector<PodPredicate> predicates_;
  std::vector<CounterHandle> handles_;
  std::shared_ptr<NodeMask> mask_;
};

TEST(TopologyCounters, EqualARecountAfterAnyEvents) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    RandomCluster random(seed);
    for (int step = 0; step < 300; ++step) {
      random.Step();
      if (step % 7 == 0) random.Check();
      ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << " step " << step;
    }
  }
}

TEST(TopologyCounters, OneCounterForEqualPredicates) {
  Cluster cluster;
  CounterHandle one, two, three;
  PodCounter& first = cluster.Topology().Use(Predicate({"a"}, "app=x"), one);
  EXPECT_EQ(&first, &cluster.Topology().Use(Predicate({"a"}, "app=x"), two));
  EXPECT_NE(&first, &cluster.Topology().Use(Predicate({"a"}, "app=x", false), three));
  EXPECT_EQ(cluster.Topology().CounterCount(), 2u);
}

TEST(TopologyCounters, CountersUnusedForLongAreDroppedAndCountedAgainWhenAsked) {
  Cluster cluster;
  api::Pod pod;
  pod.metadata.namespace_ = "a";
  pod.metadata.labels.emplace("app", "x");
  pod.spec.node_name = "n";
  cluster.AddPod(pod);
  const PodPredicate wanted = Predicate({"a"}, "app=x");
  CounterHandle handle;
  EXPECT_EQ(cluster.Topology().Use(wanted, handle).Total(), 1);
  for (int i = 0; i < 100000; ++i) {
    CounterHandle other;
    cluster.Topology().Use(Predicate({"a"}, "app=other" + std::to_string(i)), other);
  }
  EXPECT_LT(cluster.Topology().CounterCount(), 70000u);
  pod.metadata.uid = "second";
  cluster.AddPod(pod);
  EXPECT_EQ(cluster.Topology().Use(wanted, handle).Total(), 2);
}

TEST(TopologyCounters, TermsGoWithTheLastShapeThatHasThem) {
  Cluster cluster;
  api::Pod pod;
  pod.metadata.namespace_ = "a";
  pod.spec.node_name = "n";
  pod.spec.affinity.emplace();
  pod.spec.affinity->pod_anti_affinity.emplace()
      .required_during_scheduling_ignored_during_execution = {Term("zone", "x")};
  const PodId id = cluster.AddPod(pod);
  EXPECT_EQ(cluster.Topology().TermCount(), 1u);
  cluster.RemovePod(id);
  // The next shape takes the number of the old one, and its place.
  pod.spec.affinity = std::nullopt;
  cluster.AddPod(pod);
  EXPECT_EQ(cluster.Topology().TermCount(), 0u);
}

TEST(AffinityTerm, AListThatDoesNotParseIsLeftOutAsAWhole) {
  PodShape shape;
  shape.namespace_ = "a";
  shape.source.spec.affinity.emplace();
  auto bad = Term("zone", "x");
  bad.label_selector->match_labels.emplace("app/", "y");
  auto& near = shape.source.spec.affinity->pod_affinity.emplace();
  near.required_during_scheduling_ignored_during_execution = {Term("zone", "x"), bad};
  near.preferred_during_scheduling_ignored_during_execution = {{1, Term("zone", "x")}};
  auto& apart = shape.source.spec.affinity->pod_anti_affinity.emplace();
  apart.preferred_during_scheduling_ignored_during_execution = {{1, bad}};
  Dictionary strings;
  const OwnTerms own = CompileOwnTerms(shape, strings);
  ASSERT_EQ(own.terms.size(), 1u);
  EXPECT_EQ(own.terms[0].kind, TermKind::kPreferredAffinity);
  EXPECT_TRUE(own.error.starts_with("[requiredAffinityTerms: key: Invalid value: \"app/\""))
      << own.error;
  EXPECT_NE(own.error.find(", preferredAntiAffinityTerms: key: "), std::string::npos) << own.error;
}

}  // namespace
}  // namespace berth::cluster
