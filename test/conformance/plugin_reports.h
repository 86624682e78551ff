// What a recording says about the insides of single plugins: volumes and devices reserved,
// preemption candidates.
#pragma once

#include "cluster/cluster.h"
#include "conformance/results.h"
#include "framework/cycle.h"

namespace berth::conformance {

// Makes the plugins of a profile keep what the reports below need.
void KeepReports(const framework::Profile& profile);

// Adds what `plugin` has just reserved.
void AddReserveReport(const framework::Plugin& plugin, const framework::PluginState* state,
                      ReserveResult* result);

// Adds the candidates preemption has looked at.
void AddPreemptionReport(const framework::Cycle& cycle, const cluster::Cluster& cluster,
                         PreemptionOutcome* outcome);

// Carries out what PostFilter proposed for `pod`, at once and for the first of the best candidates,
// as the recording does: nominations are moved, victims deleted, claims deallocated.
void ApplyPostFilter(framework::Cycle& cycle, cluster::Cluster& cluster, cluster::PodId pod,
                     const framework::PostFilterResult& proposal, PreemptionOutcome* outcome);

}  // namespace berth::conformance
