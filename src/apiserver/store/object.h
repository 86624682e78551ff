// StoredObject: one version of one object, immutable and shared by the store, its log and watchers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/string_map.h"
#include "apiserver/json/edit.h"
#include "apiserver/json/value.h"
#include "apiserver/resource.h"

namespace berth::apiserver {

struct StoredObject {
  std::string text;  // the JSON of the object, metadata.resourceVersion included
  std::string namespace_;
  std::string name;
  std::string uid;
  uint64_t version = 0;
  api::StringMap labels;
  std::vector<std::string> fields;  // the values of Resource::selectable, in its order

  // For controllers: who owns it, the one that controls it, and how it is.
  std::vector<std::string> owners;  // uids
  std::string controller;           // uid
  bool deleting = false;
  bool ready = false;  // the condition Ready is True

  Json Value() const;  // parsed anew
};

// Shared: the store, the log and slow watchers let go of a version at different times.
using ObjectPtr = std::shared_ptr<const StoredObject>;

// Takes the object's text and what selectors look at. `object` has the version in its metadata.
ObjectPtr MakeStoredObject(const Resource& resource, const Json& object, uint64_t version);

// What `from` becomes by the edits, without reading it all. REQUIRES: the edits are in order, none
// is about labels, owners, the namespace or deletion, those of fields that selectors know have
// values and no texts, and the resource has no fields of selectors that are no paths.
ObjectPtr DeriveStoredObject(const Resource& resource, const StoredObject& from,
                             std::span<const Edit> edits, uint64_t version);

// "NAMESPACE/NAME", "NAME" without a namespace: the order of lists.
std::string ObjectKey(std::string_view namespace_, std::string_view name);

// metadata.labels (annotations) as a map; members that are no strings are left out.
api::StringMap ToStringMap(const Json& object);

}  // namespace berth::apiserver
