// Binding cycles, by what differs between Kubernetes versions: nominations, pods that leave,
// PreBind plugins side by side.
#include <functional>
#include <map>
#include <span>

#include "scheduler/testing/engine.h"
#include "scheduler/testing/permit.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using framework::PreBindStep;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A PreBind plugin with one write for pods that have its label.
class Writer final : public framework::PreBindPlugin {
 public:
  explicit Writer(std::string_view name) : name_(name) {}
  std::string_view Name() const override { return name_; }
  bool AllowsParallel() const override { return name_ != "Alone"; }
  std::unique_ptr<framework::PreBindTask> PreparePreBind(const framework::CycleContext& c,
                                                         framework::PluginState*,
                                                         framework::NodeIndex) override {
    const bool works = c.shape.source.metadata.labels.contains(std::string(name_));
    return works ? std::make_unique<Task>(name_) : nullptr;
  }

 private:
  class Task final : public framework::PreBindTask {
   public:
    explicit Task(std::string_view name) : name_(name) {}
    PreBindStep Next(cluster::Cluster&, const api::Time&,
                     std::span<const framework::WriteResult> results) override {
      if (results.empty()) {
        api::PersistentVolumeClaim claim;
        claim.metadata.name = name_;
        return {.kind = PreBindStep::Kind::kWrite, .writes = {{claim}}};
      }
      if (results.front().code == framework::WriteResult::Code::kOk) return {};
      return {.kind = PreBindStep::Kind::kFail,
              .failure = framework::Status::Error(name_ + " failed")};
    }

   private:
    const std::string name_;
  };

  const std::string_view name_;
};

template <char kName>
ExtraPlugin TestWriter(std::string_view name) {
  static std::string_view own;
  own = name;
  return {{name,
           [](const config::PluginArgs&,
              const framework::PluginHandle&) -> Result<std::unique_ptr<framework::Plugin>> {
             return std::make_unique<Writer>(own);
           }},
          {config::ExtensionPoint::kPreBind}};
}

class BindingVersionsTest : public EngineTest {
 protected:
  void MakeWith(const std::function<void(config::Behaviour&)>& change) {
    EngineOptions options;
    change(options.behaviour);
    options.extra_plugins = {TestPermit(), TestWriter<'a'>("Left"), TestWriter<'b'>("Right"),
                             TestWriter<'c'>("Alone")};
    Make(options);
    PutNode(MakeNode("a").Cpu("1"));
  }
  static MakePod Waiting(const std::string& name) { return Small(name).Label("permit", "wait"); }
  // The names of the claims that are being written.
  std::vector<std::string> Written() {
    std::vector<std::string> names;
    Run();
    for (; seen_ < sent_.size(); ++seen_) {
      if (const auto* write = std::get_if<WriteObject>(&sent_[seen_].action)) {
        names.push_back(std::get<api::PersistentVolumeClaim>(write->write.object).metadata.name);
        ids_[names.back()] = sent_[seen_].id;
      }
    }
    return names;
  }
  void AnswerWrite(const std::string& name, EffectResult::Code code = EffectResult::Code::kOk) {
    EffectResult result;
    result.id = ids_.at(name);
    result.code = code;
    engine_->Complete(std::move(result));
  }

  size_t seen_ = 0;
  std::map<std::string, EffectId> ids_;
};

// --- Nominations

TEST_F(BindingVersionsTest, APodThatWaitsOnPermitIsNominatedFirst) {
  MakeWith([](config::Behaviour& b) { b.nominate_before_binding = true; });
  PutPod(Waiting("p"));
  EXPECT_THAT(Run(), ElementsAre("patch p nominated=a"));
  EXPECT_TRUE(engine_->Allow("p", kTestPermit));
  EXPECT_EQ(engine_->WhereIs("p"), "waiting");
  EXPECT_THAT(Run(), IsEmpty()) << "the nomination is not written yet";
  Answer("patch p nominated");
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
}

TEST_F(BindingVersionsTest, WithoutTheSwitchNobodyIsNominated) {
  MakeWith([](config::Behaviour&) {});
  PutPod(Waiting("p"));
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_TRUE(engine_->Allow("p", kTestPermit));
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
}

TEST_F(BindingVersionsTest, APodThatIsBoundAtOnceIsNotNominated) {
  MakeWith([](config::Behaviour& b) { b.nominate_before_binding = true; });
  PutPod(Small("p"));
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
}

