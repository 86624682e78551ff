// The cluster of `berth up --demo`: pools of nodes with taints, zones and GPUs, workloads of
// several kinds, a running Job, and pods that stay pending for different reasons.
#pragma once

#include <string>

namespace berth::cli::up {

// A manifest (YAML).
std::string DemoManifest();

}  // namespace berth::cli::up
