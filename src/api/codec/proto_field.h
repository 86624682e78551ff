// One field of a message alone, for code that puts messages together from parts (proto_merge.cc) or
// looks at some of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/codec/schema.h"
#include "base/function_ref.h"

namespace berth::api {

// Appends `value`, which is of `type`, as field `number`: what EncodeProto writes for it. Nothing
// for an absent value or an empty list or map.
void EncodeProtoField(uint32_t number, const TypeInfo& type, const void* value, std::string& out);

// One occurrence of a field in a message.
struct ProtoField {
  uint32_t number = 0;
  std::string_view bytes;    // with its tag
  std::string_view payload;  // of a length-delimited field
};

// Calls `consume` with every field of the message, in their order. Throws as protozero does when
// the bytes are no message.
void ForEachProtoField(std::string_view message, FunctionRef<void(const ProtoField&)> consume);

// The key of a map's entry, a message of key and value; empty when it has none. Throws as protozero
// does when the bytes are no message.
std::string_view MapEntryKey(std::string_view entry);

}  // namespace berth::api
