#include "plugins/dynamic_resources/allocation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plugins/dynamic_resources/capacity.h"

namespace berth::plugins::dynamic_resources {
namespace {

constexpr const char* kFromClass = "FromClass";
constexpr const char* kFromClaim = "FromClaim";

bool Contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

const PlannedRequest& Chosen(const ClaimPlan& claim, const Search& search, size_t claim_index,
                             size_t group) {
  const RequestGroup& g = claim.groups[group];
  const size_t alternative = g.prioritized ? search.Alternative(claim_index, group) : 0;
  return claim.requests[g.first + alternative];
}

// Configuration of the classes, each class once and with all the requests that use it.
void AddClassConfig(const ClaimPlan& claim, const Search& search, size_t claim_index,
                    api::AllocationResult* result) {
  struct Range {
    const api::DeviceClass* device_class;
    size_t begin;
    size_t end;
  };
  std::vector<Range> added;
  auto& config = result->devices.config;
  for (size_t group = 0; group < claim.groups.size(); ++group) {
    const PlannedRequest& request = Chosen(claim, search, claim_index, group);
    const auto known = std::find_if(added.begin(), added.end(), [&](const Range& range) {
      return range.device_class == request.device_class;
    });
    if (known != added.end()) {
      for (size_t i = known->begin; i < known->end; ++i) {
        config[i].requests.push_back(request.FullName());
      }
      continue;
    }
    const size_t begin = config.size();
    for (const api::DeviceClassConfiguration& entry : request.device_class->spec.config) {
      config.push_back({kFromClass, {request.FullName()}, entry.opaque});
    }
    added.push_back({request.device_class, begin, config.size()});
  }
}

// Whether a configuration for these requests concerns the request, or the alternative chosen for
// it.
bool Concerns(const std::vector<std::string>& requests, const PlannedRequest& request) {
  return Contains(requests, request.BaseName()) ||
         (!request.parent.empty() && Contains(requests, request.FullName()));
}

// Configuration of the claim itself: one entry, or until 1.36 one per request it concerns.
void AddClaimConfig(const ClaimPlan& claim, const Search& search, size_t claim_index, bool once,
                    api::AllocationResult* result) {
  for (const api::DeviceClaimConfiguration& entry : claim.claim->spec.devices.config) {
    const auto add = [&] {
      result->devices.config.push_back({kFromClaim, entry.requests, entry.opaque});
    };
    if (entry.requests.empty()) {
      add();
      continue;
    }
    for (size_t group = 0; group < claim.groups.size(); ++group) {
      if (!Concerns(entry.requests, Chosen(claim, search, claim_index, group))) continue;
      add();
      if (once) break;
    }
  }
}

// An entry that concerns every request names none.
void DropNamesOfAllRequests(const ClaimPlan& claim, const Search& search, size_t claim_index,
                            api::AllocationResult* result) {
  for (api::DeviceAllocationConfiguration& entry : result->devices.config) {
    bool all = true;
    for (size_t group = 0; all && group < claim.groups.size(); ++group) {
      all = Concerns(entry.requests, Chosen(claim, search, claim_index, group));
    }
    if (all) entry.requests.clear();
  }
}

bool SameRequirement(const api::NodeSelectorRequirement& a, const api::NodeSelectorRequirement& b) {
  const auto subset = [](const std::vector<std::string>& x, const std::vector<std::string>& y) {
    return std::all_of(x.begin(), x.end(), [&](const std::string& v) { return Contains(y, v); });
  };
  return a.key == b.key && a.operator_ == b.operator_ && subset(a.values, b.values) &&
         subset(b.values, a.values);
}

void AddNew(const std::vector<api::NodeSelectorRequirement>& from,
            std::vector<api::NodeSelectorRequirement>* to) {
  for (const api::NodeSelectorRequirement& requirement : from) {
    const bool known = std::any_of(to->begin(), to->end(), [&](const auto& other) {
      return SameRequirement(requirement, other);
    });
    if (!known) to->push_back(requirement);
  }
}

api::NodeSelector OnlyNode(const std::string& node_name) {
  api::NodeSelectorTerm term;
  term.match_fields.push_back({"metadata.name", "In", {node_name}});
  api::NodeSelector selector;
  selector.node_selector_terms.push_back(std::move(term));
  return selector;
}

// Where the devices can be used: one node as soon as one of them is local, else where all selectors
// of slices agree.
Result<api::Box<api::NodeSelector>> MakeNodeSelector(const Inventory& inventory,
                                                     const std::vector<Search::Found>& devices,
                                                     const std::string& node_name) {
  api::NodeSelectorTerm term;
  for (const Search::Found& found : devices) {
    const api::ResourceSliceSpec& slice = inventory.SliceObject(found.slot).spec;
    const api::Device& device = inventory.DeviceAt(found.slot);
    const bool by_device = slice.per_device_node_selection.value_or(false);
    const bool local =
        by_device ? static_cast<bool>(device.node_name) : slice.node_name.has_value();
    if (local || device.binds_to_node.value_or(false)) {
      return api::Box<api::NodeSelector>(OnlyNode(node_name));
    }
    const auto& selector = by_device ? device.node_selector : slice.node_selector;
    if (!selector || selector->node_selector_terms.empty()) continue;
    const std::vector<api::NodeSelectorTerm>& terms = selector->node_selector_terms;
    if (terms.size() > 1) {
      return Fail("unsupported ResourceSlice.NodeSelector with " + std::to_string(terms.size()) +
                  " terms");
    }
    AddNew(terms[0].match_fields, &term.match_fields);
    AddNew(terms[0].match_expressions, &term.match_expressions);
  }
  if (term.match_fields.empty() && term.match_expressions.empty()) {
    return api::Box<api::NodeSelector>();  // available everywhere
  }
  api::NodeSelector selector;
  selector.node_selector_terms.push_back(std::move(term));
  return api::Box<api::NodeSelector>(std::move(selector));
}

uint64_t Hash(std::string_view text, uint64_t seed) {
  uint64_t hash = 0xcbf29ce484222325 ^ seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93;
  return hash ^ hash >> 32;
}

// A UUID (version 8) for one share of a device: no other allocation has it, as it is made from the
// claim's uid and version. Not random, so that equal runs do equal things.
std::string MakeShareId(const api::ResourceClaim& claim, size_t index) {
  const std::string text = claim.metadata.uid + "/" + claim.metadata.namespace_ + "/" +
                           claim.metadata.name + "/" + claim.metadata.resource_version + "/" +
                           std::to_string(index);
  const uint64_t high = (Hash(text, 1) & ~uint64_t{0xf000}) | 0x8000;
  const uint64_t low = (Hash(text, 2) & ~(uint64_t{3} << 62)) | uint64_t{2} << 62;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffffffffffff);
}

}  // namespace

