// YAML to JSON as Kubernetes does it (sigs.k8s.io/yaml over go-yaml v2): YAML 1.1 scalars (yes,
// 0644, 1_000, ~), merge keys, aliases, keys that are not strings, and the messages and line
// numbers of its errors.
//
// The JSON is what Go's encoding/json writes for the decoded map: keys sorted, the last of equal
// keys, integers up to 64 bits exact. Time is linear in the text; memory is about the JSON text,
// except for documents with anchors or merge keys, which are held as a tree. Alias expansion is
// bounded as go-yaml bounds it, and nesting at kMaxYamlDepth,
// of which kMaxYamlFlowDepth in brackets: libyaml spends time on every open bracket for every
// token.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::api {

inline constexpr size_t kMaxYamlDepth = 1000;
inline constexpr size_t kMaxYamlFlowDepth = 128;

struct YamlOptions {
  // Equal keys in one mapping are an error: `line 7: key "a" already set in map`. Changes results.
  bool strict = false;
};

// The first document of `text`; an empty text gives "null".
Result<std::string> YamlToJson(std::string_view text, YamlOptions options = {});

// Calls `consume` with every document of the stream that is not null. `index` counts all documents.
// Stops at the first error, its own or the consumer's.
using YamlConsumer = std::function<Result<void>(size_t index, std::string json)>;
Result<void> ForEachYamlDocument(std::string_view text, const YamlConsumer& consume,
                                 YamlOptions options = {});

// Whether Kubernetes' decoders take `text` for JSON rather than YAML: its first character that is
// no space is '{'.
bool LooksLikeJson(std::string_view text);

}  // namespace berth::api
