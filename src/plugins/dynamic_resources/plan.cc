#include "plugins/dynamic_resources/plan.h"

#include <algorithm>
#include <utility>

namespace berth::plugins::dynamic_resources {
namespace {

constexpr std::string_view kExactCount = "ExactCount";
constexpr std::string_view kAll = "All";

// What a request and an alternative have in common.
struct RequestView {
  const std::string& device_class_name;
  const std::vector<api::DeviceSelector>& selectors;
  const std::string& allocation_mode;
  int64_t count;
  const std::vector<api::DeviceToleration>& tolerations;
  const std::optional<api::CapacityRequirements>& capacity;
  bool says_admin_access = false;  // or that it is not wanted
};

class Planner {
 public:
  Planner(const cluster::ObjectStore& objects, SelectorTable& selectors, Plan* plan)
      : objects_(objects), selectors_(selectors), plan_(*plan) {}

  void AddClaim(const api::ResourceClaim& claim) {
    ClaimPlan& planned = plan_.claims.emplace_back();
    planned.claim = &claim;
    planned.key = claim.metadata.namespace_ + "/" + claim.metadata.name;
    Sign("claim");
    for (const api::DeviceRequest& request : claim.spec.devices.requests) {
      AddRequest(request, &planned);
    }
    AddConstraints(claim, &planned);
  }

 private:
  template <class... Parts>
  void Sign(const Parts&... parts) {
    ((plan_.signature += parts, plan_.signature += '\n'), ...);
  }

  void AddRequest(const api::DeviceRequest& request, ClaimPlan* claim) {
    RequestGroup group;
    group.first = claim->requests.size();
    group.prioritized = !request.first_available.empty();
    if (!plan_.features.consumable_capacity && WantsCapacity(request)) {
      group.error = "claim " + claim->key + ", request " + request.name +
                    ": has capacity requests, but the DRAConsumableCapacity feature is disabled";
    }
    Sign(group.prioritized ? "first of" : "exactly", group.error.empty() ? "" : "refused");
    if (group.prioritized) {
      for (const api::DeviceSubRequest& alternative : request.first_available) {
        PlannedRequest planned;
        planned.name = alternative.name;
        planned.parent = request.name;
        Resolve({alternative.device_class_name, alternative.selectors, alternative.allocation_mode,
                 alternative.count, alternative.tolerations, alternative.capacity},
                &planned, claim);
      }
      if (!plan_.features.sorted_pools) ShareAllDevices(group, claim);
    } else if (request.exactly) {
      PlannedRequest planned;
      planned.name = request.name;
      planned.admin_access = request.exactly->admin_access.value_or(false);
      Resolve(
          {request.exactly->device_class_name, request.exactly->selectors,
           request.exactly->allocation_mode, request.exactly->count, request.exactly->tolerations,
           request.exactly->capacity, request.exactly->admin_access.has_value()},
          &planned, claim);
    }
    group.count = claim->requests.size() - group.first;
    claim->groups.push_back(std::move(group));
  }

  static bool WantsCapacity(const api::DeviceRequest& request) {
    if (request.exactly && request.exactly->capacity) return true;
    return std::any_of(request.first_available.begin(), request.first_available.end(),
                       [](const api::DeviceSubRequest& r) { return r.capacity.has_value(); });
  }

  // Until 1.35 kube-scheduler looks for the devices of the second alternative under the first one's
  // key: if both request all devices, the second gets those that the first one's selectors match.
  static void ShareAllDevices(const RequestGroup& group, ClaimPlan* claim) {
    if (claim->requests.size() < group.first + 2) return;
    const PlannedRequest& first = claim->requests[group.first];
    PlannedRequest& second = claim->requests[group.first + 1];
    if (first.all && second.all && first.error.empty() && second.error.empty()) {
      second.all_chain = first.chain;
    }
  }

  void Resolve(const RequestView& view, PlannedRequest* request, ClaimPlan* claim) {
    request->count = view.count;
    request->all = view.allocation_mode == kAll;
    request->tolerations = &view.tolerations;
    request->capacity = view.capacity ? &*view.capacity : nullptr;
    request->error = Refuse(view, *claim, request);
    if (request->error.empty()) {
      request->chain = selectors_.Get(request->device_class->spec.selectors, view.selectors);
      request->all_chain = request->chain;
      if (!request->all && view.allocation_mode != kExactCount) {
        request->error =
            Where(*claim, *request) + ": unsupported count mode " + view.allocation_mode;
      }
    }
    Sign(request->parent, request->name, request->error.empty() ? "" : "refused",
         request->all ? "all" : std::to_string(request->count),
         request->admin_access ? "admin" : "",
         request->chain ? std::to_string(request->chain->Id()) : "");
    if (plan_.features.taints) SignTolerations(view.tolerations);
    if (plan_.features.consumable_capacity && view.capacity) SignCapacity(*view.capacity);
    claim->requests.push_back(std::move(*request));
  }

