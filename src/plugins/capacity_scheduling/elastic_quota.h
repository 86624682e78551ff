// ElasticQuota (scheduling.x-k8s.io/v1alpha1): what the pods of a namespace are guaranteed, and
// what they may use at most.
#pragma once

#include <optional>
#include <string_view>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "api/values.h"
#include "cluster/objects/custom_kinds.h"

namespace berth::plugins::capacity_scheduling {

struct ElasticQuotaSpec {
  std::optional<api::ResourceList> min;
  std::optional<api::ResourceList> max;

  bool operator==(const ElasticQuotaSpec&) const = default;
  static const api::TypeInfo& Type();
};

struct ElasticQuota {
  api::ObjectMeta metadata;
  ElasticQuotaSpec spec;

  bool operator==(const ElasticQuota&) const = default;
  static const api::TypeInfo& Type();
};

inline const cluster::CustomKind& ElasticQuotaKind() {
  static const cluster::CustomKind kKind{"scheduling.x-k8s.io", "v1alpha1", "ElasticQuota",
                                         "elasticquotas", true};
  return kKind;
}

}  // namespace berth::plugins::capacity_scheduling
