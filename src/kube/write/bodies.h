// Bodies of the requests that write, byte for byte as client-go writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scheduler/effects.h"

namespace berth::kube {

// Of POST pods/NAME/binding; `content_type` is kProtobuf or kJson.
std::string BindingBody(const scheduler::BindPod& bind, std::string_view content_type);

// Of DELETE: no options at all.
std::string DeleteBody(std::string_view content_type);

// Of PATCH pods/NAME/status: the strategic merge patch from the status the engine knew to the one
// it wants. Nothing when they are the same.
std::optional<std::string> StatusPatch(const scheduler::PatchPodStatus& patch);

}  // namespace berth::kube
