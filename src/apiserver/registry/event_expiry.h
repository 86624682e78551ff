// EventExpiry: removes events that are old or too many.
//
// An event lives for a time after its last change, as in kube-apiserver (--event-ttl), and when
// there are more than the bound the oldest go first. Watchers see deletions. Without it a cluster
// that is busy would grow for ever.
//
// Threads: the loop's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>

#include "api/time.h"
#include "apiserver/registry/registry.h"
#include "apiserver/store/store.h"
#include "net/loop.h"

namespace berth::apiserver {

struct EventExpiryOptions {
  std::chrono::nanoseconds lifetime = std::chrono::hours(1);  // changes results
  size_t most = 20'000;                                       // changes results
  size_t batch = 500;  // changes speed: events removed before other work has its turn
};

class EventExpiry {
 public:
  // `registry` and `loop` outlive it.
  EventExpiry(Registry& registry, net::Loop& loop, EventExpiryOptions options = {});
  ~EventExpiry();
  EventExpiry(const EventExpiry&) = delete;
  EventExpiry& operator=(const EventExpiry&) = delete;

  // Takes the events there are, which count from the time they carry, and begins to follow changes.
  void Start();
  // Events that are followed.
  size_t Size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string namespace_;
    std::string name;
    uint64_t version;
    net::Nanoseconds expires;  // on the loop's steady clock
  };
  using Entries = std::list<Entry>;

  void OnChange(const Change& change);
  void Add(const StoredObject& event, net::Nanoseconds expires);
  void RemoveOldest();
  bool OldestIsDue() const;
  // Removes what is due, a batch at a time, and waits for what comes next.
  void Tick();
  void Schedule();

  Registry& registry_;
  net::Loop& loop_;
  const EventExpiryOptions options_;
  const uint32_t storage_id_;
  Entries entries_;  // in the order they expire
  std::map<std::string, Entries::iterator> by_key_;
  Store::WatchId watch_ = 0;
  net::Loop::TimerId timer_ = 0;
};

}  // namespace berth::apiserver
