#include "apiserver/http/content.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/proto.h"
#include "api/codec/yaml.h"
#include "api/go/go_text.h"
#include "api/object.h"
#include "apiserver/http/old_autoscaler.h"
#include "apiserver/wire/translate.h"

namespace berth::apiserver {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> SplitTrimmed(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t pos = 0; pos <= text.size();) {
    size_t end = text.find(separator, pos);
    if (end == std::string_view::npos) end = text.size();
    parts.push_back(Trim(text.substr(pos, end - pos)));
    pos = end + 1;
  }
  return parts;
}

std::string_view Parameter(const std::vector<std::string_view>& parts, std::string_view name) {
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].starts_with(name) && parts[i].size() > name.size() &&
        parts[i][name.size()] == '=') {
      return parts[i].substr(name.size() + 1);
    }
  }
  return "";
}

Answer<Json> DecodeProtobuf(std::string_view body) {
  const auto envelope = api::UnwrapEnvelope(body);
  if (!envelope) return Refuse(BadRequest(envelope.error().Message()));
  const size_t slash = envelope->api_version.find('/');
  const bool grouped = slash != std::string_view::npos;
  const wire::Message* message = wire::FindMessage(
      grouped ? envelope->api_version.substr(0, slash) : "",
      grouped ? envelope->api_version.substr(slash + 1) : envelope->api_version, envelope->kind);
  // Options are of every group.
  if (!message) message = wire::FindMessage("meta", "v1", envelope->kind);
  if (!message) return Refuse(UnsupportedMediaType(kJsonType));
  auto object = wire::FromProtobuf(*message, envelope->raw);
  if (!object) return Refuse(BadRequest(object.error().Message()));
  object->Set("kind", envelope->kind);
  object->Set("apiVersion", envelope->api_version);
  return std::move(*object);
}

// "spec.x: unknown field "foo"" as the API server says it.
std::string StrictMessage(const std::string& message) {
  for (std::string_view what : {"unknown field \"", "duplicate field \""}) {
    const size_t at = message.find(what);
    if (at == std::string::npos) continue;
    std::string path = message.substr(0, at);
    if (path.ends_with(": ")) path = path.substr(0, path.size() - 2) + ".";
    return fmt::format("strict decoding error: {}{}{}", what, path,
                       message.substr(at + what.size()));
  }
  return message;
}

// Fields of the two forms of events, core first.
constexpr std::pair<std::string_view, std::string_view> kEventFields[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
};

void Rename(Json& object, std::string_view from, std::string_view to) {
  Json* value = object.Find(from);
  if (!value) return;
  Json moved = std::move(*value);
  object.Erase(from);
  object.Set(to, std::move(moved));
}

}  // namespace

std::string MediaType(std::string_view content_type) {
  std::string type(Trim(content_type.substr(0, content_type.find(';'))));
  for (char& c : type) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return type;
}

std::optional<Encoding> Negotiate(std::string_view accept, const Resource* resource) {
  if (Trim(accept).empty()) return Encoding{};
  for (std::string_view entry : SplitTrimmed(accept, ',')) {
    const auto parts = SplitTrimmed(entry, ';');
    const std::string_view as = Parameter(parts, "as");
    const bool any = parts[0] == "*/*" || parts[0] == "application/*";
    if (parts[0] == kProtobufType && as.empty()) {
      if (!resource || resource->wire) return Encoding{true, Encoding::Form::kObject};
      continue;
    }
    if (parts[0] != kJsonType && !any) continue;
    if (as.empty()) return Encoding{};
    if (Parameter(parts, "g") != "meta.k8s.io") continue;
    if (as == "Table") return Encoding{false, Encoding::Form::kTable};
    if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") {
      return Encoding{false, Encoding::Form::kPartialMetadata};
    }
  }
  return std::nullopt;
}

bool IsProtobuf(std::string_view content_type) { return MediaType(content_type) == kProtobufType; }

Answer<Json> DecodeBody(const server::Request& request) {
  const std::string type = MediaType(request.Header("content-type"));
  std::string_view body = request.body;
  if (type == kProtobufType) {
    return DecodeProtobuf(body);
  }
  std::string converted;
  if (type == "application/yaml" || type == "application/apply-patch+yaml") {
    if (!api::LooksLikeJson(body)) {
      auto json = api::YamlToJson(body);
      if (!json)
        return Refuse(BadRequest(fmt::format("error decoding YAML: {}", json.error().Message())));
      converted = std::move(*json);
      body = converted;
    }
  } else if (type.empty() ? !request.Header("origin").empty()
                          : type != kJsonType && !type.ends_with("+json")) {
    return Refuse(UnsupportedMediaType(
        "application/json, application/yaml, application/vnd.kubernetes.protobuf"));
  }
  auto value = Json::Parse(body);
  if (!value) {
    return Refuse(
        BadRequest(fmt::format("the object provided is unrecognized (must be of type "
                               "JSON): {}",
                               value.error().Message())));
  }
  return std::move(*value);
}

