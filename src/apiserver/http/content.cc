#include "apiserver/http/content.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/json.h"
#include "api/object.h"
#include "api/proto.h"
#include "api/protozero.h"
#include "api/yaml.h"
#include "apiserver/json/patch.h"

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

// DeleteOptions have no description of their own: four plain fields.
Answer<Json> DecodeDeleteOptions(std::string_view raw) {
  Json options = Json::MakeObject({{"kind", "DeleteOptions"}, {"apiVersion", "v1"}});
  try {
    protozero::pbf_reader reader(raw.data(), raw.size());
    while (reader.next()) {
      switch (reader.tag()) {
        case 1:
          options.Set("gracePeriodSeconds", reader.get_int64());
          break;
        case 2: {
          protozero::pbf_reader preconditions = reader.get_message();
          while (preconditions.next()) {
            const auto view = preconditions.get_view();
            options.At("preconditions")
                .Set(preconditions.tag() == 1 ? "uid" : "resourceVersion",
                     std::string(view.data(), view.size()));
          }
          break;
        }
        case 3:
          options.Set("orphanDependents", reader.get_bool());
          break;
        case 4:
          options.Set("propagationPolicy", reader.get_string());
          break;
        case 5:
          options.At("dryRun").Append(reader.get_string());
          break;
        default:
          reader.skip();
      }
    }
  } catch (const std::exception& error) {
    return Refuse(BadRequest(fmt::format("couldn't get version/kind; {}", error.what())));
  }
  return options;
}

// Nothing but zeros and empty texts: what Kubernetes' encoder writes for fields that are not set.
bool IsUnset(std::string_view message, int depth = 0) {
  constexpr int kMaxDepth = 8;
  if (message.empty()) return true;
  if (depth > kMaxDepth) return false;
  try {
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      if (reader.wire_type() == protozero::pbf_wire_type::varint) {
        if (reader.get_uint64() != 0) return false;
      } else if (reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
        if (!IsUnset(reader.get_view(), depth + 1)) return false;
      } else {
        return false;
      }
    }
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

const api::TypeInfo& WithoutWrappers(const api::TypeInfo& type) {
  const api::TypeInfo* inner = &type;
  while (inner->kind == api::Kind::kOptional || inner->kind == api::Kind::kList) {
    inner = inner->element;
  }
  return *inner;
}

// Whether the message sets a field that is not described, and so would be lost.
bool LosesFields(const api::TypeInfo& type, std::string_view message) {
  try {
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      const api::FieldInfo* field = type.FindNumber(reader.tag());
      const bool bytes = reader.wire_type() == protozero::pbf_wire_type::length_delimited;
      if (!field) {
        if (!(bytes ? IsUnset(reader.get_view()) : reader.get_uint64() == 0)) return true;
        continue;
      }
      const api::TypeInfo& inner = WithoutWrappers(*field->type);
      if (bytes && inner.kind == api::Kind::kMessage) {
        if (LosesFields(inner, reader.get_view())) return true;
      } else if (bytes && inner.kind == api::Kind::kPresence) {
        if (!IsUnset(reader.get_view())) return true;
      } else {
        reader.skip();
      }
    }
  } catch (const std::exception&) {
    return true;
  }
  return false;
}

Answer<Json> DecodeProtobuf(std::string_view body, bool* complete) {
  const auto envelope = api::UnwrapEnvelope(body);
  if (!envelope) return Refuse(BadRequest(envelope.error().Message()));
  if (envelope->kind == "DeleteOptions") return DecodeDeleteOptions(envelope->raw);
  const auto object = api::DecodeObjectProto(body);
  if (!object) return Refuse(BadRequest(object.error().Message()));
  const api::ObjectKind* kind = api::FindObjectKind(envelope->api_version, envelope->kind);
  if (!kind) return Refuse(UnsupportedMediaType(kJsonType));
  if (complete) *complete = !LosesFields(kind->type(), envelope->raw);
  std::string text;
  std::visit(
      [&](const auto& value) {
        if constexpr (requires { value.Type(); }) api::EncodeJson(value.Type(), &value, text);
      },
      *object);
  auto json = Json::Parse(text);
  if (!json) return Refuse(BadRequest(json.error().Message()));
  return std::move(*json);
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
      if (!resource || resource->type) return Encoding{true, Encoding::Form::kObject};
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

Answer<Body> DecodeBody(std::string_view content_type, std::string_view body) {
  const std::string type = MediaType(content_type);
  if (type == kProtobufType) {
    bool complete = true;
    auto value = DecodeProtobuf(body, &complete);
    if (!value) return Refuse(std::move(value.error()));
    return Body{std::move(*value), true, complete};
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
  } else if (!type.empty() && type != kJsonType && !type.ends_with("+json") &&
             type != "text/plain" && type != "application/x-www-form-urlencoded") {
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
  return Body{std::move(*value), false};
}

Answer<void> CheckFields(const Resource& resource, const Json& object, bool strict) {
  if (!resource.type) return {};
  const api::ObjectKind* kind = api::FindObjectKind(resource.ApiVersion(), resource.kind);
  api::Object value;
  thread_local api::JsonDecoder lenient;
  thread_local api::JsonDecoder picky(api::DecodeOptions{.strict = true});
  api::JsonDecoder& decoder = strict ? picky : lenient;
  const auto ok = decoder.DecodeInto(*resource.type, kind->emplace(value), object.Dump());
  if (ok) return {};
  const std::string message = StrictMessage(ok.error().Message());
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
  value.Set("apiVersion", asked.ApiVersion());
  return value;
}

void ConvertToKept(const Resource& asked, Json& object) {
  if (asked.group != "events.k8s.io") return;
  for (const auto& [core, event] : kEventFields) Rename(object, event, core);
  object.Set("apiVersion", "v1");
}

std::string ToProtobufMessage(const Resource& resource, std::string_view json) {
  const api::ObjectKind* kind = api::FindObjectKind(resource.ApiVersion(), resource.kind);
  if (!kind) return "";
  thread_local api::JsonDecoder decoder;
  api::Object value;
  void* object = kind->emplace(value);
  std::string message;
  if (decoder.DecodeInto(*resource.type, object, json)) {
    api::EncodeProto(*resource.type, object, message);
  }
  return message;
}

std::string ToProtobuf(const Resource& resource, std::string_view json) {
  return api::WrapEnvelope(resource.ApiVersion(), resource.kind, ToProtobufMessage(resource, json));
}

std::string StatusToProtobuf(const Json& status) {
  const auto typed = api::FromJson<api::Status>(status.Dump());
  return typed ? api::ToEnvelope(*typed) : "";
}

Json MergeDescribed(const Resource& resource, const Json& stored, const Json& sent) {
  const api::ObjectKind* kind = api::FindObjectKind(resource.ApiVersion(), resource.kind);
  if (!kind) return sent;
  api::Object value;
  void* object = kind->emplace(value);
  api::JsonDecoder decoder;
  if (!decoder.DecodeInto(*resource.type, object, stored.Dump())) return sent;
  std::string text;
  api::EncodeJson(*resource.type, object, text);
  const auto described = Json::Parse(text);
  if (!described) return sent;
  Json merged = stored;
  ApplyMergePatch(merged, MakeMergePatch(*described, sent));
  return merged;
}

}  // namespace berth::apiserver