TEST_F(BindingVersionsTest, PreBindBeginsWhenTheNominationIsAnswered) {
  for (const auto code : {EffectResult::Code::kOk, EffectResult::Code::kError}) {
    MakeWith([](config::Behaviour& b) { b.nominate_before_binding = true; });
    PutPod(Small("p").Label("Left", ""));
    EXPECT_THAT(Run(), ElementsAre("patch p nominated=a"));
    Answer("patch p nominated", code);
    EXPECT_THAT(Run(), ElementsAre("write"));
    Answer("write");
    EXPECT_THAT(Run(), ElementsAre("bind p to a"));
  }
}

TEST_F(BindingVersionsTest, ANominationThatIsThereIsNotWritten) {
  MakeWith([](config::Behaviour& b) { b.nominate_before_binding = true; });
  PutPod(Small("p").Label("Left", "").Nominated("a"));
  EXPECT_THAT(Run(), ElementsAre("write"));
}

// 1.34 with the gate keeps it; later versions clear it, also when the watch has not shown it yet.
TEST_F(BindingVersionsTest, WhetherAFailedBindingClearsTheNomination) {
  for (const bool clears : {false, true}) {
    MakeWith([&](config::Behaviour& b) {
      b.nominate_before_binding = true;
      b.failures_clear_nomination = clears;
    });
    PutPod(Waiting("p"));
    Run();
    EXPECT_TRUE(engine_->Reject("p", kTestPermit, "not today"));
    EXPECT_THAT(Run(), Contains(clears ? "patch p PodScheduled=False/Unschedulable nominated="
                                       : "patch p PodScheduled=False/Unschedulable"));
  }
}

TEST_F(BindingVersionsTest, WhetherAPodWithoutPostFilterLosesItsNomination) {
  for (const bool clears : {false, true}) {
    EngineOptions options;
    options.behaviour.failures_clear_nomination = clears;
    options.check_inputs = true;
    config::KubeSchedulerConfiguration config = config::Default();
    config.profiles[0].plugins.post_filter.disabled = {{"*"}};
    auto engine = Engine::Make(config, options, Now());
    ASSERT_TRUE(engine.has_value()) << engine.error().Message();
    engine_ = std::move(*engine);
    PutNode(MakeNode("a").Cpu("1"));
    PutPod(MakePod("p").Requests("cpu", "2").Nominated("a"));
    EXPECT_THAT(Run(), Contains(clears ? "patch p PodScheduled=False/Unschedulable nominated="
                                       : "patch p PodScheduled=False/Unschedulable"));
  }
}

TEST_F(BindingVersionsTest, WhetherANominationOfAGatedPodCounts) {
  for (const bool counts : {false, true}) {
    MakeWith([&](config::Behaviour& b) { b.nominator_knows_gated_pods = counts; });
    PutPod(Small("gated").Gate("g").Priority(5).Nominated("a"));
    PutPod(Small("p"));
    Run();
    EXPECT_EQ(engine_->WhereIs("p") == "binding", !counts);
  }
}

// --- Pods that leave

TEST_F(BindingVersionsTest, WhetherTheBindingOfANominatedPodIsADeletion) {
  for (const bool no_deletion : {false, true}) {
    MakeWith([&](config::Behaviour& b) { b.binding_is_no_deletion = no_deletion; });
    PutPod(MakePod("lesser").Requests("cpu", "3"));
    Run();
    const MakePod nominated = Small("nominated").Priority(10).Nominated("a");
    PutPod(nominated);
    Run();
    Sleep(30);
    PutPod(MakePod(nominated).On("a"));
    EXPECT_EQ(engine_->WhereIs("lesser"), no_deletion ? "unschedulable" : "active");
  }
}

TEST_F(BindingVersionsTest, APodBoundElsewhereMayGoOnWaitingOnPermit) {
  MakeWith([](config::Behaviour& b) { b.binding_is_no_deletion = true; });
  PutNode(MakeNode("b").Cpu("1"));
  PutPod(Waiting("p"));
  Run();
  PutPod(Waiting("p").On("b"));
  EXPECT_EQ(engine_->WhereIs("p"), "waiting");
  Sleep(kTestPermitTimeoutSeconds + 1);
  Run();
  EXPECT_EQ(engine_->WhereIs("p"), "assigned");
}

