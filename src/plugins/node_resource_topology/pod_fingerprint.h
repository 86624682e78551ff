// PodFingerprint: the hash of a set of pods by which a node's agent says which pods its
// NodeResourceTopology takes into account ("pfp0v001" and 16 hexadecimal digits).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::plugins::node_resource_topology {

// XXH64 of `bytes`.
uint64_t XxHash64(std::string_view bytes, uint64_t seed);

class PodFingerprint {
 public:
  void Add(std::string_view namespace_, std::string_view name);
  // Does not depend on the order of Add.
  std::string Sign() const;

 private:
  std::vector<uint64_t> pods_;
};

}  // namespace berth::plugins::node_resource_topology
