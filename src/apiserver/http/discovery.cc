#include "apiserver/http/discovery.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace berth::apiserver {
namespace {

struct Subresource {
  std::string name;
  std::string group;
  std::string version;
  std::string kind;
  std::vector<std::string> verbs;
};

std::vector<std::string> Verbs(const Resource& resource) {
  if (resource.create_only) return {"create"};
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

std::vector<Subresource> Subresources(const Resource& resource) {
  std::vector<Subresource> subresources;
  if (resource.kind == "Pod" && resource.group.empty()) {
    subresources.push_back({"binding", "", "v1", "Binding", {"create"}});
    subresources.push_back({"eviction", "policy", "v1", "Eviction", {"create"}});
    subresources.push_back({"log", "", "v1", "Pod", {"get"}});
  }
  if (resource.scale) {
    subresources.push_back({"scale", "autoscaling", "v1", "Scale", {"get", "patch", "update"}});
  }
  if (resource.status) {
    subresources.push_back(
        {"status", resource.group, resource.version, resource.kind, {"get", "patch", "update"}});
  }
  return subresources;
}

Json Strings(const std::vector<std::string>& values) {
  Json list = Json::MakeArray();
  for (const std::string& value : values) list.Append(value);
  return list;
}

std::vector<const Resource*> Of(const Catalog& catalog, std::string_view group,
                                std::string_view version) {
  std::vector<const Resource*> found;
  for (const Resource* resource : catalog.Served()) {
    if (resource->group == group && (version.empty() || resource->version == version)) {
      found.push_back(resource);
    }
  }
  return found;
}

std::vector<std::string> Groups(const Catalog& catalog) {
  std::vector<std::string> groups;
  for (const Resource* resource : catalog.Served()) {
    if (resource->group.empty()) continue;
    if (std::find(groups.begin(), groups.end(), resource->group) == groups.end()) {
      groups.push_back(resource->group);
    }
  }
  return groups;
}

std::vector<std::string> Versions(const Catalog& catalog, std::string_view group) {
  std::vector<std::string> versions;
  for (const Resource* resource : Of(catalog, group, "")) {
    if (std::find(versions.begin(), versions.end(), resource->version) == versions.end()) {
      versions.push_back(resource->version);
    }
  }
  return versions;
}

Json ResourceList(const Catalog& catalog, std::string_view group, std::string_view version) {
  Json resources = Json::MakeArray();
  for (const Resource* resource : Of(catalog, group, version)) {
    Json entry = Json::MakeObject({{"name", resource->plural},
                                   {"singularName", resource->singular},
                                   {"namespaced", resource->namespaced},
                                   {"kind", resource->kind},
                                   {"verbs", Strings(Verbs(*resource))}});
    if (!resource->short_names.empty()) entry.Set("shortNames", Strings(resource->short_names));
    if (!resource->categories.empty()) entry.Set("categories", Strings(resource->categories));
    resources.Append(std::move(entry));
    for (const Subresource& sub : Subresources(*resource)) {
      Json entry_of_sub = Json::MakeObject({{"name", resource->plural + "/" + sub.name},
                                            {"singularName", ""},
                                            {"namespaced", resource->namespaced},
                                            {"kind", sub.kind},
                                            {"verbs", Strings(sub.verbs)}});
      if (sub.group != resource->group) {
        entry_of_sub.Set("group", sub.group);
        entry_of_sub.Set("version", sub.version);
      }
      resources.Append(std::move(entry_of_sub));
    }
  }
  return Json::MakeObject({{"kind", "APIResourceList"},
                           {"apiVersion", "v1"},
                           {"groupVersion", group.empty() ? std::string(version)
                                                          : fmt::format("{}/{}", group, version)},
                           {"resources", std::move(resources)}});
}

Json Group(const Catalog& catalog, const std::string& group) {
  Json versions = Json::MakeArray();
  for (const std::string& version : Versions(catalog, group)) {
    versions.Append(
        Json::MakeObject({{"groupVersion", group + "/" + version}, {"version", version}}));
  }
  const Json preferred = versions.Items().front();
  return Json::MakeObject(
      {{"name", group}, {"versions", std::move(versions)}, {"preferredVersion", preferred}});
}

Json Kind(std::string_view group, std::string_view version, std::string_view kind) {
  return Json::MakeObject({{"group", group}, {"version", version}, {"kind", kind}});
}

Json AggregatedGroup(const Catalog& catalog, const std::string& group) {
  Json versions = Json::MakeArray();
  for (const std::string& version : Versions(catalog, group)) {
    Json resources = Json::MakeArray();
    for (const Resource* resource : Of(catalog, group, version)) {
      Json entry = Json::MakeObject(
          {{"resource", resource->plural},
           {"responseKind", Kind(resource->group, resource->version, resource->kind)},
           {"scope", resource->namespaced ? "Namespaced" : "Cluster"},
           {"singularResource", resource->singular},
           {"verbs", Strings(Verbs(*resource))}});
      if (!resource->short_names.empty()) entry.Set("shortNames", Strings(resource->short_names));
      if (!resource->categories.empty()) entry.Set("categories", Strings(resource->categories));
      Json subresources = Json::MakeArray();
      for (const Subresource& sub : Subresources(*resource)) {
        subresources.Append(
            Json::MakeObject({{"subresource", sub.name},
                              {"responseKind", Kind(sub.group, sub.version, sub.kind)},
                              {"verbs", Strings(sub.verbs)}}));
      }
      if (!subresources.Empty()) entry.Set("subresources", std::move(subresources));
      resources.Append(std::move(entry));
    }
    versions.Append(Json::MakeObject(
        {{"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}}));
  }
  Json metadata = Json::MakeObject({{"creationTimestamp", Json()}});
  if (!group.empty()) metadata.Set("name", group);
  return Json::MakeObject({{"metadata", std::move(metadata)}, {"versions", std::move(versions)}});
}

Json AggregatedList(const Catalog& catalog, const std::vector<std::string>& groups) {
  Json items = Json::MakeArray();
  for (const std::string& group : groups) items.Append(AggregatedGroup(catalog, group));
  return Json::MakeObject({{"kind", "APIGroupDiscoveryList"},
                           {"apiVersion", "apidiscovery.k8s.io/v2"},
                           {"metadata", Json::MakeObject()},
                           {"items", std::move(items)}});
}

}  // namespace

bool AcceptsAggregated(std::string_view accept) {
  return accept.find("as=APIGroupDiscoveryList") != std::string_view::npos &&
         accept.find("v=v2;") != std::string_view::npos;
}

std::optional<Json> Discover(const Catalog& catalog, std::string_view path, bool aggregated) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path == "/api") {
    if (aggregated) return AggregatedList(catalog, {""});
    return Json::MakeObject({{"kind", "APIVersions"},
                             {"versions", Json::MakeArray({"v1"})},
                             {"serverAddressByClientCIDRs", Json::MakeArray()}});
  }
  if (path == "/apis") {
    if (aggregated) return AggregatedList(catalog, Groups(catalog));
    Json groups = Json::MakeArray();
    for (const std::string& group : Groups(catalog)) groups.Append(Group(catalog, group));
    return Json::MakeObject(
        {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}});
  }
  if (path == "/api/v1") return ResourceList(catalog, "", "v1");
  constexpr std::string_view kPrefix = "/apis/";
  if (!path.starts_with(kPrefix)) return std::nullopt;
  path.remove_prefix(kPrefix.size());
  const size_t slash = path.find('/');
  const std::string group(path.substr(0, slash));
  if (Of(catalog, group, "").empty() || group.empty()) return std::nullopt;
  if (slash == std::string_view::npos) {
    Json answer = Group(catalog, group);
    answer.Set("kind", "APIGroup");
    answer.Set("apiVersion", "v1");
    return answer;
  }
  const std::string_view version = path.substr(slash + 1);
  if (version.find('/') != std::string_view::npos || Of(catalog, group, version).empty()) {
    return std::nullopt;
  }
  return ResourceList(catalog, group, version);
}

Json VersionInfo(const Catalog& catalog) {
  const std::string& version = catalog.Behaviour().kubernetes_version;  // "1.37"
  const std::string minor = version.substr(version.find('.') + 1);
  return Json::MakeObject(
      {{"major", "1"},
       {"minor", minor},
       {"gitVersion", fmt::format("{}+berth", catalog.GitVersion())},
       {"gitCommit", ""},
       {"gitTreeState", "clean"},
       {"buildDate", "1970-01-01T00:00:00Z"},
       {"goVersion", ""},
       {"compiler", "g++"},
       {"platform", "linux/amd64"},
       {"emulationMajor", "1"},
       {"emulationMinor", minor},
       {"minCompatibilityMajor", "1"},
       {"minCompatibilityMinor", std::to_string(std::atoi(minor.c_str()) - 1)}});
}

}  // namespace berth::apiserver
