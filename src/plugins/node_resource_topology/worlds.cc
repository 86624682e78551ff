#include "plugins/node_resource_topology/worlds.h"

#include <algorithm>
#include <vector>

namespace berth::plugins::node_resource_topology {
namespace {

constexpr size_t kMostUses = 512;

// Whether all are admitted in every order. False when there are too many worlds to tell.
bool AllFit(const KubeletNode& node, const CellUse& published,
            std::span<const KubeletPod* const> pods) {
  const uint32_t all = (1U << pods.size()) - 1;
  std::vector<std::vector<CellUse>> reached(all + size_t{1});  // by the pods that have come
  reached[0] = {published};
  for (uint32_t come = 0; come < all; ++come) {
    auto& uses = reached[come];
    std::sort(uses.begin(), uses.end());
    uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
    if (uses.size() > kMostUses) return false;
    for (const CellUse& use : uses) {
      for (size_t i = 0; i < pods.size(); ++i) {
        const uint32_t bit = 1U << i;
        if ((come & bit) != 0) continue;
        const auto admitted = node.Admit(use, *pods[i]);
        if (!admitted) return false;
        auto& next = reached[come | bit];
        next.insert(next.end(), admitted->begin(), admitted->end());
      }
    }
  }
  return true;
}

}  // namespace

bool FitsInEveryWorld(const KubeletNode& node, const CellUse& published,
                      std::span<const KubeletPod* const> in_flight, const KubeletPod& pod) {
  if (in_flight.size() >= kMostInFlight) return false;
  std::vector<const KubeletPod*> all(in_flight.begin(), in_flight.end());
  all.push_back(&pod);
  return AllFit(node, published, all);
}

}  // namespace berth::plugins::node_resource_topology
