// CoreCorrelator: which core/v1 events are written, and how, as client-go's correlator decides.
//
//   the same event again           its count goes up
//   many events about one object   25 at once, then one in five minutes: the rest is left out
//   ten messages of one reason     within ten minutes of each other become one combined event
//
// Remembers a bounded number of events.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "kube/write/core_event.h"
#include "kube/write/lru_map.h"
#include "net/loop.h"

namespace berth::kube {

class CoreCorrelator {
 public:
  enum class Action { kSkip, kCreate, kCount };

  // `event` is new, with count 1; it becomes what is to be written: for kCount with the name, the
  // first time and the count it has by now.
  Action Observe(CoreEvent& event, net::Nanoseconds now);

 private:
  static constexpr size_t kRemembered = 4096;

  struct Allowance {
    double tokens = 0;
    net::Nanoseconds since{0};
  };
  struct Similar {
    std::set<std::string> messages;
    net::Nanoseconds last{0};
  };
  struct Known {
    std::string name;
    api::Time first;
    int32_t count = 0;
  };

  bool Allowed(const CoreEvent& event, net::Nanoseconds now);
  // The key its count is kept under.
  std::string Combine(CoreEvent& event, net::Nanoseconds now);

  LruMap<Allowance> allowances_{kRemembered};
  LruMap<Similar> similar_{kRemembered};
  LruMap<Known> known_{kRemembered};
};

}  // namespace berth::kube
