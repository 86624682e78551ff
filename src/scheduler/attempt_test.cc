#include "scheduler/attempt.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "cluster/testing/dump.h"
#include "cluster/transaction.h"
#include "config/config.h"
#include "scheduler/profile_set.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using cluster::PodId;
using framework::Code;
using framework::Status;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Writes down what it is asked. Labels of the pod name the answer: reserve, permit or gate = "no",
// permit = "wait".
class Recorder final : public framework::ReservePlugin,
                       public framework::PermitPlugin,
                       public framework::PreEnqueuePlugin {
 public:
  Recorder(std::string name, std::vector<std::string>* calls)
      : name_(std::move(name)), calls_(calls) {}

  std::string_view Name() const override { return name_; }
  Status PreEnqueue(const cluster::Cluster&, const cluster::Pod& pod) const override {
    calls_->push_back("PreEnqueue " + name_);
    return Wish(pod, "gate") == name_ ? Status::Unresolvable("gated") : Status();
  }
  Status Reserve(const framework::CycleContext& c, framework::PluginState*,
                 framework::NodeIndex) override {
    calls_->push_back("Reserve " + name_);
    return Wish(c.pod, "reserve") == name_ ? Status::Error("full") : Status();
  }
  void Unreserve(const framework::CycleContext&, framework::PluginState*,
                 framework::NodeIndex) override {
    calls_->push_back("Unreserve " + name_);
  }
  Status Permit(const framework::CycleContext& c, framework::PluginState*, framework::NodeIndex,
                int64_t* timeout_ns) override {
    calls_->push_back("Permit " + name_);
    const std::string wish = Wish(c.pod, "permit");
    *timeout_ns = 3600LL * 1'000'000'000;
    if (wish == "wait") return {Code::kWait, "later"};
    return wish == name_ ? Status::Unschedulable("never") : Status();
  }

 private:
  static std::string Wish(const cluster::Pod& pod, const std::string& label) {
    const auto& labels = pod.shape->source.metadata.labels;
    const auto it = labels.find(label);
    return it == labels.end() ? "" : it->second;
  }

  std::string name_;
  std::vector<std::string>* calls_;
};

class AttemptTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cluster_.SetNode(MakeNode("a").Cpu("4").Memory("8Gi"));
    std::vector<ExtraPlugin> extra;
    for (const char* name : {"One", "Two"}) {
      ExtraPlugin plugin;
      plugin.row.name = name;
      plugin.points = {config::ExtensionPoint::kReserve, config::ExtensionPoint::kPermit,
                       config::ExtensionPoint::kPreEnqueue};
      plugin.row.make = std::string_view(name) == "One" ? &Make<0> : &Make<1>;
      extra.push_back(plugin);
    }
    calls_of_test = &calls_;
    auto made = ProfileSet::Make(config::Default(), {}, cluster_, nullptr, 0, extra);
    ASSERT_TRUE(made.has_value());
    profiles_ = std::make_unique<ProfileSet>(std::move(*made));
    cycle_ = profiles_->CycleFor("default-scheduler");
  }

  PodId Pod(const std::string& name, const std::string& label = "", const std::string& value = "") {
    MakePod pod(name);
    pod.Requests("cpu", "1");
    if (!label.empty()) pod.Label(label, value);
    return cluster_.AddPod(pod);
  }

  void Decide(PodId id) {
    attempt_.Begin(*cycle_, cluster_, id);
    ASSERT_EQ(attempt_.Decide(algorithm_), Outcome::kScheduled);
    ASSERT_EQ(attempt_.decision().node, 0U);
  }

  cluster::Cluster cluster_;
  std::unique_ptr<ProfileSet> profiles_;
  framework::Cycle* cycle_ = nullptr;
  Algorithm algorithm_{AlgorithmOptions{}};
  Attempt attempt_;
  std::vector<std::string> calls_;

 private:
  inline static std::vector<std::string>* calls_of_test = nullptr;
  template <int kNumber>
  static Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                         const framework::PluginHandle&) {
    return std::make_unique<Recorder>(kNumber == 0 ? "One" : "Two", calls_of_test);
  }
};

