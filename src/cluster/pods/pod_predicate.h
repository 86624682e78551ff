// PodPredicate: which placed pods a counter counts. Decided by a pod's shape alone, so once per
// template.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "api/rules/label_selector.h"
#include "cluster/pods/affinity_term.h"
#include "cluster/pods/pod_shape.h"

namespace berth::cluster {

struct PodPredicate {
  // One demand: the pod is in one of the namespaces and its labels match.
  struct Part {
    bool all_namespaces = false;
    std::vector<std::string> namespaces;  // sorted; not looked at when all_namespaces
    api::Selector selector;

    bool Matches(const PodShape& shape) const {
      return (all_namespaces ||
              std::binary_search(namespaces.begin(), namespaces.end(), shape.namespace_)) &&
             selector.Matches(shape.source.metadata.labels);
    }
  };

  std::vector<Part> parts;        // all of them; none: matches no pod
  bool count_terminating = true;  // count pods that are being deleted, too

  bool Matches(const PodShape& shape) const {
    return !parts.empty() && std::all_of(parts.begin(), parts.end(),
                                         [&](const Part& part) { return part.Matches(shape); });
  }

  // Equal bytes exactly for predicates that say the same in the same way.
  std::string Key() const {
    std::string key(count_terminating ? "t" : "l");
    for (const Part& part : parts) {
      key += part.all_namespaces ? '*' : '=';
      if (!part.all_namespaces) {
        for (const std::string& name : part.namespaces) {
          key += '+';
          AppendTextKey(name, &key);
        }
      }
      key += ';';
      AppendSelectorKey(part.selector, &key);
    }
    return key;
  }
};

}  // namespace berth::cluster
