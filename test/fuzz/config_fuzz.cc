// Any bytes as a scheduler configuration give an error with words or profiles, and what is written
// of it is read again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/v1beta3.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = berth::config::LoadAnyVersion(text);
  if (!read) {
    if (read.error().Message().empty()) std::abort();
    return 0;
  }
  const berth::config::KubeSchedulerConfiguration& config = read->config;
  const auto resolved = berth::config::Resolve(config);
  if (!resolved && resolved.error().Message().empty()) std::abort();
  const std::string yaml = berth::config::ToYaml(config);
  const auto again = berth::config::Load(yaml);
  if (!again || berth::config::ToYaml(*again) != yaml) std::abort();
  return 0;
}
