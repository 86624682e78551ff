#include "api/rules/pod_qos.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "api/core/pod.h"

namespace berth::api {
namespace {

constexpr std::array<std::string_view, 2> kCounted = {"cpu", "memory"};

struct Sum {
  bool any = false;
  uint64_t milli = 0;

  // False: `list` has none of it.
  bool Add(const ResourceList& list, std::string_view name) {
    const auto it = list.find(name);
    if (it == list.end() || it->second.Sign() <= 0) return false;
    any = true;
    milli += static_cast<uint64_t>(it->second.MilliValue());
    return true;
  }
};

struct Sums {
  std::array<Sum, kCounted.size()> requests;
  std::array<Sum, kCounted.size()> limits;
  bool limited = true;  // everything counted so far has all limits

  void Count(const ResourceRequirements& resources) {
    for (size_t i = 0; i < kCounted.size(); ++i) {
      requests[i].Add(resources.requests, kCounted[i]);
      if (!limits[i].Add(resources.limits, kCounted[i])) limited = false;
    }
  }
};

// Resources that a pod as a whole may have.
bool Concerns(const ResourceList& list) {
  for (const auto& [name, amount] : list) {
    if (name == "cpu" || name == "memory" || name.starts_with("hugepages-")) return true;
  }
  return false;
}

}  // namespace

QosClass QosOf(const Pod& pod) {
  Sums sums;
  const auto& whole = pod.spec.resources;
  if (whole && (Concerns(whole->requests) || Concerns(whole->limits))) {
    sums.Count(*whole);
  } else {
    for (const auto& container : pod.spec.containers) sums.Count(container.resources);
    for (const auto& container : pod.spec.init_containers) sums.Count(container.resources);
  }
  bool any = false;
  bool equal = true;
  for (size_t i = 0; i < kCounted.size(); ++i) {
    const Sum& request = sums.requests[i];
    const Sum& limit = sums.limits[i];
    any = any || request.any || limit.any;
    equal = equal && request.any == limit.any && request.milli == limit.milli;
  }
  if (!any) return QosClass::kBestEffort;
  return sums.limited && equal ? QosClass::kGuaranteed : QosClass::kBurstable;
}

}  // namespace berth::api
