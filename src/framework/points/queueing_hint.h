// Queueing hints: which events may help a pod that a plugin has rejected.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/behaviour.h"
#include "framework/points/plugin.h"
#include "queue/cluster_event.h"

namespace berth::framework {

enum class Hint : uint8_t {
  kSkip,   // the event does not help the pod
  kQueue,  // it may: try the pod again
};

// Called for `pod`, which the plugin has rejected, after the event was applied to the cluster. An
// error counts as kQueue: a useless retry is better than a forgotten pod.
using HintFunction = std::function<Result<Hint>(
    const cluster::Cluster& cluster, const cluster::Pod& pod, const queue::Event& event)>;

struct RegisteredEvent {
  queue::ClusterEvent event;
  std::string_view hint;  // the name of the function, for reports; empty: none
  HintFunction function;  // empty: always kQueue
};

// A plugin that can reject pods registers the events that may change its result. Without this
// interface, every event wakes its pods.
class EnqueueExtensions : public virtual Plugin {
 public:
  // In kube-scheduler's order: `behaviour` says which one's. The functions may use the plugin,
  // which outlives them.
  virtual std::vector<RegisteredEvent> EventsToRegister(
      const config::Behaviour& behaviour) const = 0;
};

}  // namespace berth::framework
