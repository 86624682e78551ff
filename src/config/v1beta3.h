// KubeSchedulerConfiguration v1beta3, which kube-scheduler read from v1.23 to v1.28: read as v1,
// with what its owner should be told. Load() and Decode() of config.h know v1 alone, as
// kube-scheduler v1.34 does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace berth::config {

inline constexpr std::string_view kV1beta3 = "kubescheduler.config.k8s.io/v1beta3";

// A configuration that was read from v1 or v1beta3.
struct AnyVersion {
  KubeSchedulerConfiguration config;
  std::string api_version;           // which validation names: that of the text, v1 for v1beta3
  bool deprecated = false;           // v1beta3 was read, in the file or in plugin arguments
  std::vector<std::string> changes;  // what conversion changed, one sentence each

  // What to tell the owner of the file, a line each; none for v1.
  std::vector<std::string> Warnings() const;
};

// Like Decode() and Load().
Result<AnyVersion> DecodeAnyVersion(std::string_view text, const Behaviour& behaviour = {});
Result<AnyVersion> LoadAnyVersion(std::string_view text, const Behaviour& behaviour = {});

// What a file of v1beta3 says before its defaults, as v1; appends to `changes`. Private to this
// room.
void ConvertV1beta3(KubeSchedulerConfiguration& config, std::vector<std::string>& changes);

}  // namespace berth::config
