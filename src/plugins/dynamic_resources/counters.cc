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

bool CounterBook::Draw(Slot slot) {
  drawn_.push_back(inventory_.SliceOf(slot));
  Counters& counters = CountersOf(slot);
  ForEachDrawn(inventory_.DeviceAt(slot), counters,
               [](Counter& counter, const api::Quantity& amount) { counter.drawn.Add(amount); });
  // All of them, as kube-scheduler looks: not only those that this device draws from.
  const bool enough = std::all_of(counters.begin(), counters.end(), [](const Counter& counter) {
    return counter.left >= counter.drawn;
  });
  if (!enough) GiveBack(slot);
  return enough;
}

void CounterBook::GiveBack(Slot slot) {
  ForEachDrawn(inventory_.DeviceAt(slot), CountersOf(slot),
               [](Counter& counter, const api::Quantity& amount) { counter.drawn.Sub(amount); });
}

CounterBook::Counters& CounterBook::CountersOf(Slot slot) {
  const SliceId id = inventory_.SliceOf(slot);
  const auto [it, inserted] = slices_.try_emplace(id);
  if (inserted) it->second = MakeCounters(id);
  return it->second;
}

CounterBook::Counters CounterBook::MakeCounters(SliceId id) const {
  const SliceRecord& record = inventory_.Slices()[id];
  Counters counters;
  for (const api::CounterSet& set : record.object->spec.shared_counters) {
    for (const auto& [name, counter] : set.counters) {
      counters.push_back({set.name, name, counter.value, {}});
    }
  }
  const std::vector<api::Device>& devices = record.object->spec.devices;
  for (size_t i = 0; i < devices.size(); ++i) {
    const auto slot = static_cast<Slot>(record.first_word * kWordBits + i);
    if (!inventory_.IsInUse(slot)) continue;
    ForEachDrawn(devices[i], counters,
                 [](Counter& counter, const api::Quantity& amount) { counter.left.Sub(amount); });
  }
  return counters;
}

}  // namespace berth::plugins::dynamic_resources
