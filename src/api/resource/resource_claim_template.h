// ResourceClaimTemplate: what claims of pods are made from.
#pragma once

#include <string>
#include <string_view>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "api/resource/resource_claim.h"

namespace berth::api {

// Metadata and spec of the claims.
struct ResourceClaimTemplateSpec {
  ObjectMeta metadata;
  ResourceClaimSpec spec;

  bool operator==(const ResourceClaimTemplateSpec&) const = default;
  static const TypeInfo& Type();
};

// A template for claims.
struct ResourceClaimTemplate {
  static constexpr std::string_view kApiVersion = "resource.k8s.io/v1";
  static constexpr std::string_view kKind = "ResourceClaimTemplate";

  ObjectMeta metadata;
  ResourceClaimTemplateSpec spec;

  bool operator==(const ResourceClaimTemplate&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
