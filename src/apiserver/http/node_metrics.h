// NodeMetrics: metrics.k8s.io/v1beta1 of simulated nodes, for schedulers that read the load of
// nodes. A node uses what its annotations berth.dev/load-cpu and berth.dev/load-memory say; nodes
// that lack both are not measured.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/json/value.h"
#include "apiserver/store/store.h"

namespace berth::apiserver {

inline constexpr std::string_view kNodeMetricsPath = "/apis/metrics.k8s.io/v1beta1/nodes";

// A NodeMetricsList. `nodes`: where the store has them; `now`: RFC 3339.
Json ListNodeMetrics(const Store& store, uint32_t nodes, const std::string& now);

}  // namespace berth::apiserver
