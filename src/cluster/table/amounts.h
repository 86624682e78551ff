// Amounts of resources as integers, by resource id: what a pod asks for, what it adds to its node.
#pragma once

#include <cstdint>
#include <utility>

#include <boost/container/small_vector.hpp>

#include "cluster/ids.h"

namespace berth::cluster {

struct Amounts {
  int64_t cpu = 0;                // millicores
  int64_t memory = 0;             // bytes
  int64_t ephemeral_storage = 0;  // bytes
  // Every other resource that is mentioned, even with amount 0, in order of name.
  boost::container::small_vector<std::pair<ResourceId, int64_t>, 2> scalars;

  // The amount of `id`, 0 when it is not mentioned.
  int64_t Get(ResourceId id) const {
    switch (id) {
      case kCpu:
        return cpu;
      case kMemory:
        return memory;
      case kEphemeralStorage:
        return ephemeral_storage;
      default:
        for (const auto& [scalar, amount] : scalars) {
          if (scalar == id) return amount;
        }
        return 0;
    }
  }
};

}  // namespace berth::cluster
