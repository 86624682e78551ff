// Decoding of described types from a parsed simdjson document. Include it from .cc files only:
// simdjson is a heavy header.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <simdjson.h>

#include "api/codec/json.h"
#include "api/codec/schema.h"
#include "base/error.h"

namespace berth::api {

// Decodes `element` into `value`, which is of `type`. `path` starts the path of error messages and
// may be empty.
Result<void> DecodeDom(const TypeInfo& type, void* value, simdjson::dom::element element,
                       std::string_view path = {}, DecodeOptions options = {});

template <class T>
Result<T> FromDom(simdjson::dom::element element, std::string_view path = {},
                  DecodeOptions options = {}) {
  T value{};
  if (auto ok = DecodeDom(TypeOf<T>(), &value, element, path, options); !ok) {
    return Fail(std::move(ok.error()));
  }
  return value;
}

}  // namespace berth::api
