#include "api/resource/resource_claim_template.h"

namespace berth::api {

const TypeInfo& ResourceClaimTemplateSpec::Type() {
  static const TypeInfo type = Describe<ResourceClaimTemplateSpec>("ResourceClaimTemplateSpec")
                                   .Always(1, "metadata", &ResourceClaimTemplateSpec::metadata)
                                   .Always(2, "spec", &ResourceClaimTemplateSpec::spec)
                                   .Build();
  return type;
}

const TypeInfo& ResourceClaimTemplate::Type() {
  static const TypeInfo type = Describe<ResourceClaimTemplate>("ResourceClaimTemplate")
                                   .Always(1, "metadata", &ResourceClaimTemplate::metadata)
                                   .Always(2, "spec", &ResourceClaimTemplate::spec)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
