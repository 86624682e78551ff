#include "plugins/dynamic_resources/counters.h"

#include <algorithm>
#include <utility>

namespace berth::plugins::dynamic_resources {
namespace {

// Calls f(counter, amount) for all the device draws from. A counter that no set has does not limit.
template <class Counters, class F>
void ForEachDrawn(const api::Device& device, Counters& counters, const F& f) {
  for (const api::DeviceCounterConsumption& draw : device.consumes_counters) {
    for (const auto& [name, amount] : draw.counters) {
      for (auto& counter : counters) {
        if (counter.set == draw.counter_set && counter.name == name) f(counter, amount.value);
      }
    }
  }
}

}  // namespace

void CounterBook::Clear() {
  for (const SliceId id : drawn_) {
    for (Counter& counter : slices_[id]) counter.drawn = {};
  }
  drawn_.clear();
}

bool CounterBook::Draw(Slot slot, const std::vector<SliceId>* pool) {
  drawn_.push_back(pool != nullptr ? pool->front() : inventory_.SliceOf(slot));
  Counters& counters = CountersOf(slot, pool);
  ForEachDrawn(inventory_.DeviceAt(slot), counters,
               [](Counter& counter, const api::Quantity& amount) { counter.drawn.Add(amount); });
  // All of them, as kube-scheduler looks: not only those that this device draws from.
  const bool enough = std::all_of(counters.begin(), counters.end(), [](const Counter& counter) {
    return counter.left >= counter.drawn;
  });
  if (!enough) GiveBack(slot, pool);
  return enough;
}

void CounterBook::GiveBack(Slot slot, const std::vector<SliceId>* pool) {
  ForEachDrawn(inventory_.DeviceAt(slot), CountersOf(slot, pool),
               [](Counter& counter, const api::Quantity& amount) { counter.drawn.Sub(amount); });
}

CounterBook::Counters& CounterBook::CountersOf(Slot slot, const std::vector<SliceId>* pool) {
  const SliceId own = inventory_.SliceOf(slot);
  const auto [it, inserted] = slices_.try_emplace(pool != nullptr ? pool->front() : own);
  if (inserted) it->second = MakeCounters(pool != nullptr ? *pool : std::vector{own});
  return it->second;
}

CounterBook::Counters CounterBook::MakeCounters(const std::vector<SliceId>& slices) const {
  Counters counters;
  for (const SliceId id : slices) {
    for (const api::CounterSet& set : inventory_.Slices()[id].object->spec.shared_counters) {
      for (const auto& [name, counter] : set.counters) {
        counters.push_back({set.name, name, counter.value, {}});
      }
    }
  }
  for (const SliceId id : slices) {
    const SliceRecord& record = inventory_.Slices()[id];
    const std::vector<api::Device>& devices = record.object->spec.devices;
    for (size_t i = 0; i < devices.size(); ++i) {
      const auto slot = static_cast<Slot>(record.first_word * kWordBits + i);
      // Shares count from 1.36 on, with the rest of consumable capacity.
      const bool shared =
          inventory_.Features().sorted_pools && inventory_.Consumed(slot) != nullptr;
      if (!inventory_.IsInUse(slot) && !shared) continue;
      ForEachDrawn(devices[i], counters,
                   [](Counter& counter, const api::Quantity& amount) { counter.left.Sub(amount); });
    }
  }
  return counters;
}

}  // namespace berth::plugins::dynamic_resources
