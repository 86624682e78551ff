#include "api/codec/proto_merge.h"

#include <algorithm>
#include <exception>
#include <vector>

#include <fmt/format.h>
#include <boost/unordered/unordered_flat_map.hpp>

#include "api/codec/proto_field.h"
#include "api/codec/protozero.h"
#include "api/meta.h"

namespace berth::api {

namespace {

using protozero::pbf_reader;

constexpr uint32_t kMetadata = 1;        // of every object
constexpr uint32_t kManagedFields = 17;  // of ObjectMeta

using Slice = ProtoField;  // in the old bytes

// All fields of a message, by number, those of one number in their order.
std::vector<Slice> Split(std::string_view message) {
  std::vector<Slice> slices;
  ForEachProtoField(message, [&](const Slice& slice) { slices.push_back(slice); });
  const auto by_number = [](const Slice& a, const Slice& b) { return a.number < b.number; };
  if (!std::is_sorted(slices.begin(), slices.end(), by_number)) {
    std::stable_sort(slices.begin(), slices.end(), by_number);
  }
  return slices;
}

using Slices = std::vector<Slice>::const_iterator;

void Keep(Slices begin, Slices end, std::string& out) {
  for (; begin != end; ++begin) out += begin->bytes;
}

std::string Canonical(uint32_t number, const TypeInfo& type, const void* value) {
  std::string bytes;
  EncodeProtoField(number, type, value, bytes);
  return bytes;
}

void AppendMessage(uint32_t number, std::string_view content, std::string& out) {
  protozero::pbf_writer(out).add_message(number, content);
}

const void* At(const void* base, size_t offset) { return static_cast<const char*>(base) + offset; }

class Merger {
 public:
  void Message(const TypeInfo& type, std::string_view old, const void* before, const void* value,
               std::string& out);

