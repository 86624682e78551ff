// Server-side apply: who owns which fields, and what a manager's new wishes change.
//
// metadata.managedFields of an object has one entry per manager that has applied, and one per
// program that has since changed a field an applier owned. Objects nobody applies carry none.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/json/value.h"
#include "apiserver/registry/registry.h"

namespace berth::apiserver {

struct ApplyOptions {
  std::string manager;
  bool force = false;
  WriteOptions write = {};
};

// Makes the object what `wish` says about it: fields the manager named before and does not name now
// are removed unless another manager owns them; fields another manager owns with another value are
// conflicts unless forced.
Answer<ObjectPtr> Apply(Registry& registry, const Resource& resource, std::string_view namespace_,
                        std::string_view name, Json wish, std::string_view subresource,
                        const ApplyOptions& options, bool* created);

// After a write that was no apply: fields that changed pass from the appliers who owned them to
// `manager`.
void PassOwnership(const Json& before, Json& after, std::string_view manager,
                   std::string_view api_version, const std::string& now);

// FieldsV1 of a value: {"f:spec":{"f:replicas":{}}}.
Json FieldsOf(const Json& value);

}  // namespace berth::apiserver
