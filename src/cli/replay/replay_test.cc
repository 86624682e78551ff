#include "cli/replay/replay.h"

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/time.h"
#include "record/directory.h"
#include "record/recorder.h"
#include "record/run_reader.h"
#include "sim/chaos/profile.h"
#include "sim/chaos/seed_run.h"

namespace berth::cli {
namespace {

using testing::HasSubstr;

class ReplayTest : public testing::Test {
 public:
  ReplayTest() {
    char name[] = "/tmp/berth-replay-test-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~ReplayTest() override { std::filesystem::remove_all(folder_); }

  // Records a simulated cluster as one more run of folder_.
  void Record(uint64_t seed) {
    const config::FeatureGates gates(config::NewestKubernetes());
    record::DirectoryOptions directory;
    directory.dir = folder_;
    auto sink =
        record::DirectorySink::Open(directory, [](const std::string& why) { FAIL() << why; });
    ASSERT_TRUE(sink) << sink.error().Message();
    record::Recorder recorder(**sink, gates, {.berth_version = "test", .batch_bytes = 4096});
    sim::SeedOptions options{.seed = seed, .steps = 80, .profile = sim::FindChaosProfile("churn")};
    options.behaviour = config::Behaviour(gates);
    options.tap = &recorder;
    sim::RunSeed(options);
    recorder.Close();
  }

  int Run(std::vector<std::string> args) {
    args.insert(args.begin(), folder_);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = Replay(args);
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return code;
  }

  std::string Segment() { return record::ListRuns(folder_).value().back().segments.back().path; }

  // When the newest run began.
  int64_t Began() { return record::BeginOf(record::ListRuns(folder_).value().back()).value(); }

  // The first pod that appears after the lists.
  std::string SomePod() {
    record::RunReader reader(record::ListRuns(folder_).value().back());
    while (const record::Record* record = reader.Next().value()) {
      const auto* upsert = std::get_if<record::Upsert>(record);
      const auto* pod = upsert == nullptr ? nullptr : std::get_if<api::Pod>(&upsert->object);
      if (pod != nullptr) return pod->metadata.namespace_ + "/" + pod->metadata.name;
    }
    return "";
  }

  std::string folder_;
  std::string out_;
  std::string err_;
};

TEST_F(ReplayTest, AllDecisionsAreAsRecorded) {
  Record(1);
  EXPECT_EQ(Run({}), 0) << out_ << err_;
  EXPECT_THAT(out_, HasSubstr("run 1: "));
  EXPECT_THAT(out_, HasSubstr("decisions are as recorded"));
  EXPECT_THAT(out_, testing::Not(HasSubstr("not closed")));
}

TEST_F(ReplayTest, TheNewestRunUnlessOneIsNamed) {
  Record(1);
  Record(2);
  EXPECT_EQ(Run({"--list", "-o", "json"}), 0);
  EXPECT_THAT(out_, HasSubstr(R"("run":2)"));
  EXPECT_EQ(Run({}), 0);
  EXPECT_THAT(out_, HasSubstr("run 2: "));
  EXPECT_EQ(Run({"--run", "1"}), 0);
  EXPECT_THAT(out_, HasSubstr("run 1: "));
  EXPECT_EQ(Run({"--run", "3"}), 2);
  EXPECT_THAT(err_, HasSubstr("there is no run 3"));
}

TEST_F(ReplayTest, AllRuns) {
  Record(1);
  Record(2);
  EXPECT_EQ(Run({"--all"}), 0);
  EXPECT_THAT(out_, HasSubstr("2 of 2 runs are as recorded: "));
  EXPECT_EQ(Run({"--all", "-o", "json"}), 0);
  EXPECT_THAT(out_, HasSubstr(R"("run":1)"));
  const std::string path = Segment();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
  EXPECT_EQ(Run({"--all"}), 1);
  EXPECT_THAT(out_, HasSubstr("1 of 2 runs are as recorded: "));
  EXPECT_THAT(out_, HasSubstr("run-000002-segment-000001"));
  EXPECT_EQ(Run({"--all", "--run", "1"}), 2);
}

TEST_F(ReplayTest, OtherRules) {
  Record(1);
  const std::string page = folder_ + "/page.html";
  EXPECT_EQ(Run({"--kubernetes-version", "1.34", "--html", page}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("other rules: Kubernetes 1.34"));
  EXPECT_THAT(out_, HasSubstr("pods are placed as before"));
  EXPECT_THAT(out_, HasSubstr("latency, 99th percentile"));
  std::ifstream file(page);
  const std::string html{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr("Other rules: Kubernetes 1.34"));
  EXPECT_EQ(Run({"--drain", "no-such-label=x", "-o", "json"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr(R"("elsewhere":0)"));
  EXPECT_THAT(out_, HasSubstr(R"("lost":0)"));
  EXPECT_EQ(Run({"--drain", "a b"}), 2);
  EXPECT_THAT(err_, HasSubstr("--drain: "));
  EXPECT_EQ(Run({"--config", folder_ + "/none.yaml"}), 2);
  EXPECT_THAT(err_, HasSubstr("none.yaml"));
  EXPECT_EQ(Run({"--html", page}), 2);
  const std::string prices = folder_ + "/prices.yaml";
  std::ofstream(prices) << "prices: [{selector: '', hourly: 3.5}]";
  EXPECT_EQ(Run({"--drain", "no-such-label=x", "--prices", prices, "--html", page}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("cost of all nodes"));
  EXPECT_THAT(out_, HasSubstr("NODE POOL"));
  std::ifstream priced(page);
  EXPECT_THAT((std::string{std::istreambuf_iterator<char>(priced), {}}),
              HasSubstr("Cost per node pool"));
  EXPECT_EQ(Run({"--drain", "a=b", "--prices", folder_ + "/none.yaml"}), 2);
  EXPECT_THAT(err_, HasSubstr("--prices: "));
  EXPECT_EQ(Run({"--drain", "a=b", "--pod", "a/b"}), 2);
}

TEST_F(ReplayTest, JsonHasTheSameFigures) {
  Record(1);
  EXPECT_EQ(Run({"-o", "json"}), 0);
  for (const char* part :
       {R"("same":true)", R"("closed":true)", R"("differs":"")", R"("damage":"")"}) {
    EXPECT_THAT(out_, HasSubstr(part));
  }
}

TEST_F(ReplayTest, UntilLeavesOutWhatCameLater) {
  Record(1);
  const std::string began = api::Time::FromUnixNano(Began()).FormatNano();
  EXPECT_EQ(Run({"--until", began, "-o", "json"}), 0);
  EXPECT_THAT(out_, HasSubstr(R"("cycles":0)"));
  EXPECT_EQ(Run({"--until", "2001-01-01T00:00:00Z"}), 2);
  EXPECT_THAT(err_, HasSubstr("began by 2001-01-01T00:00:00Z"));
  EXPECT_EQ(Run({"--until", "yesterday"}), 2);
  EXPECT_THAT(err_, HasSubstr("\"yesterday\" is not a time"));
}

TEST_F(ReplayTest, SpeedsThatAreNone) {
  Record(1);
  EXPECT_EQ(Run({"--speed", "1000000x"}), 0);
  EXPECT_EQ(Run({"--speed", "max"}), 0);
  for (const char* speed : {"fast", "0x", "-1x", "10"}) {
    EXPECT_EQ(Run({"--speed", speed}), 2) << speed;
    EXPECT_THAT(err_, HasSubstr("is not a speed")) << speed;
  }
}

TEST_F(ReplayTest, TheStoryOfAPod) {
  Record(1);
  const std::string pod = SomePod();
  EXPECT_EQ(Run({"--pod", pod}), 0);
  EXPECT_THAT(out_, HasSubstr("first seen"));
  EXPECT_EQ(Run({"--pod", pod, "-o", "json"}), 0);
  EXPECT_THAT(out_, HasSubstr(R"("what":"first seen)"));
  EXPECT_EQ(Run({"--pod", "default/nobody"}), 0);
  EXPECT_THAT(out_, HasSubstr("there is no pod default/nobody in this run"));
  EXPECT_EQ(Run({"--pod", "nobody"}), 2);
  EXPECT_THAT(err_, HasSubstr("NAMESPACE/NAME"));
}

TEST_F(ReplayTest, DamageIsNamedAndPlayedUpTo) {
  Record(1);
  const std::string path = Segment();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
  EXPECT_EQ(Run({}), 1);
  EXPECT_THAT(out_, HasSubstr("played up to the damage: "));
  EXPECT_THAT(out_, HasSubstr("decisions are as recorded"));
}

TEST_F(ReplayTest, NothingToPlay) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_THAT(err_, HasSubstr("there is no recording in " + folder_));
  EXPECT_EQ(Run({"another"}), 2);
  EXPECT_THAT(err_, HasSubstr("give one directory"));
  EXPECT_EQ(Run({"--nope"}), 2);
}

}  // namespace
}  // namespace berth::cli
