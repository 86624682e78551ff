// StatusError: why a request was refused, in the API server's words.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "apiserver/json/value.h"

namespace berth::apiserver {

struct StatusError {
  int code = 500;
  std::string reason;   // "NotFound"
  std::string message;  // what people read
  Json details = {};    // of the Status; null: none
};

// What a request to the store or the registry gives.
template <class T>
using Answer = tl::expected<T, StatusError>;
inline tl::unexpected<StatusError> Refuse(StatusError error) {
  return tl::unexpected<StatusError>(std::move(error));
}

// One mistake in an object.
struct FieldError {
  std::string reason;   // "FieldValueRequired", "FieldValueInvalid", …
  std::string field;    // "spec.containers[0].name"
  std::string message;  // `Required value`, `Invalid value: "x": must be …`
};
FieldError RequiredField(std::string field, std::string_view detail = {});
// `shown` is the value as %#v prints it: GoQuote for strings.
FieldError InvalidField(std::string field, std::string_view shown, std::string_view detail);
FieldError ForbiddenField(std::string field, std::string_view detail);
FieldError UnsupportedField(std::string field, std::string_view shown,
                            const std::vector<std::string>& supported);
FieldError DuplicateField(std::string field, std::string_view shown);

struct Resource;

StatusError NotFound(const Resource& resource, std::string_view name);
StatusError AlreadyExists(const Resource& resource, std::string_view name);
StatusError Conflict(const Resource& resource, std::string_view name, std::string_view why);
// The object has been modified.
StatusError ModifiedConflict(const Resource& resource, std::string_view name);
StatusError Forbidden(const Resource& resource, std::string_view name, std::string_view why);
StatusError Invalid(const Resource& resource, std::string_view name,
                    const std::vector<FieldError>& errors);
StatusError BadRequest(std::string message);
StatusError NoSuchPath();
StatusError MethodNotAllowed();
StatusError Expired(std::string message);
StatusError InternalError(std::string_view what);
StatusError UnsupportedMediaType(std::string_view accepted);
StatusError NotAcceptable(std::string_view accepted);
StatusError TooLarge(size_t limit);

// The Status object of a failure.
Json ToJson(const StatusError& error);
// The Status of a request that succeeded without an object to show.
Json SuccessStatus(const Resource& resource, std::string_view name, std::string_view uid);

}  // namespace berth::apiserver
