#include "api/rules/node_affinity.h"

#include <vector>

#include <gtest/gtest.h>

namespace berth::api {
namespace {

const StringMap kLabels = {{"zone", "a"}, {"gen", "7"}};

NodeSelectorTerm Term(std::vector<NodeSelectorRequirement> expressions,
                      std::vector<NodeSelectorRequirement> fields = {}) {
  return {std::move(expressions), std::move(fields)};
}

TEST(RequiredNodeAffinity, Matches) {
  struct Case {
    const char* name;
    StringMap node_selector;
    std::vector<NodeSelectorTerm> terms;
    bool match;
  };
  const std::vector<Case> cases = {
      {"the node selector holds", {{"zone", "a"}}, {Term({{"gen", "Exists", {}}})}, true},
      {"the node selector does not hold", {{"zone", "b"}}, {Term({{"gen", "Exists", {}}})}, false},
      {"no terms match nothing", {}, {}, false},
      {"an empty term matches nothing", {}, {Term({})}, false},
      {"one of two terms",
       {},
       {Term({{"zone", "In", {"b"}}}), Term({{"zone", "In", {"a"}}})},
       true},
      {"all expressions of a term",
       {},
       {Term({{"zone", "In", {"a"}}, {"gen", "Lt", {"7"}}})},
       false},
      {"greater", {}, {Term({{"gen", "Gt", {"6"}}})}, true},
      {"not in", {}, {Term({{"zone", "NotIn", {"a"}}})}, false},
      {"does not exist", {}, {Term({{"disk", "DoesNotExist", {}}})}, true},
      {"the name", {}, {Term({}, {{"metadata.name", "In", {"n1"}}})}, true},
      {"not the name", {}, {Term({}, {{"metadata.name", "NotIn", {"n1"}}})}, false},
      {"a field nodes do not have is empty", {}, {Term({}, {{"spec.x", "In", {"n1"}}})}, false},
      {"a term that does not parse beside one that matches",
       {},
       {Term({{"gen", "Gt", {"x"}}}), Term({{"gen", "Exists", {}}})},
       true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const NodeSelector required{c.terms};
    const Result<bool> match =
        RequiredNodeAffinity(c.node_selector, &required).Match("n1", kLabels);
    ASSERT_TRUE(match) << match.error().Message();
    EXPECT_EQ(*match, c.match);
  }
}

TEST(RequiredNodeAffinity, NothingRequired) {
  EXPECT_TRUE(*RequiredNodeAffinity({}, nullptr).Match("n1", kLabels));
  EXPECT_FALSE(*RequiredNodeAffinity({{"zone", ""}}, nullptr).Match("n1", {}));
}

TEST(RequiredNodeAffinity, FieldsDoNotCountForANodeWithoutName) {
  const NodeSelector required{{Term({}, {{"metadata.name", "In", {"n1"}}})}};
  EXPECT_TRUE(*RequiredNodeAffinity({}, &required).Match("", kLabels));
}

TEST(NodeSelectorMatcher, CollectsErrors) {
  const NodeSelector selector{
      {Term({{"gen", "gt", {}}, {"gen", "Gt", {"x"}}}), Term({}),
       Term({}, {{"metadata.name", "In", {"a", "b"}}, {"metadata.name", "Lt", {"a"}}})}};
  const std::string errors =
      "[nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: \"gt\": supported "
      "values: \"In\", "
      "\"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\", "
      "nodeSelectorTerms[0].matchExpressions[1].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' "
      "operators, the value "
      "must be an integer, "
      "nodeSelectorTerms[2].matchFields[0].values: Invalid value: [\"a\",\"b\"]: must have one "
      "element, "
      "nodeSelectorTerms[2].matchFields[1].operator: Unsupported value: \"Lt\": supported values: "
      "\"In\", \"NotIn\"]";
  EXPECT_EQ(NodeSelectorMatcher(selector).Match("n1", kLabels).error().Message(), errors);
  EXPECT_EQ(NodeSelectorMatcher::Strict(selector).error().Message(), errors);
  EXPECT_FALSE(NodeSelectorMatcher(selector).Matches("n1", kLabels));
}

TEST(PreferredNodeAffinity, SumsWeights) {
  const auto affinity = PreferredNodeAffinity::Make({{5, Term({{"zone", "In", {"a"}}})},
                                                     {7, Term({{"zone", "In", {"b"}}})},
                                                     {11, Term({})},
                                                     {0, Term({{"gen", "Gt", {"x"}}})},
                                                     {2, Term({{"gen", "Exists", {}}})}});
  ASSERT_TRUE(affinity);
  EXPECT_EQ(affinity->Score("n1", kLabels), 7);
  EXPECT_EQ(affinity->Terms().size(), 3u);
}

TEST(PreferredNodeAffinity, AnyErrorFailsTheWhole) {
  const auto affinity = PreferredNodeAffinity::Make(
      {{5, Term({{"zone", "In", {"a"}}})}, {7, Term({{"gen", "Gt", {}}})}});
  ASSERT_FALSE(affinity);
  EXPECT_EQ(affinity.error().Message(),
            "[1].matchExpressions[0].values: Invalid value: null: for 'Gt', 'Lt' operators, "
            "exactly one value is "
            "required");
}

}  // namespace
}  // namespace berth::api
