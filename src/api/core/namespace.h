// Namespace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/meta.h"

namespace berth::api {

// What must happen before the namespace is gone.
struct NamespaceSpec {
  std::vector<std::string> finalizers;

  bool operator==(const NamespaceSpec&) const = default;
  static const TypeInfo& Type();
};

// Active or Terminating.
struct NamespaceStatus {
  std::string phase;

  bool operator==(const NamespaceStatus&) const = default;
  static const TypeInfo& Type();
};

// A scope for names; its labels are matched by namespace selectors.
struct Namespace {
  static constexpr std::string_view kApiVersion = "v1";
  static constexpr std::string_view kKind = "Namespace";

  ObjectMeta metadata;
  NamespaceSpec spec;
  NamespaceStatus status;

  bool operator==(const Namespace&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
