// Resources: what the API server serves, and where.
//
// The built-in ones are a table (resource.cc) with the releases and feature gates they depend on;
// definitions (CRDs) add more while the server runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "apiserver/wire/message.h"
#include "config/behaviour.h"
#include "config/feature_gates.h"

namespace berth::apiserver {

struct Resource {
  std::string group = {};  // "" is core
  std::string version = {};
  std::string kind = {};
  std::string plural = {};
  std::string singular = {};
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  bool namespaced = true;
  bool status = false;       // has the subresource
  bool scale = false;        // likewise
  bool create_only = false;  // answers to POST alone, nothing is kept (reviews)
  bool custom = false;       // of a CustomResourceDefinition
  // The fields besides metadata that field selectors may name.
  std::vector<std::string> selectable = {};
  const api::TypeInfo* type = nullptr;  // null: berth does not describe the kind
  const wire::Message* wire = nullptr;  // null: the kind has no protobuf
  // Objects are kept under this resource's number, in its form: events exist in two groups,
  // autoscalers in two versions.
  uint32_t id = 0;
  uint32_t storage_id = 0;

  std::string ApiVersion() const { return group.empty() ? version : group + "/" + version; }
  // "deployments.apps", as errors name it.
  std::string GroupResource() const { return group.empty() ? plural : plural + "." + group; }
};

class Catalog {
 public:
  // The built-in resources of the API server that the gates are of. Alpha and beta versions are
  // served when the gate of their kind is on.
  explicit Catalog(const config::FeatureGates& gates = config::FeatureGates());

  const config::Behaviour& Behaviour() const { return behaviour_; }
  // The fields of built-in kinds.
  const wire::Served& Fields() const { return fields_; }
  // "v1.37.1"
  std::string_view GitVersion() const;

  const Resource* Find(std::string_view group, std::string_view version,
                       std::string_view plural) const;
  // Of any version.
  const Resource* FindKind(std::string_view api_version, std::string_view kind) const;
  // REQUIRES: a built-in resource.
  const Resource& Core(std::string_view plural) const;
  const Resource& Named(std::string_view group, std::string_view plural) const;
  const Resource& At(uint32_t id) const { return *resources_[id]; }
  // In whose form objects of the resource are kept.
  const Resource& Kept(const Resource& resource) const {
    return resource.custom ? resource : At(resource.storage_id);
  }
  size_t Size() const { return resources_.size(); }

  // The served ones, in the order of discovery.
  const std::vector<const Resource*>& Served() const { return served_; }

  // Adds the resource or changes the one of that group, version and name.
  const Resource& AddCustom(Resource resource);
  // No longer served; its number stays taken.
  void RemoveCustom(std::string_view group, std::string_view plural);

 private:
  const Resource& Add(Resource resource);

  config::Behaviour behaviour_;
  wire::Served fields_;
  std::vector<std::unique_ptr<Resource>> resources_;  // by id
  std::vector<const Resource*> served_;
};

}  // namespace berth::apiserver
