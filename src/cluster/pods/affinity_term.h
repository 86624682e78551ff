// AffinityTerm: a pod affinity term with its selectors parsed, and all terms of a pod.
//
// Terms of placed pods are counted by TopologyCounters; terms of the pod to be placed are turned
// into PodPredicates by InterPodAffinity.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/core/affinity.h"
#include "api/rules/label_selector.h"
#include "api/string_map.h"
#include "cluster/ids.h"
#include "cluster/pods/pod_shape.h"
#include "cluster/table/dictionary.h"

namespace berth::cluster {

struct AffinityTerm {
  api::Selector selector;
  std::vector<std::string> namespaces;  // sorted, unique
  api::Selector namespace_selector;     // matches nothing when the term has none
  StringId topology_key = kNoString;

  // Does the term speak about pods of `shape`, whose namespace has these labels?
  bool Matches(const PodShape& shape, const api::StringMap& namespace_labels) const;
  bool NamesNamespace(const std::string& name) const;
};

enum class TermKind : uint8_t {
  kRequiredAffinity,
  kRequiredAntiAffinity,
  kPreferredAffinity,
  kPreferredAntiAffinity,
};

// A term of a pod. `weight` is 0 for required ones.
struct OwnTerm {
  TermKind kind;
  int32_t weight = 0;
  AffinityTerm term;
};

struct OwnTerms {
  // By kind, each in the order of the pod. A list that does not parse is left out as a whole.
  std::vector<OwnTerm> terms;
  // What kube-scheduler says of the lists that do not parse; empty when all do.
  std::string error;
};

OwnTerms CompileOwnTerms(const PodShape& shape, Dictionary& strings);

// Appends bytes that are equal for two selectors exactly when their requirements are.
void AppendSelectorKey(const api::Selector& selector, std::string* key);
void AppendTextKey(std::string_view text, std::string* key);
// The same for everything an OwnTerm says.
void AppendTermKey(const OwnTerm& term, std::string* key);

}  // namespace berth::cluster
