// KubeSchedulerConfiguration: from the text of --config to the plugins each profile runs.
//
//   Load() decodes YAML or JSON strictly, fills in defaults and validates;
//   Resolve() expands MultiPoint and answers what kube-scheduler would build, or the error it would
//   exit with; ToYaml() is what --write-config-to writes.
//
// Error messages are kube-scheduler's. What depends on the Kubernetes minor and
// on feature gates comes from the Behaviour; all steps must be given the same
// one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/behaviour.h"
#include "config/default_plugins.h"
#include "config/plugin_args.h"
#include "config/types.h"

namespace berth::config {

inline constexpr std::string_view kApiVersion = "kubescheduler.config.k8s.io/v1";
inline constexpr std::string_view kKind = "KubeSchedulerConfiguration";

// Decodes, fills in defaults, validates.
Result<KubeSchedulerConfiguration> Load(std::string_view text, const Behaviour& behaviour = {});

// The two halves of Load(). `api_version` (may be null) receives the version of
// the text, which validation names.
Result<KubeSchedulerConfiguration> Decode(std::string_view text, const Behaviour& behaviour = {},
                                          std::string* api_version = nullptr);
Result<void> Validate(const KubeSchedulerConfiguration& config, const Behaviour& behaviour = {},
                      std::string_view api_version = kApiVersion);

// What kube-scheduler runs with when it is given no configuration.
KubeSchedulerConfiguration Default(const Behaviour& behaviour = {});

std::string ToJson(const KubeSchedulerConfiguration& config);
std::string ToYaml(const KubeSchedulerConfiguration& config);

// A plugin at an extension point.
struct EnabledPlugin {
  std::string name;
  int32_t weight = 0;  // at Score and PlacementScore, never 0; elsewhere 0

  bool operator==(const EnabledPlugin&) const = default;
};

// A profile as the framework runs it.
struct ResolvedProfile {
  std::string scheduler_name;
  int32_t percentage_of_nodes_to_score = 0;  // the profile's or the configuration's; 0: adaptive
  std::array<std::vector<EnabledPlugin>, kAllPointCount> points;  // in the order they run
  std::vector<PluginConfig> plugin_config;  // of the plugins in use, sorted by name

  const std::vector<EnabledPlugin>& At(ExtensionPoint point) const { return points[Index(point)]; }

  // The arguments of a plugin in use, null if it has none of this type.
  template <class Args>
  const Args* ArgsOf(std::string_view plugin) const {
    for (const PluginConfig& entry : plugin_config) {
      if (entry.name == plugin) return std::get_if<Args>(&entry.args);
    }
    return nullptr;
  }
};

struct ResolveOptions {
  // Plugins profiles may enable besides the in-tree ones.
  std::vector<InTreePlugin> out_of_tree;
  // Reads certificate files of extenders; its error is reported as it is. Absent: files are not
  // looked at.
  std::function<Result<std::string>(const std::string& path)> read_file;
  Behaviour behaviour = {};
  // Profiles may name the plugins of scheduler-plugins. Off: kube-scheduler's own alone.
  bool scheduler_plugins = true;
};

struct Resolved {
  std::vector<ResolvedProfile> profiles;  // in the order of the configuration
  std::vector<Extender> extenders;        // in the order of use: ignorable ones last
  KubeSchedulerConfiguration effective;   // what --write-config-to writes
};

// What kube-scheduler builds from a valid configuration, or why it cannot.
Result<Resolved> Resolve(const KubeSchedulerConfiguration& config,
                         const ResolveOptions& options = {});

}  // namespace berth::config
