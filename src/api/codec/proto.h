// Kubernetes' protobuf for described types: bare messages, the envelope the API server puts around
// them, and lists item by item.
//
// Decoding skips fields that are not described and never throws; errors name the type and the path
// of the field. Encoding writes what Kubernetes' own encoder writes for the described fields, in
// its order, so equal values give equal bytes: they serve as canonical bytes for hashing and
// comparing.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "base/error.h"

namespace berth::api {

// Decodes into `value`, which is of `type`; after an error it is partly filled. REQUIRES: type is a
// message.
Result<void> DecodeProto(const TypeInfo& type, void* value, std::string_view bytes);

// Appends the message. REQUIRES: type is a message.
void EncodeProto(const TypeInfo& type, const void* value, std::string& out);

template <class T>
Result<T> FromProto(std::string_view bytes) {
  T value{};
  if (auto ok = DecodeProto(TypeOf<T>(), &value, bytes); !ok) return Fail(std::move(ok.error()));
  return value;
}

template <class T>
std::string ToProto(const T& value) {
  std::string out;
  EncodeProto(TypeOf<T>(), &value, out);
  return out;
}

// What the API server sends for application/vnd.kubernetes.protobuf: a magic number, the type, the
// message. Views into the bytes it was read from.
struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;
  std::string_view content_encoding;
  std::string_view content_type;
};

Result<Envelope> UnwrapEnvelope(std::string_view bytes);
// The approximate length of an object in its envelope, from its first bytes; 0: unknown. A hint
// only: a stream may be shorter.
size_t EnvelopeSize(std::string_view first_bytes);
std::string WrapEnvelope(std::string_view api_version, std::string_view kind, std::string_view raw);

// An object that stands alone, in its envelope.
template <class T>
std::string ToEnvelope(const T& value) {
  return WrapEnvelope(T::kApiVersion, T::kKind, ToProto(value));
}

// Calls `consume` with the message of every item of a list (PodList, NodeList, ...) and returns the
// list's metadata. Stops at the first error, its own or the consumer's.
using ListConsumer = std::function<Result<void>(std::string_view item)>;
Result<ListMeta> ForEachListItem(std::string_view list, const ListConsumer& consume);

// One frame of a watch: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, and the object in its
// envelope.
struct WatchFrame {
  std::string_view type;
  std::string_view object;
};
Result<WatchFrame> DecodeWatchFrame(std::string_view bytes);

}  // namespace berth::api
