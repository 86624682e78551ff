// ToJson() and ToYaml(): a configuration as --write-config-to writes it.
#include "api/codec/json.h"
#include "api/codec/yaml_writer.h"
#include "config/config.h"

namespace berth::config {
namespace {

// An empty list is left out although it was given.
void DropEmptyShape(PluginArgs& args) {
  auto* volume_binding = std::get_if<VolumeBindingArgs>(&args);
  if (volume_binding != nullptr && volume_binding->shape && volume_binding->shape->empty()) {
    volume_binding->shape.reset();
  }
}

}  // namespace

std::string ToJson(const KubeSchedulerConfiguration& config) {
  KubeSchedulerConfiguration copy = config;
  for (KubeSchedulerProfile& profile : copy.profiles) {
    for (PluginConfig& entry : profile.plugin_config) {
      if (!std::holds_alternative<std::monostate>(entry.args)) {
        DropEmptyShape(entry.args);
        entry.raw.text.clear();
        api::EncodeJson(ArgsType(entry.args), ArgsData(entry.args), entry.raw.text);
      } else if (entry.raw.text.empty()) {
        entry.raw.text = "null";
      }
    }
  }
  return api::ToJson(copy);
}

std::string ToYaml(const KubeSchedulerConfiguration& config) {
  return api::JsonToYaml(ToJson(config)).value_or("");
}

}  // namespace berth::config
