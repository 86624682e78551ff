#include "cli/scheduler/decision_log.h"

#include <sys/mman.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/test_builders.h"
#include "config/config.h"
#include "log/log.h"
#include "scheduler/engine.h"

namespace berth::cli::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
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
    log::Options options;
    options.verbosity = verbosity;
    options.json = json;
    options.fd = fd_;
    EXPECT_TRUE(log::Configure(options));
    const api::Time now = api::Time::FromUnixNano(1'700'000'000'000'000'000);
    auto engine = std::move(
        *berth::scheduler::Engine::Make(config::Default(), {}, now, nullptr, &decisions_));
    engine->Upsert(static_cast<api::Node>(MakeNode("n1")));
    engine->Upsert(static_cast<api::Node>(MakeNode("n2")));
    api::Pod bad = MakePod("bad");
    bad.spec.node_selector["disk"] = "none";
    engine->Upsert(static_cast<api::Pod>(MakePod("good")));
    engine->Upsert(bad);
    while (engine->Step()) {
      for (auto& effect : engine->TakeEffects()) {
        berth::scheduler::EffectResult result;
        result.id = effect.id;
        engine->Complete(std::move(result));
      }
    }
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
                           "\"Attempting to bind pod to node\" pod=\"ns/good\" node=\"n",
                           "\"Pod moved to an internal scheduling queue\" pod=\"ns/good\" "
                           "event=\"UnschedulablePodAdd\" queue=\"Active\"\n",
                           "\"Pod moved to an internal scheduling queue\" pod=\"ns/bad\" "
                           "event=\"ScheduleAttemptFailure\" queue=\"Unschedulable\"\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("scored node")));
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
  EXPECT_THAT(text, HasSubstr("\"Scheduling\" namespace:ns,name:good (total time: 120ms):"));
  EXPECT_THAT(text, HasSubstr("---\"Computing predicates done\""));
  EXPECT_THAT(text, HasSubstr("---\"Prioritizing done\""));
}

}  // namespace
}  // namespace berth::cli::scheduler
