// What a recording says about the insides of single plugins: volumes and devices reserved,
// preemption candidates.
#pragma once

#include <set>
#include <string>

#include "cluster/cluster.h"
#include "conformance/results.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/diagnosis.h"
#include "plugins/default_preemption/default_preemption.h"

namespace berth::conformance {

// Adds what `plugin` has just reserved.
void AddReserveReport(const framework::Plugin& plugin, const framework::PluginState* state,
                      ReserveResult* result);

// Devices that claims hold, and what is consumed of those they share; by "driver/pool/device".
struct DeviceUse {
  std::set<std::string> devices;
  ByName<ByName<std::string>> capacity;
};
DeviceUse DeviceUseOf(const cluster::ObjectStore& objects);

// Adds what a Reserve changed.
void AddDeviceReport(const DeviceUse& before, const DeviceUse& after, ReserveResult* result);

// What preemption would look at for the cycle's pod; empty when the profile has no
// DefaultPreemption.
plugins::default_preemption::DefaultPreemption::Report EvaluatePreemption(
    framework::Cycle& cycle, cluster::Cluster& cluster, const framework::Diagnosis& diagnosis);

// Adds the candidates of `report`.
void AddPreemptionReport(const plugins::default_preemption::DefaultPreemption::Report& report,
                         const cluster::Cluster& cluster, PreemptionOutcome* outcome);

// Carries out what PostFilter proposed for `pod`, at once and for the first of the best candidates,
// as the recording does: nominations are moved, victims deleted, claims deallocated.
void ApplyPostFilter(const plugins::default_preemption::DefaultPreemption::Report& report,
                     cluster::Cluster& cluster, cluster::PodId pod,
                     const framework::PostFilterResult& proposal, PreemptionOutcome* outcome);

}  // namespace berth::conformance
