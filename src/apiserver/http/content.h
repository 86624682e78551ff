// Content: how bodies are encoded, in both directions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/json/value.h"
#include "apiserver/resource.h"
#include "apiserver/status.h"
#include "apiserver/store/object.h"
#include "server/http/message.h"

namespace berth::apiserver {

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

struct Encoding {
  enum class Form { kObject, kTable, kPartialMetadata };
  bool protobuf = false;
  Form form = Form::kObject;
};

// The first of the Accept header's entries that can be served. `resource` may be null: then
// protobuf is only good for a Status. nullopt: none can.
std::optional<Encoding> Negotiate(std::string_view accept, const Resource* resource);

// "application/json; charset=utf-8" gives "application/json".
std::string MediaType(std::string_view content_type);

// The body of a request as JSON. Refuses the types a web page may send without a preflight
// (text/plain, forms); no type at all is taken for JSON, but not from a browser.
Answer<Json> DecodeBody(const server::Request& request);
bool IsProtobuf(std::string_view content_type);

// Checks an object against the described type: values of the wrong type always, unknown fields
// when strict.
Answer<void> CheckFields(const Catalog& catalog, const Resource& resource, const Json& object,
                         bool strict);

// The object in the form of the resource asked for.
Json Convert(const Resource& asked, const StoredObject& object);
bool NeedsConversion(const Resource& asked);
// The text of Convert(), whose members may be in another order.
std::string ConvertText(const Resource& asked, const StoredObject& object);
// And back, for what a client sends. An object that says to be of another version stays as it is:
// the registry refuses it.
void ConvertToKept(const Resource& asked, const Resource& kept, Json& object);

// Protobuf of an object of a built-in kind, in its envelope.
std::string ToProtobuf(const Resource& resource, std::string_view json);
// The same without an envelope.
std::string ToProtobufMessage(const Resource& resource, std::string_view json);
// Of a Status, a Scale or a review: its kind says what it is. Empty: protobuf does not know it.
std::string ToProtobuf(const Json& object);

}  // namespace berth::apiserver
