// Loads plugins from shared objects (sdk/, docs/plugins.md).
//
// A library is opened once and never closed: objects of its plugins, and strings that belong to it,
// may live as long as the process. A library that was built for another version of the interface,
// or that is no plugin library, is an error that names the file.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "loader/faults.h"
#include "scheduler/profile_set.h"

namespace berth::loader {

struct LoadOptions {
  // How long one call of a plugin may take before it is reported. A scan of up to 1,024 nodes by
  // Filter or Score counts as one call.
  std::chrono::nanoseconds budget = std::chrono::milliseconds(10);
};

// The plugins of all libraries. `paths` are files, or folders whose *.so files are meant. `watch`
// outlives every plugin.
Result<std::vector<scheduler::ExtraPlugin>> LoadPlugins(const std::vector<std::string>& paths,
                                                        PluginWatch& watch,
                                                        const LoadOptions& options = {});

}  // namespace berth::loader