Result<api::AllocationResult> MakeAllocation(const Inventory& inventory, const Plan& plan,
                                             const Search& search, size_t claim,
                                             const std::string& node_name,
                                             const config::MinorRules& rules) {
  const ClaimPlan& planned = plan.claims[claim];
  api::AllocationResult result;
  for (const Search::Found& found : search.Devices(claim)) {
    const PlannedRequest& request = planned.requests[found.request];
    const api::ResourceSliceSpec& slice = inventory.SliceObject(found.slot).spec;
    api::DeviceRequestAllocationResult device;
    device.request = request.FullName();
    device.driver = slice.driver;
    device.pool = slice.pool.name;
    const api::Device& published = inventory.DeviceAt(found.slot);
    device.device = published.name;
    if (request.admin_access) device.admin_access = true;
    if (rules.allocations_list_tolerations) device.tolerations = *request.tolerations;
    if (plan.features.consumable_capacity && IsShared(inventory.DeviceAt(found.slot))) {
      device.share_id = MakeShareId(*planned.claim, result.devices.results.size());
      device.consumed_capacity =
          ConsumedCapacity(inventory.DeviceAt(found.slot), request.capacity, plan.features);
    }
    if (inventory.Features().binding_conditions) {
      device.binding_conditions = published.binding_conditions;
      device.binding_failure_conditions = published.binding_failure_conditions;
    }
    result.devices.results.push_back(std::move(device));
  }
  AddClassConfig(planned, search, claim, &result);
  const bool once = plan.features.deduplicates_config;
  AddClaimConfig(planned, search, claim, once, &result);
  if (once) DropNamesOfAllRequests(planned, search, claim, &result);
  auto selector = MakeNodeSelector(inventory, search.Devices(claim), node_name);
  if (!selector) {
    return Fail("create NodeSelector for claim " + planned.claim->metadata.name + ": " +
                selector.error().Message());
  }
  result.node_selector = std::move(*selector);
  return result;
}

}  // namespace berth::plugins::dynamic_resources
