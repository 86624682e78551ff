// JSON in and out for described types.
//
// Decoding is Kubernetes': names are case-sensitive, unknown fields are skipped, null means absent,
// of equal keys the last one counts. A value of the wrong type is an error that names its path:
//
//   spec.containers[1].resources.requests.cpu: cannot parse "1x" as a quantity: ...
//
// Encoding prints fields in Kubernetes' order and leaves empty ones out where Kubernetes does, so
// the API server accepts the text. Equal values give equal text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/codec/schema.h"
#include "base/error.h"

namespace berth::api {

struct DecodeOptions {
  // Unknown and duplicate fields are errors. Fields Kubernetes has and berth skips are not looked
  // into. Changes results.
  bool strict = false;
};

// Decodes one object after the other, reusing its buffers.
class JsonDecoder {
 public:
  explicit JsonDecoder(DecodeOptions options = {});
  JsonDecoder(JsonDecoder&&) noexcept;
  JsonDecoder& operator=(JsonDecoder&&) noexcept;
  ~JsonDecoder();

  // Decodes the text of one JSON value into `value`, which is of `type`; after an error it is
  // partly filled.
  Result<void> DecodeInto(const TypeInfo& type, void* value, std::string_view json);

  template <class T>
  Result<T> Decode(std::string_view json) {
    T value{};
    if (auto ok = DecodeInto(TypeOf<T>(), &value, json); !ok) return Fail(std::move(ok.error()));
    return value;
  }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

template <class T>
Result<T> FromJson(std::string_view json, DecodeOptions options = {}) {
  return JsonDecoder(options).Decode<T>(json);
}

// Appends the JSON of `value`; objects that stand alone start with kind and apiVersion.
void EncodeJson(const TypeInfo& type, const void* value, std::string& out);

template <class T>
std::string ToJson(const T& value) {
  std::string out;
  EncodeJson(TypeOf<T>(), &value, out);
  return out;
}

}  // namespace berth::api