Answer<void> CheckFields(const Catalog& catalog, const Resource& resource, const Json& object,
                         bool strict) {
  if (strict && resource.wire) {
    std::string unknown;
    for (const std::string& path : wire::UnknownFields(*resource.wire, catalog.Fields(), object)) {
      if (path == "kind" || path == "apiVersion") continue;
      if (!unknown.empty()) unknown += ", ";
      unknown += fmt::format("unknown field \"{}\"", path);
    }
    if (!unknown.empty()) {
      return Refuse(BadRequest(fmt::format("strict decoding error: {}", unknown)));
    }
  }
  if (!resource.type) return {};
  const api::ObjectKind* kind = api::FindObjectKind(resource.ApiVersion(), resource.kind);
  api::Object value;
  thread_local api::JsonDecoder lenient;
  thread_local api::JsonDecoder picky(api::DecodeOptions{.strict = true});
  // The described types do not have every field of every release.
  api::JsonDecoder& decoder = strict && !resource.wire ? picky : lenient;
  const auto ok = decoder.DecodeInto(*resource.type, kind->emplace(value), object.Dump());
  if (ok) return {};
  std::string message = StrictMessage(ok.error().Message());
  if (const size_t at = message.find("quantities must match"); at != std::string::npos) {
    message = message.substr(at);
  }
  if (message.starts_with("strict")) return Refuse(BadRequest(message));
  return Refuse(BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}",
                                       resource.kind, resource.version, resource.kind, message)));
}

bool NeedsConversion(const Resource& asked) { return asked.id != asked.storage_id || asked.custom; }

Json Convert(const Resource& asked, const StoredObject& object) {
  Json value = object.Value();
  if (asked.group == "events.k8s.io") {
    for (const auto& [core, event] : kEventFields) Rename(value, core, event);
  }
  if (IsOldAutoscaler(asked)) ToOldAutoscaler(value);
  value.Set("apiVersion", asked.ApiVersion());
  return value;
}

std::string ConvertText(const Resource& asked, const StoredObject& object) {
  if (IsOldAutoscaler(asked)) return Convert(asked, object).Dump();
  const bool event = asked.group == "events.k8s.io";
  std::string text = "{";
  text.reserve(object.text.size() + 128);
  ForEachMember(object.text, [&](std::string_view name, std::string_view value) {
    if (event) {
      for (const auto& [core, renamed] : kEventFields) {
        if (name == core) {
          name = renamed;
          break;
        }
      }
    }
    if (text.size() > 1) text += ',';
    text += '"';
    text += name;
    text += "\":";
    if (name == "apiVersion") {
      api::AppendJsonString(text, asked.ApiVersion());
    } else {
      text += value;
    }
  });
  text += '}';
  return text;
}

void ConvertToKept(const Resource& asked, const Resource& kept, Json& object) {
  if (&asked == &kept) return;
  const std::string_view version = object["apiVersion"].Str();
  if (!version.empty() && version != asked.ApiVersion()) return;
  if (asked.group == "events.k8s.io") {
    for (const auto& [core, event] : kEventFields) Rename(object, event, core);
  }
  if (IsOldAutoscaler(asked)) FromOldAutoscaler(object);
  object.Set("apiVersion", kept.ApiVersion());
}

std::string ToProtobufMessage(const Resource& resource, std::string_view json) {
  return resource.wire ? wire::ToProtobuf(*resource.wire, json) : "";
}

std::string ToProtobuf(const Resource& resource, std::string_view json) {
  return api::WrapEnvelope(resource.ApiVersion(), resource.kind, ToProtobufMessage(resource, json));
}

std::string ToProtobuf(const Json& object) {
  const std::string_view version = object["apiVersion"].Str();
  const std::string_view kind = object["kind"].Str();
  const size_t slash = version.find('/');
  const wire::Message* message =
      slash == std::string_view::npos
          ? wire::FindMessage("meta", version, kind)
          : wire::FindMessage(version.substr(0, slash), version.substr(slash + 1), kind);
  if (!message) return "";
  return api::WrapEnvelope(version, kind, wire::ToProtobuf(*message, object.Dump()));
}

}  // namespace berth::apiserver
