// State: the cluster as the API server shows it, with enough of each object to put an earlier
// version back.
//
// Owned by Shadow. Objects are set and removed one by one, by inputs and by views of the past
// (history.h); a pod with a node is placed there, any other is pending.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/object.h"
#include "cluster/cluster.h"
#include "cluster/inputs.h"
#include "config/behaviour.h"

namespace berth::shadow {

// Null: the object does not exist.
using ObjectPtr = std::shared_ptr<const api::Object>;

// Names an object among all kinds: pods by uid, others by kind, namespace and name.
uint64_t NumberOf(const api::Object& object);

class State {
 public:
  State(const config::Behaviour& behaviour, const cluster::PluginInputs& inputs);

  cluster::Cluster& GetCluster() { return cluster_; }
  const cluster::Cluster& GetCluster() const { return cluster_; }

  // The known version of an object. Only kind, namespace, name and uid of `like` are read.
  ObjectPtr Find(const api::Object& like) const;
  void Put(const ObjectPtr& object);
  void Remove(const api::Object& object);

  // False: the new version of a known pod has nothing that scheduling reads; it was taken up.
  bool TakeUpIfEqual(cluster::PodId id, const api::Pod& pod);

  // The objects of a kind that are not in `listed`, by NumberOf.
  std::vector<ObjectPtr> MissingFrom(std::string_view kind,
                                     const std::vector<api::Object>& listed) const;

 private:
  cluster::Cluster cluster_;
  boost::unordered_flat_map<std::string, ObjectPtr> nodes_;  // by name
};

}  // namespace berth::shadow
