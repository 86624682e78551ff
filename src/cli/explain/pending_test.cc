#include "cli/explain/pending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli {
namespace {

using testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNow = 1'767'225'600 * kSecond;

explain::PendingPod PodOf(const std::string& name, const std::string& reason, int64_t age) {
  explain::PendingPod pod;
  pod.namespace_ = "shop";
  pod.name = name;
  pod.where = "Unschedulable";
  pod.created_at = api::MicroTime::FromUnixNano(kNow - age * kSecond);
  if (!reason.empty()) pod.rejections.push_back({"NodeResourcesFit", reason, "", 3, {}});
  return pod;
}

TEST(PendingText, PodsOfAWorkloadWithOneCauseShareALine) {
  explain::PendingList list;
  list.items = {PodOf("web-5d4f-a", "Insufficient cpu", 60), PodOf("db-0", "", 10),
                PodOf("web-5d4f-b", "Insufficient cpu", 200),
                PodOf("web-5d4f-c", "Insufficient memory", 20)};
  list.total = 4;
  const std::string text = PendingText(list, {.now_unix_ns = kNow});
  EXPECT_THAT(text, testing::ContainsRegex("shop +web-5d4f-\\* +2 +3m +Unschedulable +3 Insuff"));
  EXPECT_THAT(text, testing::ContainsRegex("shop +web-5d4f-c +1 +20s +Unschedulable +3 Insuff"));
  EXPECT_THAT(text, testing::ContainsRegex("shop +db-0 +1 +10s +Unschedulable +not tried yet"));
  EXPECT_LT(text.find("web-5d4f-*"), text.find("web-5d4f-c")) << "the longest wait comes first";
  EXPECT_THAT(text, HasSubstr("\n4 pending; "));
}

TEST(PendingText, NamesCannotTalkToTheTerminal) {
  explain::PendingList list;
  list.items = {PodOf("w\x1b[31m", "a\x07", 1)};
  EXPECT_EQ(PendingText(list, {}).find_first_of("\x1b\x07"), std::string::npos);
}

TEST(PendingText, SaysThatThereIsNone) { EXPECT_EQ(PendingText({}, {}), "no pod is pending\n"); }

TEST(NameStem, IsWhatReplicasShare) {
  EXPECT_EQ(NameStem("web-5d4f-x2k4p"), "web-5d4f-*");
  EXPECT_EQ(NameStem("db-0"), "db-*");
  EXPECT_EQ(NameStem("web"), "web");
  EXPECT_EQ(NameStem("-x"), "-x");
}

}  // namespace
}  // namespace berth::cli
