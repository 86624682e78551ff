#include "apiserver/registry/registry.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apiserver/registry/admission.h"
#include "apiserver/registry/apply.h"
#include "apiserver/registry/defaults.h"
#include "apiserver/registry/validation.h"
#include "apiserver/wire/translate.h"

namespace berth::apiserver {
namespace {

// An object of one kind sent as another.
StatusError WrongKind(const Resource& resource, std::string_view version, std::string_view kind) {
  const size_t slash = version.find('/');
  const auto short_name = [](std::string_view name) {
    return name.empty() ? std::string_view("core") : name.substr(0, name.find('.'));
  };
  const std::string_view number =
      slash == std::string_view::npos ? version : version.substr(slash + 1);
  return BadRequest(fmt::format(
      "{} in version \"{}\" cannot be handled as a {}: converting ({}.{}) to ({}.{}): unknown "
      "conversion",
      kind, number, resource.kind, number, kind, short_name(resource.group), resource.kind));
}

Answer<void> CheckType(const Resource& resource, Json& object) {
  if (!object.IsObject()) {
    return Refuse(
        BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: the "
                               "body is no JSON object",
                               resource.kind, resource.version, resource.kind)));
  }
  const std::string version = resource.ApiVersion();
  const std::string_view given_version = object["apiVersion"].Str();
  const std::string_view given_kind = object["kind"].Str();
  if (!given_version.empty() && given_version != version) {
    return Refuse(BadRequest(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    given_version, version)));
  }
  if (!given_kind.empty() && !given_version.empty() && given_kind != resource.kind) {
    return Refuse(WrongKind(resource, given_version, given_kind));
  }
  if (!given_kind.empty() && given_kind != resource.kind) {
    return Refuse(
        BadRequest(fmt::format("the kind in the data ({}) does not match the expected "
                               "kind ({})",
                               given_kind, resource.kind)));
  }
  object.Set("apiVersion", version);
  object.Set("kind", resource.kind);
  if (!object["metadata"].IsObject()) object.Set("metadata", Json::MakeObject());
  return {};
}

// Members that are null are absent: a client may leave creationTimestamp null.
void DropNulls(Json& value, int depth = 0) {
  if (value.IsObject()) {
    auto& members = value.MutableMembers();
    std::erase_if(members, [](const Json::Member& member) { return member.value.IsNull(); });
    for (auto& member : members) DropNulls(member.value, depth + 1);
  } else if (value.IsArray()) {
    for (Json& item : value.MutableItems()) DropNulls(item, depth + 1);
  }
}

// Names that are taken one after the other before a generated name is given up.
constexpr int kNameTries = 8;

// What a generated name begins with.
std::string NameBase(const Json& metadata) {
  constexpr size_t kMaxBase = 58;
  return std::string(metadata["generateName"].Str().substr(0, kMaxBase));
}

bool CreatedByUpdate(const Resource& resource) {
  return resource.kind == "Lease" || resource.kind == "Endpoints" || resource.kind == "Event" ||
         resource.kind == "LimitRange";
}

// Everything but metadata and status: what generations count.
bool SameContent(const Json& a, const Json& b) {
  const auto skip = [](Json::Object::const_iterator at, Json::Object::const_iterator end) {
    while (at != end && (at->name == "metadata" || at->name == "status")) ++at;
    return at;
  };
  const Json::Object& left = a.Members();
  const Json::Object& right = b.Members();
  auto i = skip(left.begin(), left.end());
  auto j = skip(right.begin(), right.end());
  while (i != left.end() && j != right.end() && *i == *j) {
    i = skip(i + 1, left.end());
    j = skip(j + 1, right.end());
  }
  return i == left.end() && j == right.end();
}

}  // namespace

Registry::Registry(Catalog& catalog, Store& store, RegistryOptions options)
    : catalog_(catalog),
      store_(store),
      pods_(catalog.Core("pods")),
      namespaces_(catalog.Core("namespaces")),
      node_field_(static_cast<size_t>(
          std::find(pods_.selectable.begin(), pods_.selectable.end(), "spec.nodeName") -
          pods_.selectable.begin())),
      options_(std::move(options)),
      random_(options_.seed),
      quotas_(catalog, store) {
  for (const auto& [key, object] :
       store_.All(catalog_.Named("apiextensions.k8s.io", "customresourcedefinitions").storage_id)) {
    Learn(catalog_.Named("apiextensions.k8s.io", "customresourcedefinitions"), object->Value(),
          false);
  }
}

bool Registry::HasGeneration(const Resource& resource) {
  if (resource.custom) return true;
  static constexpr std::string_view kKinds[] = {"Pod",           "Deployment",
                                                "ReplicaSet",    "StatefulSet",
                                                "DaemonSet",     "Job",
                                                "CronJob",       "ReplicationController",
                                                "Ingress",       "PodDisruptionBudget",
                                                "NetworkPolicy", "CustomResourceDefinition"};
  return std::find(std::begin(kKinds), std::end(kKinds), resource.kind) != std::end(kKinds);
}

