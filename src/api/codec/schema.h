// Descriptions of API types: one table per type drives decoding and encoding of JSON and of
// Kubernetes' protobuf.
//
// A struct S declares `static const TypeInfo& Type()` and defines it in its .cc with
// Describe<S>(...). The interpreters (json.cc, proto.cc) are plain functions over TypeInfo, so a
// new type costs a table, not template instances.
//
// Invariants: descriptions are built once, immutable and never recursive (a type does not contain
// itself), so the recursion of an interpreter is bounded by the tables, whatever the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "api/box.h"
#include "api/rules/quantity.h"
#include "api/time.h"
#include "api/values.h"

namespace berth::api {

enum class Kind : uint8_t {
  kString,
  kBool,
  kInt32,
  kInt64,
  kDouble,
  kQuantity,
  kTime,
  kMicroTime,
  kDuration,
  kIntOrString,
  kBytes,
  kRawJson,
  kPresence,
  kMessage,
  kOptional,
  kList,
  kMap,
};

struct TypeInfo;

struct FieldInfo {
  uint32_t number;        // of the protobuf field; 0: the type has no protobuf form
  uint32_t offset;        // inside the struct
  std::string_view name;  // in JSON; empty for an inlined group
  const TypeInfo* type;
  bool always;  // JSON prints it even when empty
};

// What an interpreter needs of a container, on untyped memory.
struct OptionalOps {
  void* (*emplace)(void* optional);
  const void* (*get)(const void* optional);  // null when absent
  void (*reset)(void* optional);
};
struct ListOps {
  void* (*append)(void* list);
  const void* (*at)(const void* list, size_t index);
  size_t (*size)(const void* list);
  void (*reserve)(void* list, size_t size);
  void (*clear)(void* list);
};
struct MapOps {
  // REQUIRES: key is greater than every key in the map.
  void* (*append)(void* map, std::string_view key);
  std::pair<std::string_view, const void*> (*at)(const void* map, size_t index);
  void* (*find)(void* map, std::string_view key);  // null when absent
  size_t (*size)(const void* map);
  void (*reserve)(void* map, size_t size);
  void (*clear)(void* map);
};

// Field names of one message, found in one probe.
class NameTable {
 public:
  struct Entry {
    std::string_view name;
    const FieldInfo* field;  // null: a field Kubernetes has and berth skips
  };
  void Build(std::vector<Entry> entries);
  // Null when Kubernetes has no such field.
  const Entry* Find(std::string_view name) const;

 private:
  static size_t Hash(std::string_view name);

  std::vector<Entry> entries_;
  std::vector<uint16_t> slots_;  // index + 1 into entries_, 0: free; size is a power of two
};

struct TypeInfo {
  Kind kind = Kind::kMessage;
  std::string_view name;
  const TypeInfo* element = nullptr;  // of optional, list and map

  const OptionalOps* optional = nullptr;
  const ListOps* list = nullptr;
  const MapOps* map = nullptr;

  // Message only.
  std::vector<FieldInfo> fields;  // in the order JSON prints them
  std::vector<std::unique_ptr<TypeInfo>> groups;
  NameTable names;
  std::vector<int16_t> by_number;  // index into fields, -1: not described
  std::string_view api_version;    // of an object that stands alone, else empty
  std::string_view object_kind;

