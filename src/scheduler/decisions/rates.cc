#include "scheduler/decisions/rates.h"

#include <algorithm>
#include <vector>

namespace berth::scheduler {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

double Milliseconds(int64_t ns) { return static_cast<double>(ns / 1000) / 1000; }

}  // namespace

Rates::Second& Rates::At(int64_t now_ns) {
  const int64_t second = now_ns / kSecondNs;
  Second& slot = seconds_[static_cast<size_t>(second) % seconds_.size()];
  if (slot.second != second) slot = {.second = second};
  return slot;
}

void Rates::Attempted(Outcome outcome, int64_t now_ns) {
  Second& second = At(now_ns);
  switch (outcome) {
    case Outcome::kScheduled:
      ++second.scheduled;
      ++totals_.scheduled;
      break;
    case Outcome::kUnschedulable:
      ++second.unschedulable;
      ++totals_.unschedulable;
      break;
    case Outcome::kError:
      ++second.error;
      ++totals_.error;
      break;
  }
}

void Rates::Bound(int64_t latency_ns, int64_t now_ns) {
  ++At(now_ns).bound;
  ++totals_.bound;
  samples_[next_sample_++ % samples_.size()] = {now_ns, std::max<int64_t>(latency_ns, 0)};
}

QueueRates Rates::Lately(int64_t now_ns) const {
  QueueRates rates;
  const int64_t now = now_ns / kSecondNs;
  RateSeries& series = rates.series.emplace();
  series.bound.assign(kSeconds, 0);
  series.failed.assign(kSeconds, 0);
  for (const Second& second : seconds_) {
    const int64_t age = now - second.second;
    if (second.second < 0 || age < 0 || age >= kSeconds) continue;
    rates.scheduled += second.scheduled;
    rates.unschedulable += second.unschedulable;
    rates.error += second.error;
    rates.bound += second.bound;
    const auto at = static_cast<size_t>(kSeconds - 1 - age);
    series.bound[at] = second.bound;
    series.failed[at] = second.unschedulable + second.error;
  }
  rates.bound_per_second = static_cast<double>(rates.bound) / kSeconds;
  rates.attempts_per_second =
      static_cast<double>(rates.scheduled + rates.unschedulable + rates.error) / kSeconds;
  std::vector<int64_t> latencies;
  for (const Sample& sample : samples_) {
    if (sample.time_ns >= 0 && sample.time_ns > now_ns - kSeconds * kSecondNs) {
      latencies.push_back(sample.latency_ns);
    }
  }
  if (latencies.empty()) return rates;
  std::sort(latencies.begin(), latencies.end());
  const auto at = [&](size_t percent) {
    return Milliseconds(latencies[(latencies.size() - 1) * percent / 100]);
  };
  rates.latency_ms = {at(50), at(90), at(99), Milliseconds(latencies.back()),
                      static_cast<int64_t>(latencies.size())};
  return rates;
}

}  // namespace berth::scheduler
