// What comes between Reserve and the binding of the pod: the decision is written to the API server,
// and then its controllers bind and provision. CheckBindings says how far they are.
#pragma once

#include <string>
#include <string_view>

#include "cluster/cluster.h"
#include "plugins/volume_binding/volume_binding.h"

namespace berth::plugins::volume_binding {

struct BindProgress {
  enum class Step : uint8_t {
    kDone,    // all claims are bound: the pod may be
    kWait,    // look again in a second, until the timeout is over
    kFailed,  // the pod must be scheduled again
  };
  Step step = Step::kDone;
  std::string error;  // with kFailed
};

// `written`: what was reserved, its objects replaced by the API server's answers to the writes, so
// that older objects in the cluster are known to be older. Looks at what the API server says, not
// at what is assumed. `pod_exists`: false when the pod has been deleted meanwhile.
BindProgress CheckBindings(const cluster::Cluster& cluster, const ReservedVolumes& written,
                           std::string_view pod_name, bool pod_exists);

}  // namespace berth::plugins::volume_binding
