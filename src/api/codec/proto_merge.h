// MergeProto: an object changed by berth, with everything berth does not know of it left as it was.
//
// Decoding skips fields that are not described, so encoding alone would delete them from the API
// server's object. MergeProto writes the new value into the old bytes instead:
//
//   fields that are not described         stay as they were
//   singular messages                     are merged field by field
//   fields whose value has not changed    keep their bytes
//   lists of messages and maps            keep the entries that are still there, bytes and all
//
// Decoding the result gives the new value. metadata.managedFields is left out: the API server takes
// that to mean "as they are".
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "api/codec/proto.h"
#include "api/codec/schema.h"
#include "base/error.h"

namespace berth::api {

// `before` is what DecodeProto makes of `old`; `before` and `value` are of `type`, a message.
Result<std::string> MergeProto(const TypeInfo& type, std::string_view old, const void* before,
                               const void* value);

// `old` is the bare message, without an envelope. Fails only when it is malformed.
template <class T>
Result<std::string> MergeProto(std::string_view old, const T& value) {
  auto before = FromProto<T>(old);
  if (!before) return Fail(std::move(before.error()));
  return MergeProto(TypeOf<T>(), old, &*before, &value);
}

// The message of an object without metadata.managedFields, often half of it.
Result<std::string> DropManagedFields(std::string_view object);

}  // namespace berth::api
