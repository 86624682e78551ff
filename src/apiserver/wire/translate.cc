#include "apiserver/wire/translate.h"

#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include <simdjson.h>

#include "api/codec/base64.h"
#include "api/codec/protozero.h"
#include "api/time.h"

namespace berth::apiserver::wire {
namespace {

namespace dom = simdjson::dom;
using WireKind = protozero::pbf_wire_type;

constexpr int kMaxDepth = 100;

void AppendVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

void AppendTag(std::string& out, uint32_t number, WireKind kind) {
  AppendVarint(out, number << 3 | static_cast<uint32_t>(kind));
}

void AppendBytes(std::string& out, uint32_t number, std::string_view bytes) {
  AppendTag(out, number, WireKind::length_delimited);
  AppendVarint(out, bytes.size());
  out.append(bytes);
}

void AppendInt(std::string& out, uint32_t number, int64_t value) {
  AppendTag(out, number, WireKind::varint);
  AppendVarint(out, static_cast<uint64_t>(value));
}

// Writes a field whose content is written by `write`: its length comes to stand before it.
template <class Write>
void AppendNested(std::string& out, uint32_t number, const Write& write) {
  AppendTag(out, number, WireKind::length_delimited);
  const size_t start = out.size();
  out += '\0';  // most lengths take one byte
  write();
  const size_t size = out.size() - start - 1;
  if (size < 0x80) {
    out[start] = static_cast<char>(size);
    return;
  }
  std::string length;
  AppendVarint(length, size);
  out.replace(start, 1, length);
}

Json ZeroOf(Type type) {
  switch (type) {
    case Type::kInt:
    case Type::kIntOrString:
      return 0;
    case Type::kBool:
      return false;
    case Type::kDouble:
      return 0.0;
    case Type::kMessage:
      return Json::MakeObject();
    default:
      return type == Type::kText || type == Type::kBytes ? Json("") : Json();
  }
}

// Parts of the message around them are always there: only what is inside them is filled.
void FillInlined(const Message& message, Json& object) {
  for (const Field& field : message.fields) {
    if (Json* value = field.message && !field.inlined ? object.Find(field.name) : nullptr) {
      FillZeros(*field.message, *value);
    }
  }
}

// The field of that name, of the message or one inlined in it.
const Field* FindDeep(const Message& message, std::string_view name) {
  if (const Field* field = message.Find(name)) return field;
  for (const Field& field : message.fields) {
    if (!field.inlined || !field.message) continue;
    if (const Field* inner = FindDeep(*field.message, name)) return inner;
  }
  return nullptr;
}

void FindUnknown(const Message& message, const Served& served, const Json& object,
                 const std::string& path, std::vector<std::string>& unknown) {
  for (const auto& [name, value] : object.Members()) {
    const std::string at = path.empty() ? name : path + "." + name;
    const Field* field = FindDeep(message, name);
    if (!field || !served.Knows(*field)) {
      unknown.push_back(at);
    } else if (field->message && field->repeated) {
      for (size_t i = 0; i < value.Items().size(); ++i) {
        FindUnknown(*field->message, served, value.Items()[i], at + "[" + std::to_string(i) + "]",
                    unknown);
      }
    } else if (field->message && field->map) {
      for (const auto& [key, item] : value.Members()) {
        FindUnknown(*field->message, served, item, at + "." + key, unknown);
      }
    } else if (field->message) {
      FindUnknown(*field->message, served, value, at, unknown);
    }
  }
}

void Drop(const Message& message, const Served& served, Json& object, bool top) {
  if (!object.IsObject()) return;
  std::erase_if(object.MutableMembers(), [&](Json::Member& member) {
    if (top && (member.name == "kind" || member.name == "apiVersion")) return false;
    const Field* field = FindDeep(message, member.name);
    if (!field || !served.Keeps(*field)) return true;
    if (!field->message) return false;
    if (field->repeated && member.value.IsArray()) {
      for (Json& item : member.value.MutableItems()) Drop(*field->message, served, item, false);
    } else if (field->map && member.value.IsObject()) {
      for (auto& entry : member.value.MutableMembers()) {
        Drop(*field->message, served, entry.value, false);
      }
    } else {
      Drop(*field->message, served, member.value, false);
    }
    return false;
  });
}

class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  void Object(const Message& message, dom::object object) {
    for (auto [name, value] : object) {
      const Field* field = message.Find(name);
      if (field && !value.is_null()) Member(*field, value);
    }
    for (const Field& field : message.fields) {
      if (field.inlined && field.message && HasAny(*field.message, object)) {
        AppendNested(out_, field.number, [&] { Object(*field.message, object); });
      }
    }
  }

 private:
  static bool HasAny(const Message& message, dom::object object) {
    for (auto [name, value] : object) {
      if (message.Find(name) && !value.is_null()) return true;
    }
    for (const Field& field : message.fields) {
      if (field.inlined && field.message && HasAny(*field.message, object)) return true;
    }
    return false;
  }

