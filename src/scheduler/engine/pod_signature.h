// PodSigner: which pods kube-scheduler considers equal for OpportunisticBatching.
//
// A signature is what the plugins of a profile read from a pod. Pods of equal signatures get equal
// verdicts and scores on equal nodes. There is none where a plugin's result depends on other pods
// or on devices, and none in a profile with extenders or with a plugin that cannot sign.
#pragma once

#include <cstdint>
#include <string>

#include "cluster/cluster.h"
#include "config/config.h"
#include "framework/runtime/profile.h"

namespace berth::scheduler {

class PodSigner {
 public:
  // For the pods of `profile`, which `config` configures.
  PodSigner(const framework::Profile& profile, const config::KubeSchedulerConfiguration& config);

  // False: no pod of the profile has a signature.
  bool CanSign() const { return can_sign_; }
  // Empty: the pod has none.
  std::string Sign(const cluster::Cluster& cluster, const cluster::Pod& pod) const;

 private:
  bool Refuses(const cluster::Cluster& cluster, const cluster::Pod& pod) const;
  bool Reads(uint32_t part) const { return (reads_ & part) != 0; }

  const config::Behaviour behaviour_;
  bool can_sign_ = true;
  uint32_t reads_ = 0;  // parts of pods that the profile's plugins read
};

}  // namespace berth::scheduler
