#include "apiserver/http/schemas.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace berth::apiserver {
namespace {

Json Simple(std::string_view type, std::string_view format = "") {
  Json schema = Json::MakeObject({{"type", type}});
  if (!format.empty()) schema.Set("format", format);
  return schema;
}

// "io.k8s.api.core.v1.Pod", as Kubernetes names them.
std::string NameOf(const wire::Message& message) {
  return fmt::format("io.k8s.{}{}",
                     message.name.starts_with("meta.") ? "apimachinery.pkg.apis." : "api.",
                     message.name);
}

// "com.example.v1.Widget": the group's labels the other way round.
std::string NameOfCustom(const Resource& resource) {
  std::string name;
  for (std::string_view rest = resource.group; !rest.empty();) {
    const size_t dot = rest.rfind('.');
    name += dot == std::string_view::npos ? rest : rest.substr(dot + 1);
    name += '.';
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(0, dot);
  }
  return name + resource.version + "." + resource.kind;
}

}  // namespace

void Schemas::Add(const Resource& resource) {
  std::string name;
  if (resource.wire) {
    name = NameOf(*resource.wire);
    Reference(*resource.wire);
    Json& properties = all.At(name).At("properties");
    properties.Set("apiVersion", Simple("string"));
    properties.Set("kind", Simple("string"));
  } else {
    name = NameOfCustom(resource);
    all.Set(name,
            Json::MakeObject({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}));
  }
  all.At(name)
      .At("x-kubernetes-group-version-kind")
      .Append(Json::MakeObject(
          {{"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}}));
}

Json Schemas::Reference(const wire::Message& message) {
  const std::string name = NameOf(message);
  if (!all.Has(name)) {
    all.Set(name, Simple("object"));  // it may contain itself
    Json properties = Json::MakeObject();
    AddFields(message, properties);
    all.At(name).Set("properties", std::move(properties));
  }
  if (version_ == 2) return Json::MakeObject({{"$ref", "#/definitions/" + name}});
  const Json reference = Json::MakeObject({{"$ref", "#/components/schemas/" + name}});
  return Json::MakeObject({{"allOf", Json::MakeArray({reference})}});
}

void Schemas::AddFields(const wire::Message& message, Json& properties) {
  for (const wire::Field& field : message.fields) {
    if (!fields_.Knows(field)) continue;
    if (!field.inlined) {
      properties.Set(field.name, Of(field));
    } else if (field.message) {
      AddFields(*field.message, properties);
    }
  }
}

Json Schemas::Of(const wire::Field& field) {
  Json schema = One(field);
  if (field.repeated) schema = Json::MakeObject({{"type", "array"}, {"items", std::move(schema)}});
  if (field.map) {
    schema = Json::MakeObject({{"type", "object"}, {"additionalProperties", std::move(schema)}});
  }
  if (!field.patch_strategy.empty()) {
    schema.Set("x-kubernetes-patch-strategy", field.patch_strategy);
  }
  if (!field.merge_key.empty()) schema.Set("x-kubernetes-patch-merge-key", field.merge_key);
  return schema;
}

Json Schemas::One(const wire::Field& field) {
  switch (field.type) {
    case wire::Type::kText:
    case wire::Type::kDuration:
    case wire::Type::kQuantity:
      return Simple("string");
    case wire::Type::kBytes:
      return Simple("string", "byte");
    case wire::Type::kTime:
    case wire::Type::kMicroTime:
      return Simple("string", "date-time");
    case wire::Type::kBool:
      return Simple("boolean");
    case wire::Type::kInt:
      return Simple("integer", "int64");
    case wire::Type::kDouble:
      return Simple("number", "double");
    case wire::Type::kIntOrString:
      return Simple("string", "int-or-string");
    case wire::Type::kRaw:
      return Simple("object");
    case wire::Type::kTexts:
      return Json::MakeObject({{"type", "array"}, {"items", Simple("string")}});
    case wire::Type::kMessage:
      break;
  }
  return Reference(*field.message);
}

}  // namespace berth::apiserver
