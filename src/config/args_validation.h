// Validation of plugin arguments. Private to this room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/field_error.h"
#include "config/plugin_args.h"

namespace berth::config {

// Appends what is wrong with `args`; `path` is where they are.
// Arguments of NodeResourcesFit and of scheduler-plugins are passed over here, as
// kube-scheduler checks them only when it builds the plugin.
void ValidateArgs(std::string_view path, const PluginArgs& args, const Behaviour& behaviour,
                  FieldErrors& errors);

// The highest score a point of a shape can have.
inline constexpr int32_t kMaxCustomPriorityScore = 10;
void ValidateShape(const std::vector<UtilizationShapePoint>& shape, const std::string& path,
                   FieldErrors& errors);

void ValidateNodeResourcesFitArgs(const NodeResourcesFitArgs& args, const Behaviour& behaviour,
                                  FieldErrors& errors);

}  // namespace berth::config
