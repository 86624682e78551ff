// FaultyNetwork: injects faults, drawn from a seed. Delays differ from request to request, so
// responses and watch events overtake each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/chaos/dice.h"
#include "sim/chaos/profile.h"
#include "sim/host/network.h"

namespace berth::sim {

// The longest time until the engine learns of a change, with all faults: a broken watch, the delay
// before the list, the list in flight.
inline constexpr Nanos kViewLag = 15 * kSecond;

class FaultyNetwork final : public Network {
 public:
  FaultyNetwork(const FaultRates& rates, uint64_t seed) : rates_(rates), dice_(seed) {}

  // From now on no faults are injected; delays still differ, but are short.
  void CalmDown() { calm_ = true; }
  uint64_t Faults() const { return faults_; }

  Fate FateOf(const scheduler::Effect&) override;
  Nanos WatchDelay(std::string_view kind) override;
  bool RepeatsEvent(std::string_view kind) override;
  std::optional<Nanos> WatchBreaks(std::string_view kind) override;
  void OrderLists(std::vector<std::string_view>& kinds) override { dice_.Shuffle(kinds); }
  bool ArrivesDespiteCrash(const scheduler::Effect&) override { return dice_.PerMille(500); }
  Nanos CycleTime() override { return dice_.Between(0, 3 * kMillisecond); }

 private:
  bool Fault(uint32_t rate);
  Nanos Delay();
  int RefusalOf(const scheduler::Effect& effect);

  FaultRates rates_;
  Dice dice_;
  bool calm_ = false;
  uint64_t faults_ = 0;
};

}  // namespace berth::sim
