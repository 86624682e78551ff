#include "sim/chaos/faulty_network.h"

#include <variant>
#include <vector>

namespace berth::sim {

bool FaultyNetwork::Fault(uint32_t rate) {
  if (calm_ || !dice_.PerMille(rate)) return false;
  ++faults_;
  return true;
}

Nanos FaultyNetwork::Delay() {
  if (Fault(rates_.slow)) return dice_.Between(kSecond / 2, 3 * kSecond);
  return dice_.Between(kMillisecond / 10, 40 * kMillisecond);
}

// A read that finds nothing tells the truth; only writes fail for no reason that can be seen.
int FaultyNetwork::RefusalOf(const scheduler::Effect& effect) {
  static const std::vector<int> of_writes = {404, 409, 409, 429, 500, 500};
  static const std::vector<int> of_reads = {429, 500};
  const bool reads = std::holds_alternative<scheduler::ReadPod>(effect.action);
  return dice_.Pick(reads ? of_reads : of_writes);
}

Fate FaultyNetwork::FateOf(const scheduler::Effect& effect) {
  Fate fate;
  fate.request_delay = Delay();
  fate.answer_delay = Delay();
  if (Fault(rates_.refused)) {
    fate.kind = Fate::Kind::kRefused;
    fate.code = RefusalOf(effect);
  } else if (Fault(rates_.request_lost)) {
    fate.kind = Fate::Kind::kRequestLost;
    fate.answer_delay = dice_.Between(kSecond, 10 * kSecond);
  } else if (Fault(rates_.answer_lost)) {
    fate.kind = Fate::Kind::kAnswerLost;
    fate.answer_delay = dice_.Between(kSecond, 10 * kSecond);
  }
  if (Fault(rates_.answered_twice)) fate.again = Delay();
  return fate;
}

Nanos FaultyNetwork::WatchDelay(std::string_view) { return Delay(); }

bool FaultyNetwork::RepeatsEvent(std::string_view) { return Fault(rates_.event_repeated); }

std::optional<Nanos> FaultyNetwork::WatchBreaks(std::string_view) {
  if (!Fault(rates_.watch_breaks)) return std::nullopt;
  return dice_.Between(0, 4 * kSecond);
}

}  // namespace berth::sim
