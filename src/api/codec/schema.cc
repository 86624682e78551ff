#include "api/codec/schema.h"

#include <array>
#include <bit>
#include <memory>

namespace berth::api {

size_t NameTable::Hash(std::string_view name) {
  if (name.empty()) return 0;
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(name[i])); };
  const size_t n = name.size();
  return n * 131 + byte(0) * 31 + byte(n - 1) * 17 + byte(n / 2) * 7;
}

void NameTable::Build(std::vector<Entry> entries) {
  entries_ = std::move(entries);
  slots_.assign(std::bit_ceil(entries_.size() * 4 + 4), 0);
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t slot = Hash(entries_[i].name) & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<uint16_t>(i + 1);
  }
}

const NameTable::Entry* NameTable::Find(std::string_view name) const {
  if (slots_.empty()) return nullptr;
  size_t slot = Hash(name) & (slots_.size() - 1);
  while (slots_[slot] != 0) {
    const Entry& entry = entries_[slots_[slot] - 1u];
    if (entry.name == name) return &entry;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return nullptr;
}

namespace schema_internal {

const TypeInfo& LeafType(Kind kind) {
  static const auto types = [] {
    constexpr std::string_view kNames[] = {
        "string",   "boolean",           "int32", "int64", "number", "quantity", "time", "time",
        "duration", "integer or string", "bytes", "JSON",  "object"};
    std::array<TypeInfo, std::size(kNames)> result;
    for (size_t i = 0; i < result.size(); ++i) {
      result[i].kind = static_cast<Kind>(i);
      result[i].name = kNames[i];
    }
    return result;
  }();
  return types[static_cast<size_t>(kind)];
}

namespace {

TypeInfo Container(Kind kind, std::string_view name, const TypeInfo& element) {
  TypeInfo type;
  type.kind = kind;
  type.name = name;
  type.element = &element;
  return type;
}

}  // namespace

TypeInfo OptionalType(const TypeInfo& element, const OptionalOps* ops) {
  TypeInfo type = Container(Kind::kOptional, element.name, element);
  type.optional = ops;
  return type;
}

TypeInfo ListType(const TypeInfo& element, const ListOps* ops) {
  TypeInfo type = Container(Kind::kList, "array", element);
  type.list = ops;
  return type;
}

TypeInfo MapType(const TypeInfo& element, const MapOps* ops) {
  TypeInfo type = Container(Kind::kMap, "object", element);
  type.map = ops;
  return type;
}

}  // namespace schema_internal

TypeBuilder::TypeBuilder(std::string_view name) { type_.name = name; }

void TypeBuilder::Add(uint32_t number, std::string_view name, size_t offset, const TypeInfo& type,
                      bool always) {
  current_->fields.push_back({number, static_cast<uint32_t>(offset), name, &type, always});
}

void TypeBuilder::Open(uint32_t number) {
  // The group describes the same struct: its offsets are those of the outer one.
  auto group = std::make_unique<TypeInfo>();
  group->name = type_.name;
  type_.fields.push_back({number, 0, {}, group.get(), true});
  current_ = group.get();
  type_.groups.push_back(std::move(group));
}

void TypeBuilder::Close() { current_ = &type_; }

void TypeBuilder::Skip(std::initializer_list<std::string_view> names) {
  skipped_.insert(skipped_.end(), names.begin(), names.end());
}

void TypeBuilder::SetObject(std::string_view api_version, std::string_view kind) {
  type_.api_version = api_version;
  type_.object_kind = kind;
}

namespace {

void IndexNumbers(TypeInfo& type) {
  for (size_t i = 0; i < type.fields.size(); ++i) {
    const uint32_t number = type.fields[i].number;
    if (number == 0) continue;
    if (type.by_number.size() <= number) type.by_number.resize(number + 1, -1);
    type.by_number[number] = static_cast<int16_t>(i);
  }
}

void CollectNames(const TypeInfo& type, std::vector<NameTable::Entry>& names) {
  for (const FieldInfo& field : type.fields) {
    if (field.name.empty()) {
      CollectNames(*field.type, names);
    } else {
      names.push_back({field.name, &field});
    }
  }
}

}  // namespace

TypeInfo TypeBuilder::Finish() {
  IndexNumbers(type_);
  for (auto& group : type_.groups) IndexNumbers(*group);
  std::vector<NameTable::Entry> names;
  CollectNames(type_, names);
  for (std::string_view name : skipped_) names.push_back({name, nullptr});
  if (!type_.object_kind.empty()) {
    names.push_back({"kind", nullptr});
    names.push_back({"apiVersion", nullptr});
  }
  type_.names.Build(std::move(names));
  return std::move(type_);
}

}  // namespace berth::api
