// Host ports: what pods ask of their node, and who holds what.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/ids.h"

namespace berth::cluster {

struct HostPort {
  StringId ip = kNoString;        // "0.0.0.0" when the pod names none
  StringId protocol = kNoString;  // "TCP" when the pod names none
  int32_t port = 0;

  bool operator==(const HostPort&) const = default;
};

// Which nodes have which host ports taken. Lookups cost the nodes that use the port, not the nodes
// that exist.
class HostPortTable {
 public:
  // `any_ip` is the id of "0.0.0.0", which conflicts with every address.
  explicit HostPortTable(StringId any_ip) : any_ip_(any_ip) {}

  // As kube-scheduler, a port is taken or free: two pods that share one give it back with the first
  // that leaves.
  // Both return whether that changed anything.
  bool Take(NodeIndex node, const HostPort& port);
  bool Release(NodeIndex node, const HostPort& port);
  bool Holds(NodeIndex node, const HostPort& port) const;

  // Calls f(NodeIndex) for every node in [first, end) where `wanted` conflicts with a port in use.
  // A node may be reported more than once.
  template <class F>
  void ForEachConflict(const HostPort& wanted, NodeIndex first, NodeIndex end, F&& f) const {
    const auto it = uses_.find(Key(wanted));
    if (it == uses_.end()) return;
    const auto& uses = it->second;
    for (auto use = std::lower_bound(uses.begin(), uses.end(), Use{first, 0});
         use != uses.end() && use->node < end; ++use) {
      if (wanted.ip == any_ip_ || use->ip == any_ip_ || use->ip == wanted.ip) f(use->node);
    }
  }

 private:
  struct Use {
    NodeIndex node;
    StringId ip;
    auto operator<=>(const Use&) const = default;
  };
  static uint64_t Key(const HostPort& p) {
    return uint64_t{p.protocol} << 32 | static_cast<uint32_t>(p.port);
  }

  StringId any_ip_;
  boost::unordered_flat_map<uint64_t, std::vector<Use>> uses_;  // each list sorted
};

}  // namespace berth::cluster
