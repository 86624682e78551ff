// One field of a message alone, for code that puts messages together from parts (proto_merge.cc).
#pragma once

#include <cstdint>
#include <string>

#include "api/schema.h"

namespace berth::api {

// Appends `value`, which is of `type`, as field `number`: what EncodeProto writes for it. Nothing
// for an absent value or an empty list or map.
void EncodeProtoField(uint32_t number, const TypeInfo& type, const void* value, std::string& out);

}  // namespace berth::api
