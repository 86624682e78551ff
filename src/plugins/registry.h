// The table of in-tree plugins and their factories.
#pragma once

#include <span>

#include "framework/runtime/profile.h"

namespace berth::plugins {

// In the order of kube-scheduler's default configuration, then those of scheduler-plugins.
std::span<const framework::RegistryRow> InTree();

}  // namespace berth::plugins
