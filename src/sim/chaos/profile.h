// ChaosProfile: the kind of cluster, the mix of actions and the faults of a seed.
//
//   chaos    everything at once: every fault, crashes, volumes, devices, other schedulers
//   churn    nodes and pods come and go quickly; the network is nearly good
//   preempt  more pods than fit, of many priorities, with budgets and slow deaths
//   gangs    pod groups of many priorities that compete for too few nodes; as the newest Kubernetes
//            with GenericWorkload
//   coscheduling  the same with PodGroups of scheduler-plugins and of Volcano, and Coscheduling in
//            the mode Group, on any minor
//
// Chances are per thousand.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/feature_gates.h"
#include "sim/host/event_loop.h"

namespace berth::sim {

// How the network misbehaves.
struct FaultRates {
  uint32_t refused = 0;       // a request is answered with 404, 409, 429 or 500
  uint32_t request_lost = 0;  // never arrives
  uint32_t answer_lost = 0;   // is carried out, but the response never arrives
  uint32_t answered_twice = 0;
  uint32_t slow = 0;  // a delay of seconds instead of milliseconds
  uint32_t event_repeated = 0;
  uint32_t watch_breaks = 0;  // per event
  uint32_t crash = 0;         // per step
};

// Weights of the actions; not probabilities.
struct ActionWeights {
  uint32_t add_node = 0;
  uint32_t remove_node = 0;
  uint32_t replace_node = 0;  // gone, and another of the same name comes
  uint32_t cordon = 0;        // or the contrary
  uint32_t taint = 0;         // or the contrary
  uint32_t relabel = 0;
  uint32_t resize_node = 0;
  uint32_t add_group = 0;  // a controller with its pods
  uint32_t scale_group = 0;
  uint32_t remove_group = 0;
  uint32_t add_pod = 0;
  uint32_t delete_pod = 0;
  uint32_t finish_pod = 0;
  uint32_t label_pod = 0;
  uint32_t open_gate = 0;
  uint32_t resize_pod = 0;
  uint32_t bind_elsewhere = 0;  // another scheduler, or a user, binds a pod
  uint32_t budget = 0;
  uint32_t touch_claim = 0;  // another client writes to a claim or volume
};

struct ChaosProfile {
  std::string_view name;
  int64_t nodes_low = 5;
  int64_t nodes_high = 20;
  int64_t pods_at_most = 150;  // limit for creating pods
  uint32_t volumes = 0;        // chance that a group's pods have a claim on storage
  uint32_t devices = 0;        // … on devices
  uint32_t rules = 100;        // … have affinity, spread constraints, ports or selectors
  uint32_t gated = 0;
  uint32_t gangs = 0;  // chance that a controller's pods are a pod group
  // Groups are custom resources, which Coscheduling reads in its mode Group.
  bool coscheduling = false;
  uint32_t other_scheduler = 0;
  std::vector<int32_t> priorities = {0};
  int64_t cpu_low = 100;  // requests, millicores
  int64_t cpu_high = 2000;
  Nanos gap = 300 * kMillisecond;  // between two steps, on average
  FaultRates faults;
  ActionWeights actions;
};

// Those that take turns: all but gangs and coscheduling.
const std::vector<ChaosProfile>& ChaosProfiles();
const ChaosProfile& GangsProfile();
const ChaosProfile& CoschedulingProfile();
// The gates of a run: `gates`, but with groups of Kubernetes those of the newest one with
// GenericWorkload.
config::FeatureGates GatesFor(const ChaosProfile& profile, const config::FeatureGates& gates);
// The configuration of the scheduler in a run.
config::KubeSchedulerConfiguration ConfigFor(const ChaosProfile& profile,
                                             const config::Behaviour& behaviour);
// Null when there is none of that name.
const ChaosProfile* FindChaosProfile(std::string_view name);

}  // namespace berth::sim
