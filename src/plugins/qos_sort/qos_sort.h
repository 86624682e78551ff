// QOSSort (of scheduler-plugins): higher priority first, then the better QoS class, then longer
// waiting time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "api/rules/pod_qos.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::qos_sort {

inline constexpr std::string_view kName = "QOSSort";

class QosSort final : public framework::QueueSortPlugin {
 public:
  std::string_view Name() const override { return kName; }
  bool Less(const cluster::Cluster&, const cluster::Pod& a, int64_t a_queued, const cluster::Pod& b,
            int64_t b_queued) const override;

 private:
  // Derived once per shape.
  struct Known {
    uint64_t serial = UINT64_MAX;
    api::QosClass qos = api::QosClass::kBestEffort;
  };
  api::QosClass Of(const cluster::PodShape& shape) const;

  mutable std::vector<Known> known_;  // by PodShape::id
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::qos_sort
