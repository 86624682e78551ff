// DynamicResources after Filter: making room, and what the chosen node means for the claims.
#include <algorithm>
#include <utility>

#include "cluster/objects/object_store.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/normalize.h"
#include "plugins/dynamic_resources/allocation.h"
#include "plugins/dynamic_resources/pre_bind.h"
#include "plugins/dynamic_resources/state.h"

namespace berth::plugins::dynamic_resources {

using cluster::NodeIndex;
using framework::CycleContext;
using framework::PluginState;
using framework::Status;

// Of a request: an earlier alternative scores higher.
constexpr int64_t kMaxAlternatives = 8;

// --- PostFilter

// kube-scheduler says this of every group it looks at, whether a claim was in the way or not.
Status DynamicResources::PodGroupPostFilter(framework::Cycle& cycle, cluster::Cluster&,
                                            const framework::PodGroupInfo& info,
                                            framework::PodGroupTrial&,
                                            framework::PodGroupPostFilterResult*) {
  const bool by_topology = cycle.profile().GetBehaviour().pod_group_topology;
  if (by_topology && info.group.spec.scheduling_constraints) {
    return Status(framework::Code::kUnschedulable, std::vector<std::string>());
  }
  return Status::Unschedulable("deallocation and deletion of ResourceClaims completed");
}

Status DynamicResources::PostFilter(framework::Cycle& cycle, cluster::Cluster&,
                                    const framework::Diagnosis&,
                                    framework::PostFilterResult* result) {
  const State* state = nullptr;
  const auto plugins = cycle.profile().Plugins();
  for (size_t i = 0; i < plugins.size(); ++i) {
    if (plugins[i].get() == static_cast<framework::Plugin*>(this)) {
      const auto index = static_cast<uint8_t>(i);
      if (cycle.PreFilterReached(index)) state = static_cast<const State*>(cycle.state(index));
    }
  }
  // An earlier plugin's PreFilter ended the cycle: kube-scheduler then misses its state, and so do
  // we.
  if (state == nullptr) return Status::Error("not found");
  if (state->claims.empty()) return Refusal("no new claims to deallocate");
  std::vector<bool> unavailable(state->claims.size());
  for (const WordNotes& notes : state->notes) {
    for (const size_t i : notes.unavailable) unavailable[i] = true;
  }
  const std::string& uid = cycle.context().pod.uid;
  const bool extended = !state->extended.of_devices.empty();
  const size_t claims = state->claims.size() - (extended ? 1 : 0);
  for (size_t i = 0; i < claims; ++i) {
    const api::ResourceClaim& claim = *state->claims[i].claim;
    const auto& users = claim.status.reserved_for;
    if (!unavailable[i] || users.size() > 1 || (users.size() == 1 && users[0].uid != uid)) continue;
    api::ResourceClaim freed = claim;
    freed.status = {};
    result->deallocated_claim = std::make_shared<const api::ResourceClaim>(std::move(freed));
    return Status::Unschedulable("deallocation of ResourceClaim completed");
  }
  if (state->old_extended_claim) {
    result->deallocated_claim =
        std::make_shared<const api::ResourceClaim>(*state->claims.back().claim);
    result->deletes_claim = true;
    return Status::Unschedulable("deletion of ResourceClaim completed");
  }
  return Refusal("still not schedulable");
}

Status DynamicResources::Refusal(std::string_view why) const {
  if (behaviour_.devices_post_filter_silent)
    return Status(framework::Code::kUnschedulable, std::vector<std::string>());
  return Status::Unschedulable(std::string(why));
}

// --- Score

// Only alternatives that were chosen make a difference.
std::optional<int64_t> DynamicResources::UniformScore(const CycleContext&,
                                                      PluginState* plugin_state,
                                                      const framework::NodeSet&) const {
  const State& state = *static_cast<const State*>(plugin_state);
  if (state.claims.empty() || !state.to_allocate) return 0;
  for (const ClaimPlan& claim : state.variants.front().plan.claims) {
    for (const RequestGroup& group : claim.groups) {
      if (group.prioritized) return std::nullopt;
    }
  }
  return 0;
}

void DynamicResources::Score(const CycleContext& context, const PluginState* plugin_state,
                             framework::ScoreBatch& batch) const {
  const State& state = *static_cast<const State*>(plugin_state);
  PoolList pools;
  int64_t* scores = batch.Scores();
  batch.ForEach([&](NodeIndex n) {
    scores[n] = 0;
    if (state.LeftToNode(context.cluster, n)) return;
    const Plan& plan = state.variants[state.VariantOf(context.cluster, n)].plan;
    Search search(inventory_, plan, max_steps_);
    pools.clear();
    pools_.Append(n, &pools);
    if (search.Run(pools) != Search::Outcome::kAllocated) return;
    scores[n] = AllocatedAlternatives(state);
    for (size_t c = 0; c < plan.claims.size(); ++c) {
      const ClaimPlan& claim = plan.claims[c];
      for (size_t g = 0; g < claim.groups.size(); ++g) {
        if (!claim.groups[g].prioritized) continue;
        scores[n] += kMaxAlternatives - static_cast<int64_t>(search.Alternative(c, g));
      }
    }
  });
}

// What claims that were allocated earlier add on every node.
int64_t DynamicResources::AllocatedAlternatives(const State& state) const {
  int64_t score = 0;
  for (const ClaimInfo& info : state.claims) {
    if (info.claim == nullptr || !info.claim->status.allocation) continue;
    const auto& results = info.claim->status.allocation->devices.results;
    for (const api::DeviceRequest& request : info.claim->spec.devices.requests) {
      for (size_t i = 0; i < request.first_available.size(); ++i) {
        const std::string name = request.name + "/" + request.first_available[i].name;
        const bool chosen = std::any_of(results.begin(), results.end(),
                                        [&](const auto& result) { return result.request == name; });
        if (chosen) score += kMaxAlternatives - static_cast<int64_t>(i);
      }
    }
  }
  return score;
}

void DynamicResources::Normalize(const CycleContext&, const PluginState*,
                                 const framework::NodeSet& feasible,
                                 framework::ScoreColumn& column) const {
  framework::DefaultNormalize(feasible, /*reverse=*/false, column);
}

// --- Reserve and after

Status DynamicResources::Reserve(const CycleContext& context, PluginState* plugin_state,
                                 NodeIndex node) {
  State& state = *static_cast<State*>(plugin_state);
  if (!state.to_allocate || state.claims.empty()) return {};
  if (state.LeftToNode(context.cluster, node)) return {};
  // The same search as in Filter, on the same tables, finds the same devices.
  const Plan& plan = state.variants[state.VariantOf(context.cluster, node)].plan;
  Search search(inventory_, plan, max_steps_);
  PoolList pools;
  pools_.Append(node, &pools);
  if (!pools_.Error().empty() || search.Run(pools) != Search::Outcome::kAllocated) {
    return Status::Error("claim allocation not found for node");
  }
  const std::string& node_name = context.cluster.NodeName(node);
  const config::MinorRules rules = config::MinorRulesOf(behaviour_);
  for (size_t i = 0; i < plan.claims.size(); ++i) {
    auto allocation = MakeAllocation(inventory_, plan, search, i, node_name, rules);
    if (!allocation) return Status::Error(allocation.error().Message());
    auto claim = std::make_shared<api::ResourceClaim>(*plan.claims[i].claim);
    auto& finalizers = claim->metadata.finalizers;
    if (std::find(finalizers.begin(), finalizers.end(), kFinalizer) == finalizers.end()) {
      finalizers.emplace_back(kFinalizer);
    }
    // In flight, many pods may have one.
    if (claim->metadata.name == kExtendedClaimName) claim->metadata.name += context.pod.uid;
    claim->status.allocation = std::move(*allocation);
    claim->status.reserved_for.push_back(PodReference(context.pod.uid, context.pod.name));
    cluster_.MutableObjects().in_flight_claims.Set(claim);
    state.reserved.push_back(std::move(claim));
  }
  return {};
}

void DynamicResources::Unreserve(const CycleContext& context, PluginState* plugin_state,
                                 NodeIndex) {
  ReleaseInFlight(cluster_, context.pod.uid);
  if (plugin_state != nullptr) static_cast<State*>(plugin_state)->reserved.clear();
}

std::unique_ptr<framework::PreBindTask> DynamicResources::PreparePreBind(
    const CycleContext& context, PluginState* plugin_state, NodeIndex node) {
  const State& state = *static_cast<const State*>(plugin_state);
  if (state.claims.empty()) return nullptr;
  std::vector<ClaimToBind> claims;
  auto reserved = state.reserved.begin();
  for (const ClaimInfo& info : state.claims) {
    const bool extended = state.new_extended_claim && info.claim == nullptr;
    if (extended && reserved == state.reserved.end()) break;  // left to the node
    const api::ResourceClaim& own =
        extended ? *state.variants[state.VariantOf(context.cluster, node)].extended_claim
                 : *info.claim;
    ClaimToBind& claim = claims.emplace_back(ClaimToBind{own, {}});
    // Those without an allocation were reserved, in the same order.
    if (!own.status.allocation && reserved != state.reserved.end()) {
      claim.in_flight_name = (*reserved)->metadata.name;
      claim.allocation = (*reserved++)->status.allocation;
    }
    if (!extended) continue;
    claim.create = true;
    claim.mappings = RequestMappings(features_, own, context.shape.source.spec);
  }
  PodToBind pod{context.pod.uid, context.pod.name, {}, binding_};
  if (features_.binding_conditions) pod.node_to_wait_for = context.cluster.NodeName(node);
  return MakePreBindTask(cluster_, std::move(claims), std::move(pod));
}

std::vector<std::string> DynamicResources::ReservedDevices(const PluginState* plugin_state) {
  std::vector<std::string> devices;
  for (const auto& claim : static_cast<const State*>(plugin_state)->reserved) {
    for (const auto& device : claim->status.allocation->devices.results) {
      if (device.admin_access.value_or(false)) continue;
      devices.push_back(device.driver + "/" + device.pool + "/" + device.device);
    }
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

}  // namespace berth::plugins::dynamic_resources
