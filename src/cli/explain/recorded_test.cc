#include "cli/explain/recorded.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/directory.h"
#include "record/player.h"
#include "record/recorder.h"
#include "record/run_reader.h"
#include "sim/chaos/profile.h"
#include "sim/chaos/seed_run.h"

namespace berth::cli {
namespace {

using testing::HasSubstr;

struct Decided {
  int64_t time_ns = 0;
  std::string node;     // of a binding
  std::string message;  // of a refusal
};

// The last binding and the last refusal of every pod, as they were sent to the API server.
class LastDecisions final : public record::PlayObserver {
 public:
  void Decided(const record::Moment& moment, const scheduler::Effect& effect) override {
    if (const auto* bind = std::get_if<scheduler::BindPod>(&effect.action)) {
      bound[{bind->pod.namespace_, bind->pod.name}] = {moment.time_ns, bind->node, ""};
    } else if (const auto* event = std::get_if<scheduler::RecordEvent>(&effect.action)) {
      if (event->reason != "FailedScheduling") return;
      refused[{event->regarding.namespace_, event->regarding.name}] = {moment.time_ns, "",
                                                                       event->note};
    }
  }
  using Pod = std::pair<std::string, std::string>;
  std::map<Pod, cli::Decided> bound;
  std::map<Pod, cli::Decided> refused;
};

class RecordedTest : public testing::Test {
 protected:
  RecordedTest() {
    char name[] = "/tmp/berth-recorded-test-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~RecordedTest() override { std::filesystem::remove_all(folder_); }

  void Record(uint64_t seed, const char* profile) {
    const config::FeatureGates gates(config::NewestKubernetes());
    record::DirectoryOptions directory;
    directory.dir = folder_;
    auto sink = record::DirectorySink::Open(directory, nullptr).value();
    record::Recorder recorder(*sink, gates, {.berth_version = "test"});
    sim::SeedOptions options{.seed = seed, .steps = 60, .profile = sim::FindChaosProfile(profile)};
    options.behaviour = config::Behaviour(gates);
    options.tap = &recorder;
    sim::RunSeed(options);
    recorder.Close();
  }

  LastDecisions Play() {
    record::RunReader reader(record::ListRuns(folder_).value().back());
    LastDecisions decisions;
    EXPECT_TRUE(
        record::Play(reader, {.extra_plugins = {}, .until_ns = {}, .observer = &decisions}).Same());
    return decisions;
  }

  Result<RecordedDecision> Explain(const LastDecisions::Pod& pod, std::optional<int64_t> at = {}) {
    return ExplainRecorded({.dir = folder_, .number = 0, .time_ns = at}, pod.first, pod.second,
                           {.top = 3, .node = {}, .chosen = {}}, plugins_);
  }

  std::string folder_;
  Plugins plugins_;
};

TEST_F(RecordedTest, ShowsTheNodeThatThePodGot) {
  Record(3, "churn");
  const LastDecisions decisions = Play();
  ASSERT_GT(decisions.bound.size(), 10u);
  int explained = 0;
  for (const auto& [pod, decided] : decisions.bound) {
    if (++explained > 12) break;
    const auto decision = Explain(pod, decided.time_ns);
    ASSERT_TRUE(decision) << decision.error().Message();
    const explain::DecisionView& view = decision->view;
    ASSERT_TRUE(view.record.has_value());
    EXPECT_EQ(view.record->node, decided.node) << pod.second;
    EXPECT_EQ(view.record->name, pod.second);
    EXPECT_FALSE(view.recomputed);
    EXPECT_EQ(view.funnel.feasible, view.record->feasible) << pod.second;
    EXPECT_EQ(view.funnel.nodes, view.record->nodes) << pod.second;
    const auto chosen = std::find_if(view.top_nodes.begin(), view.top_nodes.end(),
                                     [](const auto& score) { return score.chosen; });
    ASSERT_NE(chosen, view.top_nodes.end()) << pod.second;
    EXPECT_EQ(chosen->node, decided.node);
    if (view.record->feasible > 1) {
      EXPECT_EQ(chosen->total, view.record->score);
    }
  }
}

TEST_F(RecordedTest, ShowsWhyAPodFoundNone) {
  Record(4, "preempt");
  const LastDecisions decisions = Play();
  ASSERT_FALSE(decisions.refused.empty());
  int explained = 0;
  for (const auto& [pod, decided] : decisions.refused) {
    if (++explained > 6) break;
    const auto decision = Explain(pod, decided.time_ns);
    ASSERT_TRUE(decision) << decision.error().Message();
    ASSERT_TRUE(decision->view.record.has_value());
    EXPECT_NE(decision->view.record->outcome, "Scheduled") << pod.second;
    EXPECT_EQ(decision->view.record->message, decided.message);
    EXPECT_EQ(decision->view.pod_node, "");
  }
}

TEST_F(RecordedTest, SaysWhatIsNotThere) {
  Record(3, "churn");
  const auto nobody = Explain({"default", "nobody"});
  ASSERT_FALSE(nobody);
  EXPECT_THAT(nobody.error().Message(), HasSubstr("has no decision on the pod default/nobody"));
  const auto before = Explain({"default", "nobody"}, 1);
  ASSERT_FALSE(before);
  EXPECT_THAT(before.error().Message(), HasSubstr("began by 1970-01-01T00:00:00.000000001Z"));
}

}  // namespace
}  // namespace berth::cli
