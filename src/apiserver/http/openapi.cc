// OpenAPI v3, from the described types.
//
// The patch operations say that the server checks fields, so that kubectl sends its objects to be
// validated here. They do not offer strategic merge patches: kubectl then computes those from the
// types it has built in, which know all merge keys. The schemas serve `kubectl explain`.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/schema.h"
#include "apiserver/http/discovery.h"

namespace berth::apiserver {
namespace {

std::string SchemaName(std::string_view name) { return fmt::format("io.k8s.{}", name); }

// Gathers the schemas of a type and of all it contains.
class Schemas {
 public:
  Json Of(const api::TypeInfo& type) {
    switch (type.kind) {
      case api::Kind::kString:
      case api::Kind::kBytes:
      case api::Kind::kDuration:
        return Simple("string");
      case api::Kind::kTime:
      case api::Kind::kMicroTime:
        return Json::MakeObject({{"type", "string"}, {"format", "date-time"}});
      case api::Kind::kBool:
        return Simple("boolean");
      case api::Kind::kInt32:
        return Json::MakeObject({{"type", "integer"}, {"format", "int32"}});
      case api::Kind::kInt64:
        return Json::MakeObject({{"type", "integer"}, {"format", "int64"}});
      case api::Kind::kDouble:
        return Simple("number");
      case api::Kind::kQuantity:
        return Simple("string");
      case api::Kind::kIntOrString:
        return Json::MakeObject({{"type", "string"}, {"format", "int-or-string"}});
      case api::Kind::kRawJson:
      case api::Kind::kPresence:
        return Simple("object");
      case api::Kind::kOptional:
        return Of(*type.element);
      case api::Kind::kList:
        return Json::MakeObject({{"type", "array"}, {"items", Of(*type.element)}});
      case api::Kind::kMap:
        return Json::MakeObject({{"type", "object"}, {"additionalProperties", Of(*type.element)}});
      case api::Kind::kMessage:
        break;
    }
    return Reference(type);
  }

  Json Reference(const api::TypeInfo& type) {
    const std::string name = SchemaName(type.name.empty() ? "Anonymous" : type.name);
    if (seen_.insert(name).second) {
      Json schema = Simple("object");
      Json& properties = schema.At("properties");
      properties = Json::MakeObject();
      AddFields(type, properties);
      all.Set(name, std::move(schema));
    }
    return Json::MakeObject(
        {{"allOf", Json::MakeArray({Json::MakeObject(
                       {{"$ref", fmt::format("#/components/schemas/{}", name)}})})}});
  }

  Json all = Json::MakeObject();

 private:
  static Json Simple(std::string_view type) { return Json::MakeObject({{"type", type}}); }

  void AddFields(const api::TypeInfo& type, Json& properties) {
    if (!type.object_kind.empty()) {
      properties.Set("apiVersion", Simple("string"));
      properties.Set("kind", Simple("string"));
    }
    for (const api::FieldInfo& field : type.fields) {
      if (field.name.empty()) {
        AddFields(*field.type, properties);
      } else {
        properties.Set(field.name, Of(*field.type));
      }
    }
  }

  std::set<std::string> seen_;
};

Json QueryParameter(std::string_view name) {
  return Json::MakeObject(
      {{"name", name}, {"in", "query"}, {"schema", Json::MakeObject({{"type", "string"}})}});
}

std::string CollectionPath(const Resource& resource) {
  const std::string root = resource.group.empty()
                               ? "/api/" + resource.version
                               : "/apis/" + resource.group + "/" + resource.version;
  return root + (resource.namespaced ? "/namespaces/{namespace}/" : "/") + resource.plural;
}

Json Operation(const Resource& resource, std::string_view action, bool patch) {
  Json operation = Json::MakeObject(
      {{"x-kubernetes-action", action},
       {"x-kubernetes-group-version-kind",
        Json::MakeObject(
            {{"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}})},
       {"parameters", Json::MakeArray({QueryParameter("dryRun"), QueryParameter("fieldManager"),
                                       QueryParameter("fieldValidation")})},
       {"responses", Json::MakeObject({{"200", Json::MakeObject({{"description", "OK"}})}})}});
  if (patch) {
    Json content = Json::MakeObject();
    for (std::string_view type : {"application/json-patch+json", "application/merge-patch+json",
                                  "application/apply-patch+yaml"}) {
      content.Set(type, Json::MakeObject({{"schema", Json::MakeObject({{"type", "object"}})}}));
    }
    operation.Set("requestBody", Json::MakeObject({{"content", std::move(content)}}));
  }
  return operation;
}

Json Document(const Catalog& catalog, std::string_view group, std::string_view version) {
  Schemas schemas;
  Json paths = Json::MakeObject();
  for (const Resource* resource : catalog.Served()) {
    if (resource->group != group || resource->version != version) continue;
    const std::string collection = CollectionPath(*resource);
    Json at_collection = Json::MakeObject();
    at_collection.Set("post", Operation(*resource, "post", false));
    if (!resource->create_only) {
      at_collection.Set("get", Operation(*resource, "list", false));
      Json object = Json::MakeObject();
      object.Set("get", Operation(*resource, "get", false));
      object.Set("put", Operation(*resource, "put", false));
      object.Set("patch", Operation(*resource, "patch", true));
      object.Set("delete", Operation(*resource, "delete", false));
      paths.Set(collection + "/{name}", std::move(object));
    }
    paths.Set(collection, std::move(at_collection));
    std::string name = SchemaName(resource->kind);
    if (resource->type) {
      schemas.Reference(*resource->type);
      name = SchemaName(resource->type->name.empty() ? resource->kind
                                                     : std::string(resource->type->name));
    } else {
      schemas.all.Set(name, Json::MakeObject({{"type", "object"},
                                              {"x-kubernetes-preserve-unknown-fields", true}}));
    }
    schemas.all.At(name).Set("x-kubernetes-group-version-kind",
                             Json::MakeArray({Json::MakeObject({{"group", resource->group},
                                                                {"version", resource->version},
                                                                {"kind", resource->kind}})}));
  }
  return Json::MakeObject(
      {{"openapi", "3.0.0"},
       {"info", Json::MakeObject({{"title", "Kubernetes"}, {"version", "v1.34.10"}})},
       {"paths", std::move(paths)},
       {"components", Json::MakeObject({{"schemas", std::move(schemas.all)}})}});
}

}  // namespace

std::optional<Json> DescribeOpenApi(const Catalog& catalog, std::string_view path) {
  constexpr std::string_view kRoot = "/openapi/v3";
  if (!path.starts_with(kRoot)) return std::nullopt;
  path.remove_prefix(kRoot.size());
  if (path.empty() || path == "/") {
    Json paths = Json::MakeObject();
    for (const Resource* resource : catalog.Served()) {
      const std::string name = resource->group.empty()
                                   ? "api/" + resource->version
                                   : "apis/" + resource->group + "/" + resource->version;
      paths.Set(name,
                Json::MakeObject({{"serverRelativeURL", fmt::format("/openapi/v3/{}", name)}}));
    }
    return Json::MakeObject({{"paths", std::move(paths)}});
  }
  for (const Resource* resource : catalog.Served()) {
    const std::string name = resource->group.empty()
                                 ? "/api/" + resource->version
                                 : "/apis/" + resource->group + "/" + resource->version;
    if (path == name) return Document(catalog, resource->group, resource->version);
  }
  return std::nullopt;
}

}  // namespace berth::apiserver
