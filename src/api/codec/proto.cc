#include "api/codec/proto.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/container/small_vector.hpp>

#include "api/codec/field_reader.h"
#include "api/codec/json_scan.h"
#include "api/codec/proto_field.h"
#include "api/codec/protozero.h"
#include "api/go/go_text.h"

namespace berth::api {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// Raised inside the decoder for content protozero cannot judge; never leaves DecodeProto.
struct ContentError final : std::exception {
  explicit ContentError(std::string text) : message(std::move(text)) {}
  const char* what() const noexcept override { return message.c_str(); }
  std::string message;
};

// Instant from the seconds and nanoseconds of a message, whatever their signs.
template <class T>
T ToInstant(int64_t seconds, int64_t nanos) {
  constexpr int64_t kNanosPerSecond = 1'000'000'000;
  int64_t carry = nanos / kNanosPerSecond;
  nanos %= kNanosPerSecond;
  if (nanos < 0) {
    nanos += kNanosPerSecond;
    --carry;
  }
  T time;
  time.seconds =
      static_cast<int64_t>(static_cast<uint64_t>(seconds) + static_cast<uint64_t>(carry));
  time.nanos = static_cast<int32_t>(nanos);
  return time;
}

}  // namespace

void ForEachProtoField(std::string_view message, FunctionRef<void(const ProtoField&)> consume) {
  FieldReader reader(message);
  for (std::string_view rest = message; reader.Next();) {
    ProtoField field;
    field.number = reader.Tag();
    if (reader.WireType() == pbf_wire_type::length_delimited) {
      field.payload = reader.View();
    } else {
      reader.Skip();
    }
    field.bytes = rest.substr(0, rest.size() - reader.Left());
    rest.remove_prefix(field.bytes.size());
    consume(field);
  }
}

std::string_view MapEntryKey(std::string_view entry) {
  std::string_view key;
  FieldReader reader(entry);
  while (reader.Next()) {
    if (reader.Tag() == 1) {
      key = reader.View();
    } else {
      reader.Skip();
    }
  }
  return key;
}

namespace {

class Decoder {
 public:
  void Message(const TypeInfo& type, void* value, std::string_view bytes);

  // The path of the field that was being read when an exception came.
  std::string Path() const {
    std::string path;
    for (auto field = path_.rbegin(); field != path_.rend(); ++field) {
      if ((*field)->name.empty()) continue;
      if (!path.empty()) path += '.';
      path += (*field)->name;
    }
    return path;
  }

 private:
  void Value(const TypeInfo& type, void* value, FieldReader& reader);
  void List(const TypeInfo& type, void* value, FieldReader& reader);
  // False if the entry came out of order, so that the map must be built by SortedMap.
  bool MapEntry(const TypeInfo& type, void* value, std::string_view entry);
  void SortedMap(const FieldInfo& field, void* value, std::string_view message);

