// Hand: what carrying out a plan reads of a cluster and does to it.
//
// Calls return when they are done. The real one speaks to an API server (cli/plan/api_hand.h), that
// of tests is a cluster in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/codec/manifest.h"
#include "api/core/pod.h"
#include "base/error.h"

namespace berth::plan {

// Which pod is evicted, and what its replacement looks like.
struct PodRef {
  std::string namespace_;
  std::string name;
  std::string uid;

  static const api::TypeInfo& Type();
};

class Hand {
 public:
  enum class Eviction : uint8_t {
    kDone,
    kNotNow,  // a PodDisruptionBudget refuses
    kGone,    // the pod is not there, or another one of its name is
  };

  virtual ~Hand() = default;

  // Every object of the cluster as it is now.
  virtual Result<void> Read(const api::ObjectConsumer& consume) = 0;
  // Makes the node unschedulable.
  virtual Result<void> Cordon(const std::string& node) = 0;
  // Through the eviction API. `why`: the server's words, unless it is done.
  virtual Result<Eviction> Evict(const PodRef& pod, std::string* why) = 0;
  // Pods of the namespace with all these labels.
  virtual Result<std::vector<api::Pod>> PodsWith(const std::string& namespace_,
                                                 const api::StringMap& labels) = 0;
  // Pods bound to the node.
  virtual Result<std::vector<api::Pod>> PodsOn(const std::string& node) = 0;
  // Lets time pass between two looks at the cluster; returns how much, in milliseconds.
  virtual int64_t Pause() = 0;
};

}  // namespace berth::plan
