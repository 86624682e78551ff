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

}  // namespace
}  // namespace berth::cli
