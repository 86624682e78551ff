#include "bench/perf/template.h"

#include <gtest/gtest.h>

namespace berth::bench {
namespace {

TEST(TemplateTest, Renders) {
  struct Row {
    const char* what;
    const char* text;
    const char* want;  // for object 7 of 20
  };
  const Row rows[] = {
      {"plain text stays", "a: b\n", "a: b\n"},
      {"index with and without blanks", "n{{.Index}}-{{ .Index }}.", "n7-7."},
      {"count", "{{.Count}}", "20"},
      {"functions", "{{ div .Index 2 }} {{mod .Index 4}} {{ div 30000 .Count }}Mi", "3 3 1500Mi"},
      {"parentheses", "{{ mod (div .Count 3) (div .Index 2) }}", "0"},
      {"comments vanish", "a{{/* no {{ */}}b", "ab"},
      {"trim marks", "a \n {{- .Index -}} \n b", "a7b"},
      {"a minus that is a sign", "{{ -5 }}", "-5"},
      {"the lowest number by minus one", "{{ div -9223372036854775808 -1 }}",
       "-9223372036854775808"},
  };
  for (const Row& row : rows) {
    const auto parsed = Template::Parse(row.text);
    ASSERT_TRUE(parsed) << row.what << ": " << parsed.error().Message();
    const auto text = parsed->Render(7, 20);
    ASSERT_TRUE(text) << row.what;
    EXPECT_EQ(*text, row.want) << row.what;
  }
}

TEST(TemplateTest, KnowsWhetherObjectsDiffer) {
  EXPECT_TRUE(Template::Parse("a{{/* c */}}")->IsConstant());
  EXPECT_FALSE(Template::Parse("a{{.Index}}")->IsConstant());
}

TEST(TemplateTest, RefusesWhatItDoesNotKnow) {
  struct Row {
    const char* text;
    const char* says;
  };
  const Row rows[] = {
      {"{{ .Name }}", ".Name"},
      {"{{ range .Index }}", "range"},
      {"{{ .Index", "without"},
      {"{{ }}", "operand is missing"},
      {"{{ div 1 }}", "operand is missing"},
      {"{{ div 1 2 3 }}", "unexpected \"3\""},
      {"{{ (div 1 2 }}", ")"},
      {"{{/* a }}", "comment"},
      {"{{ 99999999999999999999 }}", "99999999999999999999"},
  };
  for (const Row& row : rows) {
    const auto parsed = Template::Parse(row.text);
    ASSERT_FALSE(parsed) << row.text;
    EXPECT_NE(parsed.error().Message().find(row.says), std::string::npos)
        << parsed.error().Message();
  }
  EXPECT_FALSE(Template::Parse("{{" + std::string(100'000, '(') + "}}"));
}

TEST(TemplateTest, DivisionByZeroIsAnError) {
  EXPECT_FALSE(Template::Parse("{{ mod 1 .Index }}")->Render(0, 1));
  EXPECT_TRUE(Template::Parse("{{ mod 1 .Index }}")->Render(1, 1));
}

}  // namespace
}  // namespace berth::bench
