#include "plugins/dynamic_resources/node_pools.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include "plugins/common/node_matcher.h"

namespace berth::plugins::dynamic_resources {
namespace {

bool NamesNodes(const api::ResourceSliceSpec& spec) {
  return !spec.node_name.value_or("").empty() || spec.all_nodes.value_or(false) ||
         spec.node_selector;
}

bool HasPlacesOfDevices(const api::ResourceSliceSpec& spec) {
  return spec.per_device_node_selection.value_or(false);
}

// Calls f(node) for every node the selector matches, or says why it cannot be read.
template <class F>
Result<void> ForEachMatch(const cluster::Cluster& cluster, const api::NodeSelector& selector,
                          const F& f) {
  const auto parsed = api::NodeSelectorMatcher::Strict(selector);
  if (!parsed) return Fail("failed to parse node selector: " + parsed.error().Message());
  NodeMatcher matcher(cluster, *parsed);
  matcher.Prepare(cluster);
  cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
    if (matcher.Matches(cluster, n)) f(n);
  });
  return {};
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
    if (slices[id].object == nullptr) continue;
    const api::ResourceSliceSpec& spec = slices[id].object->spec;
    if (!features_.partitionable && spec.per_device_node_selection) continue;
    if (features_.checks_whole_pools && !spec.shared_counters.empty()) {
      if (features_.partitionable) live.push_back(id);
      continue;
    }
    // Where neither is set nothing says which nodes the slice serves.
    if (NamesNodes(spec) || HasPlacesOfDevices(spec)) live.push_back(id);
  }
  std::sort(live.begin(), live.end(),
            [&](SliceId a, SliceId b) { return slices[a].order < slices[b].order; });
  if (features_.sorted_pools) {
    const auto key = [&](SliceId id) {
      const api::ResourceSlice& slice = *slices[id].object;
      return std::tie(slice.spec.driver, slice.spec.pool.name, slice.metadata.name);
    };
    std::sort(live.begin(), live.end(), [&](SliceId a, SliceId b) { return key(a) < key(b); });
  }
  return live;
}

void NodePools::CountSlices(const Inventory& inventory) {
  whole_pools_.clear();
  const auto slices = inventory.Slices();
  for (SliceId id = 0; id < slices.size(); ++id) {
    if (slices[id].object == nullptr) continue;
    const api::ResourceSliceSpec& spec = slices[id].object->spec;
    PoolSlices& pool = whole_pools_[{spec.driver, spec.pool.name}];
    if (!pool.slices.empty() && spec.pool.generation < pool.generation) continue;
    if (spec.pool.generation > pool.generation) pool.slices.clear();
    pool.generation = spec.pool.generation;
    pool.slices.push_back(id);
  }
}

bool NodePools::CheckWholePool(const Inventory& inventory, Pool& pool) const {
  const api::ResourcePool& own = inventory.Slices()[pool.slices[0]].object->spec.pool;
  const PoolSlices& whole = whole_pools_.find({pool.driver, pool.name})->second;
  pool.incomplete = static_cast<int64_t>(pool.slices.size()) != own.resource_slice_count;
  if (pool.incomplete) {
    if (whole.generation > own.generation) return false;
    pool.incomplete = static_cast<int64_t>(whole.slices.size()) != own.resource_slice_count;
  }
  pool.whole = &whole.slices;
  return true;
}

void NodePools::Rebuild(const cluster::Cluster& cluster, const Inventory& inventory) {
  const auto slices = inventory.Slices();
  error_.clear();
  if (features_.checks_whole_pools) CountSlices(inventory);
  local_.assign(cluster.Rows(), {});
  group_of_node_.assign(cluster.Rows(), 0);
  groups_.assign(1, {});
  node_of_slice_.assign(slices.size(), cluster::kNoNode);

  std::vector<ReachedSlices> own(cluster.Rows());
  std::vector<ReachedSlices> shared(cluster.Rows());
  for (const SliceId id : LiveSlices(inventory)) {
    if (!Reach(cluster, inventory, id, &own, &shared)) return;
  }

  std::map<ReachedSlices, uint32_t> group_of;
  cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
    if (!shared[n].empty()) {
      const auto [it, inserted] =
          group_of.try_emplace(shared[n], static_cast<uint32_t>(groups_.size()));
      if (inserted) groups_.push_back(MakePools(inventory, shared[n]));
      group_of_node_[n] = it->second;
    }
    if (own[n].empty()) return;
    local_[n] = MakePools(inventory, own[n]);
    const std::vector<Pool>& common = groups_[group_of_node_[n]];
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

bool NodePools::Reach(const cluster::Cluster& cluster, const Inventory& inventory, SliceId id,
                      std::vector<ReachedSlices>* own, std::vector<ReachedSlices>* shared) {
  const SliceRecord& record = inventory.Slices()[id];
  const api::ResourceSliceSpec& spec = record.object->spec;
  std::vector<std::vector<uint64_t>> reach;  // by node
  if (HasPlacesOfDevices(spec)) {
    reach.resize(cluster.Rows());
    if (!ReachDevices(cluster, record, &reach)) return false;
  }
  const auto reached = [&](cluster::NodeIndex n) {
    Reached slice{id};
    if (!reach.empty()) {
      slice.words = std::move(reach[n]);
      slice.words.resize(record.words);
    }
    return slice;
  };
  const std::string name = spec.node_name.value_or("");
  if (!name.empty() && (spec.shared_counters.empty() || !features_.checks_whole_pools)) {
    const cluster::NodeIndex node = cluster.FindNode(name);
    node_of_slice_[id] = node;
    if (node != cluster::kNoNode) (*own)[node].push_back(reached(node));
    return true;
  }
  const auto share = [&](cluster::NodeIndex n) { (*shared)[n].push_back(reached(n)); };
  const bool only_counters = features_.checks_whole_pools && !spec.shared_counters.empty();
  if (only_counters || spec.all_nodes.value_or(false)) {
    cluster.Nodes().ForEach(share);
  } else if (spec.node_selector) {
    if (auto read = ForEachMatch(cluster, *spec.node_selector, share); !read) {
      error_ = "gather pool information: failed to perform node selection for slice " +
               record.object->metadata.name + ": " + read.error().Message();
      return false;
    }
  } else {
    cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
      if (!reach[n].empty()) share(n);
    });
  }
  return true;
}

