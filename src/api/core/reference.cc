#include "api/core/reference.h"

namespace berth::api {

const TypeInfo& ObjectReference::Type() {
  static const TypeInfo type = Describe<ObjectReference>("ObjectReference")
                                   .Field(1, "kind", &ObjectReference::kind)
                                   .Field(2, "namespace", &ObjectReference::namespace_)
                                   .Field(3, "name", &ObjectReference::name)
                                   .Field(4, "uid", &ObjectReference::uid)
                                   .Field(5, "apiVersion", &ObjectReference::api_version)
                                   .Field(6, "resourceVersion", &ObjectReference::resource_version)
                                   .Field(7, "fieldPath", &ObjectReference::field_path)
                                   .Build();
  return type;
}

const TypeInfo& TypedLocalObjectReference::Type() {
  static const TypeInfo type = Describe<TypedLocalObjectReference>("TypedLocalObjectReference")
                                   .Always(1, "apiGroup", &TypedLocalObjectReference::api_group)
                                   .Always(2, "kind", &TypedLocalObjectReference::kind)
                                   .Always(3, "name", &TypedLocalObjectReference::name)
                                   .Build();
  return type;
}

const TypeInfo& TypedObjectReference::Type() {
  static const TypeInfo type = Describe<TypedObjectReference>("TypedObjectReference")
                                   .Always(1, "apiGroup", &TypedObjectReference::api_group)
                                   .Always(2, "kind", &TypedObjectReference::kind)
                                   .Always(3, "name", &TypedObjectReference::name)
                                   .Field(4, "namespace", &TypedObjectReference::namespace_)
                                   .Build();
  return type;
}

const TypeInfo& Binding::Type() {
  static const TypeInfo type = Describe<Binding>("Binding")
                                   .Always(1, "metadata", &Binding::metadata)
                                   .Always(2, "target", &Binding::target)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