  boost::container::small_vector<const FieldInfo*, 16> path_;  // innermost first, of an exception
};

// How many fields in a row, from the reader's on, have its number.
size_t RunLength(FieldReader reader) {
  const uint32_t tag = reader.Tag();
  size_t length = 0;
  do {
    ++length;
    reader.Skip();
  } while (reader.Next() && reader.Tag() == tag);
  return length;
}

// Reserves the capacity of an empty list or map. Once it has entries it is not counted again.
void MakeRoom(const TypeInfo& type, void* value, const FieldReader& reader) {
  if (type.kind == Kind::kMap) {
    if (type.map->size(value) == 0) type.map->reserve(value, RunLength(reader));
    return;
  }
  const Kind element = type.element->kind;
  const bool may_be_packed = element == Kind::kInt32 || element == Kind::kInt64;
  if (!may_be_packed && type.list->size(value) == 0) {
    type.list->reserve(value, RunLength(reader));
  }
}

void Decoder::Message(const TypeInfo& type, void* value, std::string_view bytes) {
  std::vector<const FieldInfo*> sorted;  // maps that were read as a whole
  FieldReader reader(bytes);
  const FieldInfo* field = nullptr;
  try {
    for (; reader.Next(); field = nullptr) {
      field = type.FindNumber(reader.Tag());
      if (!field) {
        reader.Skip();
        continue;
      }
      void* member = static_cast<char*>(value) + field->offset;
      const Kind kind = field->type->kind;
      if (kind == Kind::kString) {
        static_cast<std::string*>(member)->assign(reader.View());
        continue;
      }
      if (kind == Kind::kMap || kind == Kind::kList) MakeRoom(*field->type, member, reader);
      if (kind != Kind::kMap) {
        Value(*field->type, member, reader);
        continue;
      }
      const std::string_view entry = reader.View();
      if (std::find(sorted.begin(), sorted.end(), field) == sorted.end() &&
          !MapEntry(*field->type, member, entry)) {
        SortedMap(*field, member, bytes);
        sorted.push_back(field);
      }
    }
  } catch (...) {
    if (field) path_.push_back(field);
    throw;
  }
}

bool Decoder::MapEntry(const TypeInfo& type, void* value, std::string_view entry) {
  std::string_view key;
  FieldReader reader(entry);
  std::optional<FieldReader> content;  // before the value; the last one counts
  while (reader.Next()) {
    if (reader.Tag() == 1) {
      key = reader.View();
      continue;
    }
    if (reader.Tag() == 2) content = reader;
    reader.Skip();
  }
  const size_t size = type.map->size(value);
  if (size > 0 && key <= type.map->at(value, size - 1).first) return false;
  void* slot = type.map->append(value, key);
  if (content) Value(*type.element, slot, *content);
  return true;
}

void Decoder::SortedMap(const FieldInfo& field, void* value, std::string_view message) {
  std::vector<std::pair<std::string_view, std::string_view>> entries;
  FieldReader reader(message);
  while (reader.Next()) {
    if (reader.Tag() != field.number) {
      reader.Skip();
      continue;
    }
    const std::string_view entry = reader.View();
    entries.emplace_back(MapEntryKey(entry), entry);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  field.type->map->clear(value);
  for (size_t i = 0; i < entries.size(); ++i) {
    const bool overwritten = i + 1 < entries.size() && entries[i + 1].first == entries[i].first;
    if (!overwritten) MapEntry(*field.type, value, entries[i].second);
  }
}

void Decoder::List(const TypeInfo& type, void* value, FieldReader& reader) {
  const Kind element = type.element->kind;
  const bool number = element == Kind::kInt32 || element == Kind::kInt64;
  if (!number || reader.WireType() != pbf_wire_type::length_delimited) {
    return Value(*type.element, type.list->append(value), reader);
  }
  for (FieldReader packed(reader.View()); !packed.AtEnd();) {
    const auto item = static_cast<int64_t>(packed.Varint());
    void* slot = type.list->append(value);
    if (element == Kind::kInt32) {
      *static_cast<int32_t*>(slot) = static_cast<int32_t>(item);
    } else {
      *static_cast<int64_t*>(slot) = item;
    }
  }
}

Quantity ReadQuantity(std::string_view bytes) {
  Quantity value;
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.Tag() != 1) {
      reader.Skip();
      continue;
    }
    const std::string_view text = reader.View();
    auto parsed = Quantity::Parse(text);
    if (!parsed) {
      throw ContentError(fmt::format("cannot parse {} as a quantity: {}",
                                     GoQuote(text.substr(0, 64)), parsed.error().Message()));
    }
    value = std::move(*parsed);
  }
  return value;
}