 private:
  // REQUIRES: begin != end
  void Field(const FieldInfo& field, Slices begin, Slices end, const void* before,
             const void* value, std::string& out);
  void Submessage(uint32_t number, const TypeInfo& type, Slices begin, Slices end,
                  const void* before, const void* value, std::string& out);
  void List(const FieldInfo& field, Slices begin, Slices end, const void* before, const void* value,
            std::string& out);
  void Map(const FieldInfo& field, Slices begin, Slices end, const void* before, const void* value,
           std::string& out);
};

void Merger::Message(const TypeInfo& type, std::string_view old, const void* before,
                     const void* value, std::string& out) {
  const std::vector<Slice> slices = Split(old);
  const bool meta = &type == &ObjectMeta::Type();
  auto slice = slices.begin();
  const auto unknown_before = [&](uint32_t number) {
    for (; slice != slices.end() && slice->number < number; ++slice) {
      if (!meta || slice->number != kManagedFields) out += slice->bytes;
    }
  };
  for (uint32_t number = 0; number < type.by_number.size(); ++number) {
    const FieldInfo* field = type.FindNumber(number);
    if (!field) continue;
    unknown_before(number);
    const auto begin = slice;
    while (slice != slices.end() && slice->number == number) ++slice;
    const void* member = At(value, field->offset);
    if (begin == slice) {
      EncodeProtoField(number, *field->type, member, out);
    } else {
      Field(*field, begin, slice, At(before, field->offset), member, out);
    }
  }
  unknown_before(UINT32_MAX);
}

void Merger::Field(const FieldInfo& field, Slices begin, Slices end, const void* before,
                   const void* value, std::string& out) {
  const TypeInfo* type = field.type;
  if (type->kind == Kind::kOptional) {
    before = type->optional->get(before);
    value = type->optional->get(value);
    type = type->element;
    if (!value) return;
    if (!before) return EncodeProtoField(field.number, *type, value, out);
  }
  if (type->kind == Kind::kMessage) {
    return Submessage(field.number, *type, begin, end, before, value, out);
  }
  const std::string fresh = Canonical(field.number, *type, value);
  if (fresh == Canonical(field.number, *type, before)) return Keep(begin, end, out);
  if (type->kind == Kind::kMap) return Map(field, begin, end, before, value, out);
  if (type->kind == Kind::kList && type->element->kind == Kind::kMessage) {
    return List(field, begin, end, before, value, out);
  }
  out += fresh;
}

void Merger::Submessage(uint32_t number, const TypeInfo& type, Slices begin, Slices end,
                        const void* before, const void* value, std::string& out) {
  std::string joined;  // a message given in parts is the sum of its parts
  std::string_view old = begin->payload;
  if (end - begin > 1) {
    for (; begin != end; ++begin) joined += begin->payload;
    old = joined;
  }
  std::string content;
  Message(type, old, before, value, content);
  AppendMessage(number, content, out);
}

void Merger::List(const FieldInfo& field, Slices begin, Slices end, const void* before,
                  const void* value, std::string& out) {
  const ListOps& list = *field.type->list;
  const TypeInfo& element = *field.type->element;
  // What is left of the old elements, by their canonical bytes; of equal ones the first is used
  // first.
  boost::unordered_flat_map<std::string, std::vector<Slices>> left;
  for (size_t i = list.size(before); i-- > 0;) {
    if (i >= static_cast<size_t>(end - begin)) continue;
    left[Canonical(field.number, element, list.at(before, i))].push_back(
        begin + static_cast<std::ptrdiff_t>(i));
  }
  const size_t size = list.size(value);
  for (size_t i = 0; i < size; ++i) {
    const std::string fresh = Canonical(field.number, element, list.at(value, i));
    const auto found = left.find(fresh);
    if (found == left.end() || found->second.empty()) {
      out += fresh;
    } else {
      out += found->second.back()->bytes;
      found->second.pop_back();
    }
  }
}

void Merger::Map(const FieldInfo& field, Slices begin, Slices end, const void* before,
                 const void* value, std::string& out) {
  const MapOps& map = *field.type->map;
  const TypeInfo& element = *field.type->element;
  boost::unordered_flat_map<std::string_view, Slices> entries;  // the last of a key counts
  for (; begin != end; ++begin) entries.insert_or_assign(MapEntryKey(begin->payload), begin);
  const size_t size = map.size(value);
  for (size_t i = 0; i < size; ++i) {
    const auto [key, now] = map.at(value, i);
    const std::string fresh = Canonical(2, element, now);
    const void* was = map.find(const_cast<void*>(before), key);
    const auto entry = entries.find(key);
    if (was && entry != entries.end() && fresh == Canonical(2, element, was)) {
      out += entry->second->bytes;
      continue;
    }
    std::string content;
    protozero::pbf_writer(content).add_string(1, key);
    AppendMessage(field.number, content + fresh, out);
  }
}

// Runs `merge`; what protozero throws becomes an Error.
template <class F>
Result<std::string> Guard(std::string_view what, F merge) {
  try {
    std::string out;
    merge(out);
    return out;
  } catch (const std::exception& error) {
    return Fail(fmt::format("{}: malformed protobuf: {}", what, error.what()));
  }
}

}  // namespace

Result<std::string> MergeProto(const TypeInfo& type, std::string_view old, const void* before,
                               const void* value) {
  return Guard(type.name, [&](std::string& out) {
    out.reserve(old.size() + 256);
    Merger().Message(type, old, before, value, out);
  });
}

Result<std::string> DropManagedFields(std::string_view object) {
  return Guard("object", [&](std::string& out) {
    out.reserve(object.size());
    for (const Slice& slice : Split(object)) {
      if (slice.number != kMetadata) {
        out += slice.bytes;
        continue;
      }
      std::string metadata;
      metadata.reserve(slice.payload.size());
      for (const Slice& field : Split(slice.payload)) {
        if (field.number != kManagedFields) metadata += field.bytes;
      }
      AppendMessage(kMetadata, metadata, out);
    }
  });
}

}  // namespace berth::api
