// Between Reserve and the binding of the pod, the decision is written to the API server, and its
// controllers bind and provision. CheckBindings returns their progress.
#pragma once

#include <string>
#include <string_view>

#include "cluster/cluster.h"
#include "plugins/volume_binding/volume_binding.h"

namespace berth::plugins::volume_binding {

struct BindProgress {
  enum class Step : uint8_t {
    kDone,    // all claims are bound: the pod may be
    kWait,    // check again in a second, until the timeout
    kFailed,  // the pod must be scheduled again
  };
  Step step = Step::kDone;
  std::string error;  // with kFailed
};

// `written`: what was reserved, its objects replaced by the API server's responses to the writes,
// so that older objects in the cluster are recognized as older. Reads the API server's objects, not
// the assumed ones. `pod_exists`: false when the pod has been deleted meanwhile.
BindProgress CheckBindings(const cluster::Cluster& cluster, const ReservedVolumes& written,
                           std::string_view pod_name, bool pod_exists,
                           const config::MinorRules& rules = {});

}  // namespace berth::plugins::volume_binding
