// The labels with the zones and regions of a volume.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace berth::plugins::volume_zone {

// Each with its successor in newer clusters.
struct TopologyLabel {
  std::string_view key;
  std::string_view newer;
};
inline constexpr std::array<TopologyLabel, 4> kTopologyLabels = {{
    {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
    {"topology.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"topology.kubernetes.io/region", "topology.kubernetes.io/region"},
}};

// "a__b" names two zones. Nothing if one of them is blank: then the label is ignored.
std::optional<std::vector<std::string_view>> ParseZones(std::string_view label);

}  // namespace berth::plugins::volume_zone
