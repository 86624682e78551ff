// Validation of plugin arguments. Private to this room.
#pragma once

#include <string_view>

#include "config/field_error.h"
#include "config/plugin_args.h"

namespace berth::config {

// Appends what is wrong with `args`; `path` is where they are. NodeResourcesFit's arguments are
// passed over here, as kube-scheduler checks them only when it builds the plugin.
void ValidateArgs(std::string_view path, const PluginArgs& args, FieldErrors& errors);

void ValidateNodeResourcesFitArgs(const NodeResourcesFitArgs& args, FieldErrors& errors);

}  // namespace berth::config
