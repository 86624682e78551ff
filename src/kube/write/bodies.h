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

// Bytes to merge into (api::MergeProto) so that an object berth creates is encoded as Kubernetes'
// own: with the empty metadata.selfLink, which is not described.
inline constexpr std::string_view kNewObject("\x0a\x02\x22\x00", 4);

}  // namespace berth::kube
