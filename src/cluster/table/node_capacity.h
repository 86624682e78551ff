// The CPUs of a node with those that are reserved for the system, as few plugins want them.
//
// A plugin names kMilliCpuCapacity among PluginInputs::node_annotations; the cluster then keeps
// status.capacity as if it were an annotation of that key, which none can have.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::cluster {

inline constexpr std::string_view kMilliCpuCapacity = "status.capacity[cpu]";

// What Cluster::NodeAnnotation gives for the key; 0: the node has no such capacity.
inline int64_t MilliCpuCapacity(const std::string* value) {
  int64_t amount = 0;
  if (value != nullptr) std::from_chars(value->data(), value->data() + value->size(), amount);
  return amount;
}

}  // namespace berth::cluster