  void Member(const Field& field, dom::element value) {
    dom::array items;
    dom::object entries;
    if (field.repeated) {
      if (value.get(items)) return;
      for (dom::element item : items) Value(field, field.number, item);
    } else if (field.map) {
      if (value.get(entries)) return;
      for (auto [key, item] : entries) {
        AppendNested(out_, field.number, [&, name = key, entry = item] {
          AppendBytes(out_, 1, name);
          Value(field, 2, entry);
        });
      }
    } else {
      Value(field, field.number, value);
    }
  }

  void Value(const Field& field, uint32_t number, dom::element value) {
    std::string_view text;
    int64_t integer = 0;
    bool flag = false;
    double real = 0;
    switch (field.type) {
      case Type::kText:
        if (!value.get(text)) AppendBytes(out_, number, text);
        return;
      case Type::kInt:
        if (!value.get(integer)) AppendInt(out_, number, integer);
        return;
      case Type::kBool:
        if (!value.get(flag)) AppendInt(out_, number, flag);
        return;
      case Type::kDouble:
        if (!value.get(real)) Double(number, real);
        return;
      case Type::kBytes: {
        std::string bytes;
        if (!value.get(text) && api::DecodeBase64(text, bytes)) AppendBytes(out_, number, bytes);
        return;
      }
      case Type::kTexts:
        return Texts(number, value);
      case Type::kQuantity:
        return AppendNested(out_, number, [&] {
          AppendBytes(out_, 1,
                      value.get(text) ? std::string(simdjson::minify(value)) : std::string(text));
        });
      case Type::kIntOrString:
        return AppendNested(out_, number, [&] {
          const bool is_text = !value.get(text);
          AppendInt(out_, 1, is_text);
          if (is_text) {
            AppendBytes(out_, 3, text);
          } else if (!value.get(integer)) {
            AppendInt(out_, 2, integer);
          }
        });
      case Type::kRaw:
        return AppendNested(out_, number,
                            [&] { AppendBytes(out_, 1, std::string(simdjson::minify(value))); });
      case Type::kTime:
      case Type::kMicroTime:
        return Instant(field.type, number, value);
      case Type::kDuration:
        if (!value.get(text)) {
          if (const auto duration = api::Duration::Parse(text)) {
            AppendNested(out_, number, [&] { AppendInt(out_, 1, duration->ns); });
          }
        }
        return;
      case Type::kMessage: {
        dom::object object;
        if (value.get(object)) return;
        return AppendNested(out_, number, [&] { Object(*field.message, object); });
      }
    }
  }

  void Double(uint32_t number, double value) {
    AppendTag(out_, number, WireKind::fixed64);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out_.append(bytes, sizeof value);
  }

  void Texts(uint32_t number, dom::element value) {
    dom::array items;
    if (value.get(items)) return;
    AppendNested(out_, number, [&] {
      std::string_view text;
      for (dom::element item : items) {
        if (!item.get(text)) AppendBytes(out_, 1, text);
      }
    });
  }

  void Instant(Type type, uint32_t number, dom::element value) {
    std::string_view text;
    if (value.get(text)) return;
    std::optional<api::Instant> instant;
    if (type == Type::kTime) {
      if (const auto time = api::Time::Parse(text)) instant = *time;
    } else {
      if (const auto time = api::MicroTime::Parse(text)) instant = *time;
    }
    if (!instant) return;
    AppendNested(out_, number, [&] {
      AppendInt(out_, 1, instant->seconds);
      AppendInt(out_, 2, instant->nanos);
    });
  }

  std::string& out_;
};

class Decoder {
 public:
  void Object(const Message& message, protozero::pbf_reader reader, Json& object, int depth) {
    if (depth > kMaxDepth) throw std::length_error("the message is nested too deep");
    while (reader.next()) {
      const Field* field = message.Find(reader.tag());
      if (!field) {
        reader.skip();
      } else if (field->inlined) {
        field->message ? Object(*field->message, reader.get_message(), object, depth + 1)
                       : reader.skip();
      } else {
        Member(*field, reader, object, depth);
      }
    }
  }

 private:
  void Member(const Field& field, protozero::pbf_reader& reader, Json& object, int depth) {
    if (field.map) {
      protozero::pbf_reader entry = reader.get_message();
      std::string key;
      Json value = Zero(field.type);
      while (entry.next()) {
        if (entry.tag() == 1) {
          key = entry.get_string();
        } else if (entry.tag() == 2) {
          value = Value(field, entry, depth);
        } else {
          entry.skip();
        }
      }
      object.At(field.name).Set(key, std::move(value));
      return;
    }
    if (field.repeated && field.type == Type::kInt &&
        reader.wire_type() == WireKind::length_delimited) {
      for (const int64_t item : reader.get_packed_int64()) object.At(field.name).Append(item);
      return;
    }
    Json value = Value(field, reader, depth);
    if (field.repeated) {
      object.At(field.name).Append(std::move(value));
      return;
    }
    // Go writes all fields that are no pointers, set or not.
    const bool zero = value.Empty() || value == Zero(field.type);
    if (!zero || field.pointer || field.keeps_zero) object.Set(field.name, std::move(value));
  }