std::string Registry::RandomSuffix() {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kLetters[random_.Below(kLetters.size())];
  return suffix;
}

std::string Registry::RandomUid() {
  const uint64_t high = random_.Below(UINT64_MAX);
  const uint64_t low = random_.Below(UINT64_MAX);
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xfff, ((low >> 48) & 0x3fff) | 0x8000, low & 0xffffffffffff);
}

Answer<ObjectPtr> Registry::Get(const Resource& resource, std::string_view namespace_,
                                std::string_view name) const {
  ObjectPtr object = store_.Get(resource.storage_id, namespace_, name);
  if (!object) return Refuse(NotFound(resource, name));
  return object;
}

Answer<void> Registry::CheckNamespace(const Resource& resource, std::string_view namespace_,
                                      std::string_view name) const {
  if (!resource.namespaced) return {};
  const ObjectPtr found = store_.Get(namespaces_.storage_id, "", namespace_);
  if (!found) return Refuse(NotFound(namespaces_, namespace_));
  if (found->fields[0] == "Terminating") {
    StatusError error = Forbidden(
        resource, name,
        fmt::format("unable to create new content in namespace {} because it is being terminated",
                    namespace_));
    error.details.Set("causes",
                      Json::MakeArray({Json::MakeObject(
                          {{"reason", "NamespaceTerminating"},
                           {"message", fmt::format("namespace {} is being terminated", namespace_)},
                           {"field", "metadata.namespace"}})}));
    return Refuse(std::move(error));
  }
  return {};
}

Answer<void> Registry::PrepareNew(const Resource& resource, std::string_view namespace_,
                                  Json& object) {
  if (auto ok = CheckType(resource, object); !ok) return ok;
  DropNulls(object);
  if (resource.wire) wire::DropFields(*resource.wire, catalog_.Fields(), object);
  Json& metadata = object.At("metadata");
  if (resource.namespaced) {
    const std::string_view given = metadata["namespace"].Str();
    if (!given.empty() && given != namespace_) {
      return Refuse(BadRequest(
          "the namespace of the provided object does not match the namespace sent on the request"));
    }
    metadata.Set("namespace", namespace_);
  } else {
    metadata.Erase("namespace");
  }
  if (!metadata["resourceVersion"].Empty()) {
    return Refuse({500, "", "resourceVersion should not be set on objects to be created", Json()});
  }
  if (metadata["name"].Empty() && !metadata["generateName"].Empty()) {
    metadata.Set("name", NameBase(metadata) + RandomSuffix());
  }
  for (std::string_view field : {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
                                 "resourceVersion", "generation"}) {
    metadata.Erase(field);
  }
  metadata.Set("uid", RandomUid());
  metadata.Set("creationTimestamp", options_.now().Format());
  if (HasGeneration(resource)) metadata.Set("generation", 1);
  const bool keeps_status = resource.kind == "Node" || resource.kind == "Namespace" ||
                            resource.kind == "PersistentVolume";
  if (resource.status && !keeps_status && !resource.custom) {
    object.Set("status", Json::MakeObject());
  }
  return {};
}

Answer<ObjectPtr> Registry::Create(const Resource& resource, std::string_view namespace_,
                                   Json object, const WriteOptions& options) {
  if (auto ok = PrepareNew(resource, namespace_, object); !ok) return Refuse(std::move(ok.error()));
  const std::string name(object["metadata"]["name"].Str());
  if (auto ok = CheckNamespace(resource, namespace_, name); !ok) {
    return Refuse(std::move(ok.error()));
  }
  SetDefaults(resource, object);
  if (auto ok = AdmitNew(*this, resource, object); !ok) return Refuse(std::move(ok.error()));
  if (resource.wire) wire::FillZeros(*resource.wire, object);
  if (const auto errors = Validate(resource, object); !errors.empty()) {
    return Refuse(Invalid(resource, name, errors));
  }
  if (auto ok = quotas_.Admit(resource, object); !ok) return Refuse(std::move(ok.error()));
  if (store_.Get(resource.storage_id, resource.namespaced ? namespace_ : "", name)) {
    return Refuse(AlreadyExists(resource, name));
  }
  return Write(resource, std::move(object), options);
}

