// Bodies of the requests that write, byte for byte as client-go writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scheduler/effects.h"

namespace berth::kube {

// The annotation of bindings that says which leader decided; the pod gets it too.
inline constexpr std::string_view kEpochAnnotation = "berth.dev/lease-epoch";

// Of POST pods/NAME/binding; `content_type` is kProtobuf or kJson. `epoch`: the value of
// kEpochAnnotation; empty: without it.
std::string BindingBody(const scheduler::BindPod& bind, std::string_view content_type,
                        std::string_view epoch = "");

// Of DELETE: no options at all.
std::string DeleteBody(std::string_view content_type);

// Of PATCH pods/NAME/status: the strategic merge patch from the status the engine knew to the one
// it wants. Nothing when they are the same.
std::optional<std::string> StatusPatch(const scheduler::PatchPodStatus& patch);
// The same of PATCH podgroups/NAME/status.
std::optional<std::string> StatusPatch(const scheduler::PatchPodGroupStatus& patch);

}  // namespace berth::kube
