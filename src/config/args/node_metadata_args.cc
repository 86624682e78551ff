#include "config/args/node_metadata_args.h"

#include "config/config.h"
#include "config/field_error.h"

namespace berth::config {

const api::TypeInfo& NodeMetadataArgs::Type() {
  using T = NodeMetadataArgs;
  static const api::TypeInfo type = api::Describe<T>("NodeMetadataArgs")
                                        .Object(kApiVersion, "NodeMetadataArgs")
                                        .Always(0, "metadataKey", &T::metadata_key)
                                        .Always(0, "metadataSource", &T::metadata_source)
                                        .Always(0, "metadataType", &T::metadata_type)
                                        .Always(0, "scoringStrategy", &T::scoring_strategy)
                                        .Field(0, "timestampFormat", &T::timestamp_format)
                                        .Build();
  return type;
}

void NodeMetadataArgs::SetDefaults() {
  if (!timestamp_format && metadata_type == "Timestamp") {
    timestamp_format = "2006-01-02T15:04:05Z07:00";
  }
  if (!timestamp_format) timestamp_format.emplace();  // written even when it is empty
}

void NodeMetadataArgs::Validate(std::vector<std::string>& errors) const {
  std::vector<std::string> own;
  const auto invalid = [&](std::string_view field, const std::string& value,
                           std::string_view detail) {
    own.push_back(api::InvalidString(std::string(field), value, std::string(detail)));
  };
  const bool number = metadata_type == "Number";
  const bool timestamp = metadata_type == "Timestamp";
  const bool by_value = scoring_strategy == "Highest" || scoring_strategy == "Lowest";
  const bool by_age = scoring_strategy == "Newest" || scoring_strategy == "Oldest";
  if (metadata_key.empty()) invalid("metadataKey", metadata_key, "metadataKey cannot be empty");
  if (metadata_source != "Label" && metadata_source != "Annotation") {
    invalid("metadataSource", metadata_source,
            "metadataSource must be either \"Label\" or \"Annotation\"");
  }
  if (!number && !timestamp) {
    invalid("metadataType", metadata_type,
            "metadataType must be either \"Number\" or \"Timestamp\"");
  }
  if (!by_value && !by_age) {
    invalid("scoringStrategy", scoring_strategy,
            "scoringStrategy must be one of \"Highest\", \"Lowest\", \"Newest\", or \"Oldest\"");
  }
  if (number && by_age) {
    invalid("scoringStrategy", scoring_strategy,
            "scoringStrategy \"Newest\" and \"Oldest\" are only valid for metadataType "
            "\"Timestamp\"");
  }
  if (timestamp && by_value) {
    invalid("scoringStrategy", scoring_strategy,
            "scoringStrategy \"Highest\" and \"Lowest\" are only valid for metadataType "
            "\"Number\"");
  }
  if (own.empty()) return;
  // One error, as an aggregate prints it.
  std::string text = own[0];
  for (size_t i = 1; i < own.size(); ++i) text += ", " + own[i];
  errors.push_back("invalid NodeMetadataArgs: " + (own.size() == 1 ? text : "[" + text + "]"));
}

}  // namespace berth::config
