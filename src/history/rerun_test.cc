#include "history/rerun.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "history/difference.h"
#include "record/directory.h"
#include "record/recorder.h"
#include "record/run_reader.h"
#include "sim/chaos/profile.h"
#include "sim/chaos/seed_run.h"
#include "sim/host/engine_host.h"

namespace berth::history {
namespace {

constexpr int64_t kStart = 1'767'225'600 * sim::kSecond;

api::Node MakeNode(const std::string& name, const std::string& cpu, const std::string& pool) {
  api::Node node;
  node.metadata.name = name;
  node.metadata.labels["pool"] = pool;
  node.status.allocatable["cpu"] = *api::Quantity::Parse(cpu);
  node.status.allocatable["memory"] = *api::Quantity::Parse("64Gi");
  node.status.allocatable["pods"] = *api::Quantity::Parse("110");
  return node;
}

api::Pod MakePod(const std::string& name, const std::string& cpu) {
  api::Pod pod;
  pod.metadata.namespace_ = "default";
  pod.metadata.name = name;
  pod.spec.scheduler_name = "default-scheduler";
  pod.spec.containers.emplace_back().name = "c";
  pod.spec.containers.back().resources.requests["cpu"] = *api::Quantity::Parse(cpu);
  return pod;
}

// A small cluster whose scheduler is recorded.
class RerunTest : public testing::Test {
 protected:
  RerunTest() {
    char name[] = "/tmp/berth-rerun-test-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~RerunTest() override { std::filesystem::remove_all(folder_); }

  // `act` gets the loop and the API, before the scheduler starts, and may ask the loop for more.
  template <class Act>
  void Record(int64_t seconds, Act act) {
    const config::FeatureGates gates(config::NewestKubernetes());
    record::DirectoryOptions directory;
    directory.dir = folder_;
    auto sink = record::DirectorySink::Open(directory, nullptr).value();
    record::Recorder recorder(*sink, gates, {.berth_version = "test"});
    sim::EventLoop loop(api::Time::FromUnixNano(kStart));
    sim::ModelApi api(loop);
    sim::Network network;
    scheduler::EngineOptions options;
    options.behaviour = config::Behaviour(gates);
    sim::EngineHost host(loop, api, network, config::Default(options.behaviour), options, nullptr,
                         &recorder);
    act(loop, api);
    ASSERT_TRUE(host.Start());
    loop.RunUntil(seconds * sim::kSecond);
    host.Get();
    recorder.AdvanceTo(loop.Time());
    recorder.Close();
  }

  RerunOptions Options() {
    RerunOptions options;
    options.run = record::ListRuns(folder_).value().back();
    record::RunReader reader(options.run);
    options.rules = RulesOf(std::get<record::Begin>(*reader.Next().value()), {}).value();
    return options;
  }

  std::string folder_;
};

TEST_F(RerunTest, TheRecordedRulesRepeatWhatHappened) {
  Record(60, [](sim::EventLoop& loop, sim::ModelApi& api) {
    api.Create(MakeNode("large", "8", "a"));
    api.Create(MakeNode("small", "2", "b"));
    api.Create(MakePod("first", "4"));
    loop.At(5 * sim::kSecond, [&api] { api.Create(MakePod("second", "1")); });
    loop.At(20 * sim::kSecond, [&api] { api.Create(MakePod("huge", "16")); });
    loop.At(30 * sim::kSecond, [&api] { api.Delete("Pod", "default", "first"); });
  });
  const auto rerun = Rerun(Options());
  ASSERT_TRUE(rerun) << rerun.error().Message();
  EXPECT_EQ(rerun->damage, "");
  ASSERT_EQ(rerun->pods.size(), 3u);
  for (const auto& [key, pod] : rerun->pods) EXPECT_EQ(pod.node, pod.recorded_node) << key;
  EXPECT_EQ(rerun->pods.at("default/first#1").node, "large");
  EXPECT_EQ(rerun->pods.at("default/huge#1").node, "");
  EXPECT_EQ(rerun->report.pods.scheduled, 2);
  EXPECT_EQ(rerun->report.pods.deleted, 1);
  EXPECT_EQ(rerun->report.pods.pending, 1);

  const Difference difference = Compare(*rerun, *rerun, "nothing");
  EXPECT_EQ(difference.pods, 3);
  EXPECT_EQ(difference.same, 3);
  EXPECT_EQ(difference.recorded_bound, 2);
  EXPECT_EQ(difference.repeated, 2);
  EXPECT_TRUE(difference.moved.empty());
}

TEST_F(RerunTest, ANodeThatIsAddedTakesWhatFoundNone) {
  Record(60, [](sim::EventLoop&, sim::ModelApi& api) {
    api.Create(MakeNode("small", "2", "b"));
    api.Create(MakePod("huge", "16"));
    api.Create(MakePod("fits", "1"));
  });
  const RerunOptions options = Options();
  RerunOptions with = options;
  with.added_nodes = {MakeNode("new", "32", "new")};
  const auto before = Rerun(options);
  const auto after = Rerun(with);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(after->pods.at("default/huge#1").node, "new");
  const Difference difference = Compare(*before, *after, "nodes");
  EXPECT_EQ(difference.gained, 1);
  EXPECT_EQ(difference.lost, 0);
  EXPECT_EQ(difference.moved.front().other, "new");

  with.added_nodes = {MakeNode("small", "32", "new")};
  const auto twice = Rerun(with);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().Message(), "node small is in the recording already");
}

TEST_F(RerunTest, DrainedNodesTakeNoPods) {
  Record(60, [](sim::EventLoop& loop, sim::ModelApi& api) {
    api.Create(MakeNode("old", "8", "old"));
    api.Create(MakeNode("other", "4", "other"));
    api::Pod there = MakePod("there", "2");
    there.spec.node_name = "old";
    api.Create(there);
    api::Pod agent = MakePod("agent", "1");
    agent.spec.node_name = "old";
    agent.metadata.owner_references.emplace_back().kind = "DaemonSet";
    api.Create(agent);
    loop.At(sim::kSecond, [&api] { api.Create(MakePod("next", "1")); });
  });
  RerunOptions options = Options();
  options.drained = api::Selector::Parse("pool=old").value();
  const auto rerun = Rerun(options);
  ASSERT_TRUE(rerun) << rerun.error().Message();
  EXPECT_EQ(rerun->pods.at("default/there#1").node, "other");
  EXPECT_EQ(rerun->pods.at("default/next#1").node, "other");
  EXPECT_EQ(rerun->pods.at("default/agent#1").node, "old");
  EXPECT_TRUE(rerun->pods.at("default/agent#1").given);

  options.drained.reset();
  const auto before = Rerun(options);
  ASSERT_TRUE(before) << before.error().Message();
  const Difference difference = Compare(*before, *rerun, "drained");
  EXPECT_EQ(difference.pods, 2) << "not the agent, which stayed";
  EXPECT_EQ(difference.elsewhere, 1) << "the other node was the better one for the next pod";
  EXPECT_EQ(difference.recorded_bound, 1) << "nobody placed the others";
}

TEST_F(RerunTest, AnotherConfigurationPlacesElsewhere) {
  Record(60, [](sim::EventLoop& loop, sim::ModelApi& api) {
    api.Create(MakeNode("empty", "8", "a"));
    api.Create(MakeNode("half", "8", "b"));
    api::Pod there = MakePod("there", "4");
    there.spec.node_name = "half";
    api.Create(there);
    loop.At(sim::kSecond, [&api] { api.Create(MakePod("next", "1")); });
  });
  RerunOptions options = Options();
  const auto spread = Rerun(options);
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->pods.at("default/next#1").node, "empty");
  auto packed = config::Load(R"({"apiVersion":"kubescheduler.config.k8s.io/v1",
      "kind":"KubeSchedulerConfiguration","profiles":[{"pluginConfig":[{"name":"NodeResourcesFit",
      "args":{"scoringStrategy":{"type":"MostAllocated","resources":[{"name":"cpu","weight":1}]}}}],
      "plugins":{"score":{"disabled":[{"name":"NodeResourcesBalancedAllocation"}]}}}]})",
                             options.rules.behaviour);
  ASSERT_TRUE(packed) << packed.error().Message();
  options.rules.config = *packed;
  const auto rerun = Rerun(options);
  ASSERT_TRUE(rerun);
  EXPECT_EQ(rerun->pods.at("default/next#1").node, "half");
  EXPECT_EQ(Compare(*spread, *rerun, "packed").elsewhere, 1);
}

