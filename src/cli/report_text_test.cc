#include "cli/report_text.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

sim::PodReport Pod(const std::string& name, const std::string& outcome, const std::string& node,
                   const std::string& message) {
  sim::PodReport pod;
  pod.namespace_ = "ns";
  pod.name = name;
  pod.outcome = outcome;
  pod.node = node;
  pod.message = message;
  return pod;
}

sim::Report Example() {
  sim::Report report;
  report.nodes = 1234;
  report.placed = 2;
  report.unschedulable = 2;
  report.gated = 1;
  report.pods.push_back(Pod("web-1", "Placed", "a", ""));
  report.pods[0].score = 300;
  report.pods[0].feasible_nodes = 12;
  report.pods[0].equal_nodes = 1;
  report.pods[0].scores = {{"Fit", 40, 40, 40}, {"Taints", 0, 100, 300}};
  report.pods[0].preempted = {"ns/victim"};
  report.pods.push_back(Pod("web-2", "Placed", "b", ""));
  report.pods[1].scores = {{"Fit", 50, 50, 50}};
  report.pods.push_back(Pod("db-1", "Unschedulable", "", "too big"));
  report.pods.push_back(Pod("db-2", "Unschedulable", "", "too big"));
  report.pods.push_back(Pod("slow-1", "Gated", "", "waits"));
  report.utilization.push_back({"cpu", "16.0", "1.0", "3.0", 6.3, 18.8});
  return report;
}

TEST(ReportText, ALinePerPod) {
  EXPECT_EQ(ReportText(Example(), {}),
            "1,234 nodes, 5 pods: 2 placed, 2 unschedulable, 1 gated\n"
            "\n"
            "NAMESPACE   POD     NODE   SCORE   FEASIBLE   EQUAL\n"
            "ns          web-1   a        300         12       1\n"
            "ns          web-2   b          -          0       0\n"
            "\n"
            "ns/victim made room for ns/web-1\n"
            "\n"
            "ns/db-*  Unschedulable  2 pods\n    too big\n"
            "ns/slow-1  Gated\n    waits\n"
            "\n"
            "RESOURCE   ALLOCATABLE   BEFORE          AFTER        \n"
            "cpu               16.0      1.0   6.3%     3.0   18.8%\n");
}

TEST(ReportText, WideHasAColumnPerScoringPlugin) {
  ReportTextOptions options;
  options.wide = true;
  const std::string text = ReportText(Example(), options);
  EXPECT_NE(text.find("NAMESPACE   POD     NODE   SCORE   FEASIBLE   EQUAL   Fit   Taints\n"
                      "ns          web-1   a        300         12       1    40      300\n"
                      "ns          web-2   b          -          0       0    50        -\n"),
            std::string::npos)
      << text;
}

TEST(ReportText, ASummaryHasALinePerWorkload) {
  ReportTextOptions options;
  options.summary = true;
  const std::string text = ReportText(Example(), options);
  EXPECT_NE(text.find("WORKLOAD   PODS   PLACED   NODES\n"
                      "ns/db         2        0       0\n"
                      "ns/slow       1        0       0\n"
                      "ns/web        2        2       2\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("ns/db-*  Unschedulable  2 pods\n    too big\n"), std::string::npos) << text;
}

TEST(ReportText, TimeAndFill) {
  sim::Report report = Example();
  report.fill.emplace();
  report.fill->workload = "web";
  report.fill->replicas = 12345;
  report.fill->nodes_used = 3;
  report.fill->stopped_by = "no room";
  ReportTextOptions options;
  options.seconds = 0.5;
  const std::string text = ReportText(report, options);
  EXPECT_NE(text.find(", in 0.500 s (10 pods/s)\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("web: 12,345 more replicas fit, on 3 nodes\nthe next one: no room\n"))
      << text;
}

TEST(ReportText, NothingToTell) { EXPECT_EQ(ReportText({}, {}), "0 nodes, 0 pods: 0 placed\n"); }

TEST(ReportText, L6NamesAndMessagesCannotTalkToTheTerminal) {
  sim::Report report;
  report.nodes = 1;
  report.pods.push_back(Pod("a\x1b]0;t\a", "Placed", "n\x9b", ""));
  report.pods[0].preempted = {"ns/v\r"};
  report.pods.push_back(Pod("b\x1b[2J", "Unschedulable", "", "no\nforged line\x07"));
  report.fill.emplace();
  report.fill->workload = "w\x1b";
  report.fill->stopped_by = "s\x1b";
  for (const bool summary : {false, true}) {
    ReportTextOptions options;
    options.summary = summary;
    const std::string text = ReportText(report, options);
    EXPECT_EQ(text.find_first_of("\x1b\x07\x9b\r"), std::string::npos) << text;
    EXPECT_NE(text.find("no\\nforged line\\a"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace berth::cli
