// Image names, orders among pods, white space and integers.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/go/go_int.h"
#include "api/go/unicode_space.h"
#include "api/rules/image_name.h"
#include "api/rules/pod_priority.h"

namespace berth::api {
namespace {

TEST(ImageName, GetsATagIfItHasNone) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"nginx", "nginx:latest"},
      {"nginx:1", "nginx:1"},
      {"localhost:5000/nginx", "localhost:5000/nginx:latest"},
      {"localhost:5000/nginx@sha256:01", "localhost:5000/nginx@sha256:01"},
      {"", ":latest"},
      {":", ":"},
      {"/", "/:latest"},
  };
  for (const auto& [in, out] : cases) EXPECT_EQ(NormalizedImageName(in), out) << in;
}

Pod PodWith(std::optional<int32_t> priority, std::optional<int64_t> start) {
  Pod pod;
  pod.spec.priority = priority;
  if (start) pod.status.start_time = Time::FromUnixNano(*start);
  return pod;
}

TEST(PodPriority, DefaultsToZero) {
  EXPECT_EQ(PodPriority(PodWith({}, {})), 0);
  EXPECT_EQ(PodPriority(PodWith(-5, {})), -5);
}

TEST(PodPriority, OrdersForPreemption) {
  const Time now = Time::FromUnixNano(100);
  EXPECT_TRUE(MoreImportantPod(PodWith(1, 50), PodWith({}, 10), now));
  EXPECT_FALSE(MoreImportantPod(PodWith(-1, 10), PodWith({}, 50), now));
  EXPECT_TRUE(MoreImportantPod(PodWith(1, 10), PodWith(1, 50), now));
  EXPECT_FALSE(MoreImportantPod(PodWith(1, 10), PodWith(1, 10), now));
  EXPECT_TRUE(MoreImportantPod(PodWith(1, 10), PodWith(1, {}), now));
  EXPECT_FALSE(MoreImportantPod(PodWith(1, {}), PodWith(1, {}), now));
}

TEST(PodPriority, OrdersTheQueue) {
  const Time early = Time::FromUnixNano(1);
  const Time late = Time::FromUnixNano(2);
  EXPECT_TRUE(QueueLess(5, late, 4, early));
  EXPECT_TRUE(QueueLess(4, early, 4, late));
  EXPECT_FALSE(QueueLess(4, late, 4, late));
  EXPECT_FALSE(QueueLess(-1, early, 0, late));
}

TEST(UnicodeSpace, Trims) {
  EXPECT_EQ(TrimUnicodeSpace(" \t\r\n\v\fa b\x0C "), "a b");
  EXPECT_EQ(TrimUnicodeSpace("\xC2\xA0\xE2\x80\x8A"
                             "a"
                             "\xE3\x80\x80\xC2\x85"),
            "a");
  EXPECT_EQ(TrimUnicodeSpace("\xE2\x80\x8B"
                             "a"),
            "\xE2\x80\x8B"
            "a");
  EXPECT_EQ(TrimUnicodeSpace("\xA0"
                             "a"
                             "\x85"),
            "\xA0"
            "a"
            "\x85");
  EXPECT_EQ(TrimUnicodeSpace("   "), "");
}

TEST(GoInt, Parses) {
  EXPECT_EQ(ParseGoInt("+5"), 5);
  EXPECT_EQ(ParseGoInt("-007"), -7);
  EXPECT_EQ(ParseGoInt("-9223372036854775808"), INT64_MIN);
  for (const char* bad :
       {"", "+", "-", "+-1", "--1", " 1", "1 ", "1.0", "0x10", "1_0", "9223372036854775808"}) {
    EXPECT_EQ(ParseGoInt(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace berth::api
