// Preemption, by what differs between Kubernetes versions: victims that terminate already, victims
// in memory, and when the preemptor may be queued again.
#include <algorithm>
#include <functional>

#include "scheduler/decisions/decision_log.h"
#include "scheduler/testing/engine.h"
#include "scheduler/testing/permit.h"

namespace berth::scheduler {
namespace {

using cluster::FromText;
using cluster::MakeNode;
using cluster::MakePod;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Code = EffectResult::Code;

class PreemptionVersionsTest : public EngineTest {
 protected:
  void MakeWith(const std::function<void(config::Behaviour&)>& change) {
    EngineOptions options;
    change(options.behaviour);
    options.extra_plugins = {TestPermit()};
    Make(options);
    sent_.clear();
    PutNode(MakeNode("a").Cpu("2"));
  }
  // A pod whose PreBind writes a claim and waits for its volume.
  void PutWithVolume(const std::string& name) {
    Put(
        FromText<api::StorageClass>("{'metadata':{'name':'fast'},'provisioner':'example.com/p',"
                                    "'volumeBindingMode':'WaitForFirstConsumer'}"));
    Put(FromText<api::PersistentVolumeClaim>(
        "{'metadata':{'name':'c','namespace':'ns','uid':'c'},'spec':{'storageClassName':'fast',"
        "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}},"
        "'status':{'phase':'Pending'}}"));
    PutPod(MakePod(name)
               .Requests("cpu", "2")
               .Volume("{'name':'d','persistentVolumeClaim':{'claimName':'c'}}"));
  }
  static MakePod Vip() { return MakePod("vip").Requests("cpu", "2").Priority(10); }
  size_t Count(const std::vector<std::string>& words, std::string_view prefix) {
    return static_cast<size_t>(std::count_if(
        words.begin(), words.end(), [&](const auto& word) { return word.starts_with(prefix); }));
  }
};

// --- In memory

TEST_F(PreemptionVersionsTest, WhetherAVictimOnPermitGoesThroughTheErrorBackoff) {
  for (const bool in_memory : {false, true}) {
    MakeWith([&](config::Behaviour& b) { b.preempts_in_memory = in_memory; });
    PutPod(MakePod("v").Requests("cpu", "2").Label("permit", "wait"));
    Run();
    PutPod(Vip());
    const auto words = Run();
    EXPECT_EQ(Count(words, "delete v"), 0u);
    if (in_memory) {
      EXPECT_THAT(words, Contains("event v Preempted: Preempted by pod vip on node a (in "
                                  "kube-scheduler memory)."));
      EXPECT_THAT(words,
                  Contains("event v FailedScheduling: waiting on permit for pod: preempted"));
      EXPECT_EQ(engine_->WhereIs("v"), "error-backoff");
    } else {
      EXPECT_THAT(words, Contains("event v Preempted: Preempted by pod vip on node a"));
      EXPECT_THAT(words,
                  Contains("event v FailedScheduling: 0/1 nodes are available: 1 preempted."));
    }
  }
}

TEST_F(PreemptionVersionsTest, AVictimInPreBindIsCancelledWhileItWaits) {
  MakeWith([](config::Behaviour& b) { b.preempts_in_memory = true; });
  PutWithVolume("v");
  EXPECT_THAT(Run(), ElementsAre("write"));
  Answer("write");
  PutPod(Vip());
  const auto words = Run();
  EXPECT_THAT(words, Contains("event v FailedScheduling: running PreBind plugin \"VolumeBinding\": "
                              "preempted by DefaultPreemption"));
  EXPECT_THAT(words, Contains(HasSubstr("(in kube-scheduler memory).")));
  EXPECT_EQ(engine_->WhereIs("v"), "error-backoff");
  EXPECT_EQ(Count(words, "delete v"), 0u);
}

TEST_F(PreemptionVersionsTest, AVictimInPreBindIsCancelledOnceItsWriteIsAnswered) {
  MakeWith([](config::Behaviour& b) { b.preempts_in_memory = true; });
  PutWithVolume("v");
  EXPECT_THAT(Run(), ElementsAre("write"));
  PutPod(Vip());
  EXPECT_THAT(Run(), Not(Contains(HasSubstr("event v "))));
  EXPECT_EQ(engine_->WhereIs("v"), "binding");
  Answer("write");
  EXPECT_THAT(Run(), Contains("event v Preempted: Preempted by pod vip on node a (in "
                              "kube-scheduler memory)."));
  EXPECT_EQ(engine_->WhereIs("v"), "error-backoff");
}

TEST_F(PreemptionVersionsTest, WithoutTheSwitchAVictimInPreBindIsDeleted) {
  MakeWith([](config::Behaviour&) {});
  PutWithVolume("v");
  Run();
  PutPod(Vip());
  EXPECT_THAT(Run(), Contains("patch v DisruptionTarget=True/PreemptionByScheduler"));
}

TEST_F(PreemptionVersionsTest, AVictimThatIsBeingBoundIsDeleted) {
  MakeWith([](config::Behaviour& b) { b.preempts_in_memory = true; });
  PutPod(MakePod("v").Requests("cpu", "2"));
  EXPECT_THAT(Run(), ElementsAre("bind v to a"));
  PutPod(Vip());
  EXPECT_THAT(Run(), Contains("patch v DisruptionTarget=True/PreemptionByScheduler"));
}

TEST_F(PreemptionVersionsTest, WhetherALastVictimInMemoryActivatesThePreemptor) {
  for (const bool activates : {false, true}) {
    MakeWith([&](config::Behaviour& b) {
      b.preempts_in_memory = true;
      b.in_memory_victim_activates = activates;
    });
    PutWithVolume("v");
    Run();
    PutPod(Vip());
    Run();
    Answer("write");
    const auto& moves = engine_->IncomingPods();
    const bool activated = std::any_of(moves.begin(), moves.end(), [](const EventMoves& move) {
      return move.event == "ForceActivate";
    });
    EXPECT_EQ(activated, activates);
    EXPECT_THAT(Run(), Contains("bind vip to a")) << "the queue is empty else";
  }
}

// --- Requests to the API server

TEST_F(PreemptionVersionsTest, WhetherVictimsThatTerminateGetARequest) {
  for (const bool skips : {false, true}) {
    MakeWith([&](config::Behaviour& b) { b.skips_terminating_victims = skips; });
    api::Pod leaves = Small("leaves").On("a");
    leaves.metadata.deletion_timestamp = Now();
    PutPod(leaves);
    PutPod(Small("stays").On("a").Priority(-1));
    PutPod(Vip());
    const auto words = Run();
    EXPECT_THAT(words, Contains("patch vip PodScheduled=False/Unschedulable nominated=a"));
    EXPECT_EQ(Count(words, "patch leaves"), skips ? 0u : 1u);
    EXPECT_EQ(Count(words, "patch stays"), skips ? 1u : 0u) << "the last waits for the others";
  }
}

TEST_F(PreemptionVersionsTest, WhenAllVictimsTerminateNothingIsSent) {
  MakeWith([](config::Behaviour& b) { b.skips_terminating_victims = true; });
  api::Pod leaves = MakePod("leaves").Requests("cpu", "2").On("a");
  leaves.metadata.deletion_timestamp = Now();
  PutPod(leaves);
  PutPod(Vip());
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("event vip FailedScheduling"),
                                 "patch vip PodScheduled=False/Unschedulable nominated=a"));
  engine_->Delete(leaves);
  Sleep(2);
  EXPECT_THAT(Run(), Contains("bind vip to a"));
}

