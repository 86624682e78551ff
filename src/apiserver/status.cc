#include "apiserver/status.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "apiserver/resource.h"

namespace berth::apiserver {
namespace {

Json DetailsOf(const Resource& resource, std::string_view name) {
  Json details = Json::MakeObject({{"name", name}, {"kind", resource.plural}});
  if (!resource.group.empty()) details.Set("group", resource.group);
  return details;
}

}  // namespace

FieldError RequiredField(std::string field, std::string_view detail) {
  std::string message = "Required value";
  if (!detail.empty()) message += fmt::format(": {}", detail);
  return {"FieldValueRequired", std::move(field), std::move(message)};
}

FieldError InvalidField(std::string field, std::string_view shown, std::string_view detail) {
  return {"FieldValueInvalid", std::move(field),
          fmt::format("Invalid value: {}: {}", shown, detail)};
}

FieldError ForbiddenField(std::string field, std::string_view detail) {
  return {"FieldValueForbidden", std::move(field), fmt::format("Forbidden: {}", detail)};
}

FieldError UnsupportedField(std::string field, std::string_view shown,
                            const std::vector<std::string>& supported) {
  std::vector<std::string> quoted;
  for (const std::string& value : supported) quoted.push_back(api::GoQuote(value));
  return {
      "FieldValueNotSupported", std::move(field),
      fmt::format("Unsupported value: {}: supported values: {}", shown, fmt::join(quoted, ", "))};
}

FieldError DuplicateField(std::string field, std::string_view shown) {
  return {"FieldValueDuplicate", std::move(field), fmt::format("Duplicate value: {}", shown)};
}

StatusError NotFound(const Resource& resource, std::string_view name) {
  return {404, "NotFound", fmt::format("{} \"{}\" not found", resource.GroupResource(), name),
          DetailsOf(resource, name)};
}

StatusError AlreadyExists(const Resource& resource, std::string_view name) {
  return {409, "AlreadyExists",
          fmt::format("{} \"{}\" already exists", resource.GroupResource(), name),
          DetailsOf(resource, name)};
}

StatusError Conflict(const Resource& resource, std::string_view name, std::string_view why) {
  return {409, "Conflict",
          fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", resource.GroupResource(),
                      name, why),
          DetailsOf(resource, name)};
}

StatusError ModifiedConflict(const Resource& resource, std::string_view name) {
  return Conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

StatusError Forbidden(const Resource& resource, std::string_view name, std::string_view why) {
  return {403, "Forbidden",
          fmt::format("{} \"{}\" is forbidden: {}", resource.GroupResource(), name, why),
          DetailsOf(resource, name)};
}

StatusError Invalid(const Resource& resource, std::string_view name,
                    const std::vector<FieldError>& errors) {
  Json causes = Json::MakeArray();
  std::vector<std::string> texts;
  for (const FieldError& error : errors) {
    causes.Append(Json::MakeObject(
        {{"reason", error.reason}, {"message", error.message}, {"field", error.field}}));
    std::string text = fmt::format("{}: {}", error.field, error.message);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  Json details = Json::MakeObject({{"name", name}, {"kind", resource.kind}, {"causes", causes}});
  if (!resource.group.empty()) details.Set("group", resource.group);
  const std::string all = fmt::format("{}", fmt::join(texts, ", "));
  const std::string kind =
      resource.group.empty() ? resource.kind : resource.kind + "." + resource.group;
  return {422, "Invalid",
          fmt::format("{} \"{}\" is invalid: {}", kind, name,
                      texts.size() == 1 ? all : "[" + all + "]"),
          std::move(details)};
}

StatusError BadRequest(std::string message) { return {400, "BadRequest", std::move(message)}; }

StatusError NoSuchPath() {
  return {404, "NotFound", "the server could not find the requested resource",
          Json::MakeObject({})};
}

StatusError MethodNotAllowed() {
  return {405, "MethodNotAllowed",
          "the server does not allow this method on the requested resource", Json::MakeObject({})};
}

StatusError Expired(std::string message) { return {410, "Expired", std::move(message)}; }

StatusError InternalError(std::string_view what) {
  return {500, "InternalError", fmt::format("Internal error occurred: {}", what),
          Json::MakeObject({{"causes", Json::MakeArray({Json::MakeObject({{"message", what}})})}})};
}

StatusError UnsupportedMediaType(std::string_view accepted) {
  return {415, "UnsupportedMediaType",
          fmt::format("the body of the request was in an unknown format - accepted media types "
                      "include: {}",
                      accepted)};
}

StatusError NotAcceptable(std::string_view accepted) {
  return {406, "NotAcceptable",
          fmt::format("only the following media types are accepted: {}", accepted)};
}

StatusError TooLarge(size_t limit) {
  return {413, "RequestEntityTooLarge",
          fmt::format("Request entity too large: limit is {}", limit)};
}

Json ToJson(const StatusError& error) {
  Json status = Json::MakeObject({{"kind", "Status"},
                                  {"apiVersion", "v1"},
                                  {"metadata", Json::MakeObject()},
                                  {"status", "Failure"},
                                  {"message", error.message},
                                  {"code", error.code}});
  if (!error.reason.empty()) status.Set("reason", error.reason);
  if (!error.details.IsNull()) status.Set("details", error.details);
  return status;
}

Json SuccessStatus(const Resource& resource, std::string_view name, std::string_view uid) {
  Json details = DetailsOf(resource, name);
  details.Set("uid", uid);
  return Json::MakeObject({{"kind", "Status"},
                           {"apiVersion", "v1"},
                           {"metadata", Json::MakeObject()},
                           {"status", "Success"},
                           {"details", std::move(details)}});
}

}  // namespace berth::apiserver
