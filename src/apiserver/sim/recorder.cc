#include "apiserver/sim/recorder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace berth::apiserver {

bool Recorder::Take(Limit& limit, double burst, double rate) {
  const net::Nanoseconds now = loop_.Steady();
  const double passed = std::chrono::duration<double>(now - limit.since).count();
  limit.tokens = std::min(burst, limit.tokens + passed * rate);
  limit.since = now;
  if (limit.tokens < 1) return false;
  limit.tokens -= 1;
  return true;
}

bool Recorder::Count(const std::string& key, const std::string& namespace_) {
  const auto known = known_.find(key);
  if (known == known_.end()) return false;
  const auto counted = registry_.Modify(registry_.Resources().Core("events"), namespace_,
                                        known->second, [&](Json& event) -> Answer<void> {
                                          event.Set("count", event["count"].Int() + 1);
                                          event.Set("lastTimestamp", registry_.Now().Format());
                                          return {};
                                        });
  if (!counted) known_.erase(known);
  return counted.has_value();
}

void Recorder::Record(const Happening& about) {
  const StoredObject& object = about.object;
  if (known_.size() > kMostKnown) known_.clear();
  if (objects_.size() > kMostKnown) objects_.clear();
  Limit& limit = objects_
                     .try_emplace(fmt::format("{}/{}", object.uid, about.component),
                                  Limit{kObjectBurst, loop_.Steady()})
                     .first->second;
  if (!Take(limit, kObjectBurst, kObjectRate) || !Take(all_, kBurst, kRate)) return;
  const std::string namespace_ = object.namespace_.empty() ? "default" : object.namespace_;
  const std::string key = fmt::format("{}/{}/{}", object.uid, about.reason, about.message);
  if (Count(key, namespace_)) return;
  const std::string now = registry_.Now().Format();
  Json reference = Json::MakeObject({{"kind", about.resource.kind},
                                     {"apiVersion", about.resource.ApiVersion()},
                                     {"name", object.name},
                                     {"uid", object.uid},
                                     {"resourceVersion", std::to_string(object.version)}});
  if (!object.namespace_.empty()) reference.Set("namespace", object.namespace_);
  if (!about.field_path.empty()) reference.Set("fieldPath", about.field_path);
  Json source = Json::MakeObject({{"component", about.component}});
  if (!about.host.empty()) source.Set("host", about.host);
  Json event = Json::MakeObject({{"involvedObject", std::move(reference)},
                                 {"reason", about.reason},
                                 {"message", about.message},
                                 {"source", std::move(source)},
                                 {"reportingComponent", about.component},
                                 {"reportingInstance", about.host},
                                 {"type", about.warning ? "Warning" : "Normal"},
                                 {"count", 1},
                                 {"firstTimestamp", now},
                                 {"lastTimestamp", now}});
  const uint64_t moment = static_cast<uint64_t>(registry_.Now().seconds) * 1'000'000'000;
  std::string name = fmt::format("{}.{:x}", object.name, moment + ++numbers_);
  event.At("metadata").Set("name", name);
  const WriteOptions writer{.field_manager = std::string(about.component)};
  if (registry_.Create(registry_.Resources().Core("events"), namespace_, std::move(event),
                       writer)) {
    known_[key] = std::move(name);
  }
}

}  // namespace berth::apiserver
