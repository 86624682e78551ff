#include "plugins/node_resource_topology/kubelet_pod.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "api/rules/pod_qos.h"
#include "plugins/node_resource_topology/pod_needs.h"

namespace berth::plugins::node_resource_topology {
namespace {

using Sums = std::map<std::string, int64_t>;

KubeletNeeds NeedsOf(const api::Container& container, bool pinned, bool* malformed) {
  KubeletNeeds needs;
  for (const auto& [name, quantity] : container.resources.requests) {
    if (!pinned || !IsNumaAffine(name)) continue;
    if (name == "cpu") {
      if (quantity.MilliValue() % 1000 == 0) needs.cpus = quantity.Value();
      continue;
    }
    int64_t bytes = 0;
    if (!quantity.AsInt64(&bytes)) *malformed = true;
    needs.memory.emplace_back(name, bytes);
  }
  // Requests of extended resources equal their limits.
  for (const auto& [name, quantity] : container.resources.limits) {
    if (!IsNativeResource(name) && quantity.Value() > 0) {
      needs.devices.emplace_back(name, quantity.Value());
    }
  }
  std::sort(needs.memory.begin(), needs.memory.end());
  std::sort(needs.devices.begin(), needs.devices.end());
  return needs;
}

// The largest use of one resource at any time: init containers that end run beside the sidecars
// started before them.
struct Peak {
  int64_t staying = 0;  // sidecars so far
  int64_t starting = 0;
  int64_t running = 0;  // the other containers

  void Init(int64_t n, bool ends) {
    if (ends) {
      starting = std::max(starting, staying + n);
    } else {
      staying += n;
    }
  }
  int64_t Of() const { return std::max(starting, running + staying); }
};

}  // namespace

KubeletPod::KubeletPod(const api::Pod& pod) {
  const auto& spec = pod.spec;
  const bool by_pod =
      spec.resources && (!spec.resources->requests.empty() || !spec.resources->limits.empty());
  const bool pinned = api::QosOf(pod) == api::QosClass::kGuaranteed && !by_pod;
  Peak cpus;
  std::map<std::string, Peak> memory;
  std::map<std::string, Peak> devices;
  Sums of_apps;
  for (const api::Container& c : spec.init_containers) {
    const bool ends = c.restart_policy != "Always";
    containers.push_back({ends, NeedsOf(c, pinned, &malformed)});
    const KubeletNeeds& needs = containers.back().needs;
    cpus.Init(needs.cpus, ends);
    for (const auto& [name, n] : needs.memory) memory[name].Init(n, ends);
    for (const auto& [name, n] : needs.devices) devices[name].Init(n, ends);
  }
  for (const api::Container& c : spec.containers) {
    containers.push_back({false, NeedsOf(c, pinned, &malformed)});
    const KubeletNeeds& needs = containers.back().needs;
    cpus.running += needs.cpus;
    for (const auto& [name, n] : needs.memory) memory[name].running += n, of_apps[name] += n;
    for (const auto& [name, n] : needs.devices) devices[name].running += n;
  }
  together.cpus = cpus.Of();
  // The memory manager looks at what app containers ask for alone.
  for (const auto& [name, n] : of_apps) together.memory.emplace_back(name, memory[name].Of());
  for (const auto& [name, peak] : devices) together.devices.emplace_back(name, peak.Of());
}

bool KubeletPod::Empty() const { return !malformed && Aligned() == 0; }

size_t KubeletPod::Aligned() const {
  return static_cast<size_t>(std::count_if(containers.begin(), containers.end(),
                                           [](const auto& c) { return !c.needs.Empty(); }));
}

}  // namespace berth::plugins::node_resource_topology
