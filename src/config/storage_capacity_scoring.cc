#include "config/storage_capacity_scoring.h"

#include "config/args_validation.h"
#include "config/field_error.h"

namespace berth::config {
namespace {

// Calls f(path, args) for VolumeBinding's arguments of every profile.
template <class Config, class F>
void ForEachArgs(Config& config, const F& f) {
  for (size_t p = 0; p < config.profiles.size(); ++p) {
    auto& entries = config.profiles[p].plugin_config;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (auto* args = std::get_if<VolumeBindingArgs>(&entries[i].args)) {
        f(Child(Item(Child(Item("profiles", p), "pluginConfig"), i), "args"), *args);
      }
    }
  }
}

}  // namespace

Result<void> ValidateWithScoring(const KubeSchedulerConfiguration& config,
                                 std::string_view api_version) {
  KubeSchedulerConfiguration rest = config;
  ForEachArgs(rest, [](const std::string&, VolumeBindingArgs& args) { args.shape.reset(); });
  if (auto valid = Validate(rest, api_version); !valid) return valid;
  FieldErrors errors;
  ForEachArgs(config, [&](const std::string& path, const VolumeBindingArgs& args) {
    if (args.shape && !args.shape->empty())
      ValidateShape(*args.shape, Child(path, "shape"), errors);
  });
  if (errors.empty()) return {};
  return Fail(api::JoinErrors(errors));
}

void SetScoringDefaults(KubeSchedulerConfiguration& config) {
  ForEachArgs(config, [](const std::string&, VolumeBindingArgs& args) {
    if (!args.shape || args.shape->empty()) args.shape = {{0, kMaxCustomPriorityScore}, {100, 0}};
  });
}

}  // namespace berth::config
