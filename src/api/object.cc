#include "api/object.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "api/codec/proto.h"

namespace berth::api {

namespace {

template <class T>
ObjectKind KindRow(std::string_view api_version) {
  return {api_version, T::kKind, &T::Type,
          [](Object& object) -> void* { return &object.template emplace<T>(); }};
}

template <class T>
ObjectKind KindRow() {
  return KindRow<T>(T::kApiVersion);
}

// resource.k8s.io/v1beta2 has the shape of v1.
constexpr std::string_view kResourceBeta = "resource.k8s.io/v1beta2";
// DeviceTaintRule came as v1alpha3; what it lost since may be absent there, too.
constexpr std::string_view kResource = "resource.k8s.io/v1";

template <size_t... I>
auto KindsOfVariant(std::index_sequence<I...>) {
  return std::array{KindRow<std::variant_alternative_t<I + 1, Object>>()...,
                    KindRow<ResourceClaim>(kResourceBeta),
                    KindRow<ResourceClaimTemplate>(kResourceBeta),
                    KindRow<ResourceSlice>(kResourceBeta),
                    KindRow<DeviceClass>(kResourceBeta),
                    KindRow<DeviceTaintRule>(kResourceBeta),
                    KindRow<DeviceTaintRule>(kResource)};
}

const auto& Kinds() {
  static const auto kinds = [] {
    auto rows = KindsOfVariant(std::make_index_sequence<std::variant_size_v<Object> - 1>());
    std::sort(rows.begin(), rows.end(), [](const ObjectKind& a, const ObjectKind& b) {
      return std::pair(a.kind, a.api_version) < std::pair(b.kind, b.api_version);
    });
    return rows;
  }();
  return kinds;
}

// What every object has.
struct Identity {
  std::string api_version;
  std::string kind;
  ObjectMeta metadata;

  static const TypeInfo& Type() {
    static const TypeInfo type = Describe<Identity>("Object")
                                     .Field(0, "apiVersion", &Identity::api_version)
                                     .Field(0, "kind", &Identity::kind)
                                     .Field(1, "metadata", &Identity::metadata)
                                     .Build();
    return type;
  }
};

Object Unknown(std::string_view api_version, std::string_view kind, ObjectMeta metadata,
               std::string_view json) {
  return UnknownObject{std::string(api_version), std::string(kind), std::move(metadata),
                       std::string(json)};
}

}  // namespace

const ObjectKind* FindObjectKind(std::string_view api_version, std::string_view kind) {
  const auto& kinds = Kinds();
  auto it = std::lower_bound(kinds.begin(), kinds.end(), std::pair(kind, api_version),
                             [](const ObjectKind& row, const auto& key) {
                               return std::pair(row.kind, row.api_version) < key;
                             });
  if (it == kinds.end() || it->kind != kind || it->api_version != api_version) return nullptr;
  return &*it;
}

Result<Object> DecodeObjectAs(std::string_view api_version, std::string_view kind,
                              std::string_view json, JsonDecoder& decoder) {
  const ObjectKind* row = FindObjectKind(api_version, kind);
  if (!row) {
    // Its fields are unknown here, so strictness does not apply.
    auto identity = FromJson<Identity>(json);
    if (!identity) return Fail(std::move(identity.error()));
    return Unknown(api_version, kind, std::move(identity->metadata), json);
  }
  Object object;
  if (auto ok = decoder.DecodeInto(row->type(), row->emplace(object), json); !ok) {
    return Fail(std::move(ok.error()));
  }
  return object;
}

Result<Object> DecodeObject(std::string_view json, DecodeOptions options) {
  auto identity = FromJson<Identity>(json);
  if (!identity) return Fail(std::move(identity.error()));
  if (identity->kind.empty()) return Fail("kind is missing");
  if (identity->api_version.empty()) return Fail("apiVersion is missing");
  JsonDecoder decoder(options);
  return DecodeObjectAs(identity->api_version, identity->kind, json, decoder);
}

Result<Object> DecodeObjectProto(std::string_view bytes) {
  auto envelope = UnwrapEnvelope(bytes);
  if (!envelope) return Fail(std::move(envelope.error()));
  const ObjectKind* row = FindObjectKind(envelope->api_version, envelope->kind);
  if (!row) {
    auto identity = FromProto<Identity>(envelope->raw);
    if (!identity) return Fail(std::move(identity.error()));
    return Unknown(envelope->api_version, envelope->kind, std::move(identity->metadata), "");
  }
  Object object;
  if (auto ok = DecodeProto(row->type(), row->emplace(object), envelope->raw); !ok) {
    return Fail(std::move(ok.error()));
  }
  return object;
}

std::string_view KindOf(const Object& object) {
  return std::visit(
      [](const auto& value) -> std::string_view {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, UnknownObject>) {
          return value.kind;
        } else {
          return T::kKind;
        }
      },
      object);
}

std::string_view ApiVersionOf(const Object& object) {
  return std::visit(
      [](const auto& value) -> std::string_view {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, UnknownObject>) {
          return value.api_version;
        } else {
          return T::kApiVersion;
        }
      },
      object);
}

ObjectMeta* MetadataOf(Object& object) {
  return std::visit(
      [](auto& value) -> ObjectMeta* {
        if constexpr (std::is_same_v<decltype(value.metadata), ObjectMeta>) {
          return &value.metadata;
        } else {
          return nullptr;
        }
      },
      object);
}

const ObjectMeta* MetadataOf(const Object& object) {
  return MetadataOf(const_cast<Object&>(object));
}

}  // namespace berth::api
