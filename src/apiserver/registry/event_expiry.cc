#include "apiserver/registry/event_expiry.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace berth::apiserver {
namespace {

// The time of the event's last change, as far as it carries one.
api::Time LastTime(const Json& event) {
  api::Time last{};
  const auto take = [&last](const Json& field) {
    if (const auto time = api::Time::Parse(field.Str()); time) last = std::max(last, *time);
  };
  take(event["metadata"]["creationTimestamp"]);
  take(event["lastTimestamp"]);
  take(event["eventTime"]);
  take(event["series"]["lastObservedTime"]);
  return last;
}

}  // namespace

EventExpiry::EventExpiry(Registry& registry, net::Loop& loop, EventExpiryOptions options)
    : registry_(registry),
      loop_(loop),
      options_(options),
      storage_id_(registry.Resources().Core("events").storage_id) {}

EventExpiry::~EventExpiry() {
  if (watch_ != 0) registry_.Objects().Unwatch(watch_);
  loop_.Cancel(timer_);
}

void EventExpiry::Start() {
  Store& store = registry_.Objects();
  using std::chrono::seconds;
  const auto lifetime = std::chrono::ceil<seconds>(options_.lifetime);
  std::vector<std::pair<seconds, ObjectPtr>> known;  // by age
  for (const auto& [key, event] : store.All(storage_id_)) {
    const seconds age(registry_.Now().seconds - LastTime(event->Value()).seconds);
    known.emplace_back(std::clamp(age, seconds(0), lifetime), event);
  }
  std::stable_sort(known.begin(), known.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [age, event] : known) {
    Add(*event, loop_.Steady() + options_.lifetime - age);
  }
  auto watch =
      store.Watch(storage_id_, store.Version(), [this](const Change& change) { OnChange(change); });
  if (watch) watch_ = *watch;
  Schedule();
}

void EventExpiry::Add(const StoredObject& event, net::Nanoseconds expires) {
  entries_.push_back({event.namespace_, event.name, event.version, expires});
  by_key_[ObjectKey(event.namespace_, event.name)] = std::prev(entries_.end());
}

void EventExpiry::OnChange(const Change& change) {
  const StoredObject& event = *change.object;
  const auto known = by_key_.find(ObjectKey(event.namespace_, event.name));
  if (change.type == ChangeType::kDeleted) {
    if (known == by_key_.end()) return;
    entries_.erase(known->second);
    by_key_.erase(known);
    return;
  }
  const net::Nanoseconds expires = loop_.Steady() + options_.lifetime;
  if (known != by_key_.end()) {
    known->second->version = event.version;
    known->second->expires = expires;
    entries_.splice(entries_.end(), entries_, known->second);
    return;
  }
  Add(event, expires);
  if (entries_.size() > options_.most || timer_ == 0) Schedule();
}

bool EventExpiry::OldestIsDue() const {
  if (entries_.empty()) return false;
  return entries_.size() > options_.most || entries_.front().expires <= loop_.Steady();
}

void EventExpiry::RemoveOldest() {
  const Entry oldest = std::move(entries_.front());
  by_key_.erase(ObjectKey(oldest.namespace_, oldest.name));
  entries_.pop_front();
  Store& store = registry_.Objects();
  const ObjectPtr event = store.Get(storage_id_, oldest.namespace_, oldest.name);
  // A change that is not durable yet will be reported: the event begins anew then.
  if (!event || event->version != oldest.version) return;
  store.Remove(storage_id_, oldest.namespace_, oldest.name);
}

void EventExpiry::Tick() {
  for (size_t i = 0; i < options_.batch && OldestIsDue(); ++i) RemoveOldest();
  Schedule();
}

void EventExpiry::Schedule() {
  loop_.Cancel(std::exchange(timer_, 0));
  if (entries_.empty()) return;
  const net::Nanoseconds wait =
      OldestIsDue() ? net::Nanoseconds(0) : entries_.front().expires - loop_.Steady();
  timer_ = loop_.After(wait, [this] {
    timer_ = 0;
    Tick();
  });
}

}  // namespace berth::apiserver
