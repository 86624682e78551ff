// One YAML document to JSON through a node tree: anchors, aliases, merge keys and any kind of key,
// decoded in go-yaml's order and with its protection against documents that grow by aliases.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/codec/yaml.h"
#include "api/codec/yaml_events.h"
#include "api/codec/yaml_scalar.h"

namespace berth::api::yaml {

class TreeConverter {
 public:
  // `text_size` is the size of the whole input, which bounds how large the JSON may grow by
  // aliases.
  TreeConverter(YamlOptions options, size_t text_size);
  ~TreeConverter();

  // REQUIRES: the current event is the start of a document. Afterwards it is its end.
  Result<std::string> Convert(Events& events);

 private:
  struct Node;
  struct Value;
  struct Mapping;
  class Decoder;

  Result<std::unique_ptr<Node>> Parse(Events& events);
  Result<void> ParseChildren(Events& events, Node& node, yaml_event_type_t end);
  Result<void> ToJson(const Value& value, std::string& out);
  Result<void> MappingToJson(const Mapping& mapping, std::string& out);

  YamlOptions options_;
  size_t max_json_;
  std::unordered_map<std::string, const Node*> anchors_;
  std::string
      json_failure_;  // the first value JSON cannot express; bad keys are reported before it
};

}  // namespace berth::api::yaml
