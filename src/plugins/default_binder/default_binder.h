// DefaultBinder: leaves binding to the API server's binding subresource, for every pod.
#pragma once

#include <memory>
#include <string_view>

#include "framework/runtime/profile.h"

namespace berth::plugins::default_binder {

inline constexpr std::string_view kName = "DefaultBinder";

class DefaultBinder final : public framework::BindPlugin {
 public:
  std::string_view Name() const override { return kName; }
  framework::Status Bind(const framework::CycleContext&, cluster::NodeIndex) const override {
    return {};
  }
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::default_binder
