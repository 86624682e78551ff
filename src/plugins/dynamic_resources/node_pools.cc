#include "plugins/dynamic_resources/node_pools.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include "plugins/common/node_matcher.h"

namespace berth::plugins::dynamic_resources {
namespace {

// Slices whose devices have places of their own need a feature that is off; nothing else says which
// nodes they serve.
bool IsIgnored(const api::ResourceSliceSpec& spec) {
  if (spec.per_device_node_selection) return true;
  return spec.node_name.value_or("").empty() && !spec.all_nodes.value_or(false) &&
         !spec.node_selector;
}

std::string FindDuplicate(const Inventory& inventory, const Pool& pool) {
  boost::unordered_flat_set<std::string_view> names;
  for (const SliceId id : pool.slices) {
    for (const api::Device& device : inventory.Slices()[id].object->spec.devices) {
      if (!names.insert(device.name).second) return "duplicate device name " + device.name;
    }
  }
  return {};
}

}  // namespace

bool NodePools::Sync(const cluster::Cluster& cluster, const Inventory& inventory) {
  if (slice_serial_ == inventory.SliceSerial() && node_generation_ == cluster.NodeGeneration()) {
    return false;
  }
  slice_serial_ = inventory.SliceSerial();
  node_generation_ = cluster.NodeGeneration();
  Rebuild(cluster, inventory);
  ++version_;
  return true;
}

std::vector<SliceId> NodePools::LiveSlices(const Inventory& inventory) const {
  std::vector<SliceId> live;
  const auto slices = inventory.Slices();
  for (SliceId id = 0; id < slices.size(); ++id) {
    if (slices[id].object != nullptr && !IsIgnored(slices[id].object->spec)) live.push_back(id);
  }
  std::sort(live.begin(), live.end(),
            [&](SliceId a, SliceId b) { return slices[a].order < slices[b].order; });
  return live;
}

void NodePools::Rebuild(const cluster::Cluster& cluster, const Inventory& inventory) {
  const auto slices = inventory.Slices();
  error_.clear();
  local_.assign(cluster.Rows(), {});
  group_of_node_.assign(cluster.Rows(), 0);
  groups_.assign(1, {});
  node_of_slice_.assign(slices.size(), cluster::kNoNode);

  std::vector<std::vector<SliceId>> own(cluster.Rows());
  std::vector<std::vector<SliceId>> shared(cluster.Rows());
  bool any_shared = false;
  for (const SliceId id : LiveSlices(inventory)) {
    const api::ResourceSlice& slice = *slices[id].object;
    const std::string node_name = slice.spec.node_name.value_or("");
    if (!node_name.empty()) {
      const cluster::NodeIndex node = cluster.FindNode(node_name);
      node_of_slice_[id] = node;
      if (node != cluster::kNoNode) own[node].push_back(id);
      continue;
    }
    any_shared = true;
    if (slice.spec.all_nodes.value_or(false)) {
      cluster.Nodes().ForEach([&](cluster::NodeIndex n) { shared[n].push_back(id); });
      continue;
    }
    const auto selector = api::NodeSelectorMatcher::Strict(*slice.spec.node_selector);
    if (!selector) {
      error_ = "gather pool information: failed to perform node selection for slice " +
               slice.metadata.name +
               ": failed to parse node selector: " + selector.error().Message();
      return;
    }
    NodeMatcher matcher(cluster, *selector);
    matcher.Prepare(cluster);
    cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
      if (matcher.Matches(cluster, n)) shared[n].push_back(id);
    });
  }

  std::map<std::vector<SliceId>, uint32_t> group_of;
  cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
    if (any_shared && !shared[n].empty()) {
      const auto [it, inserted] =
          group_of.try_emplace(shared[n], static_cast<uint32_t>(groups_.size()));
      if (inserted) groups_.push_back({shared[n], MakePools(inventory, shared[n])});
      group_of_node_[n] = it->second;
    }
    if (own[n].empty()) return;
    local_[n] = MakePools(inventory, own[n]);
    const std::vector<Pool>& common = groups_[group_of_node_[n]].pools;
    const bool mixed = std::any_of(local_[n].begin(), local_[n].end(), [&](const Pool& pool) {
      return std::any_of(common.begin(), common.end(), [&](const Pool& other) {
        return other.driver == pool.driver && other.name == pool.name;
      });
    });
    if (!mixed) return;
    // A pool with slices of both kinds: this node needs a list of its own.
    own[n].insert(own[n].end(), shared[n].begin(), shared[n].end());
    local_[n] = MakePools(inventory, own[n]);
    group_of_node_[n] = 0;
  });
}

std::vector<Pool> NodePools::MakePools(const Inventory& inventory,
                                       const std::vector<SliceId>& slices) {
  const auto records = inventory.Slices();
  std::vector<Pool> pools;
  std::map<std::pair<std::string_view, std::string_view>, size_t> known;
  const auto add = [&](SliceId id) {
    const api::ResourceSliceSpec& spec = records[id].object->spec;
    const auto [it, inserted] = known.try_emplace({spec.driver, spec.pool.name}, pools.size());
    if (inserted) {
      pools.emplace_back();
      pools.back().driver = spec.driver;
      pools.back().name = spec.pool.name;
    }
    Pool& pool = pools[it->second];
    if (!pool.slices.empty()) {
      const int64_t generation = records[pool.slices[0]].object->spec.pool.generation;
      if (spec.pool.generation < generation) return;
      if (spec.pool.generation > generation) pool.slices.clear();
    }
    pool.slices.push_back(id);
  };
  // Slices with devices that need conditions come last.
  for (const bool binding : {false, true}) {
    for (const SliceId id : slices) {
      if (records[id].binding_conditions == binding) add(id);
    }
  }
  for (Pool& pool : pools) {
    const int64_t wanted = records[pool.slices[0]].object->spec.pool.resource_slice_count;
    pool.incomplete = static_cast<int64_t>(pool.slices.size()) != wanted;
    pool.invalid_reason = FindDuplicate(inventory, pool);
    pool.binding_conditions = std::any_of(pool.slices.begin(), pool.slices.end(), [&](SliceId id) {
      return records[id].binding_conditions;
    });
  }
  return pools;
}

void NodePools::Append(cluster::NodeIndex node, PoolList* pools) const {
  if (node >= local_.size()) return;
  const size_t first = pools->size();
  bool binding = false;
  const auto append = [&](const std::vector<Pool>& from) {
    for (const Pool& pool : from) {
      pools->push_back(&pool);
      binding |= pool.binding_conditions;
    }
  };
  append(local_[node]);
  append(groups_[group_of_node_[node]].pools);
  if (binding) {
    std::stable_partition(pools->begin() + static_cast<ptrdiff_t>(first), pools->end(),
                          [](const Pool* pool) { return !pool->binding_conditions; });
  }
}

}  // namespace berth::plugins::dynamic_resources