// Time keeps whole seconds only, as Kubernetes does, MicroTime microseconds.
template <class T>
T ReadTime(std::string_view bytes, bool micro) {
  if (bytes.empty()) return {};
  int64_t seconds = 0;
  int64_t nanos = 0;
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.Tag() == 1) {
      seconds = reader.Int();
    } else if (reader.Tag() == 2) {
      nanos = static_cast<int32_t>(reader.Int());
    } else {
      reader.Skip();
    }
  }
  return ToInstant<T>(seconds, micro ? nanos / 1000 * 1000 : 0);
}

Duration ReadDuration(std::string_view bytes) {
  Duration value;
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.Tag() == 1) {
      value.ns = reader.Int();
    } else {
      reader.Skip();
    }
  }
  return value;
}

IntOrString ReadIntOrString(std::string_view bytes) {
  IntOrString value;
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.Tag() == 1) {
      value.is_string = reader.Int() == 1;
    } else if (reader.Tag() == 2) {
      value.int_value = static_cast<int32_t>(reader.Int());
    } else if (reader.Tag() == 3) {
      value.string_value = reader.View();
    } else {
      reader.Skip();
    }
  }
  // Only the half that counts, so that equal values compare equal.
  return value.is_string ? IntOrString::String(std::move(value.string_value))
                         : IntOrString::Int(value.int_value);
}

RawJson ReadRaw(std::string_view bytes) {
  RawJson value;
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.Tag() == 1) {
      value.text = reader.View();
    } else {
      reader.Skip();
    }
  }
  if (value.text.empty()) return value;
  if (auto error = FindJsonError(value.text)) throw ContentError("invalid JSON: " + *error);
  return value;
}

void Decoder::Value(const TypeInfo& type, void* value, FieldReader& reader) {
  switch (type.kind) {
    case Kind::kMessage:
      return Message(type, value, reader.View());
    case Kind::kOptional: {
      const void* present = type.optional->get(value);
      return Value(*type.element,
                   present ? const_cast<void*>(present) : type.optional->emplace(value), reader);
    }
    case Kind::kList:
      return List(type, value, reader);
    case Kind::kMap:
      return;  // a map is never an element: Message() reads it
    case Kind::kString:
      static_cast<std::string*>(value)->assign(reader.View());
      return;
    case Kind::kBool:
      *static_cast<bool*>(value) = reader.Int() != 0;
      return;
    case Kind::kInt32:
      *static_cast<int32_t*>(value) = static_cast<int32_t>(reader.Int());
      return;
    case Kind::kInt64:
      *static_cast<int64_t*>(value) = reader.Int();
      return;
    case Kind::kDouble:
      *static_cast<double*>(value) = reader.Double();
      return;
    case Kind::kQuantity:
      *static_cast<Quantity*>(value) = ReadQuantity(reader.View());
      return;
    case Kind::kTime:
      *static_cast<Time*>(value) = ReadTime<Time>(reader.View(), false);
      return;
    case Kind::kMicroTime:
      *static_cast<MicroTime*>(value) = ReadTime<MicroTime>(reader.View(), true);
      return;
    case Kind::kDuration:
      *static_cast<Duration*>(value) = ReadDuration(reader.View());
      return;
    case Kind::kIntOrString:
      *static_cast<IntOrString*>(value) = ReadIntOrString(reader.View());
      return;
    case Kind::kBytes:
      static_cast<Bytes*>(value)->data = reader.View();
      return;
    case Kind::kRawJson:
      *static_cast<RawJson*>(value) = ReadRaw(reader.View());
      return;
    case Kind::kPresence:
      reader.View();
      return;
  }
}

// Runs `read`; what protozero throws becomes an Error about `what`.
template <class F>
Result<void> Guard(std::string_view what, F read) {
  try {
    return read();
  } catch (const std::exception& error) {
    return Fail(fmt::format("{}: malformed protobuf: {}", what, error.what()));
  }
}

}  // namespace