TEST_F(AttemptTest, CommitKeepsThePodAssumed) {
  const PodId id = Pod("p");
  cluster_.MutableNominations().Set(id, cluster_.Strings().Intern("a"));
  Decide(id);
  EXPECT_TRUE(attempt_.Reserve(0).Ok());
  EXPECT_TRUE(attempt_.Permit().Ok());
  attempt_.Commit();
  EXPECT_EQ(attempt_.stage(), Attempt::Stage::kCommitted);
  EXPECT_TRUE(cluster_.GetPod(id).assumed);
  EXPECT_EQ(cluster_.GetPod(id).node_name, "a");
  EXPECT_EQ(cluster_.Nominated().NodeOf(id), cluster::kNoString);
  EXPECT_THAT(attempt_.waits(), IsEmpty());
  EXPECT_THAT(attempt_.TakeWork(), IsEmpty());
  EXPECT_THAT(calls_, ElementsAre("Reserve One", "Reserve Two", "Permit One", "Permit Two"));
}

TEST_F(AttemptTest, AFailedReserveStopsAndRollbackRunsBackwards) {
  const PodId id = Pod("p", "reserve", "One");
  const std::string before = cluster::Dump(cluster_);
  Decide(id);
  const Status status = attempt_.Reserve(0);
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.plugin(), "One");
  EXPECT_EQ(attempt_.node(), 0U);
  attempt_.Rollback();
  EXPECT_THAT(calls_, ElementsAre("Reserve One", "Unreserve Two", "Unreserve One"));
  EXPECT_EQ(attempt_.node(), cluster::kNoNode);
  EXPECT_EQ(cluster::Dump(cluster_), before);
}

TEST_F(AttemptTest, PermitMayRefuse) {
  const PodId id = Pod("p", "permit", "Two");
  const std::string before = cluster::Dump(cluster_);
  Decide(id);
  ASSERT_TRUE(attempt_.Reserve(0).Ok());
  const Status status = attempt_.Permit();
  EXPECT_EQ(status.code(), Code::kUnschedulable);
  EXPECT_EQ(status.plugin(), "Two");
  attempt_.Rollback();
  EXPECT_EQ(cluster::Dump(cluster_), before);
}

TEST_F(AttemptTest, AllPermitPluginsMayWaitForAtMostAQuarterOfAnHour) {
  Decide(Pod("p", "permit", "wait"));
  ASSERT_TRUE(attempt_.Reserve(0).Ok());
  EXPECT_TRUE(attempt_.Permit().Ok());
  ASSERT_EQ(attempt_.waits().size(), 2U);
  for (const PermitWait& wait : attempt_.waits()) {
    EXPECT_EQ(wait.timeout_ns, 900LL * 1'000'000'000);
  }
  // The next pod of the same attempt starts with none.
  attempt_.Commit();
  Decide(Pod("q"));
  EXPECT_THAT(attempt_.waits(), IsEmpty());
}

TEST_F(AttemptTest, AttemptsInOneTransactionAreTakenBackTogether) {
  const PodId first = Pod("first");
  const PodId second = Pod("second");
  const std::string before = cluster::Dump(cluster_);
  cluster::Transaction group(cluster_);
  std::vector<Attempt> attempts(2);
  for (const PodId id : {first, second}) {
    Attempt& attempt = attempts[id == first ? 0 : 1];
    attempt.Begin(*cycle_, cluster_, id);
    ASSERT_EQ(attempt.Decide(algorithm_), Outcome::kScheduled);
    ASSERT_TRUE(attempt.Reserve(attempt.decision().node).Ok());
  }
  EXPECT_EQ(cluster_.PodCount()[0], 2);
  group.Rollback();
  EXPECT_EQ(cluster::Dump(cluster_), before);
}

TEST_F(AttemptTest, TheFirstClosedGateIsReportedAndAPluginCanBeAskedFirst) {
  const framework::Profile& profile = cycle_->profile();
  const PodId id = Pod("p", "gate", "Two");
  const EnqueueGate gate = RunPreEnqueue(profile, cluster_, cluster_.GetPod(id));
  EXPECT_FALSE(gate.Open());
  EXPECT_EQ(gate.status.plugin(), "Two");
  EXPECT_EQ(profile.At(gate.plugin).Name(), "Two");
  EXPECT_THAT(calls_, ElementsAre("PreEnqueue One", "PreEnqueue Two"));
  calls_.clear();
  size_t answers = 0;
  RunPreEnqueue(profile, cluster_, cluster_.GetPod(id), gate.plugin,
                [&](const framework::PreEnqueuePlugin&, const Status&) { ++answers; });
  EXPECT_THAT(calls_, ElementsAre("PreEnqueue Two")) << "the others are not asked";
  EXPECT_EQ(answers, 1U);
  EXPECT_TRUE(RunPreEnqueue(profile, cluster_, cluster_.GetPod(Pod("open"))).Open());
}

}  // namespace
}  // namespace berth::scheduler
