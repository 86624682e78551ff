#include "cli/plan/page.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

plan::NodeUse Use(std::string name, double before, double after, std::string change) {
  plan::NodeUse use;
  use.name = std::move(name);
  use.pool = "general";
  use.before = before;
  use.after = after;
  use.change = std::move(change);
  return use;
}

TEST(PlanPageTest, NodesAreOnTheSideWhereTheyExist) {
  plan::Plan plan;
  plan.question = "drain";
  const std::string page = PlanPage(
      plan, {Use("old", 40, 0, "Freed"), Use("stays", 20, 60, ""), Use("new-1", 0, 30, "Added")});
  const size_t after = page.find("<h3>After</h3>");
  ASSERT_NE(after, std::string::npos);
  const std::string left = page.substr(0, after);
  const std::string right = page.substr(after);
  EXPECT_NE(left.find("old: 40.0%"), std::string::npos);
  EXPECT_EQ(left.find("new-1"), std::string::npos);
  EXPECT_NE(left.find("2 nodes, 30.0% requested"), std::string::npos);
  EXPECT_NE(right.find("new-1: 30.0%"), std::string::npos);
  EXPECT_NE(right.find("2 nodes, 45.0% requested"), std::string::npos);
}

TEST(PlanPageTest, NamesAreEscaped) {
  plan::Plan plan;
  plan.question = "outage";
  plan::Step step;
  step.namespace_ = "<script>";
  step.name = "a\"b";
  step.outcome = "Homeless";
  plan.pods.push_back(step);
  plan.homeless = 1;
  const std::string page = PlanPage(plan, {Use("<b>", 0, 0, "")});
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_EQ(page.find("<b>:"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
  EXPECT_NE(page.find("Not every pod has a place."), std::string::npos);
}

}  // namespace
}  // namespace berth::cli
