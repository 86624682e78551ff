// Event: what happened to an object, for people to read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/codec/schema.h"
#include "api/core/reference.h"
#include "api/meta.h"
#include "api/time.h"

namespace berth::api {

// How often the same thing happened again.
struct EventSeries {
  int32_t count = 0;
  MicroTime last_observed_time;

  bool operator==(const EventSeries&) const = default;
  static const TypeInfo& Type();
};

// One thing that happened.
struct Event {
  static constexpr std::string_view kApiVersion = "events.k8s.io/v1";
  static constexpr std::string_view kKind = "Event";

  ObjectMeta metadata;
  MicroTime event_time;
  std::optional<EventSeries> series;
  std::string reporting_controller;
  std::string reporting_instance;
  std::string action;
  std::string reason;
  ObjectReference regarding;
  std::optional<ObjectReference> related;
  std::string note;
  std::string type;
  Time deprecated_first_timestamp;
  Time deprecated_last_timestamp;
  int32_t deprecated_count = 0;

  bool operator==(const Event&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
