#include "framework/points/status.h"

#include <gtest/gtest.h>

#include "framework/points/verdict.h"

namespace berth::framework {
namespace {

TEST(Status, SuccessSkipAndRejections) {
  EXPECT_TRUE(Status().Ok());
  EXPECT_EQ(Status().Message(), "");
  EXPECT_TRUE(Status::Skip().IsSkip());
  EXPECT_FALSE(Status::Skip().Ok());
  EXPECT_EQ(Status::Error("x").code(), Code::kError);
  EXPECT_EQ(Status::Unschedulable("x").code(), Code::kUnschedulable);
  EXPECT_EQ(Status::Unresolvable("x").code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(Status(Code::kUnschedulable, std::vector<std::string>{"a", "b"}).Message(), "a, b");
}

TEST(Status, CodesHaveKubeSchedulersNames) {
  struct Case {
    Code code;
    const char* name;
    bool rejected;
  };
  const Case cases[] = {
      {Code::kSuccess, "Success", false},
      {Code::kError, "Error", false},
      {Code::kUnschedulable, "Unschedulable", true},
      {Code::kUnschedulableAndUnresolvable, "UnschedulableAndUnresolvable", true},
      {Code::kWait, "Wait", false},
      {Code::kSkip, "Skip", false},
      {Code::kPending, "Pending", true},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CodeName(c.code), c.name);
    EXPECT_EQ(IsRejected(c.code), c.rejected) << c.name;
  }
}

TEST(Verdict, EveryPartTellsPackedVerdictsApart) {
  const Verdict base{1, Code::kUnschedulable, 2, 3};
  Verdict plugin = base, code = base, detail = base, reason = base;
  plugin.plugin = 9;
  code.code = Code::kError;
  detail.detail = 9;
  reason.reason = 9;
  for (const Verdict& other : {plugin, code, detail, reason}) {
    EXPECT_NE(other.Packed(), base.Packed());
  }
}

}  // namespace
}  // namespace berth::framework
