#include "plugins/volume_zone/zones.h"

#include "api/go/unicode_space.h"

namespace berth::plugins::volume_zone {

std::optional<std::vector<std::string_view>> ParseZones(std::string_view label) {
  std::vector<std::string_view> zones;
  for (;;) {
    const size_t at = label.find("__");
    const std::string_view zone = api::TrimUnicodeSpace(label.substr(0, at));
    if (zone.empty()) return std::nullopt;
    zones.push_back(zone);
    if (at == std::string_view::npos) return zones;
    label.remove_prefix(at + 2);
  }
}

}  // namespace berth::plugins::volume_zone
