#include "cli/trace/page.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

sim::LoadCurve Curve(const char* name, double allocated) {
  sim::LoadCurve curve;
  curve.profile = name;
  for (int i = 0; i <= 100; i += 5) {
    sim::LoadPoint& point = curve.points.emplace_back();
    point.arrived = i;
    point.allocated = i * allocated;
    point.kilowatts = 100 + i;
  }
  return curve;
}

TEST(TraceText, HasALinePerConfiguration) {
  const std::string text = TraceText(std::vector<sim::LoadCurve>{Curve("default", 0.5)});
  EXPECT_THAT(text, HasSubstr("CONFIGURATION   ALLOC@90   ALLOC@95  ALLOC@100  ALLOC@130"));
  EXPECT_THAT(text, HasSubstr("default            45.00      47.50      50.00          -"))
      << "a load that did not arrive has no value";
}

TEST(TracePage, HasChartsAndATable) {
  const std::vector<sim::LoadCurve> curves = {Curve("<default>", 0.5), Curve("other", 0.9)};
  const std::string page = TracePage(curves, {"openb_pods", 10, 20, 3});
  EXPECT_THAT(page, HasSubstr("<h3>Allocation ratio</h3>"));
  EXPECT_THAT(page, HasSubstr("100 %\n&lt;default&gt;: 50 %\nother: 90 %"));
  EXPECT_THAT(page, HasSubstr("<td class=\"t\">&lt;default&gt;</td><td>45.00</td>"));
  EXPECT_THAT(page, HasSubstr("means of 3 runs"));
  EXPECT_THAT(page, Not(HasSubstr("<default>")));
  EXPECT_EQ(page, TracePage(curves, {"openb_pods", 10, 20, 3}));
}

}  // namespace
}  // namespace berth::cli
