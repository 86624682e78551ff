#include "term/terminal.h"

#include <gtest/gtest.h>

namespace berth::term {
namespace {

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  Table table({"NAME", "COUNT", "NOTE"});
  table.Right(1);
  EXPECT_TRUE(table.Empty());
  table.Row({"a", "1", "short"});
  table.Row({"longer-name", "1,000", ""});
  EXPECT_FALSE(table.Empty());
  EXPECT_EQ(table.Text(false),
            "NAME          COUNT   NOTE\n"
            "a                 1   short\n"
            "longer-name   1,000   \n");
}

TEST(Table, ARightColumnMayBeTheLast) {
  Table table({"A", "B"});
  table.Right(1);
  table.Row({"x", "100"});
  EXPECT_EQ(table.Text(false),
            "A     B\n"
            "x   100\n");
}

TEST(Table, OnlyTheHeaderHasColour) {
  Table table({"A"});
  table.Row({"x"});
  EXPECT_EQ(table.Text(true), "\x1b[1mA\x1b[0m\nx\n");
}

TEST(Table, L6CellsCannotTalkToTheTerminal) {
  Table table({"NAME", "NODE"});
  table.Row({"a\x1b[31m", "n\nforged   row"});
  EXPECT_EQ(table.Text(false),
            "NAME        NODE\n"
            "a\\x1b[31m   n\\nforged   row\n");
}

TEST(Table, TheLastColumnIsWrappedAtWords) {
  Table table({"NAME", "CAUSE"});
  table.Row({"a", "28 Insufficient cpu, 24 Insufficient memory"});
  table.Row({"b", "short"});
  const char* kOneLine =
      "NAME   CAUSE\n"
      "a      28 Insufficient cpu, 24 Insufficient memory\n"
      "b      short\n";
  EXPECT_EQ(table.Text(false), kOneLine);
  table.Fit(30);
  EXPECT_EQ(table.Text(false),
            "NAME   CAUSE\n"
            "a      28 Insufficient cpu, 24\n"
            "       Insufficient memory\n"
            "b      short\n");
  table.Fit(20);  // would leave too little of the last column
  EXPECT_EQ(table.Text(false), kOneLine);
  table.Fit(50);
  EXPECT_EQ(table.Text(false), kOneLine);
}

TEST(Toned, IsPlainWithoutColour) {
  EXPECT_EQ(Toned("x", Tone::kBad, false), "x");
  EXPECT_EQ(Toned("x", Tone::kPlain, true), "x");
  EXPECT_EQ(Toned("x", Tone::kBad, true), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(Toned("x", Tone::kGood, true), "\x1b[32mx\x1b[0m");
}

}  // namespace
}  // namespace berth::term
