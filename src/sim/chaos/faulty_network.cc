#include "sim/chaos/faulty_network.h"

#include <variant>

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

Fate FaultyNetwork::FateOf(const scheduler::Effect&) {
  Fate fate;
  fate.request_delay = Delay();
  fate.answer_delay = Delay();
  if (Fault(rates_.refused)) {
    static const std::vector<int> codes = {404, 409, 409, 429, 500, 500};
    fate.kind = Fate::Kind::kRefused;
    fate.code = dice_.Pick(codes);
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
