// Schemas of objects for OpenAPI, from the fields of Kubernetes' API. Private to this folder.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/json/value.h"
#include "apiserver/resource.h"

namespace berth::apiserver {

// Gathers the schemas of kinds and of all they contain, by name.
class Schemas {
 public:
  // `version` 2 or 3: they differ in how they refer to each other. `fields` outlives this.
  Schemas(int version, const wire::Served& fields) : version_(version), fields_(fields) {}

  void Add(const Resource& resource);

  Json all = Json::MakeObject();

 private:
  Json Of(const wire::Field& field);
  Json One(const wire::Field& field);
  Json Reference(const wire::Message& message);
  void AddFields(const wire::Message& message, Json& properties);

  int version_;
  const wire::Served& fields_;
};

}  // namespace berth::apiserver
