// Plan: the claims of a pod that have to be allocated, resolved against the device classes. Made
// once per pod, the same for every node.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cluster/objects/object_store.h"
#include "config/plugin_args.h"
#include "plugins/dynamic_resources/selectors.h"

namespace berth::plugins::dynamic_resources {

// A claim may not hold more devices.
inline constexpr int64_t kMaxDevicesPerClaim = 32;

// A request, or one alternative of a request.
struct PlannedRequest {
  std::string name;    // of the request or the alternative itself
  std::string parent;  // of the request an alternative belongs to; else empty
  std::string error;   // not empty: the request cannot be handled on any node
  std::shared_ptr<SelectorChain> chain;
  // What counts as "all" devices. Not always `chain`, see MakePlan.
  std::shared_ptr<SelectorChain> all_chain;
  const api::DeviceClass* device_class = nullptr;
  const std::vector<api::DeviceToleration>* tolerations = nullptr;
  const api::CapacityRequirements* capacity = nullptr;  // null: nothing in particular
  bool all = false;
  bool admin_access = false;
  int64_t count = 0;

  std::string FullName() const { return parent.empty() ? name : parent + "/" + name; }
  const std::string& BaseName() const { return parent.empty() ? name : parent; }
};

// A request with its alternatives: one PlannedRequest, or several of which the first that works is
// taken.
struct RequestGroup {
  size_t first = 0;  // in ClaimPlan::requests
  size_t count = 0;
  bool prioritized = false;
  std::string error;  // before its requests are evaluated
};

// Devices of some requests must agree in an attribute, or all have it and differ.
struct PlannedConstraint {
  bool distinct = false;
  std::string attribute;
  std::vector<std::string> requests;  // empty: all

  bool AppliesTo(const PlannedRequest& request) const;
};

struct ClaimPlan {
  const api::ResourceClaim* claim = nullptr;
  std::string key;  // "namespace/name"
  std::vector<RequestGroup> groups;
  std::vector<PlannedRequest> requests;
  std::vector<PlannedConstraint> constraints;
  std::string constraint_error;
};

struct Plan {
  config::DraFeatures features;
  std::vector<ClaimPlan> claims;
  // Equal for plans that have the same answer on every node, but for names in errors.
  std::string signature;
  // One request for a number of devices without constraints: counting is enough.
  bool countable = false;
};

Plan MakePlan(const std::vector<const api::ResourceClaim*>& claims,
              const cluster::ObjectStore& objects, SelectorTable& selectors,
              const config::DraFeatures& features = {});

}  // namespace berth::plugins::dynamic_resources