bool NodePools::ReachDevices(const cluster::Cluster& cluster, const SliceRecord& record,
                             std::vector<std::vector<uint64_t>>* reach) {
  const std::vector<api::Device>& devices = record.object->spec.devices;
  // Neighbours often have the same place.
  const api::NodeSelector* last = nullptr;
  std::vector<cluster::NodeIndex> matched;
  for (size_t i = 0; i < devices.size(); ++i) {
    const auto add = [&](cluster::NodeIndex n) {
      (*reach)[n].resize(record.words);
      (*reach)[n][i / kWordBits] |= uint64_t{1} << (i % kWordBits);
    };
    const api::Device& device = devices[i];
    if (device.node_name && !device.node_name->empty()) {
      const cluster::NodeIndex node = cluster.FindNode(*device.node_name);
      if (node != cluster::kNoNode) add(node);
    } else if (device.all_nodes.value_or(false)) {
      cluster.Nodes().ForEach(add);
    } else if (device.node_selector && last != nullptr && *device.node_selector == *last) {
      for (const cluster::NodeIndex n : matched) add(n);
    } else if (device.node_selector) {
      last = &*device.node_selector;
      matched.clear();
      const auto match = [&](cluster::NodeIndex n) {
        matched.push_back(n);
        add(n);
      };
      if (auto read = ForEachMatch(cluster, *last, match); !read) {
        error_ = "gather pool information: failed to perform node selection for device " +
                 device.name + " in slice " + record.object->metadata.name + ": " +
                 read.error().Message();
        return false;
      }
    }
  }
  return true;
}

std::vector<Pool> NodePools::MakePools(const Inventory& inventory,
                                       const ReachedSlices& slices) const {
  const auto records = inventory.Slices();
  std::vector<Pool> pools;
  std::map<std::pair<std::string_view, std::string_view>, size_t> known;
  const auto add = [&](const Reached& reached) {
    const api::ResourceSliceSpec& spec = records[reached.slice].object->spec;
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
      if (spec.pool.generation > generation) {
        pool.slices.clear();
        pool.reach.clear();
      }
    }
    pool.slices.push_back(reached.slice);
    if (reached.words.empty() && pool.reach.empty()) return;
    pool.reach.resize(pool.slices.size());
    pool.reach.back() = reached.words;
  };
  // Slices with devices that need conditions come last.
  for (const bool binding : {false, true}) {
    for (const Reached& reached : slices) {
      if (records[reached.slice].binding_conditions == binding) add(reached);
    }
  }
  for (Pool& pool : pools) {
    if (!features_.checks_whole_pools) {
      const int64_t wanted = records[pool.slices[0]].object->spec.pool.resource_slice_count;
      pool.incomplete = static_cast<int64_t>(pool.slices.size()) != wanted;
    } else if (!CheckWholePool(inventory, pool)) {
      pool.slices.clear();  // obsolete
      pool.reach.clear();
      continue;
    }
    pool.invalid_reason = FindDuplicate(inventory, pool);
    pool.binding_conditions = std::any_of(pool.slices.begin(), pool.slices.end(), [&](SliceId id) {
      return records[id].binding_conditions;
    });
    if (features_.checks_whole_pools && (pool.incomplete || !pool.invalid_reason.empty())) {
      pool.slices.clear();  // nothing is allocated from it
      pool.reach.clear();
    }
  }
  if (features_.checks_whole_pools) {
    std::erase_if(pools, [](const Pool& pool) {
      return pool.slices.empty() && !pool.incomplete && pool.invalid_reason.empty();
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
  append(groups_[group_of_node_[node]]);
  if (features_.sorted_pools) {
    std::stable_sort(pools->begin() + static_cast<ptrdiff_t>(first), pools->end(),
                     [](const Pool* a, const Pool* b) {
                       return std::tie(a->driver, a->name) < std::tie(b->driver, b->name);
                     });
  }
  if (binding) {
    std::stable_partition(pools->begin() + static_cast<ptrdiff_t>(first), pools->end(),
                          [](const Pool* pool) { return !pool->binding_conditions; });
  }
}

}  // namespace berth::plugins::dynamic_resources
