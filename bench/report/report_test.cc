#include "bench/report/report.h"

#include <gtest/gtest.h>

#include "bench/report/log_chart.h"

namespace berth::bench {
namespace {

constexpr std::string_view kLines =
    R"({"workload":"basic","nodes":100,"pods":10,"pods_per_second":500000.0,"p50_us":1.5,"other":1}
{"workload":"podaffinity","nodes":1000,"pods":2000,"pods_per_second":1234.0,"mean_us":810,"p50_us":800,"failed":3,"peak_rss_bytes":10485760}

{"workload":"basic","nodes":1000,"p50_us":9}
{"workload":"basic","nodes":1000,"pods_per_second":400000,"p50_us":2.5}
)";

size_t Count(const std::string& text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(ReportTest, ReadsLinesAndKeepsTheLastOfEqualOnes) {
  const auto lines = ParseReport(kLines);
  ASSERT_TRUE(lines) << lines.error().Message();
  ASSERT_EQ(lines->size(), 3U);
  EXPECT_EQ((*lines)[2].nodes, 1000);
  EXPECT_EQ((*lines)[2].p50_us, 2.5);
}

TEST(ReportTest, WrongLinesAreNamed) {
  for (const char* wrong : {"\n{", "\n[]", "\n{\"nodes\":1}", "\n{\"workload\":\"a\"}",
                            "\n{\"workload\":\"a\",\"nodes\":\"b\"}"}) {
    const auto lines = ParseReport(wrong);
    ASSERT_FALSE(lines) << wrong;
    EXPECT_TRUE(lines.error().Message().starts_with("line 2: ")) << lines.error().Message();
  }
}

TEST(ReportTest, TablesHaveEveryFigure) {
  const std::string text = ReportTables(*ParseReport(kLines));
  EXPECT_NE(text.find("| nodes | 100 | 1,000 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| `basic` | 1.5 | 2.5 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| `podaffinity` | | 800 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| `podaffinity` | 1,000 | 2,000 | 1,234 | 810 | 800 | 0.0 | 3 | 10 |"),
            std::string::npos)
      << text;
}

TEST(ReportTest, ChartsAreSplitByKind) {
  const auto charts = DrawReport(*ParseReport(kLines));
  ASSERT_EQ(charts.size(), 4U);
  EXPECT_EQ(charts[0].file, "benchmarks-speed.svg");
  EXPECT_EQ(charts[3].file, "benchmarks-time-affinity.svg");
  EXPECT_EQ(Count(charts[0].svg, "<circle"), 2U);
  EXPECT_EQ(Count(charts[1].svg, "<circle"), 1U);
  EXPECT_EQ(charts[0].svg.find("podaffinity"), std::string::npos);
}

TEST(LogChartTest, EqualFactorsAreEqualDistances) {
  LogChart chart{"t", "x", "y", {{"a<b", {{1, 1}, {10, 10}, {100, 100}}}}};
  const std::string svg = DrawSvg(chart);
  EXPECT_NE(svg.find("points=\"70.0,374.0 345.0,209.0 620.0,44.0\""), std::string::npos) << svg;
  EXPECT_EQ(svg.find("a<b"), std::string::npos);
  EXPECT_EQ(Count(svg, "<svg"), Count(svg, "</svg>"));
}

TEST(LogChartTest, DrawsWhatHasNoLogarithmAsNothing) {
  EXPECT_EQ(DrawSvg({"", "", "", {}}).find("nan"), std::string::npos);
  const std::string svg = DrawSvg({"", "", "", {{"a", {{0, 5}, {5, -1}, {7, 0}}}}});
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(Count(svg, "<circle"), 0U);
  EXPECT_EQ(DrawSvg({"", "", "", {{"one point", {{7, 7}}}}}).find("nan"), std::string::npos);
}

TEST(LogChartTest, AxesEndAtPowersOfTen) {
  EXPECT_EQ(Decades(3, 250), (std::vector<double>{1, 10, 100, 1000}));
  EXPECT_EQ(Decades(100, 100), (std::vector<double>{100, 1000}));
  EXPECT_EQ(Decades(0.02, 0.5).size(), 3U);
  EXPECT_EQ(ShortNumber(100), "100");
  EXPECT_EQ(ShortNumber(10000), "10k");
  EXPECT_EQ(ShortNumber(1e6), "1M");
  EXPECT_EQ(ShortNumber(0.1), "0.1");
}

}  // namespace
}  // namespace berth::bench
