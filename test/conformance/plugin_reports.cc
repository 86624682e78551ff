#include "conformance/plugin_reports.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "cluster/objects/object_store.h"
#include "plugins/default_preemption/default_preemption.h"
#include "plugins/volume_binding/volume_binding.h"

namespace berth::conformance {
namespace {

using plugins::default_preemption::Candidate;
using plugins::default_preemption::DefaultPreemption;
using plugins::volume_binding::VolumeBinding;

std::vector<std::string> Keys(const cluster::Cluster& cluster,
                              const std::vector<cluster::PodId>& pods) {
  std::vector<std::string> keys;
  for (const cluster::PodId id : pods) keys.push_back(cluster.GetPod(id).Key());
  return keys;
}

std::string KeyOf(const api::ObjectMeta& metadata) {
  return metadata.namespace_ + "/" + metadata.name;
}

void Nominate(cluster::Cluster& cluster, cluster::PodId pod, const std::string& node) {
  cluster.MutablePod(pod).nominated_node_name = node;
  cluster.MutableNominations().Clear(pod);
  if (!node.empty()) {
    cluster.MutableNominations().Set(pod, cluster.Strings().Intern(node));
  }
}

}  // namespace

// The report of a plugin that takes the place of DefaultPreemption. Why other nodes are no
// candidates is part of its message when no node is one.
DefaultPreemption::Report OtherPreemption(framework::PreemptionPlugin& plugin,
                                          framework::Cycle& cycle, cluster::Cluster& cluster,
                                          const framework::Diagnosis& diagnosis) {
  DefaultPreemption::Report report;
  framework::PostFilterResult ignored;
  if (!plugin.FindCandidates(cycle, cluster, diagnosis, &report.candidates, &ignored).Ok()) {
    return {};
  }
  report.best = plugins::default_preemption::LeastHarmful(cluster, report.candidates);
  return report;
}

DefaultPreemption::Report EvaluatePreemption(framework::Cycle& cycle, cluster::Cluster& cluster,
                                             const framework::Diagnosis& diagnosis) {
  // The recording asks the plugin even where the profile has it at another point only.
  for (const auto& plugin : cycle.profile().Plugins()) {
    if (auto* preemption = dynamic_cast<DefaultPreemption*>(plugin.get())) {
      return preemption->Evaluate(cycle, cluster, diagnosis);
    }
  }
  for (const auto& entry : cycle.profile().post_filter) {
    if (auto* preemption = dynamic_cast<framework::PreemptionPlugin*>(entry.plugin)) {
      return OtherPreemption(*preemption, cycle, cluster, diagnosis);
    }
  }
  return {};
}

void AddReserveReport(const framework::Plugin& plugin, const framework::PluginState* state,
                      ReserveResult* result) {
  if (dynamic_cast<const VolumeBinding*>(&plugin) != nullptr && state != nullptr) {
    if (const auto* reserved = VolumeBinding::Reserved(*state)) {
      for (const auto& binding : reserved->bindings) {
        result->static_bindings[KeyOf(binding.claim->metadata)] = binding.volume->metadata.name;
      }
      for (const auto& claim : reserved->provisions) {
        result->provisioned.push_back(KeyOf(claim->metadata));
      }
      std::sort(result->provisioned.begin(), result->provisioned.end());
    }
  }
}

DeviceUse DeviceUseOf(const cluster::ObjectStore& objects) {
  DeviceUse use;
  ByName<api::ResourceList> consumed;
  const auto add = [&](const api::ResourceClaim& claim) {
    if (!claim.status.allocation) return;
    for (const auto& result : claim.status.allocation->devices.results) {
      if (result.admin_access.value_or(false)) continue;
      const std::string device = result.driver + "/" + result.pool + "/" + result.device;
      use.devices.insert(device);
      for (const auto& [name, amount] : result.consumed_capacity)
        consumed[device][name].Add(amount);
    }
  };
  objects.in_flight_claims.ForEach(add);
  objects.resource_claims.ForEach([&](const api::ResourceClaim& claim) {
    const auto& meta = claim.metadata;
    if (objects.in_flight_claims.Find(meta.namespace_, meta.name) == nullptr) add(claim);
  });
  for (const auto& [device, amounts] : consumed) {
    for (const auto& [name, amount] : amounts) use.capacity[device][name] = amount.String();
  }
  return use;
}

void AddDeviceReport(const DeviceUse& before, const DeviceUse& after, ReserveResult* result) {
  std::ranges::set_difference(after.devices, before.devices,
                              std::back_inserter(result->allocated_devices));
  for (const auto& [device, amounts] : after.capacity) {
    const auto it = before.capacity.find(device);
    if (it == before.capacity.end() || it->second != amounts) {
      result->consumed_capacity[device] = amounts;
    }
  }
}

void AddPreemptionReport(const DefaultPreemption::Report& report, const cluster::Cluster& cluster,
                         PreemptionOutcome* outcome) {
  for (const Candidate& candidate : report.candidates) {
    outcome->candidates.push_back({cluster.NodeName(candidate.node),
                                   Keys(cluster, candidate.victims), candidate.pdb_violations});
  }
  std::sort(outcome->candidates.begin(), outcome->candidates.end(),
            [](const auto& a, const auto& b) { return a.node < b.node; });
  for (const auto& [node, status] : report.not_candidates) {
    StatusResult& result = outcome->node_status[cluster.NodeName(node)];
    result.code = framework::CodeName(status.code());
    result.plugin = status.plugin();
    result.reasons = status.reasons();
    std::sort(result.reasons.begin(), result.reasons.end());
  }
  for (const size_t i : report.best) {
    outcome->best.push_back(cluster.NodeName(report.candidates[i].node));
  }
  std::sort(outcome->best.begin(), outcome->best.end());
}

void ApplyPostFilter(const DefaultPreemption::Report& report, cluster::Cluster& cluster,
                     cluster::PodId pod, const framework::PostFilterResult& proposal,
                     PreemptionOutcome* outcome) {
  using Nomination = framework::PostFilterResult::Nomination;
  // The recording waits for the claim to be seen without devices only where nobody else made room;
  // else the next attempt is too early for it.
  if (proposal.deallocated_claim != nullptr && outcome->code != "Success") {
    auto& claims = cluster.MutableObjects().resource_claims;
    if (proposal.deletes_claim) {
      const api::ObjectMeta& claim = proposal.deallocated_claim->metadata;
      claims.Remove(claim.namespace_, claim.name);
    } else {
      claims.Set(proposal.deallocated_claim);
    }
  }
  if (proposal.nomination == Nomination::kClear) Nominate(cluster, pod, "");
  if (proposal.nomination != Nomination::kSet || outcome->best.empty()) return;
  outcome->nominated_node = outcome->best.front();
  const auto& candidates = report.candidates;
  const auto chosen = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& c) {
    return cluster.NodeName(c.node) == outcome->nominated_node;
  });
  outcome->victims = Keys(cluster, chosen->victims);
  const int32_t priority = cluster.GetPod(pod).shape->priority;
  const auto* rivals = cluster.Nominated().On(cluster.Strings().Intern(outcome->nominated_node));
  const std::vector<cluster::PodId> nominated = rivals ? *rivals : std::vector<cluster::PodId>();
  for (const cluster::PodId rival : nominated) {
    if (cluster.GetPod(rival).shape->priority < priority) Nominate(cluster, rival, "");
  }
  for (const cluster::PodId victim : std::vector(chosen->victims)) cluster.RemovePod(victim);
  Nominate(cluster, pod, outcome->nominated_node);
}

}  // namespace berth::conformance
