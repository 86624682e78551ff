// Paths of the kinds that the scheduler reads and writes (cluster/objects/kind_table.h).
#pragma once

#include <string>
#include <string_view>

#include "cluster/objects/kind_table.h"

namespace berth::kube {

using Kind = cluster::KindInfo;
using cluster::FindKind;
using cluster::WatchedKinds;

// Whether schedulers write objects of the kind, or parts of them.
bool SchedulersWrite(std::string_view kind);
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
