// For tests only: a Permit plugin that lets pods wait when a label says so.
#pragma once

#include <memory>
#include <string_view>

#include "scheduler/profile_set.h"

namespace berth::scheduler {

inline constexpr std::string_view kTestPermit = "Permitter";
inline constexpr int64_t kTestPermitTimeoutSeconds = 10;

class Permitter final : public framework::PermitPlugin {
 public:
  std::string_view Name() const override { return kTestPermit; }
  framework::Status Permit(const framework::CycleContext& c, framework::PluginState*,
                           framework::NodeIndex, int64_t* timeout_ns) override {
    const auto& labels = c.shape.source.metadata.labels;
    const auto wish = labels.find("permit");
    if (wish == labels.end()) return {};
    *timeout_ns = kTestPermitTimeoutSeconds * 1'000'000'000;
    return {framework::Code::kWait, "as its label says"};
  }
};

inline ExtraPlugin TestPermit() {
  return {{kTestPermit,
           [](const config::PluginArgs&,
              const framework::PluginHandle&) -> Result<std::unique_ptr<framework::Plugin>> {
             return std::make_unique<Permitter>();
           }},
          {config::ExtensionPoint::kPermit}};
}

}  // namespace berth::scheduler
