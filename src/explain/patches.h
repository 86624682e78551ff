// Patches: a change to a pod's template as a command or a manifest that a user can paste.
//
// Commands are for a POSIX shell. Whatever comes from objects is quoted.
#pragma once

#include <string>

#include "api/core/pod.h"
#include "explain/workload.h"

namespace berth::explain {

// A strategic merge patch of the pod's spec as JSON that turns `before` into `after`. Empty:
// nothing differs, or the difference concerns parts that a pod's copy does not hold in full
// (volumes, claims, two constraints with one key).
std::string SpecPatch(const api::Pod& before, const api::Pod& after);

// How to apply such a patch to the workload: kubectl patch for controllers that replace their pods,
// commands that recreate a pod without one, else the lines of the manifest as YAML. Empty when
// `spec` is.
std::string WorkloadPatch(const Workload& workload, const std::string& spec);

// 'text', so that a shell takes it as it is.
std::string ShellQuoted(std::string_view text);

}  // namespace berth::explain
