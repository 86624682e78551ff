// Objects between JSON and protobuf, without loss of any field Kubernetes' API has. Members of JSON
// that are no fields stay behind, as they do in Kubernetes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json/value.h"
#include "apiserver/wire/message.h"
#include "base/error.h"

namespace berth::apiserver::wire {

// The message, without an envelope. Values of the wrong type are left out.
std::string ToProtobuf(const Message& message, std::string_view json);

// Writes the texts, numbers and flags that Kubernetes always writes, zero where they are not set,
// into every part that is there: strict clients insist on them.
void FillZeros(const Message& message, Json& object);

// The paths of members that are no fields of this API server: "spec.containers[0].nonsense". Those
// of the object itself include its kind and apiVersion.
std::vector<std::string> UnknownFields(const Message& message, const Served& served,
                                       const Json& object);

// Removes the members that this API server does not keep, but kind and apiVersion of the object
// itself.
void DropFields(const Message& message, const Served& served, Json& object);

// REQUIRES: nothing; a message that is cut off or too deep is an error.
Result<Json> FromProtobuf(const Message& message, std::string_view bytes);

}  // namespace berth::apiserver::wire