  // Lengths keep texts apart that run together alike.
  void SignText(std::string_view text) {
    plan_.signature += std::to_string(text.size());
    plan_.signature += ':';
    plan_.signature += text;
  }

  void SignTolerations(const std::vector<api::DeviceToleration>& tolerations) {
    for (const api::DeviceToleration& toleration : tolerations) {
      for (const std::string* part :
           {&toleration.key, &toleration.operator_, &toleration.value, &toleration.effect}) {
        SignText(*part);
      }
    }
    Sign("tolerated");
  }

  void SignCapacity(const api::CapacityRequirements& capacity) {
    for (const auto& [name, amount] : capacity.requests) {
      SignText(name);
      SignText(amount.Canonical());
    }
    Sign("consumed");
  }

  static std::string Where(const ClaimPlan& claim, const PlannedRequest& request) {
    return "claim " + claim.key + ", request " + request.name;
  }

  std::string Refuse(const RequestView& view, const ClaimPlan& claim, PlannedRequest* request) {
    for (size_t i = 0; i < view.selectors.size(); ++i) {
      if (view.selectors[i].cel) continue;
      return Where(claim, *request) + ", selector #" + std::to_string(i) +
             ": CEL expression empty (unsupported selector type?)";
    }
    if (!plan_.features.admin_access && view.says_admin_access) {
      return Where(claim, *request) + ": admin access is requested, but the feature is disabled";
    }
    if (view.device_class_name.empty()) {
      return Where(claim, *request) + ": missing device class name (unsupported request type?)";
    }
    request->device_class = objects_.device_classes.Find(view.device_class_name);
    if (request->device_class != nullptr) return {};
    return Where(claim, *request) + ": could not retrieve device class " + view.device_class_name +
           ": deviceclass.resource.k8s.io \"" + view.device_class_name + "\" not found";
  }

  void AddConstraints(const api::ResourceClaim& claim, ClaimPlan* planned) {
    const std::vector<api::DeviceConstraint>& constraints = claim.spec.devices.constraints;
    for (size_t i = 0; i < constraints.size(); ++i) {
      PlannedConstraint constraint;
      constraint.requests = constraints[i].requests;
      if (constraints[i].match_attribute) {
        constraint.attribute = *constraints[i].match_attribute;
      } else if (constraints[i].distinct_attribute) {
        constraint.attribute = *constraints[i].distinct_attribute;
        constraint.distinct = true;
      } else {
        planned->constraint_error = "claim " + planned->key + ", constraint #" + std::to_string(i) +
                                    ": empty constraint (unsupported constraint type?)";
        Sign("refused");
        return;
      }
      Sign(constraint.distinct ? "distinct" : "match", constraint.attribute);
      for (const std::string& request : constraint.requests) Sign("for", request);
      planned->constraints.push_back(std::move(constraint));
    }
  }

  const cluster::ObjectStore& objects_;
  SelectorTable& selectors_;
  Plan& plan_;
};

bool IsCountable(const Plan& plan) {
  if (plan.claims.size() != 1) return false;
  const ClaimPlan& claim = plan.claims[0];
  if (claim.requests.size() != 1 || claim.groups.size() != 1 || !claim.constraints.empty() ||
      !claim.constraint_error.empty() || !claim.groups[0].error.empty() ||
      claim.groups[0].prioritized) {
    return false;
  }
  const PlannedRequest& request = claim.requests[0];
  return request.error.empty() && !request.all && !request.admin_access && request.count > 0 &&
         request.count <= kMaxDevicesPerClaim;
}

}  // namespace

bool PlannedConstraint::AppliesTo(const PlannedRequest& request) const {
  if (requests.empty()) return true;
  return std::any_of(requests.begin(), requests.end(), [&](const std::string& name) {
    return name == request.BaseName() || (!request.parent.empty() && name == request.FullName());
  });
}

Plan MakePlan(const std::vector<const api::ResourceClaim*>& claims,
              const cluster::ObjectStore& objects, SelectorTable& selectors,
              const config::DraFeatures& features) {
  Plan plan;
  plan.features = features;
  Planner planner(objects, selectors, &plan);
  for (const api::ResourceClaim* claim : claims) planner.AddClaim(*claim);
  plan.countable = IsCountable(plan);
  return plan;
}

}  // namespace berth::plugins::dynamic_resources
