// When pods are decided from their class, and when not.
#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "config/config.h"
#include "framework/classes/class_cache.h"
#include "framework/points/label_aware.h"
#include "scheduler/algorithm.h"
#include "scheduler/profile_set.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;

class Classes : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 10; ++i) cluster_.SetNode(Node(i));
    Configure({});
  }

  void Configure(std::span<const ExtraPlugin> extra,
                 const config::KubeSchedulerConfiguration& config = config::Default()) {
    auto made = ProfileSet::Make(config, {}, cluster_, nullptr, 0, extra);
    ASSERT_TRUE(made.has_value());
    profiles_ = std::make_unique<ProfileSet>(std::move(*made));
    cycle_ = profiles_->CycleFor("default-scheduler");
  }

  static MakeNode Node(int i) {
    MakeNode node(fmt::format("n{}", i));
    node.Cpu("8").Memory("8Gi").Label("kubernetes.io/hostname", fmt::format("n{}", i));
    return node;
  }
  MakePod Pod() { return MakePod(fmt::format("p{}", ++pods_)).Requests("cpu", "100m"); }

  // Decides and places; was it decided from a class?
  bool FromClass(const api::Pod& pod) {
    const cluster::PodId id = cluster_.AddPod(pod);
    algorithm_.Schedule(*cycle_, cluster_, cluster_.GetPod(id), &decision_);
    if (decision_.outcome == Outcome::kScheduled) cluster_.Place(id, decision_.node, true);
    return decision_.from_class;
  }
  framework::ClassCache::Statistics Seen() { return cycle_->classes().statistics(); }

  cluster::Cluster cluster_;
  std::unique_ptr<ProfileSet> profiles_;
  framework::Cycle* cycle_ = nullptr;
  Algorithm algorithm_{AlgorithmOptions{}};
  Decision decision_;
  int pods_ = 0;
};

TEST_F(Classes, TheSecondPodOfAShapeMakesOne) {
  EXPECT_FALSE(FromClass(Pod()));
  EXPECT_TRUE(FromClass(Pod()));
  EXPECT_TRUE(FromClass(Pod()));
  EXPECT_EQ(Seen().builds, 1u);
  EXPECT_EQ(Seen().rows, 1u) << "only the node the second pod went to is looked at for the third";
}

TEST_F(Classes, TheAnswerCountsWhatTheScanCounts) {
  FromClass(Pod());
  FromClass(Pod());
  EXPECT_EQ(decision_.feasible_count, 10u);
  EXPECT_EQ(decision_.evaluated_nodes, 10u);
  EXPECT_EQ(decision_.best_count, 9u) << "one node holds a pod already";
  EXPECT_TRUE(decision_.scored);
}

TEST_F(Classes, ANodeThatComesIsLookedAtAlone) {
  FromClass(Pod());
  FromClass(Pod());
  cluster_.SetNode(Node(10));
  const uint64_t rows = Seen().rows;
  EXPECT_TRUE(FromClass(Pod()));
  EXPECT_EQ(decision_.feasible_count, 11u);
  EXPECT_EQ(Seen().builds, 1u);
  EXPECT_EQ(Seen().rows, rows + 2) << "the new node, and the last pod's";
}

TEST_F(Classes, PodsOfOtherShapesChangeNothingButTheirNodes) {
  FromClass(Pod());
  FromClass(Pod());
  FromClass(Pod().Priority(1));
  FromClass(Pod().Priority(1));
  EXPECT_TRUE(FromClass(Pod()));
  EXPECT_EQ(Seen().builds, 2u);
}

constexpr const char* kOncePerNode =
    "{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'labelSelector':"
    "{'matchLabels':{'app':'x'}},'topologyKey':'kubernetes.io/hostname'}]}}";

TEST_F(Classes, LabelsNobodyLooksAtMakeNoDifference) {
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(FromClass(Pod().Label("pod-index", std::to_string(i))), i > 0);
  }
  EXPECT_EQ(Seen().builds, 1u);
  EXPECT_EQ(Seen().rows, 4u);
}

