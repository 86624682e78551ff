#include <array>
#include <string_view>

#include "api/codec/proto.h"
#include "api/codec/proto_field.h"
#include "api/codec/protozero.h"
#include "api/events/event.h"
#include "api/meta.h"

namespace berth::api {

namespace {

using protozero::pbf_writer;

template <class T>
const T& As(const void* value) {
  return *static_cast<const T*>(value);
}

// Fields that are not described and that Kubernetes writes all the same, as empty as berth has
// them.
struct BlankField {
  const TypeInfo* type;
  size_t number;
  std::string_view content;
};
const std::array<BlankField, 2>& BlankFields() {
  static const std::array<BlankField, 2> fields = {
      BlankField{&ObjectMeta::Type(), 4, ""},                                   // selfLink
      BlankField{&Event::Type(), 12, std::string_view("\x0a\x00\x12\x00", 4)},  // deprecatedSource
  };
  return fields;
}

// Writes into `out`, which its writers also hold: protozero drops a message without content,
// Kubernetes does not.
class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  // In the order of the numbers, which is the order Kubernetes writes.
  void Fields(pbf_writer& writer, const TypeInfo& type, const void* value) {
    for (size_t number = 1; number < type.by_number.size(); ++number) {
      const int16_t index = type.by_number[number];
      if (index < 0) {
        Blank(writer, type, number);
        continue;
      }
      const FieldInfo& field = type.fields[static_cast<size_t>(index)];
      Value(writer, field.number, *field.type, static_cast<const char*>(value) + field.offset);
    }
  }

  void Value(pbf_writer& writer, uint32_t tag, const TypeInfo& type, const void* value);

 private:
  static void Blank(pbf_writer& writer, const TypeInfo& type, size_t number) {
    for (const BlankField& blank : BlankFields()) {
      if (blank.type == &type && blank.number == number) {
        writer.add_message(static_cast<protozero::pbf_tag_type>(number), blank.content);
      }
    }
  }

  template <class F>
  void Message(pbf_writer& writer, uint32_t tag, F content) {
    const size_t before = out_.size();
    {
      pbf_writer message(writer, tag);
      content(message);
    }
    if (out_.size() == before) writer.add_message(tag, std::string_view());
  }

  void MapEntries(pbf_writer& writer, uint32_t tag, const TypeInfo& type, const void* value);

  std::string& out_;
};

void WriteTime(pbf_writer& message, const Instant& time, bool micro) {
  if (time.IsZero()) return;
  message.add_int64(1, time.seconds);
  message.add_int32(2, micro ? time.nanos / 1000 * 1000 : 0);
}

void WriteIntOrString(pbf_writer& message, const IntOrString& value) {
  message.add_int64(1, value.is_string ? 1 : 0);
  message.add_int32(2, value.int_value);
  message.add_string(3, value.string_value);
}

void Encoder::MapEntries(pbf_writer& writer, uint32_t tag, const TypeInfo& type,
                         const void* value) {
  const size_t size = type.map->size(value);
  for (size_t i = 0; i < size; ++i) {
    const auto entry = type.map->at(value, i);
    Message(writer, tag, [&](pbf_writer& message) {
      message.add_string(1, entry.first);
      Value(message, 2, *type.element, entry.second);
    });
  }
}

// Kubernetes writes every value that is no pointer, empty or not.
void Encoder::Value(pbf_writer& writer, uint32_t tag, const TypeInfo& type, const void* value) {
  switch (type.kind) {
    case Kind::kMessage:
      return Message(writer, tag, [&](pbf_writer& message) { Fields(message, type, value); });
    case Kind::kOptional: {
      const void* present = type.optional->get(value);
      if (present) Value(writer, tag, *type.element, present);
      return;
    }
    case Kind::kList: {
      const size_t size = type.list->size(value);
      for (size_t i = 0; i < size; ++i) {
        Value(writer, tag, *type.element, type.list->at(value, i));
      }
      return;
    }
    case Kind::kMap:
      return MapEntries(writer, tag, type, value);
    case Kind::kString:
      return writer.add_string(tag, As<std::string>(value));
    case Kind::kBool:
      return writer.add_bool(tag, As<bool>(value));
    case Kind::kInt32:
      return writer.add_int32(tag, As<int32_t>(value));
    case Kind::kInt64:
      return writer.add_int64(tag, As<int64_t>(value));
    case Kind::kDouble:
      return writer.add_double(tag, As<double>(value));
    case Kind::kQuantity:
      return Message(writer, tag, [&](pbf_writer& message) {
        message.add_string(1, As<Quantity>(value).String());
      });
    case Kind::kTime:
      return Message(writer, tag,
                     [&](pbf_writer& message) { WriteTime(message, As<Time>(value), false); });
    case Kind::kMicroTime:
      return Message(writer, tag,
                     [&](pbf_writer& message) { WriteTime(message, As<MicroTime>(value), true); });
    case Kind::kDuration:
      return Message(writer, tag,
                     [&](pbf_writer& message) { message.add_int64(1, As<Duration>(value).ns); });
    case Kind::kIntOrString:
      return Message(writer, tag, [&](pbf_writer& message) {
        WriteIntOrString(message, As<IntOrString>(value));
      });
    case Kind::kBytes:
      return writer.add_bytes(tag, As<Bytes>(value).data);
    case Kind::kRawJson:
      return Message(writer, tag, [&](pbf_writer& message) {
        const std::string& text = As<RawJson>(value).text;
        if (!text.empty()) message.add_bytes(1, text);
      });
    case Kind::kPresence:
      return writer.add_message(tag, std::string_view());
  }
}

}  // namespace

void EncodeProto(const TypeInfo& type, const void* value, std::string& out) {
  // The size of an Event: small objects are written without reallocation.
  constexpr size_t kRoom = 512;
  if (out.empty()) out.reserve(kRoom);
  pbf_writer writer(out);
  Encoder(out).Fields(writer, type, value);
}

void EncodeProtoField(uint32_t number, const TypeInfo& type, const void* value, std::string& out) {
  pbf_writer writer(out);
  Encoder(out).Value(writer, number, type, value);
}

}  // namespace berth::api
