// Workload: the pods that share a template with a pending pod.
//
// Users change workloads, not pods: what helps one replica has to help all of them.
#pragma once

#include <string>
#include <vector>

#include "api/core/pod.h"
#include "cluster/cluster.h"

namespace berth::explain {

struct Workload {
  struct Member {
    cluster::PodId id = cluster::kNoPod;
    api::Pod pod;  // as it is; spec.nodeName says where it runs
    bool placed = false;
  };
  std::vector<Member> members;  // the pod itself, the other pending ones, those with a node
  size_t pending = 0;
  // What a user would edit: "Deployment" and its name; empty for a pod without a controller.
  std::string kind;
  std::string name;

  const Member& pod() const { return members.front(); }
  bool single() const { return members.size() == 1; }
};

// "Deployment/web": what a user would edit; empty for a pod without a controller.
std::string ControllerOf(const cluster::Pod& pod);

// The first kMaxMembers pods with the controller and the template of `pod`. Where these differ
// (a DaemonSet names a node in each of its pods), it is the pod alone.
inline constexpr size_t kMaxMembers = 1000;
Workload WorkloadOf(const cluster::Cluster& cluster, cluster::PodId pod);

}  // namespace berth::explain
