#include "cli/scheduler/decision_log.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "config/config.h"
#include "log/log.h"
#include "scheduler/engine.h"

namespace berth::cli::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

int64_t g_now_ns = 0;
int64_t g_step_ns = 0;

class DecisionLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    g_now_ns = g_step_ns = 0;
    fd_ = memfd_create("log", 0);
  }
  void TearDown() override {
    EXPECT_TRUE(log::Configure({}));
    close(fd_);
  }
  // Schedules a pod that fits and one that does not, at a verbosity; the log.
  std::string Run(int verbosity, bool json = false) {
    Configure(verbosity, json);
    auto engine = MakeEngine();
    engine->Upsert(static_cast<api::Node>(MakeNode("n1")));
    engine->Upsert(static_cast<api::Node>(MakeNode("n2")));
    api::Pod bad = MakePod("bad");
    bad.spec.node_selector["disk"] = "none";
    engine->Upsert(static_cast<api::Pod>(MakePod("good")));
    engine->Upsert(bad);
    while (engine->Step()) Answer(*engine);
    return Text();
  }
  void Configure(int verbosity, bool json = false) {
    log::Options options;
    options.verbosity = verbosity;
    options.json = json;
    options.fd = fd_;
    EXPECT_TRUE(log::Configure(options));
    decisions_.FollowVerbosity();
  }
  std::unique_ptr<berth::scheduler::Engine> MakeEngine() {
    const api::Time now = api::Time::FromUnixNano(1'700'000'000'000'000'000);
    return std::move(
        *berth::scheduler::Engine::Make(config::Default(), {}, now, nullptr, &decisions_));
  }
  // Everything that is asked for works.
  static void Answer(berth::scheduler::Engine& engine) {
    for (auto& effect : engine.TakeEffects()) {
      berth::scheduler::EffectResult result;
      result.id = effect.id;
      engine.Complete(std::move(result));
    }
  }
  std::string Text() const {
    std::string text(static_cast<size_t>(lseek(fd_, 0, SEEK_END)), '\0');
    EXPECT_EQ(pread(fd_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }

  int fd_ = -1;
  server::Registry registry_;
  server::SchedulerMetrics metrics_{registry_, {}};
  DecisionLog decisions_{metrics_, [] { return g_now_ns += g_step_ns; }};
};

TEST_F(DecisionLogTest, EveryPodsOutcomeIsThereAtTwo) {
  const std::string text = Run(2);
  EXPECT_THAT(text, HasSubstr("] \"Successfully bound pod to node\" pod=\"ns/good\" node=\"n"));
  EXPECT_THAT(text, HasSubstr("evaluatedNodes=2 feasibleNodes=2\n"));
  EXPECT_THAT(text, HasSubstr("] \"Unable to schedule pod; no fit; waiting\" pod=\"ns/bad\" "
                              "err=\"0/2 nodes are available: "));
  EXPECT_THAT(text, Not(HasSubstr("Attempting")));
  EXPECT_THAT(text, Not(HasSubstr("Trace[")));
}

TEST_F(DecisionLogTest, NothingIsSaidAtOne) { EXPECT_EQ(Run(1), ""); }

TEST_F(DecisionLogTest, StepsAndQueuesComeWithMoreVerbosity) {
  const std::string text = Run(5);
  for (const char* part : {"\"Add event for unscheduled pod\" pod=\"ns/good\"\n",
                           "\"Attempting to schedule pod\" pod=\"ns/good\"\n",
                           "\"Attempting to bind pod to node\" "
                           "logger=\"Bind.DefaultBinder\" pod=\"ns/good\" node=\"n",
                           "\"Pod moved to an internal scheduling queue\" pod=\"ns/good\" "
                           "event=\"UnschedulablePodAdd\" queue=\"Active\"\n",
                           "\"Pod moved to an internal scheduling queue\" pod=\"ns/bad\" "
                           "event=\"ScheduleAttemptFailure\" queue=\"Unschedulable\" "
                           "schedulingCycle=2 hint=0 unschedulable plugins={\"NodeAffinity\":{}}\n",
                           "\"Add event for node\" node=\"n1\"\n",
                           "\"Added node to NodeTree\" node=\"n1\" zone=\"\"\n",
                           "\"Preemption will not help schedule pod on any node\" "
                           "logger=\"PostFilter.DefaultPreemption\" pod=\"ns/bad\"\n",
                           "\"No preemption candidate is found; preemption is not helpful for "
                           "scheduling\" logger=\"PostFilter.DefaultPreemption\" "
                           "pod=\"ns/bad\"\n",
                           "\"Status after running PostFilter plugins for pod\" pod=\"ns/bad\"",
                           "\"Updating pod condition and nominated node name\" pod=\"ns/bad\" "
                           "conditionType=\"PodScheduled\" conditionStatus=\"False\" "
                           "conditionReason=\"Unschedulable\" nominatedNodeName=\"\" "
                           "nominatingMode=1\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("scored node")));
}

TEST_F(DecisionLogTest, ObjectsThatComeAndGoAreNamed) {
  Configure(4);
  auto engine = MakeEngine();
  api::Node node = MakeNode("n1");
  node.metadata.labels["topology.kubernetes.io/region"] = "eu";
  node.metadata.labels["topology.kubernetes.io/zone"] = "eu-1";
  engine->Upsert(node);
  engine->Upsert(node);
  api::Pod waits = MakePod("waits");
  waits.spec.node_selector["disk"] = "none";
  waits.metadata.resource_version = "1";
  engine->Upsert(waits);
  waits.metadata.resource_version = "2";
  engine->Upsert(waits);
  engine->Delete(waits);
  api::Pod placed = MakePod("placed");
  placed.spec.node_name = "n1";
  placed.metadata.resource_version = "3";
  engine->Upsert(placed);
  placed.metadata.resource_version = "4";
  engine->Upsert(placed);
  engine->Delete(placed);
  engine->Delete(node);
  const std::string text = Text();
  for (const char* part :
       {"\"Added node to NodeTree\" node=\"n1\" zone=\"eu:\\x00:eu-1\"\n",
        "\"Update event for node\" node=\"n1\"\n", "\"Delete event for node\" node=\"n1\"\n",
        "\"Removed node from NodeTree\" node=\"n1\"",
        "\"Add event for unscheduled pod\" pod=\"ns/waits\"\n",
        "\"Update event for unscheduled pod\" pod=\"ns/waits\"\n",
        "\"Delete event for unscheduled pod\" pod=\"ns/waits\"\n",
        "\"Add event for scheduled pod\" pod=\"ns/placed\"\n",
        "\"Update event for scheduled pod\" pod=\"ns/placed\"\n",
        "\"Delete event for scheduled pod\" pod=\"ns/placed\"\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST_F(DecisionLogTest, AVerbosityThatChangesIsFollowed) {
  Configure(0);
  auto engine = MakeEngine();
  engine->Upsert(static_cast<api::Node>(MakeNode("n1")));
  const auto schedule = [&](const char* name) {
    engine->Upsert(static_cast<api::Pod>(MakePod(name)));
    while (engine->Step()) Answer(*engine);
  };
  schedule("quiet");
  EXPECT_EQ(Text(), "");
  Configure(5);
  schedule("loud");
  const std::string text = Text();
  for (const char* part : {"\"Add event for unscheduled pod\" pod=\"ns/loud\"\n",
                           "\"Pod moved to an internal scheduling queue\" pod=\"ns/loud\"",
                           "\"Attempting to bind pod to node\" logger=\"Bind.DefaultBinder\" "
                           "pod=\"ns/loud\"",
                           "\"Successfully bound pod to node\" pod=\"ns/loud\""}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  Configure(0);
  schedule("quiet-again");
  EXPECT_EQ(Text(), text);
}

TEST_F(DecisionLogTest, APreemptionIsThereFromItsTargetToItsEnd) {
  Configure(2);
  decisions_.Follow(config::Behaviour(config::FeatureGates(35)));
  auto engine = MakeEngine();
  engine->Upsert(static_cast<api::Node>(MakeNode("n1").Cpu("2")));
  api::Pod low = MakePod("low").Requests("cpu", "2");
  low.spec.node_name = "n1";
  engine->Upsert(low);
  api::Pod high = MakePod("high").Requests("cpu", "2");
  high.spec.priority = 100;
  engine->Upsert(high);
  while (engine->Step()) {
  }
  for (int round = 0; round < 3; ++round) Answer(*engine);
  const std::string text = Text();
  for (const char* part :
       {"\"the target node for the preemption is determined\" node=\"n1\" pod=\"ns/high\"\n",
        "\"Start the preemption asynchronously\" preemptor=\"ns/high\" node=\"n1\" "
        "numVictims=1\n",
        "\"Preemptor Pod preempted victim Pod\" preemptor=\"ns/high\" victim=\"ns/low\" "
        "node=\"n1\"\n",
        "\"Async Preemption finished completely\" preemptor=\"ns/high\" node=\"n1\" "
        "result=\"success\"\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("No preemption candidate")));
}

TEST_F(DecisionLogTest, ThePodOfACycleComesFirstFrom136On) {
  Configure(2);
  cluster::Cluster cluster;
  const cluster::PodId id = cluster.AddPod(MakePod("high"));
  framework::PostFilterResult result;
  result.nomination = framework::PostFilterResult::Nomination::kSet;
  result.nominated_node = "n1";
  for (const int minor : {35, 36, 37}) {
    decisions_.Follow(config::Behaviour(config::FeatureGates(minor)));
    decisions_.PostFiltered(cluster.GetPod(id), {}, result);
  }
  const std::string text = Text();
  const std::string line = "\"the target node for the preemption is determined\" ";
  const std::string before = line + "node=\"n1\" pod=\"ns/high\"\n";
  const std::string since = line + "pod=\"ns/high\" node=\"n1\"\n";
  EXPECT_THAT(text, HasSubstr(before));
  EXPECT_GT(text.find(since), text.find(before));
  EXPECT_NE(text.find(since), text.rfind(since)) << "1.36 and 1.37";
}

TEST_F(DecisionLogTest, PluginsThatFailAreNamedAtAnyVerbosity) {
  Configure(0);
  berth::scheduler::PodRef pod;
  pod.namespace_ = "ns";
  pod.name = "p";
  decisions_.PluginFailed(pod, framework::Point::kFilter, "F", "", "");
  EXPECT_EQ(Text(), "") << "the attempt's error names it";
  decisions_.PluginFailed(pod, framework::Point::kReserve, "R", "n1", "no");
  decisions_.PluginFailed(pod, framework::Point::kPreBind, "P", "n1", "no");
  decisions_.PluginFailed(pod, framework::Point::kBind, "B", "n1", "no");
  const std::string text = Text();
  for (const char* part :
       {"\"Plugin failed\" err=\"no\" plugin=\"R\" pod=\"ns/p\"\n",
        "\"Plugin failed\" err=\"no\" plugin=\"P\" pod=\"ns/p\" node=\"n1\"\n",
        "\"Plugin Failed\" err=\"no\" plugin=\"B\" pod=\"ns/p\" node=\"n1\"\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST_F(DecisionLogTest, WhyAPodIsHeldBackIsThereAtFour) {
  Configure(4);
  auto engine = MakeEngine();
  api::Pod pod = MakePod("gated");
  pod.spec.scheduling_gates.push_back({"g"});
  engine->Upsert(pod);
  EXPECT_THAT(Text(), HasSubstr("\"Status after running PreEnqueue plugin\" pod=\"ns/gated\" "
                                "plugin=\"SchedulingGates\" status=\"waiting for scheduling "
                                "gates: [g]\"\n"));
}

TEST_F(DecisionLogTest, APodThatPreFilterRejectsIsThereAtFive) {
  Configure(5);
  auto engine = MakeEngine();
  engine->Upsert(static_cast<api::Node>(MakeNode("n1")));
  api::Pod pod = MakePod("p");
  pod.spec.volumes.emplace_back();
  pod.spec.volumes[0].name = "v";
  pod.spec.volumes[0].persistent_volume_claim.emplace().claim_name = "missing";
  engine->Upsert(pod);
  while (engine->Step()) Answer(*engine);
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("\"Status after running PreFilter plugins for pod\" pod=\"ns/p\" "
                              "status=\"persistentvolumeclaim \\\"missing\\\" not found\"\n"));
  EXPECT_THAT(text, HasSubstr("\"Status after running PostFilter plugins for pod\" "
                              "logger=\"UnhandledError\" pod=\"ns/p\" status=\"not found\"\n"));
  EXPECT_THAT(text, HasSubstr("conditionReason=\"Unschedulable\"\n")) << "nothing is nominated";
}

TEST_F(DecisionLogTest, ScoresAreThereAtTen) {
  const std::string text = Run(10);
  EXPECT_THAT(text, HasSubstr("\"Plugin scored node for pod\" pod=\"ns/good\" "
                              "plugin=\"TaintToleration\" node=\"n1\" score=300\n"));
  EXPECT_THAT(text, HasSubstr("\"Calculated node's final score for pod\" pod=\"ns/good\" "
                              "node=\"n2\" score="));
}

TEST_F(DecisionLogTest, JsonHasObjects) {
  EXPECT_THAT(Run(2, true), HasSubstr("\"msg\":\"Successfully bound pod to node\",\"v\":2,\"pod\":"
                                      "{\"name\":\"good\",\"namespace\":\"ns\"},\"node\":\"n"));
}

TEST_F(DecisionLogTest, ALongCycleIsThereWithItsStepsAtAnyVerbosity) {
  g_step_ns = 120'000'000;
  const std::string text = Run(0);
  // As kube-scheduler's, to the letter: there are tools that read these.
  EXPECT_THAT(text, ContainsRegex("Trace\\[[0-9]+\\]: \"Scheduling\" namespace:ns,name:good "
                                  "\\([0-9][0-9]-[A-Z][a-z][a-z]-20[0-9][0-9] [0-9:]+\\.[0-9]+\\) "
                                  "\\(total time: 120ms\\):\n"));
  EXPECT_THAT(text, ContainsRegex("\nTrace\\[[0-9]+\\]: ---\"Computing predicates done\" [0-9]+ms "
                                  "\\([0-9:]+\\.[0-9]+\\)\n"));
  EXPECT_THAT(text, ContainsRegex("\nTrace\\[[0-9]+\\]: ---\"Prioritizing done\" [0-9]+ms "));
  EXPECT_THAT(text, ContainsRegex("\nTrace\\[[0-9]+\\]: \\[120ms\\] \\[120ms\\] END\n"));
}

TEST_F(DecisionLogTest, SlowCyclesAreCountedByNamespace) {
  server::CounterFamily& slow = registry_.AddCounter(
      {"berth_slow_cycles_total", "", server::Stability::kNone, {"namespace"}});
  decisions_.CountSlowCycles(slow);
  Run(0);
  EXPECT_EQ(slow.With({"ns"})->Value(), 0);
  g_step_ns = 120'000'000;
  Run(0);
  EXPECT_GT(slow.With({"ns"})->Value(), 0);
}

// The names of the methods that a header overrides.
std::set<std::string> Overridden(const std::string& source, const std::string& header) {
  std::ifstream file(source + "/src/" + header);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::set<std::string> names;
  static const std::regex method(R"((\w+)\([^;{}]*\)(?: const)? override)");
  for (std::sregex_iterator it(text.begin(), text.end(), method), end; it != end; ++it) {
    names.insert((*it)[1]);
  }
  return names;
}

// A method that is not passed on would leave its metrics at zero, and nothing else would show it.
TEST(DecisionLog, PassesOnAllThatTheMetricsListenTo) {
  // CTest says where; a binary started by hand looks below the current directory.
  const char* set = std::getenv("BERTH_SOURCE_DIR");
  const std::string source = set != nullptr ? set : ".";
  const std::set<std::string> passed_on = Overridden(source, "cli/scheduler/decision_log.h");
  const std::set<std::string> wanted = Overridden(source, "server/metrics/scheduler_metrics.h");
  EXPECT_GT(wanted.size(), 40u);
  for (const std::string& name : wanted) EXPECT_EQ(passed_on.count(name), 1u) << name;
}

}  // namespace
}  // namespace berth::cli::scheduler
