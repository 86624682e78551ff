// FakeQueueHost: a QueueHost for tests, whose answers are plain fields.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "queue/scheduling_queue.h"

namespace berth::queue {

class FakeQueueHost : public QueueHost {
 public:
  struct Registration {
    PluginId plugin;
    ClusterEvent event;
    uint8_t profile = 0;
  };

  std::map<PodId, int32_t> priority;
  std::map<PodId, std::string> uid;   // else "uid-<pod>"
  std::map<PodId, PluginMask> gates;  // the PreEnqueue plugins that reject, called in their order
  std::vector<Registration> registrations;
  std::function<bool(PodId, PluginId, const Event&)> helps = [](PodId, PluginId, const Event&) {
    return true;
  };
  // The calls that were made.
  mutable std::vector<std::pair<PodId, PluginId>> hints_asked;
  mutable std::vector<std::pair<PodId, PluginId>> gates_asked;  // with the plugin to be first
  std::vector<std::string> incoming;                            // "queue event"

  bool Less(const QueuedPod& a, const QueuedPod& b) const override {
    const int32_t pa = Priority(a.pod), pb = Priority(b.pod);
    return pa != pb ? pa > pb : a.timestamp < b.timestamp;
  }
  Gate PreEnqueue(const QueuedPod& pod, PluginId first) const override {
    gates_asked.emplace_back(pod.pod, first);
    const auto it = gates.find(pod.pod);
    if (it == gates.end() || it->second == 0) return {};
    if (first != kNoPlugin && (it->second & MaskOf(first)) != 0) return {first};
    PluginId plugin = 0;
    while ((it->second & MaskOf(plugin)) == 0) ++plugin;
    return {plugin};
  }
  PluginMask Registered(uint8_t profile, const ClusterEvent& event) const override {
    PluginMask mask = 0;
    for (const Registration& r : registrations) {
      if (r.profile == profile && r.event == event) mask |= MaskOf(r.plugin);
    }
    return mask;
  }
  bool MayHelp(const QueuedPod& pod, PluginId plugin, const Event& event) const override {
    hints_asked.emplace_back(pod.pod, plugin);
    return helps(pod.pod, plugin, event);
  }
  int32_t Priority(PodId pod) const override {
    const auto it = priority.find(pod);
    return it == priority.end() ? 0 : it->second;
  }
  std::string_view Uid(PodId pod) const override {
    std::string& text = uids_[pod];
    const auto it = uid.find(pod);
    text = it == uid.end() ? "uid-" + std::to_string(pod) : it->second;
    return text;
  }
  void Moved(const QueuedPod&, QueueName queue, std::string_view event, bool) override {
    // As metrics count: gated pods are among the unschedulable ones.
    const QueueName counted = queue == QueueName::kGated ? QueueName::kUnschedulable : queue;
    incoming.push_back(std::string(NameOf(counted)) + " " + std::string(event));
  }

 private:
  mutable std::map<PodId, std::string> uids_;
};

}  // namespace berth::queue
