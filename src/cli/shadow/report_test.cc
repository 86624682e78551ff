#include "cli/shadow/report.h"

#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/shadow/options.h"

namespace berth::cli {
namespace {

using shadow::Comparison;
using shadow::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Comparison Gap(const std::string& name) {
  Comparison c;
  c.namespace_ = "a-namespace-with-a-long-name";
  c.name = name;
  c.decision = "Bound";
  c.outcome = Outcome::kScoreGap;
  c.outcome_name = NameOf(c.outcome);
  c.their_node = "ip-10-0-0-1.eu-central-1.compute.internal";
  c.our_node = "ip-10-0-0-2.eu-central-1.compute.internal";
  c.gaps = {{"NodeAffinity", 2, 200, 0}, {"NodeResourcesFit", 1, 92, 95}};
  c.ranges = {{"NodeAffinity", 2, 0, 0}};
  return c;
}

TEST(ShadowReportTest, TheTableFitsTheScreen) {
  shadow::Summary summary;
  std::vector<Comparison> latest;
  for (int i = 0; i < 9; ++i) {
    latest.push_back(Gap("pod-" + std::to_string(i)));
    summary.Add(latest.back());
  }
  ShadowStatus status;
  status.server = "https://127.0.0.1:6443";
  for (const size_t rows : {10, 24, 50}) {
    const std::string table =
        LiveTable(status, summary, latest, {.rows = rows, .columns = 80}, false);
    size_t lines = 0;
    std::istringstream text(table);
    for (std::string line; std::getline(text, line); ++lines) EXPECT_LE(line.size(), 80u) << line;
    EXPECT_TRUE(rows < 24 || lines < rows) << lines;
    EXPECT_EQ(table.find("pod-8") != std::string::npos, rows >= 24) << "the newest is shown";
  }
}

TEST(ShadowReportTest, ControlCharactersOfTheClusterAreShownAsEscapes) {
  Comparison c = Gap("p");
  c.outcome = Outcome::kTheyWait;
  c.their_message = "\x1b[2Jgone";
  EXPECT_THAT(Line(c), Not(HasSubstr("\x1b")));
}

TEST(ShadowReportTest, TheConclusionNamesWhatTheDifferencesShare) {
  shadow::Summary summary;
  for (int i = 0; i < 3; ++i) summary.Add(Gap("p"));
  summary.Conclude();
  const std::string text = Conclusion(summary, false);
  EXPECT_THAT(text, HasSubstr("3 decisions compared, 3 unexplained"));
  EXPECT_THAT(text, HasSubstr("NodeAffinity: weight 0, disabled (here 2) fits 3 of 3 gaps"));
}

TEST(ShadowFlagsTest, TheSchedulersFlagsAreLeftToIt) {
  const auto flags =
      ParseShadowFlags({"--config=c.yaml", "--duration=90s", "--kubeconfig", "k", "--lag-window",
                        "2s", "-o", "json", "--fail-on=race", "-v=2", "--report=r.md"});
  ASSERT_TRUE(flags.has_value()) << flags.error().Message();
  EXPECT_EQ(flags->duration_ns, 90'000'000'000);
  EXPECT_EQ(flags->lag_ns, 2'000'000'000);
  EXPECT_EQ(flags->output, "json");
  EXPECT_EQ(flags->fail_on, FailOn::kRace);
  EXPECT_EQ(flags->report, "r.md");
  EXPECT_THAT(flags->rest, ElementsAre("--config=c.yaml", "--kubeconfig", "k", "-v=2"));
}

TEST(ShadowFlagsTest, BadValuesAreNamed) {
  for (const auto& [arg, message] : {std::pair{"--duration=soon", "soon"},
                                     {"--lag-window=-1s", "-1s"},
                                     {"--lag-window=24h", "24h"},
                                     {"--fail-on=always", "always"},
                                     {"--output=xml", "xml"},
                                     {"--report=r.txt", "r.txt"},
                                     {"--duration", "duration"}}) {
    const auto flags = ParseShadowFlags({arg});
    ASSERT_FALSE(flags.has_value()) << arg;
    EXPECT_THAT(flags.error().Message(), HasSubstr(message));
  }
}

}  // namespace
}  // namespace berth::cli
