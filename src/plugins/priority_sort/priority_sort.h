// PrioritySort: higher priority first, then longer waiting time.
#pragma once

#include <memory>
#include <string_view>

#include "framework/runtime/profile.h"

namespace berth::plugins::priority_sort {

inline constexpr std::string_view kName = "PrioritySort";

class PrioritySort final : public framework::QueueSortPlugin {
 public:
  std::string_view Name() const override { return kName; }
  bool Less(const cluster::Cluster&, const cluster::Pod& a, int64_t a_queued, const cluster::Pod& b,
            int64_t b_queued) const override {
    const int32_t pa = a.shape->priority;
    const int32_t pb = b.shape->priority;
    return pa != pb ? pa > pb : a_queued < b_queued;
  }
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::priority_sort
