#include "plugins/capacity_scheduling/elastic_quota.h"

namespace berth::plugins::capacity_scheduling {

const api::TypeInfo& ElasticQuotaSpec::Type() {
  using T = ElasticQuotaSpec;
  static const api::TypeInfo type = api::Describe<T>("ElasticQuotaSpec")
                                        .Field(0, "min", &T::min)
                                        .Field(0, "max", &T::max)
                                        .Build();
  return type;
}

const api::TypeInfo& ElasticQuota::Type() {
  using T = ElasticQuota;
  static const api::TypeInfo type = api::Describe<T>("ElasticQuota")
                                        .Object("scheduling.x-k8s.io/v1alpha1", "ElasticQuota")
                                        .Field(0, "metadata", &T::metadata)
                                        .Always(0, "spec", &T::spec)
                                        .Build();
  return type;
}

}  // namespace berth::plugins::capacity_scheduling