TEST_F(PreemptionVersionsTest, WhetherThePreemptorIsHeldUntilTheLastRequestEnds) {
  for (const bool holds : {false, true}) {
    MakeWith([&](config::Behaviour& b) { b.skips_terminating_victims = holds; });
    PutNode(MakeNode("b").Cpu("1"));
    PutPod(MakePod("v").Requests("cpu", "2").On("a"));
    PutPod(Small("other").On("b").Priority(20));
    PutPod(Vip());
    EXPECT_THAT(Run(), Contains("patch v DisruptionTarget=True/PreemptionByScheduler"));
    engine_->Delete(api::Pod(Small("other").On("b")));  // an event that may help
    EXPECT_EQ(engine_->WhereIs("vip"), holds ? "gated" : "backoff");
    if (!holds) continue;
    Answer("patch v ");
    Run();
    Answer("delete v");
    Run();
    engine_->Delete(api::Pod(MakePod("v").Requests("cpu", "2").On("a")));
    EXPECT_THAT(Run(), Contains("bind vip to a"));
  }
}

TEST_F(PreemptionVersionsTest, ALastVictimThatIsSeenToGoLetsThePreemptorIn) {
  MakeWith([](config::Behaviour& b) { b.skips_terminating_victims = true; });
  const MakePod victim = MakePod("v").Requests("cpu", "2").On("a");
  PutPod(victim);
  PutPod(Vip());
  Run();
  Answer("patch v ");
  Run();
  engine_->Delete(api::Pod(victim));  // before the answer to its deletion
  EXPECT_THAT(Run(), Contains("bind vip to a"));
}