// A pod of a Job that starts later than it did also ends later.
TEST_F(RerunTest, PodsOfJobsRunAsLongAsTheyDid) {
  Record(60, [](sim::EventLoop& loop, sim::ModelApi& api) {
    api.Create(MakeNode("a", "4", "a"));
    loop.At(20 * sim::kSecond, [&api] { api.Create(MakeNode("b", "4", "late")); });
    loop.At(sim::kSecond, [&api] {
      api::Pod job = MakePod("job", "3");
      job.metadata.owner_references.emplace_back().kind = "Job";
      api.Create(job);
    });
    loop.At(11 * sim::kSecond, [&api] { api.Delete("Pod", "default", "job"); });
    loop.At(25 * sim::kSecond, [&api] { api.Create(MakePod("after", "3")); });
  });
  RerunOptions options = Options();
  options.drained = api::Selector::Parse("pool=a").value();
  const auto rerun = Rerun(options);
  ASSERT_TRUE(rerun);
  EXPECT_EQ(rerun->pods.at("default/job#1").node, "b");
  EXPECT_EQ(rerun->pods.at("default/after#1").node, "b");
  // 10 seconds after it got the node that came at 20 seconds.
  const auto& latency = rerun->report.latency.front();
  EXPECT_EQ(latency.pods, 2);
  EXPECT_GT(latency.max, 15);
  EXPECT_EQ(rerun->report.pods.pending, 0);
}

// Whatever happened: the history can be scheduled again, and two reruns are equal.
TEST_F(RerunTest, ChaosCanBeScheduledAgain) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const auto& profiles = sim::ChaosProfiles();
    const config::FeatureGates gates(config::NewestKubernetes());
    record::DirectoryOptions directory;
    directory.dir = folder_;
    {
      auto sink = record::DirectorySink::Open(directory, nullptr).value();
      record::Recorder recorder(*sink, gates, {.berth_version = "test"});
      sim::SeedOptions options{
          .seed = seed, .steps = 60, .profile = &profiles[seed % profiles.size()]};
      options.behaviour = config::Behaviour(gates);
      options.tap = &recorder;
      sim::RunSeed(options);
      recorder.Close();
    }
    const auto once = Rerun(Options());
    const auto again = Rerun(Options());
    ASSERT_TRUE(once && again) << seed;
    EXPECT_FALSE(once->pods.empty());
    EXPECT_GT(once->report.pods.scheduled, 0);
    EXPECT_EQ(Compare(*once, *again, "").same, Compare(*once, *again, "").pods);
    EXPECT_EQ(once->report.scheduler.attempts, again->report.scheduler.attempts);
  }
}

}  // namespace
}  // namespace berth::history
