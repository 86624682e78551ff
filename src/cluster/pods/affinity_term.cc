#include "cluster/pods/affinity_term.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace berth::cluster {
namespace {

Result<AffinityTerm> Compile(const api::PodAffinityTerm& from, const PodShape& shape,
                             Dictionary& strings) {
  AffinityTerm term;
  auto selector = api::Selector::From(from.label_selector);
  if (!selector) return Fail(selector.error());
  term.selector = std::move(*selector);
  // Without any word about namespaces a term speaks about its pod's own.
  if (from.namespaces.empty() && !from.namespace_selector) {
    term.namespaces = {shape.namespace_};
  } else {
    term.namespaces = from.namespaces;
    std::sort(term.namespaces.begin(), term.namespaces.end());
    term.namespaces.erase(std::unique(term.namespaces.begin(), term.namespaces.end()),
                          term.namespaces.end());
  }
  auto namespace_selector = api::Selector::From(from.namespace_selector);
  if (!namespace_selector) return Fail(namespace_selector.error());
  term.namespace_selector = std::move(*namespace_selector);
  term.topology_key = strings.Intern(from.topology_key);
  return term;
}

const api::PodAffinityTerm& TermOf(const api::PodAffinityTerm& term) { return term; }
const api::PodAffinityTerm& TermOf(const api::WeightedPodAffinityTerm& term) {
  return term.pod_affinity_term;
}
int32_t WeightOf(const api::PodAffinityTerm&) { return 0; }
int32_t WeightOf(const api::WeightedPodAffinityTerm& term) { return term.weight; }

class Compiler {
 public:
  Compiler(const PodShape& shape, Dictionary& strings) : shape_(shape), strings_(strings) {}

  template <class Term>
  void Add(TermKind kind, const std::vector<Term>& list, std::string_view name) {
    const size_t before = out_.terms.size();
    for (const Term& from : list) {
      auto term = Compile(TermOf(from), shape_, strings_);
      if (!term) {
        errors_.push_back(std::string(name) + ": " + term.error().Message());
        out_.terms.resize(before);
        return;
      }
      out_.terms.push_back({kind, WeightOf(from), std::move(*term)});
    }
  }

  OwnTerms Finish() {
    for (const std::string& error : errors_) {
      out_.error += (out_.error.empty() ? "" : ", ") + error;
    }
    if (errors_.size() > 1) out_.error = "[" + out_.error + "]";
    return std::move(out_);
  }

 private:
  const PodShape& shape_;
  Dictionary& strings_;
  OwnTerms out_;
  std::vector<std::string> errors_;
};

void AppendNumber(uint64_t n, std::string* key) {
  while (n >= 0x80) {
    *key += static_cast<char>(n | 0x80);
    n >>= 7;
  }
  *key += static_cast<char>(n);
}

}  // namespace

bool AffinityTerm::NamesNamespace(const std::string& name) const {
  return std::binary_search(namespaces.begin(), namespaces.end(), name);
}

bool AffinityTerm::Matches(const PodShape& shape, const api::StringMap& namespace_labels) const {
  return (NamesNamespace(shape.namespace_) || namespace_selector.Matches(namespace_labels)) &&
         selector.Matches(shape.source.metadata.labels);
}

OwnTerms CompileOwnTerms(const PodShape& shape, Dictionary& strings) {
  Compiler compiler(shape, strings);
  const auto& affinity = shape.source.spec.affinity;
  if (!affinity) return {};
  const auto* near = affinity->pod_affinity ? &*affinity->pod_affinity : nullptr;
  const auto* apart = affinity->pod_anti_affinity ? &*affinity->pod_anti_affinity : nullptr;
  if (near != nullptr) {
    compiler.Add(TermKind::kRequiredAffinity,
                 near->required_during_scheduling_ignored_during_execution,
                 "requiredAffinityTerms");
  }
  if (apart != nullptr) {
    compiler.Add(TermKind::kRequiredAntiAffinity,
                 apart->required_during_scheduling_ignored_during_execution,
                 "requiredAntiAffinityTerms");
  }
  if (near != nullptr) {
    compiler.Add(TermKind::kPreferredAffinity,
                 near->preferred_during_scheduling_ignored_during_execution,
                 "preferredAffinityTerms");
  }
  if (apart != nullptr) {
    compiler.Add(TermKind::kPreferredAntiAffinity,
                 apart->preferred_during_scheduling_ignored_during_execution,
                 "preferredAntiAffinityTerms");
  }
  return compiler.Finish();
}

void AppendTextKey(std::string_view text, std::string* key) {
  AppendNumber(text.size(), key);
  *key += text;
}

void AppendSelectorKey(const api::Selector& selector, std::string* key) {
  *key += selector.MatchesNothing() ? '0' : '1';
  AppendNumber(selector.Requirements().size(), key);
  for (const api::Requirement& requirement : selector.Requirements()) {
    AppendTextKey(requirement.Key(), key);
    *key += static_cast<char>('a' + static_cast<int>(requirement.Operator()));
    AppendNumber(requirement.Values().size(), key);
    for (const std::string& value : requirement.Values()) AppendTextKey(value, key);
  }
}

void AppendTermKey(const OwnTerm& own, std::string* key) {
  *key += static_cast<char>('a' + static_cast<int>(own.kind));
  AppendNumber(static_cast<uint32_t>(own.weight), key);
  AppendNumber(own.term.topology_key, key);
  AppendNumber(own.term.namespaces.size(), key);
  for (const std::string& name : own.term.namespaces) AppendTextKey(name, key);
  AppendSelectorKey(own.term.selector, key);
  AppendSelectorKey(own.term.namespace_selector, key);
}

}  // namespace berth::cluster
