// The kinds the scheduler reads and writes, and where the API server keeps them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/behaviour.h"

namespace berth::kube {

struct Kind {
  std::string_view kind;         // "Pod"
  std::string_view api_version;  // "v1"
  std::string_view plural;       // "pods"
  bool namespaced = true;
  std::string_view field_selector = "";  // encoded; of lists and watches
};

// The kinds that are listed and watched.
std::vector<const Kind*> WatchedKinds(const config::Behaviour& behaviour);
// Null for a kind not in any table (watched kinds, Lease, Event, Binding).
const Kind* FindKind(std::string_view kind);

// "/api/v1/pods", "/apis/apps/v1/replicasets".
std::string CollectionPath(const Kind& kind);
// "/api/v1/namespaces/NS/pods/NAME[/SUBRESOURCE]"; names are escaped.
std::string ObjectPath(const Kind& kind, std::string_view namespace_, std::string_view name,
                       std::string_view subresource = "");
// "/apis/events.k8s.io/v1/namespaces/NS/events".
std::string NamespacePath(const Kind& kind, std::string_view namespace_);

// Percent-encoding for query values as Go's url.QueryEscape does it.
std::string QueryEscape(std::string_view value);

}  // namespace berth::kube
