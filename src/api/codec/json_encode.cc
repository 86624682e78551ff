#include <charconv>

#include "api/codec/base64.h"
#include "api/codec/json.h"
#include "api/go/go_text.h"

namespace berth::api {

namespace {

const void* At(const void* base, size_t offset) { return static_cast<const char*>(base) + offset; }

template <class T>
const T& As(const void* value) {
  return *static_cast<const T*>(value);
}

void AppendInt(std::string& out, int64_t value) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  out.append(buffer, end);
}

// Most strings of the API need no escape.
void AppendString(std::string& out, std::string_view text) {
  for (char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&') {
      AppendJsonString(out, text);
      return;
    }
  }
  out += '"';
  out += text;
  out += '"';
}

bool IsEmpty(const TypeInfo& type, const void* value) {
  switch (type.kind) {
    case Kind::kString:
      return As<std::string>(value).empty();
    case Kind::kBool:
      return !As<bool>(value);
    case Kind::kInt32:
      return As<int32_t>(value) == 0;
    case Kind::kInt64:
      return As<int64_t>(value) == 0;
    case Kind::kDouble:
      return As<double>(value) == 0;
    case Kind::kTime:
    case Kind::kMicroTime:
      return As<Instant>(value).IsZero();
    case Kind::kBytes:
      return As<Bytes>(value).data.empty();
    case Kind::kRawJson:
      return As<RawJson>(value).text.empty();
    case Kind::kOptional:
      return type.optional->get(value) == nullptr;
    case Kind::kList:
      return type.list->size(value) == 0;
    case Kind::kMap:
      return type.map->size(value) == 0;
    case Kind::kQuantity:
    case Kind::kDuration:
    case Kind::kIntOrString:
    case Kind::kPresence:
    case Kind::kMessage:
      return false;
  }
  return false;
}

void AppendValue(std::string& out, const TypeInfo& type, const void* value);

void AppendFields(std::string& out, const TypeInfo& type, const void* value, bool& first) {
  for (const FieldInfo& field : type.fields) {
    const void* member = At(value, field.offset);
    if (field.name.empty()) {
      AppendFields(out, *field.type, member, first);
      continue;
    }
    if (!field.always && IsEmpty(*field.type, member)) continue;
    if (!first) out += ',';
    first = false;
    out += '"';
    out += field.name;
    out += "\":";
    AppendValue(out, *field.type, member);
  }
}

void AppendList(std::string& out, const TypeInfo& type, const void* value) {
  const size_t size = type.list->size(value);
  out += '[';
  for (size_t i = 0; i < size; ++i) {
    if (i > 0) out += ',';
    AppendValue(out, *type.element, type.list->at(value, i));
  }
  out += ']';
}

void AppendMap(std::string& out, const TypeInfo& type, const void* value) {
  const size_t size = type.map->size(value);
  out += '{';
  for (size_t i = 0; i < size; ++i) {
    if (i > 0) out += ',';
    const auto [key, element] = type.map->at(value, i);
    AppendString(out, key);
    out += ':';
    AppendValue(out, *type.element, element);
  }
  out += '}';
}

void AppendIntOrString(std::string& out, const IntOrString& value) {
  if (value.is_string) {
    AppendString(out, value.string_value);
  } else {
    AppendInt(out, value.int_value);
  }
}

void AppendValue(std::string& out, const TypeInfo& type, const void* value) {
  // A nil slice, map, pointer or time of Go.
  if (type.kind >= Kind::kOptional || type.kind == Kind::kTime || type.kind == Kind::kMicroTime ||
      type.kind == Kind::kRawJson) {
    if (IsEmpty(type, value)) {
      out += "null";
      return;
    }
  }
  switch (type.kind) {
    case Kind::kString:
      return AppendString(out, As<std::string>(value));
    case Kind::kBool:
      out += As<bool>(value) ? "true" : "false";
      return;
    case Kind::kInt32:
      return AppendInt(out, As<int32_t>(value));
    case Kind::kInt64:
      return AppendInt(out, As<int64_t>(value));
    case Kind::kDouble:
      return AppendJsonNumber(out, As<double>(value));
    case Kind::kQuantity:
      return AppendString(out, As<Quantity>(value).String());
    case Kind::kTime:
      return AppendString(out, As<Time>(value).Format());
    case Kind::kMicroTime:
      return AppendString(out, As<MicroTime>(value).Format());
    case Kind::kDuration:
      return AppendString(out, As<Duration>(value).Format());
    case Kind::kIntOrString:
      return AppendIntOrString(out, As<IntOrString>(value));
    case Kind::kBytes:
      out += '"';
      AppendBase64(out, As<Bytes>(value).data);
      out += '"';
      return;
    case Kind::kRawJson:
      out += As<RawJson>(value).text;
      return;
    case Kind::kPresence:
      out += "{}";
      return;
    case Kind::kMessage: {
      bool first = true;
      out += '{';
      AppendFields(out, type, value, first);
      out += '}';
      return;
    }
    case Kind::kOptional:
      return AppendValue(out, *type.element, type.optional->get(value));
    case Kind::kList:
      return AppendList(out, type, value);
    case Kind::kMap:
      return AppendMap(out, type, value);
  }
}

}  // namespace

void EncodeJson(const TypeInfo& type, const void* value, std::string& out) {
  if (type.object_kind.empty()) return AppendValue(out, type, value);
  out += "{\"kind\":";
  AppendString(out, type.object_kind);
  out += ",\"apiVersion\":";
  AppendString(out, type.api_version);
  bool first = false;
  AppendFields(out, type, value, first);
  out += '}';
}

}  // namespace berth::api
