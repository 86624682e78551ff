// Requests and limits as the plugins that score by measured load add them up: the containers, or
// the largest init container if that is more, and the overhead. Sidecars and requests of the pod as
// a whole do not count.
#pragma once

#include <algorithm>
#include <cstdint>

#include "api/core/pod.h"
#include "base/wrap.h"

namespace berth::plugins {

inline constexpr double kMebi = 1.0 / 1024 / 1024;

struct LoadAmounts {
  int64_t milli_cpu = 0;
  int64_t memory = 0;

  void Add(const api::ResourceList& list) {
    if (const auto it = list.find("cpu"); it != list.end()) {
      milli_cpu = WrapAdd(milli_cpu, it->second.MilliValue());
    }
    if (const auto it = list.find("memory"); it != list.end()) {
      memory = WrapAdd(memory, it->second.Value());
    }
  }
  void Add(const LoadAmounts& other) {
    milli_cpu = WrapAdd(milli_cpu, other.milli_cpu);
    memory = WrapAdd(memory, other.memory);
  }
  void Raise(const LoadAmounts& other) {
    milli_cpu = std::max(milli_cpu, other.milli_cpu);
    memory = std::max(memory, other.memory);
  }
};

inline LoadAmounts AmountsOf(const api::Pod& pod,
                             api::ResourceList api::ResourceRequirements::*list) {
  LoadAmounts amounts;
  for (const api::Container& container : pod.spec.containers) {
    amounts.Add(container.resources.*list);
  }
  for (const api::Container& container : pod.spec.init_containers) {
    const api::ResourceList& own = container.resources.*list;
    if (const auto it = own.find("cpu"); it != own.end()) {
      amounts.milli_cpu = std::max(amounts.milli_cpu, it->second.MilliValue());
    }
    if (const auto it = own.find("memory"); it != own.end()) {
      amounts.memory = std::max(amounts.memory, it->second.Value());
    }
  }
  amounts.Add(pod.spec.overhead);
  return amounts;
}

inline LoadAmounts RequestsOf(const api::Pod& pod) {
  return AmountsOf(pod, &api::ResourceRequirements::requests);
}

// Never less than the requests.
inline LoadAmounts LimitsOf(const api::Pod& pod) {
  LoadAmounts limits = AmountsOf(pod, &api::ResourceRequirements::limits);
  limits.Raise(RequestsOf(pod));
  return limits;
}

}  // namespace berth::plugins
