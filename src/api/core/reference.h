// References to other objects, and the binding of a pod to a node.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/codec/schema.h"
#include "api/meta.h"

namespace berth::api {

// Names one object of any kind.
struct ObjectReference {
  std::string kind;
  std::string namespace_;
  std::string name;
  std::string uid;
  std::string api_version;
  std::string resource_version;
  std::string field_path;

  bool operator==(const ObjectReference&) const = default;
  static const TypeInfo& Type();
};

// Names an object of the same namespace.
struct TypedLocalObjectReference {
  std::optional<std::string> api_group;
  std::string kind;
  std::string name;

  bool operator==(const TypedLocalObjectReference&) const = default;
  static const TypeInfo& Type();
};

// Names an object of a possibly different namespace.
struct TypedObjectReference {
  std::optional<std::string> api_group;
  std::string kind;
  std::string name;
  std::optional<std::string> namespace_;

  bool operator==(const TypedObjectReference&) const = default;
  static const TypeInfo& Type();
};

// POSTed to pods/NAME/binding: the pod runs on the target node.
struct Binding {
  static constexpr std::string_view kApiVersion = "v1";
  static constexpr std::string_view kKind = "Binding";

  ObjectMeta metadata;
  ObjectReference target;

  bool operator==(const Binding&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
