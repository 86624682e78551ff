// The extender protocol's bodies (k8s.io/kube-scheduler/extender/v1).
//
// Requests are what kube-scheduler's encoding/json writes: Go's field names, unused ones null, maps
// sorted by key. Answers are read as encoding/json reads them: names in any case, unknown ones
// skipped, whatever follows the first value ignored; errors are in its words.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "scheduler/effects.h"

namespace berth::kube {

// Objects as JSON without kind and apiVersion.
struct ExtenderObjects {
  std::function<std::string(const scheduler::PodRef&)> pod;
  std::function<std::string(const std::string& name)> node;
};

// The body of a call to an extender that has (or has not) its own knowledge of nodes.
std::string ExtenderRequestBody(const scheduler::CallExtender& call, bool node_cache_capable,
                                const ExtenderObjects& objects);

// Fails with the words kube-scheduler reports: of a malformed answer, or the answer's own Error.
Result<scheduler::ExtenderAnswer> ReadExtenderAnswer(scheduler::CallExtender::Verb verb,
                                                     bool node_cache_capable,
                                                     std::string_view body);

// An object of the API server as extenders get it: without kind and apiVersion, and, if so chosen,
// without its managed fields. REQUIRES: `json` is well-formed.
std::string ForExtenders(std::string_view json, bool without_managed_fields = false);

}  // namespace berth::kube