TEST_F(BindingVersionsTest, WhetherADeletedPodLeavesItsNodeBeforeItsBindingEnds) {
  for (const bool at_once : {false, true}) {
    MakeWith([&](config::Behaviour& b) { b.forgets_terminating_assumed_pods = at_once; });
    PutPod(Small("p"));
    PutPod(Small("q"));
    EXPECT_THAT(Run(), Contains("bind p to a"));
    Sleep(2);
    engine_->Delete(api::Pod(Small("p")));
    Run();
    EXPECT_EQ(engine_->WhereIs("q") == "binding", at_once);
    Answer("bind p", EffectResult::Code::kNotFound);
    Run();
    EXPECT_EQ(engine_->WhereIs("p"), "");
  }
}

TEST_F(BindingVersionsTest, ATerminatingPodLeavesItsNodeBeforeItsBindingEnds) {
  MakeWith([](config::Behaviour& b) { b.forgets_terminating_assumed_pods = true; });
  PutPod(Small("p"));
  PutPod(Small("q"));
  Run();
  Sleep(2);
  api::Pod leaves = Small("p");
  leaves.metadata.deletion_timestamp = Now();
  PutPod(leaves);
  EXPECT_THAT(Run(), ElementsAre("bind q to a"));
  PutPod(leaves);  // once more: the pod is not assumed any more
  EXPECT_THAT(Run(), IsEmpty());
  Answer("bind p", EffectResult::Code::kConflict);
  EXPECT_THAT(Run(), Contains(HasSubstr("event p FailedScheduling: running Bind plugin")));
  Sleep(2);
  EXPECT_THAT(Run(), Contains("event p FailedScheduling: skip schedule deleting pod: ns/p"));
}

TEST_F(BindingVersionsTest, AWaitingPodThatTerminatesIsRejected) {
  MakeWith([](config::Behaviour& b) { b.forgets_terminating_assumed_pods = true; });
  PutPod(Waiting("p"));
  Run();
  api::Pod leaves = Waiting("p");
  leaves.metadata.deletion_timestamp = Now();
  PutPod(leaves);
  EXPECT_THAT(Run(), Contains("event p FailedScheduling: 0/1 nodes are available: 1 removed."));
  PutPod(Small("q"));
  EXPECT_THAT(Run(), Contains("bind q to a"));
}

TEST_F(BindingVersionsTest, WhetherAssumedPodsExpire) {
  for (const bool expire : {false, true}) {
    EngineOptions options;
    options.behaviour.assumed_pods_expire = expire;
    options.assumed_ttl_ns = 30 * kSecond;
    Make(options);
    PutNode(MakeNode("a").Cpu("1"));
    PutPod(Small("p"));
    Run();
    Answer("bind p");
    Sleep(31);
    EXPECT_EQ(engine_->WhereIs("p"), expire ? "active" : "assumed");
  }
}

// --- PreBind plugins side by side

TEST_F(BindingVersionsTest, WhetherPreBindPluginsRunTogether) {
  for (const bool together : {false, true}) {
    MakeWith([&](config::Behaviour& b) { b.parallel_pre_bind = together; });
    seen_ = sent_.size();
    PutPod(Small("p").Label("Left", "").Label("Right", "").Label("Alone", ""));
    if (together) {
      EXPECT_THAT(Written(), ElementsAre("Left", "Right"));
      AnswerWrite("Right");
      EXPECT_THAT(Written(), IsEmpty());
      AnswerWrite("Left");
    } else {
      EXPECT_THAT(Written(), ElementsAre("Left"));
      AnswerWrite("Left");
      EXPECT_THAT(Written(), ElementsAre("Right"));
      AnswerWrite("Right");
    }
    EXPECT_THAT(Written(), ElementsAre("Alone"));
    AnswerWrite("Alone");
    EXPECT_THAT(Run(), ElementsAre("bind p to a"));
  }
}

TEST_F(BindingVersionsTest, TheFirstFailureEndsTheOthersWhenTheyAreAnswered) {
  MakeWith([](config::Behaviour& b) { b.parallel_pre_bind = true; });
  PutPod(Small("p").Label("Left", "").Label("Right", ""));
  Written();
  AnswerWrite("Right", EffectResult::Code::kError);
  EXPECT_THAT(Run(), IsEmpty()) << "what Left has written is not known yet";
  EXPECT_EQ(engine_->WhereIs("p"), "binding");
  AnswerWrite("Left", EffectResult::Code::kUnknown);
  Sleep(1);
  EXPECT_THAT(Written(), ElementsAre("Left"));
  AnswerWrite("Left", EffectResult::Code::kError);
  EXPECT_THAT(Run(),
              Contains("event p FailedScheduling: running PreBind plugin \"Right\": Right failed"));
  EXPECT_EQ(engine_->WhereIs("p"), "error-backoff");
}

}  // namespace
}  // namespace berth::scheduler