TEST_F(Classes, PodsOfAStatefulSetThatKeepApartShareOne) {
  for (int i = 0; i < 10; ++i) {
    MakePod pod = Pod().Label("app", "x").Label("pod-index", std::to_string(i));
    pod.Get().spec.affinity = cluster::FromText<api::Affinity>(kOncePerNode);
    EXPECT_EQ(FromClass(pod), i > 1) << "the first to be kept away from is a change";
    EXPECT_EQ(decision_.feasible_count, static_cast<size_t>(10 - i));
  }
  EXPECT_EQ(Seen().builds, 1u);
}

TEST_F(Classes, LabelsThatOthersLookAtMakeAnotherClass) {
  MakePod lonely = Pod();
  lonely.Get().spec.affinity = cluster::FromText<api::Affinity>(kOncePerNode);
  FromClass(lonely);
  for (int i = 0; i < 4; ++i) {
    for (const char* app : {"x", "y", "z"}) {
      FromClass(Pod().Label("app", app));
      EXPECT_EQ(decision_.feasible_count, *app == 'x' ? 9u : 10u) << app << i;
    }
  }
  EXPECT_EQ(Seen().builds, 2u) << "those the first pod keeps away, and the others";
}

TEST_F(Classes, AServiceThatSelectsSomePodsTakesThemOut) {
  cluster_.MutableObjects().services.Set(cluster::FromText<api::Service>(
      "{'metadata':{'name':'s','namespace':'ns'},'spec':{'selector':{'app':'x'}}}"));
  for (int i = 0; i < 4; ++i) {
    for (const char* app : {"x", "y", "z"}) {
      EXPECT_EQ(FromClass(Pod().Label("app", app)), i > 0 || *app == 'z')
          << "pod " << i << " of app " << app;
    }
  }
  EXPECT_EQ(Seen().builds, 2u) << "those that spread, and the others";
}

TEST_F(Classes, PodsWithClaimsOfTheirOwnAreDecidedWithout) {
  const auto with_claim = [&] {
    return Pod().Volume("{'name':'v','awsElasticBlockStore':{'volumeID':'x'}}");
  };
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(FromClass(with_claim()));
}

TEST_F(Classes, AnExplicitPercentageIsHonoured) {
  for (int i = 0; i < 200; ++i) cluster_.SetNode(Node(10 + i));
  config::KubeSchedulerConfiguration config = config::Default();
  config.percentage_of_nodes_to_score = 50;
  Configure({}, config);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(FromClass(Pod()));
}

TEST_F(Classes, SwitchedOffTheyAreNotAsked) {
  algorithm_ = Algorithm(AlgorithmOptions{.classes = false});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(FromClass(Pod()));
  EXPECT_EQ(Seen().builds, 0u);
}

TEST_F(Classes, WhereNothingFitsTheClassSaysWhyAsTheScanDoes) {
  const auto large = [&] { return Pod().Requests("cpu", "9"); };
  EXPECT_FALSE(FromClass(large()));
  const std::string said = framework::FitErrorMessage(*cycle_, decision_.diagnosis);
  EXPECT_EQ(said, "0/10 nodes are available: 10 Insufficient cpu.");
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(FromClass(large()));
    EXPECT_EQ(decision_.outcome, Outcome::kUnschedulable);
    EXPECT_EQ(decision_.diagnosis.rejected.Count(), 10u);
    EXPECT_EQ(decision_.diagnosis.unschedulable_plugins, std::set<std::string>{"NodeResourcesFit"});
    EXPECT_EQ(decision_.evaluated_nodes, 10u);
    EXPECT_EQ(framework::FitErrorMessage(*cycle_, decision_.diagnosis), said);
  }
  EXPECT_EQ(Seen().builds, 1u);
}

TEST_F(Classes, WhatIsKnownOfRefusalsFollowsTheNodes) {
  const auto large = [&] { return Pod().Requests("cpu", "9"); };
  for (int i = 0; i < 3; ++i) FromClass(large());
  cluster_.SetNode(Node(3).Cordoned());
  cluster_.SetNode(Node(10));
  cluster_.RemoveNode("n5");
  EXPECT_TRUE(FromClass(large()));
  EXPECT_EQ(framework::FitErrorMessage(*cycle_, decision_.diagnosis),
            "0/10 nodes are available: 1 node(s) were unschedulable, 9 Insufficient cpu.");
  EXPECT_EQ(decision_.diagnosis.rejected.Count(), 10u);
  cluster_.SetNode(MakeNode("roomy").Cpu("16").Memory("8Gi"));
  EXPECT_TRUE(FromClass(large()));
  EXPECT_EQ(decision_.outcome, Outcome::kScheduled);
  EXPECT_TRUE(FromClass(large()));
  EXPECT_EQ(framework::FitErrorMessage(*cycle_, decision_.diagnosis),
            "0/11 nodes are available: 1 node(s) were unschedulable, 10 Insufficient cpu.");
}