Result<void> DecodeProto(const TypeInfo& type, void* value, std::string_view bytes) {
  Decoder decoder;
  try {
    decoder.Message(type, value, bytes);
    return {};
  } catch (const ContentError& error) {
    return Fail(fmt::format("{} {}: {}", type.name, decoder.Path(), error.message));
  } catch (const std::exception& error) {
    const std::string path = decoder.Path();
    return Fail(fmt::format("{}{}{}: malformed protobuf: {}", type.name, path.empty() ? "" : " ",
                            path, error.what()));
  }
}

namespace {

constexpr std::string_view kMagic("k8s\0", 4);

}  // namespace

Result<Envelope> UnwrapEnvelope(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) {
    return Fail("not a Kubernetes protobuf object: it does not start with the magic number");
  }
  Envelope envelope;
  auto ok = Guard("envelope", [&]() -> Result<void> {
    pbf_reader reader(bytes.substr(kMagic.size()));
    while (reader.next()) {
      switch (reader.tag()) {
        case 1: {
          pbf_reader type = reader.get_message();
          while (type.next()) {
            if (type.tag() == 1) {
              envelope.api_version = type.get_view();
            } else if (type.tag() == 2) {
              envelope.kind = type.get_view();
            } else {
              type.skip();
            }
          }
          break;
        }
        case 2:
          envelope.raw = reader.get_view();
          break;
        case 3:
          envelope.content_encoding = reader.get_view();
          break;
        case 4:
          envelope.content_type = reader.get_view();
          break;
        default:
          reader.skip();
      }
    }
    return {};
  });
  if (!ok) return Fail(std::move(ok.error()));
  return envelope;
}

size_t EnvelopeSize(std::string_view first_bytes) {
  constexpr size_t kBehind = 64;  // the fields after the message
  if (!first_bytes.starts_with(kMagic)) return 0;
  FieldReader reader(first_bytes.substr(kMagic.size()));
  try {
    while (reader.Next()) {
      if (reader.Tag() == 2) {
        const uint64_t size = reader.Varint();
        return first_bytes.size() - reader.Left() + static_cast<uint32_t>(size) + kBehind;
      }
      reader.Skip();
    }
  } catch (const std::exception&) {
    return 0;
  }
  return 0;
}

std::string WrapEnvelope(std::string_view api_version, std::string_view kind,
                         std::string_view raw) {
  std::string out(kMagic);
  out.reserve(raw.size() + 64);
  protozero::pbf_writer writer(out);
  {
    protozero::pbf_writer type(writer, 1);
    type.add_string(1, api_version);
    type.add_string(2, kind);
  }
  writer.add_bytes(2, raw);
  writer.add_string(3, std::string_view());
  writer.add_string(4, std::string_view());
  return out;
}

Result<ListMeta> ForEachListItem(std::string_view list, const ListConsumer& consume) {
  ListMeta meta;
  auto ok = Guard("list", [&]() -> Result<void> {
    pbf_reader reader(list);
    while (reader.next()) {
      if (reader.tag() == 1) {
        if (auto read = DecodeProto(ListMeta::Type(), &meta, reader.get_view()); !read) return read;
      } else if (reader.tag() == 2) {
        if (auto consumed = consume(reader.get_view()); !consumed) return consumed;
      } else {
        reader.skip();
      }
    }
    return {};
  });
  if (!ok) return Fail(std::move(ok.error()));
  return meta;
}

Result<WatchFrame> DecodeWatchFrame(std::string_view bytes) {
  WatchFrame frame;
  auto ok = Guard("watch event", [&]() -> Result<void> {
    pbf_reader reader(bytes);
    while (reader.next()) {
      if (reader.tag() == 1) {
        frame.type = reader.get_view();
      } else if (reader.tag() == 2) {
        pbf_reader object = reader.get_message();
        while (object.next()) {
          if (object.tag() == 1) {
            frame.object = object.get_view();
          } else {
            object.skip();
          }
        }
      } else {
        reader.skip();
      }
    }
    return {};
  });
  if (!ok) return Fail(std::move(ok.error()));
  return frame;
}

}  // namespace berth::api
