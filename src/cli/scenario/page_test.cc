#include "cli/scenario/page.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

// The first tag that is closed wrongly or never; empty: all is well. Knows no more of HTML than
// this page uses.
std::string UnbalancedTag(const std::string& html) {
  std::vector<std::string> open;
  for (size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at)) {
    const size_t end = html.find('>', at);
    if (end == std::string::npos) return "unfinished tag";
    const std::string tag = html.substr(at + 1, end - at - 1);
    at = end;
    if (tag.starts_with("!") || tag.ends_with("/")) continue;
    const bool closes = tag.starts_with("/");
    const std::string name = tag.substr(closes ? 1 : 0, tag.find(' ') - (closes ? 1 : 0));
    if (!closes) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " stays open";
}

sim::ScenarioReport SmallReport(size_t samples = 5) {
  sim::ScenarioReport report;
  report.duration_seconds = 600;
  report.sample_every_seconds = 600.0 / static_cast<double>(samples);
  report.nodes = 3;
  report.pods.scheduled = 1234;
  report.latency = {{"all", 1234, 0.5, 0.1, 1.0, 2.0, 90.0}};
  report.latency_histogram = {{0.05, 0.1, 1000}, {0.1, 0.2, 234}};
  report.utilization = {{"cpu", 10, 80, 20}, {"memory", 1, 2, 3}, {"pods", 1, 2, 3}};
  report.events = {{120, "a <bold> \"move\" & more"}};
  for (size_t i = 0; i <= samples; ++i) {
    sim::SamplePoint point;
    point.at = report.sample_every_seconds * static_cast<double>(i);
    point.cpu = 12.5;
    point.scheduled = 3;
    point.scheduler_up = i != 2;
    report.samples.push_back(point);
  }
  return report;
}

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ScenarioPage, IsWellFormed) {
  EXPECT_EQ(UnbalancedTag(ScenarioPage(SmallReport(), "x")), "");
  EXPECT_EQ(UnbalancedTag("<p><b>x</p></b>"), "</p> closes b");
  sim::ScenarioReport empty;
  empty.latency = {{"all", 0, 0, 0, 0, 0, 0}};
  empty.utilization = {{"cpu", 0, 0, 0}};
  EXPECT_EQ(UnbalancedTag(ScenarioPage(empty, "")), "");
}

TEST(ScenarioPage, ShowsTextAsText) {
  const std::string page = ScenarioPage(SmallReport(), "<script>");
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("a &lt;bold&gt; &quot;move&quot; &amp; more"), std::string::npos);
}

TEST(ScenarioPage, LoadsNothing) {
  const std::string page = ScenarioPage(SmallReport(), "x");
  for (const char* part : {"http:", "https:", "src=", "href=", "url(", "@import"}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
}

TEST(ScenarioPage, HoverShowsValues) {
  const std::string page = ScenarioPage(SmallReport(), "x");
  EXPECT_NE(page.find("<title>4m\ncpu: 12.5%\nmemory: 0%\npods: 0%</title>"), std::string::npos);
  EXPECT_NE(page.find("the scheduler was down"), std::string::npos);
}

TEST(ScenarioPage, ManySamplesAreThinned) {
  const std::string page = ScenarioPage(SmallReport(5000), "x");
  EXPECT_LT(CountOf(page, "class=\"hover\""), 2000u);
  EXPECT_LT(page.size(), 1'000'000u);
}

}  // namespace
}  // namespace berth::cli
