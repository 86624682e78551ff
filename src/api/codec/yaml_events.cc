#include "api/codec/yaml_events.h"

#include <fmt/format.h>

#include "api/codec/yaml.h"

namespace berth::api::yaml {
namespace {

constexpr std::string_view kEmptyText = "\n";

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

Events::Events(std::string_view text) : event_() {
  yaml_parser_initialize(&parser_);
  if (text.empty()) text = kEmptyText;
  yaml_parser_set_input_string(&parser_, Bytes(text), text.size());
}

Events::~Events() {
  yaml_event_delete(&event_);
  yaml_parser_delete(&parser_);
}

Result<void> Events::Next() {
  yaml_event_delete(&event_);
  event_ = yaml_event_t();
  if (yaml_parser_parse(&parser_, &event_) == 0) return Fail(ParserError());
  switch (event_.type) {
    case YAML_DOCUMENT_START_EVENT: {
      const yaml_version_directive_t* version = event_.data.document_start.version_directive;
      if (version != nullptr && (version->major != 1 || version->minor != 1)) {
        const size_t line = event_.start_mark.line;
        return Fail(line == 0
                        ? "yaml: found incompatible YAML document"
                        : fmt::format("yaml: line {}: found incompatible YAML document", line));
      }
      return {};
    }
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
      return Enter();
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      --depth_;
      if (flow_depth_ > 0) --flow_depth_;
      return {};
    default:
      return {};
  }
}

// A collection in brackets holds nothing but collections in brackets.
Result<void> Events::Enter() {
  const bool flow = event_.type == YAML_SEQUENCE_START_EVENT
                        ? event_.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE
                        : event_.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
  if (flow) ++flow_depth_;
  const size_t limit = flow_depth_ > kMaxYamlFlowDepth ? kMaxYamlFlowDepth : kMaxYamlDepth;
  if (++depth_ > kMaxYamlDepth || flow_depth_ > kMaxYamlFlowDepth) {
    return Fail(fmt::format("yaml: line {}: exceeded max depth of {}", Line(), limit));
  }
  return {};
}

std::string_view Events::ScalarValue() const {
  return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length};
}

// go-yaml prints libyaml's line, counted from 0, and adds one for errors of the scanner only.
Error Events::ParserError() const {
  size_t line = 0;
  if (parser_.problem_mark.line != 0) {
    line = parser_.problem_mark.line + (parser_.error == YAML_SCANNER_ERROR ? 1 : 0);
  } else if (parser_.context_mark.line != 0) {
    line = parser_.context_mark.line;
  }
  const std::string_view problem =
      parser_.problem != nullptr ? parser_.problem : "unknown problem parsing YAML content";
  return Error(line == 0 ? fmt::format("yaml: {}", problem)
                         : fmt::format("yaml: line {}: {}", line, problem));
}

}  // namespace berth::api::yaml
