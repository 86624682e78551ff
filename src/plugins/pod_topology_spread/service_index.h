// ServiceIndex: which services select a pod, without visiting every service of the cluster.
//
// A service that selects a pod has each pair of its selector among the pod's labels. So it is
// indexed under one of them, and a pod looks up its own labels: clusters have thousands of
// services, pods a handful of labels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/objects/object_store.h"
#include "cluster/pods/pod_shape.h"

namespace berth::plugins::pod_topology_spread {

class ServiceIndex {
 public:
  // The labels by which services select pods of the shape, as `services` are now. One index serves
  // one store.
  api::StringMap LabelsFor(const cluster::PodShape& shape,
                           const cluster::Store<api::Service>& services);

 private:
  struct Filed {
    std::string under;
    const api::Service* service;  // compared only: it may be gone
  };

  void Refresh(const cluster::Store<api::Service>& services);
  void File(const std::string& name, const api::Service* service);
  void TakeOut(const std::string& name);

  uint64_t seen_ = 0;                                    // generation of the store
  boost::unordered_flat_map<std::string, Filed> filed_;  // by "namespace/name"
  boost::unordered_flat_map<std::string, std::vector<const api::Service*>> under_;
  std::string scratch_;
};

}  // namespace berth::plugins::pod_topology_spread
