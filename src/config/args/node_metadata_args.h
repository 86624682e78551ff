// The arguments of NodeMetadata.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/plugin_args.h"

namespace berth::config {

struct NodeMetadataArgs {
  static constexpr std::string_view kPlugin = "NodeMetadata";

  std::string metadata_key;
  std::string metadata_source;                  // Label or Annotation
  std::string metadata_type;                    // Number or Timestamp
  std::string scoring_strategy;                 // Highest or Lowest; of timestamps Newest or Oldest
  std::optional<std::string> timestamp_format;  // a layout of Go's package time

  void SetDefaults();
  void Validate(std::vector<std::string>& errors) const;
  bool operator==(const NodeMetadataArgs&) const = default;
  static const api::TypeInfo& Type();
};

}  // namespace berth::config
