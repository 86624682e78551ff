#include "cluster/pods/host_ports.h"

#include <algorithm>

namespace berth::cluster {

bool HostPortTable::Take(NodeIndex node, const HostPort& port) {
  auto& uses = uses_[Key(port)];
  const Use use{node, port.ip};
  const auto at = std::lower_bound(uses.begin(), uses.end(), use);
  if (at != uses.end() && *at == use) return false;
  uses.insert(at, use);
  return true;
}

bool HostPortTable::Release(NodeIndex node, const HostPort& port) {
  const auto it = uses_.find(Key(port));
  if (it == uses_.end()) return false;
  auto& uses = it->second;
  const Use use{node, port.ip};
  const auto at = std::lower_bound(uses.begin(), uses.end(), use);
  if (at == uses.end() || *at != use) return false;
  uses.erase(at);
  if (uses.empty()) uses_.erase(it);
  return true;
}

bool HostPortTable::Holds(NodeIndex node, const HostPort& port) const {
  const auto it = uses_.find(Key(port));
  return it != uses_.end() &&
         std::binary_search(it->second.begin(), it->second.end(), Use{node, port.ip});
}

}  // namespace berth::cluster
