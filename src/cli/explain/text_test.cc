#include "cli/explain/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ExplainText, DurationsAreOneLineInTheOrderOfTheCycle) {
  berth::explain::DecisionView view;
  view.durations_ms = {
      {"Bind", 3.14}, {"Filter", 0.0212}, {"PreBind", 2345.0}, {"PreFilter", 0.0004}};
  ExplainTextOptions options;
  options.pod = "default/web";
  EXPECT_THAT(ExplainText(view, nullptr, options),
              HasSubstr("  took: PreFilter 0.4 µs, Filter 21 µs, PreBind 2.3 s, Bind 3.1 ms\n"));
  view.durations_ms.clear();
  EXPECT_THAT(ExplainText(view, nullptr, options), Not(HasSubstr("took")))
      << "not timed: nothing is claimed";
}

TEST(ExplainText, TheRecordComesBeforeTheClusterOfToday) {
  berth::explain::DecisionView view;
  view.pod_node = "general-06";
  view.recomputed = true;
  view.record.emplace();
  view.record->time = api::MicroTime::FromUnixNano(1'767'225'600'000'000'000);
  view.record->outcome = "Scheduled";
  view.record->node = "general-06";
  view.record->score = 693;
  view.record->equal = 8;
  view.record->feasible = 44;
  view.record->nodes = 60;
  view.record->rejections = {{"TaintToleration", "node(s) had untolerated taint(s)", "", 16, {}}};
  view.present.emplace();
  view.present->outcome = "Unschedulable";
  view.present->message = "0/60 nodes are available";
  const std::string text = ExplainText(view, nullptr, {.pod = "default/web"});
  EXPECT_THAT(text, HasSubstr("  chosen: general-06 with 693 points, one of 8 equal nodes\n"
                              "  feasible: 44 of 60 nodes\n"
                              "      16 node(s) had untolerated taint(s)\n"));
  EXPECT_THAT(text, HasSubstr("the outcome would be: Unschedulable. 0/60"));
  EXPECT_LT(text.find("AS DECIDED"), text.find("TODAY"));
  EXPECT_LT(text.find("TODAY"), text.find("FILTERS"));

  view.record->feasible = 1;
  view.recomputed = false;
  const std::string fresh = ExplainText(view, nullptr, {.pod = "default/web"});
  EXPECT_THAT(fresh, HasSubstr("chosen: general-06, the only feasible node\n"));
  EXPECT_THAT(fresh, Not(HasSubstr("TODAY")));
}

TEST(ExplainText, ABetterNodeOfTodayIsNotTheSameOutcome) {
  berth::explain::DecisionView view;
  view.pod_node = "memory-04";
  view.recomputed = true;
  view.record.emplace();
  view.record->time = api::MicroTime::FromUnixNano(1'767'225'600'000'000'000);
  view.record->outcome = "Scheduled";
  view.record->node = "memory-04";
  view.top_nodes.resize(2);
  view.top_nodes[0].node = "general-07";
  view.top_nodes[0].total = 665;
  view.top_nodes[1].node = "memory-04";
  view.top_nodes[1].total = 656;
  view.top_nodes[1].chosen = true;
  EXPECT_THAT(ExplainText(view, nullptr, {.pod = "default/web"}),
              HasSubstr("it would go to general-07 now, with 665 points."));

  view.top_nodes[0].total = 656;
  EXPECT_THAT(ExplainText(view, nullptr, {.pod = "default/web"}),
              HasSubstr("the outcome would be the same."));
}

TEST(ExplainText, L6WhatComesFromOutsideCannotTalkToTheTerminal) {
  berth::explain::DecisionView view;
  view.pod_node = "n\x1b[31m";
  view.present.emplace();
  view.present->message = "0/1 nodes\nforged \x9b";
  berth::explain::SuggestionList suggestions;
  suggestions.items.emplace_back();
  suggestions.items[0].text = "label\x07 it";
  ExplainTextOptions options;
  options.pod = "default/w\x1b";
  const std::string text = ExplainText(view, &suggestions, options);
  EXPECT_EQ(text.find_first_of("\x1b\x07\x9b\r"), std::string::npos) << text;
  EXPECT_THAT(text, HasSubstr("default/w\\x1b"));
  EXPECT_THAT(text, HasSubstr("on n\\u001b[31m"));
  EXPECT_THAT(text, HasSubstr("label\\u0007 it"));
}

}  // namespace
}  // namespace berth::cli
