// Manifests: every object in a file of JSON or YAML.
//
// JSON may be one object, objects one after the other (with or without line breaks, or separated by
// "---") or a list; YAML may have several documents. Lists (List, PodList, ...) are taken apart,
// nested ones too, item by item: memory is that of one item, however long the list.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "api/codec/json.h"
#include "api/object.h"
#include "base/error.h"

namespace berth::api {

// Lists inside lists inside lists: deeper ones are an error.
inline constexpr size_t kMaxListDepth = 8;

// Calls `consume` with every object in order. Stops at the first error, its own or the consumer's;
// the error names the document (counted from 1), the place in the list and the path:
//
//   document 2: items[7]: spec.priority: expected an integer, got the string "high"
using ObjectConsumer = std::function<Result<void>(Object object)>;
Result<void> ForEachObject(std::string_view bytes, const ObjectConsumer& consume,
                           DecodeOptions options = {});

}  // namespace berth::api