  const FieldInfo* FindNumber(uint32_t number) const {
    if (number >= by_number.size() || by_number[number] < 0) return nullptr;
    return &fields[static_cast<size_t>(by_number[number])];
  }
};

namespace schema_internal {

const TypeInfo& LeafType(Kind kind);

template <class T>
struct LeafKind;
// clang-format off
template <> struct LeafKind<std::string> { static constexpr Kind kKind = Kind::kString; };
template <> struct LeafKind<bool> { static constexpr Kind kKind = Kind::kBool; };
template <> struct LeafKind<int32_t> { static constexpr Kind kKind = Kind::kInt32; };
template <> struct LeafKind<int64_t> { static constexpr Kind kKind = Kind::kInt64; };
template <> struct LeafKind<double> { static constexpr Kind kKind = Kind::kDouble; };
template <> struct LeafKind<Quantity> { static constexpr Kind kKind = Kind::kQuantity; };
template <> struct LeafKind<Time> { static constexpr Kind kKind = Kind::kTime; };
template <> struct LeafKind<MicroTime> { static constexpr Kind kKind = Kind::kMicroTime; };
template <> struct LeafKind<Duration> { static constexpr Kind kKind = Kind::kDuration; };
template <> struct LeafKind<IntOrString> { static constexpr Kind kKind = Kind::kIntOrString; };
template <> struct LeafKind<Bytes> { static constexpr Kind kKind = Kind::kBytes; };
template <> struct LeafKind<RawJson> { static constexpr Kind kKind = Kind::kRawJson; };
template <> struct LeafKind<Presence> { static constexpr Kind kKind = Kind::kPresence; };
// clang-format on

template <class T>
struct Get {
  static const TypeInfo& Type() {
    if constexpr (requires { T::Type(); }) {
      return T::Type();
    } else {
      return LeafType(LeafKind<T>::kKind);
    }
  }
};

TypeInfo OptionalType(const TypeInfo& element, const OptionalOps* ops);
TypeInfo ListType(const TypeInfo& element, const ListOps* ops);
TypeInfo MapType(const TypeInfo& element, const MapOps* ops);

template <class O>
const TypeInfo& OptionalTypeOf() {
  static constexpr OptionalOps kOps = {
      [](void* o) -> void* { return &static_cast<O*>(o)->emplace(); },
      [](const void* o) -> const void* {
        const O& optional = *static_cast<const O*>(o);
        return optional ? &*optional : nullptr;
      },
      [](void* o) { static_cast<O*>(o)->reset(); },
  };
  static const TypeInfo type = OptionalType(Get<typename O::value_type>::Type(), &kOps);
  return type;
}

template <class T>
struct Get<std::optional<T>> {
  static const TypeInfo& Type() { return OptionalTypeOf<std::optional<T>>(); }
};
template <class T>
struct Get<Box<T>> {
  static const TypeInfo& Type() { return OptionalTypeOf<Box<T>>(); }
};

template <class T>
struct Get<std::vector<T>> {
  static const TypeInfo& Type() {
    using List = std::vector<T>;
    static_assert(!std::is_same_v<T, bool>);
    static constexpr ListOps kOps = {
        [](void* l) -> void* { return &static_cast<List*>(l)->emplace_back(); },
        [](const void* l, size_t i) -> const void* { return &(*static_cast<const List*>(l))[i]; },
        [](const void* l) { return static_cast<const List*>(l)->size(); },
        [](void* l, size_t n) { static_cast<List*>(l)->reserve(n); },
        [](void* l) { static_cast<List*>(l)->clear(); },
    };
    static const TypeInfo type = ListType(Get<T>::Type(), &kOps);
    return type;
  }
};

template <class T>
struct Get<boost::container::flat_map<std::string, T, std::less<>>> {
  static const TypeInfo& Type() {
    using M = boost::container::flat_map<std::string, T, std::less<>>;
    static constexpr MapOps kOps = {
        [](void* m, std::string_view key) -> void* {
          M& map = *static_cast<M*>(m);
          return &map.emplace_hint(map.end(), std::string(key), T())->second;
        },
        [](const void* m, size_t i) {
          const auto& entry = *static_cast<const M*>(m)->nth(i);
          return std::pair<std::string_view, const void*>(entry.first, &entry.second);
        },
        [](void* m, std::string_view key) -> void* {
          M& map = *static_cast<M*>(m);
          auto it = map.find(key);
          return it == map.end() ? nullptr : &it->second;
        },
        [](const void* m) { return static_cast<const M*>(m)->size(); },
        [](void* m, size_t n) { static_cast<M*>(m)->reserve(n); },
        [](void* m) { static_cast<M*>(m)->clear(); },
    };
    static const TypeInfo type = MapType(Get<T>::Type(), &kOps);
    return type;
  }
};

}  // namespace schema_internal

template <class T>
const TypeInfo& TypeOf() {
  return schema_internal::Get<T>::Type();
}

// The untyped part of Describe().
class TypeBuilder {
 public:
  explicit TypeBuilder(std::string_view name);
  void Add(uint32_t number, std::string_view name, size_t offset, const TypeInfo& type,
           bool always);
  void Open(uint32_t number);
  void Close();
  void Skip(std::initializer_list<std::string_view> names);
  void SetObject(std::string_view api_version, std::string_view kind);
  TypeInfo Finish();

 private:
  TypeInfo type_;
  TypeInfo* current_ = &type_;
  std::vector<std::string_view> skipped_;
};

// Describes struct T field by field, in the order Kubernetes prints them:
//
//   Describe<Taint>("Taint").Always(1, "key", &Taint::key).Field(2, "value", &Taint::value).Build()
template <class T>
class Describe {
 public:
  explicit Describe(std::string_view name) : builder_(name) {}

  // Left out of JSON when empty.
  template <class M>
  Describe& Field(uint32_t number, std::string_view name, M T::*member) {
    builder_.Add(number, name, Offset(member), TypeOf<M>(), false);
    return *this;
  }
  // Printed even when empty.
  template <class M>
  Describe& Always(uint32_t number, std::string_view name, M T::*member) {
    builder_.Add(number, name, Offset(member), TypeOf<M>(), true);
    return *this;
  }
  // The fields up to EndInline() are a message of their own in protobuf (field `number`) and flat
  // in JSON.
  Describe& Inline(uint32_t number) {
    builder_.Open(number);
    return *this;
  }
  Describe& EndInline() {
    builder_.Close();
    return *this;
  }
  // Fields Kubernetes has and berth does not read: skipped, and no error in strict decoding.
  Describe& Ignore(std::initializer_list<std::string_view> names) {
    builder_.Skip(names);
    return *this;
  }
  // The type stands alone, so JSON carries kind and apiVersion.
  Describe& Object(std::string_view api_version, std::string_view kind) {
    builder_.SetObject(api_version, kind);
    return *this;
  }
  TypeInfo Build() { return builder_.Finish(); }

 private:
  template <class M>
  size_t Offset(M T::*member) const {
    return static_cast<size_t>(reinterpret_cast<const char*>(&(probe_.*member)) -
                               reinterpret_cast<const char*>(&probe_));
  }

  T probe_{};
  TypeBuilder builder_;
};

}  // namespace berth::api
