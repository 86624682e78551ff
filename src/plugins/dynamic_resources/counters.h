// CounterBook: what partitioned devices consume of the counters of their slice, or of their pool.
//
// Devices in use have consumed permanently; devices that a search takes consume until it releases
// them. Not thread-safe. REQUIRES: the inventory does not change meanwhile.
#pragma once

#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "plugins/dynamic_resources/inventory.h"

namespace berth::plugins::dynamic_resources {

class CounterBook {
 public:
  explicit CounterBook(const Inventory& inventory) : inventory_(inventory) {}

  // Forgets what was drawn.
  void Clear();
  // False when one of the counters would not do, and nothing is drawn. `pool`: the slices whose
  // counters and devices count; null: the device's own.
  bool Draw(Slot slot, const std::vector<SliceId>* pool);
  void GiveBack(Slot slot, const std::vector<SliceId>* pool);

 private:
  struct Counter {
    std::string_view set;
    std::string_view name;
    api::Quantity left;   // by devices in use; may be less than nothing
    api::Quantity drawn;  // by the search
  };
  using Counters = std::vector<Counter>;

  Counters& CountersOf(Slot slot, const std::vector<SliceId>* pool);
  Counters MakeCounters(const std::vector<SliceId>& slices) const;

  const Inventory& inventory_;
  boost::unordered_flat_map<SliceId, Counters> slices_;  // of a pool: under its first slice
  std::vector<SliceId> drawn_;                           // keys that were drawn from
};

}  // namespace berth::plugins::dynamic_resources
