#include "explain/report.h"

#include <gtest/gtest.h>

namespace berth::explain {
namespace {

TEST(Report, RequiredListsAreNeverNull) {
  EXPECT_EQ(ToText(DecisionList{}), R"({"items":[],"total":0})");
  Suggestion suggestion{"null", "a \"null\"", 1, {}, {}, "", std::nullopt};
  EXPECT_EQ(ToText(suggestion), R"({"kind":"null","text":"a \"null\"","nodes":1,"examples":[]})");
}

}  // namespace
}  // namespace berth::explain
