// OpenAPI v3.
//
// The patch operations say that the server checks fields, so that kubectl sends its objects to be
// validated here. They do not offer strategic merge patches: kubectl then computes those from the
// types it has built in, which know all merge keys. The schemas serve `kubectl explain`.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/http/discovery.h"
#include "apiserver/http/schemas.h"

namespace berth::apiserver {
namespace {

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
  Schemas schemas(3, catalog.Fields());
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
    schemas.Add(*resource);
  }
  return Json::MakeObject(
      {{"openapi", "3.0.0"},
       {"info", Json::MakeObject({{"title", "Kubernetes"}, {"version", catalog.GitVersion()}})},
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
