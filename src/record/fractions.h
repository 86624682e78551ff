// Fractions: the parts of times that Kubernetes' protobuf drops.
//
// A Time is whole seconds there, a MicroTime whole microseconds. An engine may hold finer ones: a
// simulated cluster makes them, and JSON may have them.
//
//   fractions   count (varint), then per time: how many times of the object to skip (varint),
//               nanoseconds within the second (varint)
#pragma once

#include <string>

#include "api/codec/schema.h"
#include "record/bytes.h"

namespace berth::record {

// Appends those of `value`, which is of `type`.
void WriteFractions(const api::TypeInfo& type, const void* value, std::string& out);
// Sets them again after the rest was decoded. False: they are not of such a value.
bool ReadFractions(const api::TypeInfo& type, void* value, ByteReader& reader);

}  // namespace berth::record