  static Json Zero(Type type) { return ZeroOf(type); }

  Json Value(const Field& field, protozero::pbf_reader& reader, int depth) {
    switch (field.type) {
      case Type::kText:
        return reader.get_string();
      case Type::kInt:
        return reader.get_int64();
      case Type::kBool:
        return reader.get_uint64() != 0;  // get_bool reads beyond an end of the message
      case Type::kDouble:
        return reader.get_double();
      case Type::kBytes: {
        const auto view = reader.get_view();
        std::string text;
        api::AppendBase64(text, {view.data(), view.size()});
        return text;
      }
      case Type::kTexts: {
        Json texts = Json::MakeArray();
        protozero::pbf_reader inner = reader.get_message();
        while (inner.next())
          inner.tag() == 1 ? (void)texts.Append(inner.get_string()) : inner.skip();
        return texts;
      }
      case Type::kQuantity:
        return Part(reader, 1).value_or("");
      case Type::kRaw:
        return Json::Parse(Part(reader, 1).value_or("null")).value_or(Json());
      case Type::kIntOrString:
        return IntOrString(reader.get_message());
      case Type::kTime:
      case Type::kMicroTime:
        return Instant(field.type, reader.get_message());
      case Type::kDuration: {
        api::Duration duration;
        protozero::pbf_reader inner = reader.get_message();
        while (inner.next())
          inner.tag() == 1 ? (void)(duration.ns = inner.get_int64()) : inner.skip();
        return duration.Format();
      }
      case Type::kMessage:
        break;
    }
    Json object = Json::MakeObject();
    Object(*field.message, reader.get_message(), object, depth + 1);
    return object;
  }

  static std::optional<std::string> Part(protozero::pbf_reader& reader, uint32_t number) {
    std::optional<std::string> part;
    protozero::pbf_reader inner = reader.get_message();
    while (inner.next()) {
      if (inner.tag() == number) {
        part = inner.get_string();
      } else {
        inner.skip();
      }
    }
    return part;
  }

  static Json IntOrString(protozero::pbf_reader reader) {
    bool is_text = false;
    int64_t integer = 0;
    std::string text;
    while (reader.next()) {
      switch (reader.tag()) {
        case 1:
          is_text = reader.get_int64() != 0;
          break;
        case 2:
          integer = reader.get_int64();
          break;
        case 3:
          text = reader.get_string();
          break;
        default:
          reader.skip();
      }
    }
    return is_text ? Json(text) : Json(integer);
  }

  static Json Instant(Type type, protozero::pbf_reader reader) {
    int64_t seconds = 0;
    int64_t nanos = 0;
    bool set = false;
    while (reader.next()) {
      set = true;
      if (reader.tag() == 1) {
        seconds = reader.get_int64();
      } else if (reader.tag() == 2) {
        nanos = reader.get_int64();
      } else {
        reader.skip();
      }
    }
    if (!set) return {};
    const auto format = [&](auto time) {
      time.seconds = seconds;
      time.nanos = static_cast<int32_t>(nanos);
      return Json(time.Format());
    };
    return type == Type::kTime ? format(api::Time()) : format(api::MicroTime());
  }
};

}  // namespace

std::string ToProtobuf(const Message& message, std::string_view json) {
  thread_local dom::parser parser;
  std::string out;
  out.reserve(json.size());
  dom::object object;
  if (!parser.parse(json.data(), json.size()).get(object)) Encoder(out).Object(message, object);
  return out;
}

void FillZeros(const Message& message, Json& object) {
  if (!object.IsObject()) return;
  for (const Field& field : message.fields) {
    if (field.inlined) {
      if (field.message && !field.message->fields.empty()) FillInlined(*field.message, object);
    } else if (field.keeps_zero) {
      if (!object.Has(field.name)) object.Set(field.name, ZeroOf(field.type));
    } else if (field.message) {
      Json* value = object.Find(field.name);
      if (!value) continue;
      if (field.repeated && value->IsArray()) {
        for (Json& item : value->MutableItems()) FillZeros(*field.message, item);
      } else if (field.map && value->IsObject()) {
        for (auto& member : value->MutableMembers()) FillZeros(*field.message, member.value);
      } else {
        FillZeros(*field.message, *value);
      }
    }
  }
}

std::vector<std::string> UnknownFields(const Message& message, const Served& served,
                                       const Json& object) {
  std::vector<std::string> unknown;
  FindUnknown(message, served, object, "", unknown);
  return unknown;
}

void DropFields(const Message& message, const Served& served, Json& object) {
  Drop(message, served, object, true);
}

Result<Json> FromProtobuf(const Message& message, std::string_view bytes) {
  Json object = Json::MakeObject();
  try {
    Decoder().Object(message, protozero::pbf_reader(bytes.data(), bytes.size()), object, 0);
  } catch (const std::exception& error) {
    return Fail(error.what());
  }
  return object;
}

}  // namespace berth::apiserver::wire
