#include "base/visible.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

// L6, L7: what a name may do to a terminal or a log.
TEST(Visible, L6EscapesWhatATerminalWouldObey) {
  const struct {
    const char* what;
    std::string_view text;
    std::string_view shown;
  } kCases[] = {
      {"plain text stays", "web-0 <ok> \"x\" \\", "web-0 <ok> \"x\" \\"},
      {"other languages stay", "\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80",
       "\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80"},
      {"an escape sequence", "\x1b[31mred", "\\x1b[31mred"},
      {"a title by BEL", "\x1b]0;x\a", "\\x1b]0;x\\a"},
      {"a line break and a return", "a\r\nb\tc", "a\\r\\nb\\tc"},
      {"delete", "\x7f", "\\x7f"},
      {"NUL", std::string_view("a\0b", 3), "a\\x00b"},
      {"C1 as UTF-8",
       "\xc2\x9b"
       "31m",
       "\\u009b31m"},
      {"C1 as a byte",
       "\x9b"
       "31m",
       "\\x9b31m"},
      {"a truncated character", "\xe6\x97", "\\xe6\\x97"},
      {"the other direction", "\xe2\x80\xae", "\\u202e"},
      {"a tag beyond the first plane", "\xf3\xa0\x80\x81", "\\U000e0001"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Visible(c.text), c.shown) << c.what;
}

TEST(Visible, KeepsWhatIsMeant) { EXPECT_EQ(Visible("a\n\tb\x1b", "\n\t"), "a\n\tb\\x1b"); }

TEST(Visible, L6JsonStringsHoldTheEscapesAsText) {
  EXPECT_EQ(VisibleJson("{\n \"a\": \"x\\u001b[31m\\n\\\"\\\\\\u00e9\\ud83d\\ude00\xc2\x9b\"}"),
            "{\n \"a\": \"x\\\\u001b[31m\\\\n\\\"\\\\\\u00e9\\ud83d\\ude00\\\\u009b\"}");
}

}  // namespace
}  // namespace berth