Answer<size_t> Registry::CreateMany(const Resource& resource, std::string_view namespace_,
                                    Json object, size_t count, const WriteOptions& options) {
  const std::string base = NameBase(object["metadata"]);
  if (quotas_.Limits(namespace_))
    return CreateOneByOne(resource, namespace_, object, count, options);
  const auto first = Create(resource, namespace_, std::move(object), options);
  if (!first) return Refuse(first.error());
  const Json now = options_.now().Format();
  size_t made = 1;
  for (int tries = 0; made < count && tries < kNameTries;) {
    std::string name = base + RandomSuffix();
    if (store_.Get(resource.storage_id, resource.namespaced ? namespace_ : "", name)) {
      ++tries;
      continue;
    }
    store_.Derive(resource.storage_id, **first,
                  {{"metadata.creationTimestamp", now},
                   {"metadata.name", std::move(name)},
                   {"metadata.uid", RandomUid()}});
    ++made;
    tries = 0;
  }
  return made;
}

Answer<size_t> Registry::CreateOneByOne(const Resource& resource, std::string_view namespace_,
                                        const Json& object, size_t count,
                                        const WriteOptions& options) {
  for (size_t made = 0; made < count; ++made) {
    const auto one = Create(resource, namespace_, object, options);
    if (one) continue;
    if (made == 0) return Refuse(one.error());
    return made;
  }
  return count;
}

Answer<void> Registry::CheckExtent(const Resource& resource, const Json& object) const {
  const JsonExtent extent = Measure(object);
  if (extent.depth > options_.max_object_depth) {
    return Refuse({422, "Invalid",
                   fmt::format("{} \"{}\" is invalid: nested deeper than {} levels", resource.kind,
                               object["metadata"]["name"].Str(), options_.max_object_depth),
                   Json()});
  }
  constexpr size_t kLongestEscape = 6;  // "\u003c"
  if (extent.bytes * kLongestEscape > options_.max_object_bytes &&
      object.Dump().size() > options_.max_object_bytes) {
    return Refuse(TooLarge(options_.max_object_bytes));
  }
  return {};
}

Answer<ObjectPtr> Registry::Write(const Resource& resource, Json object,
                                  const WriteOptions& options) {
  if (auto ok = CheckExtent(resource, object); !ok) return Refuse(std::move(ok.error()));
  if (options.dry_run) return MakeStoredObject(catalog_.At(resource.storage_id), object, 0);
  const bool definition = resource.kind == "CustomResourceDefinition";
  if (definition) Learn(resource, object, false);
  return store_.Put(resource.storage_id, std::move(object));
}

Answer<ObjectPtr> Registry::Update(const Resource& resource, std::string_view namespace_,
                                   std::string_view name, Json object, std::string_view subresource,
                                   const WriteOptions& options, bool* created) {
  if (auto ok = CheckType(resource, object); !ok) return Refuse(std::move(ok.error()));
  DropNulls(object);
  if (resource.wire) wire::DropFields(*resource.wire, catalog_.Fields(), object);
  Json& metadata = object.At("metadata");
  if (metadata["name"].Empty()) metadata.Set("name", name);
  if (metadata["name"].Str() != name) {
    return Refuse(BadRequest(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                    metadata["name"].Str(), name)));
  }
  const ObjectPtr old = store_.Get(resource.storage_id, namespace_, name);
  if (!old) {
    if (!CreatedByUpdate(resource) || !subresource.empty()) return Refuse(NotFound(resource, name));
    metadata.Erase("resourceVersion");
    if (created) *created = true;
    return Create(resource, namespace_, std::move(object), options);
  }
  return Finish(resource, old, old->Value(), std::move(object), subresource, options);
}

Answer<ObjectPtr> Registry::Modify(const Resource& resource, std::string_view namespace_,
                                   std::string_view name, const Change& change,
                                   std::string_view subresource, const WriteOptions& options) {
  const ObjectPtr old = store_.Get(resource.storage_id, namespace_, name);
  if (!old) return Refuse(NotFound(resource, name));
  const Json before = old->Value();
  Json object = before;
  if (auto ok = change(object); !ok) return Refuse(std::move(ok.error()));
  if (auto ok = CheckType(resource, object); !ok) return Refuse(std::move(ok.error()));
  DropNulls(object);
  if (resource.wire) wire::DropFields(*resource.wire, catalog_.Fields(), object);
  return Finish(resource, old, before, std::move(object), subresource, options);
}

Answer<ObjectPtr> Registry::Touch(const Resource& resource, std::string_view namespace_,
                                  std::string_view name, std::vector<Edit> edits,
                                  const WriteOptions& options) {
  const ObjectPtr old = store_.Get(resource.storage_id, namespace_, name);
  if (!old) return Refuse(NotFound(resource, name));
  // What others own or wait for goes the long way.
  if (old->deleting || !FindText(old->text, "metadata.managedFields").empty()) {
    const auto change = [&](Json& object) -> Answer<void> {
      EditValue(object, edits);
      return {};
    };
    return Modify(resource, namespace_, name, change, resource.status ? "status" : "", options);
  }
  return store_.Derive(resource.storage_id, *old, std::move(edits));
}

