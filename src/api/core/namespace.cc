#include "api/core/namespace.h"

namespace berth::api {

const TypeInfo& NamespaceSpec::Type() {
  static const TypeInfo type = Describe<NamespaceSpec>("NamespaceSpec")
                                   .Field(1, "finalizers", &NamespaceSpec::finalizers)
                                   .Build();
  return type;
}

const TypeInfo& NamespaceStatus::Type() {
  static const TypeInfo type = Describe<NamespaceStatus>("NamespaceStatus")
                                   .Field(1, "phase", &NamespaceStatus::phase)
                                   .Ignore({"conditions"})
                                   .Build();
  return type;
}

const TypeInfo& Namespace::Type() {
  static const TypeInfo type = Describe<Namespace>("Namespace")
                                   .Always(1, "metadata", &Namespace::metadata)
                                   .Always(2, "spec", &Namespace::spec)
                                   .Always(3, "status", &Namespace::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
