// The plugins that berth has besides those of kube-scheduler: of kubernetes-sigs/scheduler-plugins
// and of its own. A profile uses them only where it names them: none is a default.
#pragma once

#include <span>
#include <string_view>

#include "config/default_plugins.h"
#include "config/own_args.h"

namespace berth::config {

std::span<const InTreePlugin> SchedulerPlugins();

// The argument type of one of them; null: it has none, or is not one of them.
const ArgsRow* SchedulerPluginArgs(std::string_view plugin);

}  // namespace berth::config