TEST_F(PreemptionVersionsTest, AVictimWhoseBindingFailsMeanwhileLetsThePreemptorIn) {
  for (const bool seen_first : {false, true}) {  // by the watch, before the answer
    MakeWith([](config::Behaviour& b) { b.skips_terminating_victims = true; });
    PutPod(MakePod("v").Requests("cpu", "2"));
    EXPECT_THAT(Run(), ElementsAre("bind v to a"));
    PutPod(Vip());
    Run();
    Answer("bind v", Code::kError);
    Run();
    EXPECT_EQ(engine_->WhereIs("vip"), "gated") << "the request for v has not ended";
    Answer("patch v DisruptionTarget");
    Run();
    if (seen_first) engine_->Delete(api::Pod(MakePod("v").Requests("cpu", "2")));
    Answer("delete v");
    EXPECT_THAT(Run(), Contains("bind vip to a"));
  }
}

TEST_F(PreemptionVersionsTest, WhetherTheLastVictimIsSparedWhenAnotherCannotGo) {
  for (const bool spares : {false, true}) {
    MakeWith([&](config::Behaviour& b) { b.spares_last_victim_on_error = spares; });
    PutPod(Small("v1").On("a").Priority(1));
    PutPod(Small("v2").On("a").Priority(2));
    PutPod(Vip());
    EXPECT_EQ(Count(Run(), "patch v"), 1u + 1u) << "a victim and the preemptor";
    Answer("patch v2", Code::kError);
    while (engine_->Step()) {
    }
    std::vector<std::string> words;
    for (const Effect& effect : engine_->TakeEffects()) words.push_back(Words(effect.action));
    EXPECT_EQ(Count(words, "patch v1 "), spares ? 0u : 1u);
  }
}

TEST_F(PreemptionVersionsTest, WhetherAVictimThatIsGoneIsAFailure) {
  for (const bool skips : {false, true}) {
    MakeWith([&](config::Behaviour& b) {
      b.skips_terminating_victims = skips;
      b.spares_last_victim_on_error = true;
    });
    PutPod(Small("v1").On("a").Priority(1));
    PutPod(Small("v2").On("a").Priority(2));
    PutPod(Vip());
    Run();
    Answer("patch v2", Code::kNotFound);
    EXPECT_EQ(Count(Run(), "patch v1 "), skips ? 1u : 0u);
  }
}

// --- What metrics count

class Counter final : public EngineObserver {
 public:
  void Preempted(const PodRef&, size_t victims, std::string_view) override {
    counted.push_back(victims);
  }
  std::vector<size_t> counted;
};

TEST_F(PreemptionVersionsTest, WhetherPreemptionsWithoutARequestAreCounted) {
  for (const bool observes : {false, true}) {
    Counter counter;
    EngineOptions options;
    options.behaviour.skips_terminating_victims = true;
    options.behaviour.observes_zero_victims = observes;
    auto engine = Engine::Make(config::Default(), options, Now(), nullptr, &counter);
    ASSERT_TRUE(engine.has_value());
    engine_ = std::move(*engine);
    PutNode(MakeNode("a").Cpu("2"));
    api::Pod leaves = MakePod("leaves").Requests("cpu", "2").On("a");
    leaves.metadata.deletion_timestamp = Now();
    PutPod(leaves);
    PutPod(Vip());
    Run();
    EXPECT_EQ(counter.counted, observes ? std::vector<size_t>{1} : std::vector<size_t>{});
    engine_.reset();
  }
}

}  // namespace
}  // namespace berth::scheduler
