#include "api/proto.h"
#include "api/protozero.h"

namespace berth::api {

namespace {

using protozero::pbf_writer;

template <class T>
const T& As(const void* value) {
  return *static_cast<const T*>(value);
}

void WriteFields(pbf_writer& writer, const TypeInfo& type, const void* value);

void WriteTime(pbf_writer& writer, uint32_t tag, const Instant& time, bool micro) {
  pbf_writer message(writer, tag);
  if (time.IsZero()) return;
  message.add_int64(1, time.seconds);
  message.add_int32(2, micro ? time.nanos / 1000 * 1000 : 0);
}

void WriteIntOrString(pbf_writer& writer, uint32_t tag, const IntOrString& value) {
  pbf_writer message(writer, tag);
  message.add_int64(1, value.is_string ? 1 : 0);
  message.add_int32(2, value.int_value);
  message.add_string(3, value.string_value);
}

// Kubernetes writes every value that is no pointer, empty or not.
void WriteValue(pbf_writer& writer, uint32_t tag, const TypeInfo& type, const void* value) {
  switch (type.kind) {
    case Kind::kMessage: {
      pbf_writer message(writer, tag);
      return WriteFields(message, type, value);
    }
    case Kind::kOptional: {
      const void* present = type.optional->get(value);
      if (present) WriteValue(writer, tag, *type.element, present);
      return;
    }
    case Kind::kList: {
      const size_t size = type.list->size(value);
      for (size_t i = 0; i < size; ++i) {
        WriteValue(writer, tag, *type.element, type.list->at(value, i));
      }
      return;
    }
    case Kind::kMap: {
      const size_t size = type.map->size(value);
      for (size_t i = 0; i < size; ++i) {
        const auto [key, element] = type.map->at(value, i);
        pbf_writer entry(writer, tag);
        entry.add_string(1, key);
        WriteValue(entry, 2, *type.element, element);
      }
      return;
    }
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
    case Kind::kQuantity: {
      pbf_writer message(writer, tag);
      return message.add_string(1, As<Quantity>(value).String());
    }
    case Kind::kTime:
      return WriteTime(writer, tag, As<Time>(value), false);
    case Kind::kMicroTime:
      return WriteTime(writer, tag, As<MicroTime>(value), true);
    case Kind::kDuration: {
      pbf_writer message(writer, tag);
      return message.add_int64(1, As<Duration>(value).ns);
    }
    case Kind::kIntOrString:
      return WriteIntOrString(writer, tag, As<IntOrString>(value));
    case Kind::kBytes:
      return writer.add_bytes(tag, As<Bytes>(value).data);
    case Kind::kRawJson: {
      pbf_writer message(writer, tag);
      if (!As<RawJson>(value).text.empty()) message.add_bytes(1, As<RawJson>(value).text);
      return;
    }
    case Kind::kPresence:
      return writer.add_message(tag, std::string_view());
  }
}

// In the order of the numbers, which is the order Kubernetes writes.
void WriteFields(pbf_writer& writer, const TypeInfo& type, const void* value) {
  for (const int16_t index : type.by_number) {
    if (index < 0) continue;
    const FieldInfo& field = type.fields[static_cast<size_t>(index)];
    WriteValue(writer, field.number, *field.type, static_cast<const char*>(value) + field.offset);
  }
}

}  // namespace

void EncodeProto(const TypeInfo& type, const void* value, std::string& out) {
  pbf_writer writer(out);
  WriteFields(writer, type, value);
}

}  // namespace berth::api
