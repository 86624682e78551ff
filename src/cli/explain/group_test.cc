#include "cli/explain/group.h"

#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

berth::explain::GroupView Refused() {
  berth::explain::GroupView view;
  view.group = {.namespace_ = "ml",
                .name = "second",
                .uid = "",
                .state = "Waiting",
                .min_count = 6,
                .pods = 6,
                .placed = 0,
                .priority = 0,
                .profile = "",
                .workload = "Job/second",
                .topology = "rack",
                .created_at = std::nullopt,
                .reason = "",
                .message = ""};
  view.outcome = "Unschedulable";
  view.message =
      "pod group is unschedulable, minCount (6) cannot be satisfied: 2 scheduled, 3 remaining";
  view.needed = 6;
  view.best = 2;
  view.best_domain = "rack-1";
  view.best_nodes = {{"gpu-1", 2}};
  view.blockers = {{"second-2", 4, "0/2 nodes are available: 2 Insufficient example.com/gpu."}};
  view.domain_key = "rack";
  view.domains = {{"rack-1", 1, 2, false, ""}, {"rack-2", 1, 0, false, ""}};
  view.domain_count = view.domains_tried = 2;
  view.members.resize(25);
  for (auto& member : view.members) member.name = "p", member.outcome = "Unschedulable";
  view.preemption = "pod group preemption: No preemption victims found for incoming preemptor";
  view.help.emplace_back().text = "the group is scheduled when podgroup ml/first ends (6 pods)";
  view.help.back().patch = "kubectl get pods";
  return view;
}

TEST(GroupText, SaysEverythingOnEightyColumns) {
  const std::string text = GroupText(Refused(), {});
  EXPECT_THAT(text, HasSubstr("ml/second  Waiting\n"));
  EXPECT_THAT(text, HasSubstr("2 of 6 waiting pods would get a node; 6 needed, in rack-1\n"));
  EXPECT_THAT(text, HasSubstr("  second-2 and 3 more\n"));
  EXPECT_THAT(text, HasSubstr("BY rack\n"));
  EXPECT_THAT(text, HasSubstr("  and 5 more; -o json has all pods\n"));
  EXPECT_THAT(text, HasSubstr("  - the group is scheduled when podgroup ml/first ends (6 pods)\n"
                              "      kubectl get pods\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(GroupText, AGroupThatRunsHasNoReasons) {
  berth::explain::GroupView view;
  view.group.namespace_ = "ml";
  view.group.name = "first";
  view.group.state = "Running";
  view.group.pods = view.group.placed = 1;
  view.members = {{"first-0", "gpu-0", "Placed", "", ""}};
  const std::string text = GroupText(view, {});
  EXPECT_THAT(text, HasSubstr("ml/first  Running\n  1 pod, 1 with a node\n"));
  EXPECT_THAT(text, Not(HasSubstr("AT BEST")));
  EXPECT_THAT(text, Not(HasSubstr("WHAT WOULD HELP")));
}

TEST(GroupText, WhatComesFromOutsideCannotTalkToTheTerminal) {
  berth::explain::GroupView view = Refused();
  view.group.name = "g\x1b[31m";
  view.message = "forged \x9b\n";
  view.help[0].patch = "rm \x07";
  view.blockers[0].pod = "p\x1b";
  const std::string text = GroupText(view, {});
  EXPECT_EQ(text.find_first_of("\x1b\x07\x9b\r"), std::string::npos) << text;
}

}  // namespace
}  // namespace berth::cli