TEST_F(Classes, RefusalsByDomainsAreGivenAnew) {
  const auto lonely = [&] {
    MakePod pod = Pod().Label("app", "x");
    pod.Get().spec.affinity = cluster::FromText<api::Affinity>(
        "{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'labelSelector':"
        "{'matchLabels':{'app':'x'}},'topologyKey':'kubernetes.io/hostname'}]}}");
    return pod;
  };
  cluster_.SetNode(Node(9).Cordoned());
  for (int i = 0; i < 9; ++i) FromClass(lonely());
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(FromClass(lonely()));
    EXPECT_EQ(framework::FitErrorMessage(*cycle_, decision_.diagnosis),
              "0/10 nodes are available: 1 node(s) were unschedulable, 9 node(s) didn't match pod "
              "anti-affinity rules.");
  }
  cluster_.SetNode(Node(10));
  EXPECT_TRUE(FromClass(lonely()));
  EXPECT_EQ(decision_.outcome, Outcome::kScheduled);
}

// Says nothing about what it depends on.
class Silent final : public framework::FilterPlugin {
 public:
  std::string_view Name() const override { return "Silent"; }
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override {}
  static Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                         const framework::PluginHandle&) {
    return std::make_unique<Silent>();
  }
};

TEST_F(Classes, APluginThatDeclaresNothingIsAskedAboutEveryNode) {
  const ExtraPlugin silent{{"Silent", &Silent::Make}, {config::ExtensionPoint::kFilter}};
  Configure({&silent, 1});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(FromClass(Pod()));
}

// Looks at nodes and at the pod's labels, and says so.
class Reader final : public framework::FilterPlugin {
 public:
  std::string_view Name() const override { return "Reader"; }
  uint32_t DependsOn() const override { return framework::kOnNodeObject | framework::kOnPodLabels; }
  void Filter(const framework::CycleContext& c, const framework::PluginState*,
              framework::FilterBatch& batch) const override {
    const std::string& home = c.shape.source.metadata.labels.begin()->second;
    batch.ForEach([&](cluster::NodeIndex n) {
      if (c.cluster.NodeName(n) != home) batch.Reject(n, framework::Code::kUnschedulable);
    });
  }
  static Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                         const framework::PluginHandle&) {
    return std::make_unique<Reader>();
  }
};

TEST_F(Classes, APluginThatReadsLabelsSeparatesThem) {
  const ExtraPlugin reader{{"Reader", &Reader::Make}, {config::ExtensionPoint::kFilter}};
  Configure({&reader, 1});
  for (int i = 0; i < 3; ++i) {
    for (const char* home : {"n3", "n5"}) {
      EXPECT_EQ(FromClass(Pod().Label("home", home)), i > 0);
      EXPECT_EQ(cluster_.NodeName(decision_.node), home);
    }
  }
  EXPECT_EQ(Seen().builds, 2u);
}

TEST_F(Classes, MemoryIsBoundedByForgettingTheColdest) {
  framework::ClassCache small(cycle_->profile(), /*memory_bytes=*/1);
  small.set_eager(true);
  const auto find = [&](int32_t priority) {
    const cluster::PodId id = cluster_.AddPod(Pod().Priority(priority));
    cycle_->Begin(cluster_, cluster_.GetPod(id));
    EXPECT_TRUE(cycle_->RunPreFilter().Ok());
    return small.Find(*cycle_, cluster_) != nullptr;
  };
  EXPECT_TRUE(find(1));
  EXPECT_TRUE(find(1));
  const size_t one = small.MemoryBytes();
  EXPECT_EQ(small.statistics().builds, 1u);
  EXPECT_TRUE(find(2));
  EXPECT_EQ(small.statistics().evictions, 1u);
  EXPECT_EQ(small.MemoryBytes(), one);
  EXPECT_TRUE(find(1));
  EXPECT_EQ(small.statistics().builds, 3u);
}

}  // namespace
}  // namespace berth::scheduler