Answer<ObjectPtr> Registry::Finish(const Resource& resource, const ObjectPtr& old,
                                   const Json& before, Json object, std::string_view subresource,
                                   const WriteOptions& options) {
  Json& metadata = object.At("metadata");
  const Json& old_metadata = before["metadata"];
  const std::string_view version = metadata["resourceVersion"].Str();
  if (!version.empty() && version != "0" && version != old_metadata["resourceVersion"].Str()) {
    return Refuse(ModifiedConflict(resource, old->name));
  }
  const std::string_view uid = metadata["uid"].Str();
  if (!uid.empty() && uid != old->uid) {
    return Refuse(Conflict(resource, old->name,
                           fmt::format("Precondition failed: UID in precondition: {}, UID in "
                                       "object meta: {}",
                                       uid, old->uid)));
  }
  for (std::string_view field :
       {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
        "deletionGracePeriodSeconds", "generation", "resourceVersion", "generateName"}) {
    if (const Json* value = old_metadata.Find(field)) {
      metadata.Set(field, *value);
    } else {
      metadata.Erase(field);
    }
  }
  if (subresource == "status") {
    // Everything but metadata and status is as it was.
    if (!SameContent(before, object)) {
      Json updated = before;
      updated.Set("metadata", std::move(metadata));
      if (Json* status = object.Find("status")) updated.Set("status", std::move(*status));
      object = std::move(updated);
    } else if (!object.Has("status") && before.Has("status")) {
      object.Set("status", before["status"]);
    }
  } else if (resource.status) {
    if (const Json* status = before.Find("status")) {
      object.Set("status", *status);
    } else {
      object.Erase("status");
    }
  }
  if (subresource.empty()) {
    SetDefaults(resource, object);
    if (auto ok = AdmitUpdate(*this, resource, object, before); !ok) {
      return Refuse(std::move(ok.error()));
    }
  }
  if (resource.wire) wire::FillZeros(*resource.wire, object);
  auto errors = Validate(resource, object);
  if (subresource.empty() && errors.empty()) errors = ValidateUpdate(resource, object, before);
  if (!errors.empty()) return Refuse(Invalid(resource, old->name, errors));
  if (HasGeneration(resource) && !SameContent(before, object)) {
    object.At("metadata").Set("generation", old_metadata["generation"].Int() + 1);
  }
  // Its version is still the old one.
  if (before == object) return old;
  if (!options.applied) {
    PassOwnership(before, object, options.field_manager, resource.ApiVersion(),
                  options_.now().Format());
  }
  const bool finalized = !object["metadata"]["deletionTimestamp"].IsNull() &&
                         object["metadata"]["finalizers"].Empty() &&
                         object["metadata"]["deletionGracePeriodSeconds"].Int() == 0 &&
                         (resource.kind != "Namespace" || object["spec"]["finalizers"].Empty());
  if (finalized && !options.dry_run) {
    if (auto ok = CheckExtent(resource, object); !ok) return Refuse(std::move(ok.error()));
    store_.Put(resource.storage_id, object);
    if (resource.kind == "CustomResourceDefinition") Learn(resource, object, true);
    return store_.Remove(resource.storage_id, old->namespace_, old->name);
  }
  return Write(resource, std::move(object), options);
}

void Registry::Learn(const Resource& resource, const Json& object, bool gone) {
  if (resource.kind != "CustomResourceDefinition") return;
  const std::string_view group = object["spec"]["group"].Str();
  const std::string_view plural = object["spec"]["names"]["plural"].Str();
  catalog_.RemoveCustom(group, plural);
  if (gone) return;
  for (Resource& served : ResourcesOf(object)) catalog_.AddCustom(std::move(served));
}

std::vector<Resource> ResourcesOf(const Json& definition) {
  std::vector<Resource> resources;
  const Json& spec = definition["spec"];
  const Json& names = spec["names"];
  for (const Json& version : spec["versions"].Items()) {
    if (!version["served"].Bool()) continue;
    Resource resource{.group = std::string(spec["group"].Str()),
                      .version = std::string(version["name"].Str()),
                      .kind = std::string(names["kind"].Str()),
                      .plural = std::string(names["plural"].Str()),
                      .singular = std::string(names["singular"].Str()),
                      .namespaced = spec["scope"].Str() != "Cluster",
                      .status = version["subresources"].Has("status"),
                      .scale = version["subresources"].Has("scale"),
                      .custom = true};
    for (const Json& name : names["shortNames"].Items()) {
      resource.short_names.emplace_back(name.Str());
    }
    for (const Json& name : names["categories"].Items()) {
      resource.categories.emplace_back(name.Str());
    }
    resources.push_back(std::move(resource));
  }
  return resources;
}

}  // namespace berth::apiserver
