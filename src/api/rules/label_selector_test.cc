#include "api/rules/label_selector.h"

#include <vector>

#include <gtest/gtest.h>

namespace berth::api {
namespace {

const StringMap kLabels = {{"app", "web"}, {"size", "7"}, {"empty", ""}};

Selector S(std::string_view text) {
  Result<Selector> s = Selector::Parse(text);
  EXPECT_TRUE(s) << text;
  return s.value_or(Selector::Nothing());
}

TEST(Selector, ParsesMatchesAndPrints) {
  struct Case {
    const char* name;
    const char* text;
    const char* string;
    bool match;
  };
  const std::vector<Case> cases = {
      {"empty matches everything", "", "", true},
      {"equal", "app=web", "app=web", true},
      {"equal with two signs", "app==db", "app==db", false},
      {"not equal", "app!=web", "app!=web", false},
      {"not equal holds for a missing label", "other!=web", "other!=web", true},
      {"in", "app in (db, web)", "app in (db,web)", true},
      {"values are sorted", "app in (web,db)", "app in (db,web)", true},
      {"notin", "app notin (db)", "app notin (db)", true},
      {"notin holds for a missing label", "other notin (db)", "other notin (db)", true},
      {"exists", "empty", "empty", true},
      {"does not exist", "!app", "!app", false},
      {"greater", "size>6", "size>6", true},
      {"greater needs a number", "app>6", "app>6", false},
      {"less", "size<7", "size<7", false},
      {"less needs the label", "other<7", "other<7", false},
      {"the empty value", "empty=", "empty=", true},
      {"the empty set is the empty value", "empty in ()", "empty in ()", true},
      {"empty values among others", "empty in (,a,)", "empty in (,a)", true},
      {"all must hold, sorted by key", "size=7,app=web", "app=web,size=7", true},
      {"all must hold", "size=7,app=db", "app=db,size=7", false},
      {"operators as words", "in in (in,notin)", "in in (in,notin)", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Selector s = S(c.text);
    EXPECT_EQ(s.String(), c.string);
    EXPECT_EQ(s.Matches(kLabels), c.match);
  }
}

TEST(Selector, SaysWhatIsWrongWithTheText) {
  struct Case {
    const char* text;
    const char* error;
  };
  const std::vector<Case> cases = {
      {"a in b", "unable to parse requirement: found 'b' expected: '('"},
      {"a in (b", "unable to parse requirement: found '', expected: ',' or ')'"},
      {"a in (,", "unable to parse requirement: found '', expected: ',', or identifier"},
      {"a in (=", "unable to parse requirement: found '=', expected: ',', ')' or identifier"},
      {"a,", "found '', expected: identifier after ','"},
      {",a", "found ',', expected: !, identifier, or 'end of string'"},
      {"a=b c", "found 'c', expected: ',' or 'end of string'"},
      {"!", "unable to parse requirement: found '', expected: identifier"},
      {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
      {"a>x",
       "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, "
       "the value must be an "
       "integer"},
      {"/y=z",
       "unable to parse requirement: <nil>: Invalid value: \"/y\": prefix part must be non-empty"},
  };
  for (const Case& c : cases) {
    const Result<Selector> s = Selector::Parse(c.text);
    ASSERT_FALSE(s) << c.text;
    EXPECT_EQ(s.error().Message(), c.error);
  }
}

TEST(Selector, FromLabelSelector) {
  EXPECT_TRUE(Selector::From(std::optional<LabelSelector>())->MatchesNothing());
  EXPECT_FALSE(Selector::From(std::optional<LabelSelector>())->Matches({}));
  EXPECT_TRUE(Selector::From(LabelSelector{})->Empty());
  EXPECT_TRUE(Selector::From(LabelSelector{})->Matches({}));

  LabelSelector selector;
  selector.match_labels = {{"app", "web"}};
  selector.match_expressions = {{"size", "In", {"8", "7"}}, {"old", "DoesNotExist", {}}};
  const Result<Selector> s = Selector::From(selector);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->String(), "app=web,!old,size in (7,8)");
  EXPECT_TRUE(s->Matches(kLabels));
  EXPECT_FALSE(s->Matches({{"app", "web"}}));
}

TEST(Selector, SaysWhatIsWrongWithTheLabelSelector) {
  LabelSelector selector;
  selector.match_expressions = {{"size", "Gt", {"1"}}};
  EXPECT_EQ(Selector::From(selector).error().Message(),
            "\"Gt\" is not a valid label selector operator");
  selector.match_expressions = {{"size", "In", {}}};
  EXPECT_EQ(Selector::From(selector).error().Message(),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty");
  selector.match_expressions = {{"size", "Exists", {"a\"<b"}}};
  const std::string error = Selector::From(selector).error().Message();
  EXPECT_EQ(error.substr(0, error.find(" a valid")),
            "[values: Invalid value: [\"a\\\"\\u003cb\"]: values set must be empty for exists and "
            "does not exist, "
            "values[0][size]: Invalid value: \"a\\\"<b\":");
}

TEST(Selector, AddsRequirementsInOrder) {
  Selector s = Selector::FromSet({{"m", "1"}});
  s.Add(Requirement::Equal("z", "1"));
  s.Add(Requirement::Equal("a", "1"));
  EXPECT_EQ(s.String(), "a=1,m=1,z=1");
  Selector nothing = Selector::Nothing();
  nothing.Add(Requirement::Equal("a", "1"));
  EXPECT_FALSE(nothing.Matches({{"a", "1"}}));
}

}  // namespace
}  // namespace berth::api
