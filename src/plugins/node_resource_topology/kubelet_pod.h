// KubeletPod: what a kubelet's CPU, memory and device managers read from a pod (static policies).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/core/pod.h"

namespace berth::plugins::node_resource_topology {

struct KubeletNeeds {
  int64_t cpus = 0;                                      // whole, of its own
  std::vector<std::pair<std::string, int64_t>> memory;   // and huge pages, in bytes
  std::vector<std::pair<std::string, int64_t>> devices;  // extended resources

  bool Empty() const { return cpus == 0 && memory.empty() && devices.empty(); }
};

struct KubeletPod {
  struct Container {
    bool ends = false;  // an init container that ends: its resources are used again
    KubeletNeeds needs;
  };
  std::vector<Container> containers;  // in the order in which they are admitted
  KubeletNeeds together;              // as the scope "pod" adds them up
  bool malformed = false;             // the kubelet refuses its amounts

  explicit KubeletPod(const api::Pod& pod);

  // No manager gives it anything of its own.
  bool Empty() const;
  // Containers that get something of their own.
  size_t Aligned() const;
};

}  // namespace berth::plugins::node_resource_topology
