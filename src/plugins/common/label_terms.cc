#include "plugins/common/label_terms.h"

#include <algorithm>
#include <string>

#include "api/rules/node_affinity.h"

namespace berth::plugins {

using cluster::kNoString;
using cluster::NodeIndex;
using cluster::StringId;

LabelTerms::Test LabelTerms::MakeTest(const cluster::Cluster& cluster,
                                      const api::Requirement& requirement) {
  using Op = api::SelectorOperator;
  Test test;
  test.key = cluster.Strings().Intern(requirement.Key());
  test.column = &cluster.Labels(test.key);
  test.op = requirement.Operator();
  if (test.op == Op::kEquals || test.op == Op::kDoubleEquals) test.op = Op::kIn;
  if (test.op == Op::kNotEquals) test.op = Op::kNotIn;
  if (test.op == Op::kGreaterThan || test.op == Op::kLessThan) test.by_value = requirement;
  for (const std::string& value : requirement.Values()) {
    test.values.push_back(cluster.Strings().Intern(value));
  }
  std::sort(test.values.begin(), test.values.end());
  return test;
}

LabelTerms::Term LabelTerms::MakeTerm(const cluster::Cluster& cluster,
                                      const std::vector<api::Requirement>& requirements) {
  Term term;
  for (const api::Requirement& requirement : requirements) {
    term.push_back(MakeTest(cluster, requirement));
  }
  return term;
}

bool LabelTerms::MatchesTerm(const cluster::Cluster& cluster, const Term& term, NodeIndex n) {
  using Op = api::SelectorOperator;
  for (const Test& test : term) {
    const StringId value = test.column->values[test.column->codes[n]];
    bool holds;
    if (test.op == Op::kIn) {
      holds = std::binary_search(test.values.begin(), test.values.end(), value);
    } else if (test.op == Op::kNotIn) {
      holds = !std::binary_search(test.values.begin(), test.values.end(), value);
    } else if (test.op == Op::kExists) {
      holds = value != kNoString;
    } else if (test.op == Op::kDoesNotExist) {
      holds = value == kNoString;
    } else {
      holds = value != kNoString && test.by_value->MatchesValue(&cluster.Strings().Text(value));
    }
    if (!holds) return false;
  }
  return true;
}

LabelTerms LabelTerms::OfVolume(const cluster::Cluster& cluster,
                                const std::optional<api::NodeSelector>& affinity) {
  LabelTerms terms;
  if (!affinity) return terms;
  terms.all_ = false;
  const api::NodeSelectorMatcher matcher(*affinity);
  for (const api::NodeTerm& term : matcher.Terms()) {
    if (term.Errors().empty()) terms.terms_.push_back(MakeTerm(cluster, term.Labels()));
  }
  return terms;
}

LabelTerms LabelTerms::OfClass(const cluster::Cluster& cluster,
                               const std::vector<api::TopologySelectorTerm>& topologies) {
  LabelTerms terms;
  if (topologies.empty()) return terms;
  terms.all_ = false;
  for (const api::TopologySelectorTerm& topology : topologies) {
    std::vector<api::Requirement> requirements;
    std::vector<std::string> errors;
    for (const auto& label : topology.match_label_expressions) {
      auto requirement =
          api::Requirement::Make(label.key, api::SelectorOperator::kIn, label.values, "", errors);
      if (requirement) requirements.push_back(std::move(*requirement));
    }
    if (requirements.empty() || !errors.empty()) continue;
    terms.terms_.push_back(MakeTerm(cluster, requirements));
  }
  return terms;
}

LabelTerms LabelTerms::OfSelector(const cluster::Cluster& cluster,
                                  const std::optional<api::LabelSelector>& selector) {
  LabelTerms terms;
  terms.all_ = false;
  if (!selector) return terms;
  const Result<api::Selector> parsed = api::Selector::From(*selector);
  if (!parsed || parsed->MatchesNothing()) return terms;
  terms.terms_.push_back(MakeTerm(cluster, parsed->Requirements()));
  return terms;
}

bool LabelTerms::AppendNumbers(std::vector<int64_t>* out) const {
  out->push_back(all_ ? -1 : static_cast<int64_t>(terms_.size()));
  for (const Term& term : terms_) {
    out->push_back(static_cast<int64_t>(term.size()));
    for (const Test& test : term) {
      if (test.by_value) return false;
      out->push_back(test.key);
      out->push_back(static_cast<int64_t>(test.op));
      out->push_back(static_cast<int64_t>(test.values.size()));
      out->insert(out->end(), test.values.begin(), test.values.end());
    }
  }
  return true;
}

LabelTermIndex::ByKey& LabelTermIndex::Of(const LabelTerms::Test& test) {
  for (ByKey& by : by_key_) {
    if (by.key == test.key) return by;
  }
  by_key_.push_back({test.key, test.column, {}});
  return by_key_.back();
}

template <class F>
void LabelTermIndex::ForEachList(const LabelTerms& terms, F&& f) {
  std::vector<const LabelTerms::Test*> asked;
  for (const LabelTerms::Term& term : terms.terms_) {
    const auto in = std::find_if(term.begin(), term.end(), [](const LabelTerms::Test& test) {
      return test.op == api::SelectorOperator::kIn;
    });
    if (in == term.end()) {
      f(others_);
      return;
    }
    asked.push_back(&*in);
  }
  if (terms.all_) {
    f(others_);
    return;
  }
  for (const LabelTerms::Test* test : asked) {
    ByKey& by = Of(*test);
    for (const StringId value : test->values) f(by.items[value]);
  }
}

void LabelTermIndex::Add(uint32_t item, const LabelTerms& terms) {
  ForEachList(terms, [&](std::vector<uint32_t>& list) { list.push_back(item); });
}

void LabelTermIndex::Remove(uint32_t item, const LabelTerms& terms) {
  ForEachList(terms, [&](std::vector<uint32_t>& list) { std::erase(list, item); });
}

}  // namespace berth::plugins
