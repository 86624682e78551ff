#include "cli/scenario/text.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/scenario/amounts.h"
#include "cli/scenario/chart.h"

namespace berth::cli {
namespace {

TEST(Sparkline, IsAsHighAsItsValues) {
  EXPECT_EQ(Sparkline({0, 25, 50, 75, 100}, 5, 100), "▁▃▅▇█");
  EXPECT_EQ(Sparkline({0, 0, 0, 9, 0, 0}, 3, 9), "▁█▁") << "the largest of two is shown";
  EXPECT_EQ(Sparkline({1, 9}, 4, 9), "▁▁██") << "few values are wide";
  EXPECT_EQ(Sparkline({1, 1}, 2, 0), "▁▁") << "no top";
  EXPECT_EQ(Sparkline({}, 2, 1), "  ");
}

TEST(Amounts, AreShort) {
  EXPECT_EQ(LengthText(0), "0ms");
  EXPECT_EQ(LengthText(0.0184), "18ms");
  EXPECT_EQ(LengthText(3.254), "3.25s");
  EXPECT_EQ(LengthText(42.04), "42.0s");
  EXPECT_EQ(LengthText(125), "2m5s");
  EXPECT_EQ(LengthText(3600), "1h");
  EXPECT_EQ(LengthText(5430), "1h31m");
  EXPECT_EQ(LengthText(3 * 86400), "3d");
  EXPECT_EQ(Grouped(-1234567), "-1,234,567");
  EXPECT_EQ(RateText(0.254), "0.25");
  EXPECT_EQ(RateText(12345.6), "12,346");
}

TEST(AxisSteps, AreRound) {
  EXPECT_EQ(AxisSteps(100), (std::vector<double>{0, 25, 50, 75, 100}));
  EXPECT_EQ(AxisSteps(7), (std::vector<double>{0, 2, 4, 6, 8}));
  EXPECT_EQ(AxisSteps(0), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_GE(AxisSteps(123456).back(), 123456);
}

TEST(LengthSteps, EncloseTheValues) {
  EXPECT_EQ(LengthSteps(0.018, 30), (std::vector<double>{0.01, 0.1, 1, 10, 60}));
  EXPECT_EQ(LengthSteps(0.018, 0.02), (std::vector<double>{0.01, 0.1}));
  EXPECT_EQ(LengthSteps(1, 1), (std::vector<double>{1, 10}));
  EXPECT_EQ(LengthSteps(0, 0), (std::vector<double>{0.001, 0.01}));
  EXPECT_EQ(LengthSteps(1e9, 1e9).size(), 2u) << "longer than any run";
}

TEST(TimeSteps, AreRound) {
  EXPECT_EQ(TimeSteps(3600), (std::vector<double>{0, 600, 1200, 1800, 2400, 3000, 3600}));
  EXPECT_EQ(TimeSteps(36000), (std::vector<double>{0, 7200, 14400, 21600, 28800, 36000}));
  EXPECT_EQ(TimeSteps(0), (std::vector<double>{0}));
  EXPECT_LE(TimeSteps(366.0 * 86400).size(), 7u);
}

TEST(ScenarioText, FitsEightyColumns) {
  sim::ScenarioReport report;
  report.duration_seconds = 36000;
  report.nodes = 100;
  report.pods = {24946, 24946, 22158, 1860, 710, 12, 10, 1};
  report.latency = {{"all", 24946, 76, 0.018, 1.44, 2736, 5400}};
  report.attempts = {{1, 24000}, {3173, 946}};
  report.scheduler = {799614, 774668, 273, 2, 0.69, 2.55};
  report.reasons = {{std::string(200, 'x'), 12, 1}};
  report.pending = {{"Deployment shop/" + std::string(90, 'w'), 1, 12, {}, {}}};
  report.lost = {"shop/" + std::string(90, 'x'), "a/b", "a/c", "a/d", "a/e", "a/f"};
  report.pods.lost = 1006;
  report.samples.resize(10);
  const std::string text = ScenarioText(report, {.colour = false, .seconds = 1.5});
  size_t columns = 0;
  for (const char c : text) {
    if (c == '\n') {
      EXPECT_LE(columns, 80u);
      columns = 0;
    } else if ((c & 0xc0) != 0x80) {  // a letter, however many bytes
      ++columns;
    }
  }
  EXPECT_NE(
      text.find("24,946 pods: 24,946 scheduled, 22,158 finished, 1,860 deleted, 12 pending\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("pending at the end: 10 unschedulable, 1 gated, 1 still to be tried\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace berth::cli
