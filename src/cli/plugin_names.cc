#include "cli/plugin_names.h"

#include <map>

namespace berth::cli {

std::string ShortPluginName(const std::string& plugin) {
  static const std::map<std::string, std::string> kNames = {
      {"NodeResourcesFit", "Fit"},    {"NodeResourcesBalancedAllocation", "Balanced"},
      {"ImageLocality", "Image"},     {"InterPodAffinity", "PodAff"},
      {"NodeAffinity", "NodeAff"},    {"PodTopologySpread", "Spread"},
      {"TaintToleration", "Taint"},   {"VolumeBinding", "Volume"},
      {"DynamicResources", "Devices"}};
  const auto it = kNames.find(plugin);
  return it == kNames.end() ? plugin.substr(0, 10) : it->second;
}

}  // namespace berth::cli
