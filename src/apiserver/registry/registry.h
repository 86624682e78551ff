// Registry: the rules by which objects are created, changed and deleted.
//
// Over the store, which keeps whatever it is given: names, identities, generations, optimistic
// concurrency, defaults, admission, validation, graceful deletion and finalizers are decided here,
// with the API server's answers. The HTTP front and the controllers inside the process both write
// through it.
//
// Threads: one, the server's.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/json_scan.h"
#include "api/time.h"
#include "apiserver/json/value.h"
#include "apiserver/registry/quota.h"
#include "apiserver/resource.h"
#include "apiserver/status.h"
#include "apiserver/store/store.h"
#include "base/random.h"

namespace berth::apiserver {

struct WriteOptions {
  bool dry_run = false;
  std::string field_manager = {};
  bool applied = false;  // ownership of fields is settled
};

struct DeleteOptions {
  std::optional<int64_t> grace_period_seconds = {};
  std::string propagation_policy = {};  // "", "Background", "Foreground", "Orphan"
  std::string uid = {};                 // preconditions
  std::string resource_version = {};
  bool dry_run = false;

  static Answer<DeleteOptions> From(const Json& options);
};

// What became of a deletion.
struct Deleted {
  ObjectPtr object;
  bool gone = false;  // else it waits for its grace period or its finalizers
};

struct RegistryOptions {
  std::function<api::Time()> now;
  uint64_t seed = 1;
  // Larger or deeper objects are refused before they are kept: everything that is kept can be read
  // again.
  size_t max_object_bytes = 3u << 20;
  size_t max_object_depth = api::kMaxJsonDepth;
  // A pod disappears the moment it is deleted instead of waiting for its kubelet.
  bool no_kubelets = false;
};

class Registry {
 public:
  // Changes an object in place, or says why not.
  using Change = std::function<Answer<void>(Json& object)>;

  Registry(Catalog& catalog, Store& store, RegistryOptions options);

  Catalog& Resources() { return catalog_; }
  Store& Objects() { return store_; }
  api::Time Now() const { return options_.now(); }
  Random& Chance() { return random_; }

  Answer<ObjectPtr> Get(const Resource& resource, std::string_view namespace_,
                        std::string_view name) const;
  Answer<ObjectPtr> Create(const Resource& resource, std::string_view namespace_, Json object,
                           const WriteOptions& options = {});
  // Creates up to `count` objects that differ in their generated names alone; how many. The first
  // one takes the long way, the others follow from it. REQUIRES: the object has a generateName.
  Answer<size_t> CreateMany(const Resource& resource, std::string_view namespace_, Json object,
                            size_t count, const WriteOptions& options = {});
  // Replaces the object, or with subresource "status" its status; `created` is set when there was
  // none and the kind may be created so.
  Answer<ObjectPtr> Update(const Resource& resource, std::string_view namespace_,
                           std::string_view name, Json object, std::string_view subresource = {},
                           const WriteOptions& options = {}, bool* created = nullptr);
  // Applies `change` to the object as it is now, then goes on as Update.
  Answer<ObjectPtr> Modify(const Resource& resource, std::string_view namespace_,
                           std::string_view name, const Change& change,
                           std::string_view subresource = {}, const WriteOptions& options = {});
  // The same by edits, as Store::Derive takes them, for what the process itself reports of an
  // object it may change: neither defaults nor validation, and always a new version.
  Answer<ObjectPtr> Touch(const Resource& resource, std::string_view namespace_,
                          std::string_view name, std::vector<Edit> edits,
                          const WriteOptions& options = {});
  Answer<Deleted> Delete(const Resource& resource, std::string_view namespace_,
                         std::string_view name, const DeleteOptions& options = {});

  // The subresource pods/binding.
  Answer<void> Bind(std::string_view namespace_, std::string_view name, const Json& binding,
                    const WriteOptions& options = {});
  // The subresource pods/eviction.
  Answer<void> Evict(std::string_view namespace_, std::string_view name, const Json& eviction);

  // status.used of a ResourceQuota.
  Json QuotaUse(const Json& quota) { return quotas_.Used(quota); }

  // Kinds whose metadata.generation counts changes.
  static bool HasGeneration(const Resource& resource);

 private:
  struct Namespaces;

  Answer<void> PrepareNew(const Resource& resource, std::string_view namespace_, Json& object);
  Answer<void> CheckNamespace(const Resource& resource, std::string_view namespace_,
                              std::string_view name) const;
  Answer<ObjectPtr> Finish(const Resource& resource, const ObjectPtr& old, const Json& before,
                           Json object, std::string_view subresource, const WriteOptions& options);
  Answer<size_t> CreateOneByOne(const Resource& resource, std::string_view namespace_,
                                const Json& object, size_t count, const WriteOptions& options);
  Answer<void> CheckExtent(const Resource& resource, const Json& object) const;
  Answer<ObjectPtr> Write(const Resource& resource, Json object, const WriteOptions& options);
  // After definitions of custom resources have changed.
  void Learn(const Resource& resource, const Json& object, bool gone);
  std::string RandomSuffix();
  std::string RandomUid();

  Catalog& catalog_;
  Store& store_;
  const Resource& pods_;
  const Resource& namespaces_;
  const size_t node_field_;  // the place of spec.nodeName in StoredObject::fields of a pod
  RegistryOptions options_;
  Random random_;
  Quotas quotas_;
};

// Looks at custom resource definitions.
std::vector<Resource> ResourcesOf(const Json& definition);

}  // namespace berth::apiserver
