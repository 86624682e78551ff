// The older core/v1 Event: leader election writes these, and everybody where the API server has no
// events.k8s.io/v1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/codec/schema.h"
#include "api/core/reference.h"
#include "api/meta.h"
#include "api/time.h"

namespace berth::kube {

struct EventSource {
  std::string component;
  std::string host;

  bool operator==(const EventSource&) const = default;
  static const api::TypeInfo& Type();
};

struct CoreEvent {
  static constexpr std::string_view kApiVersion = "v1";
  static constexpr std::string_view kKind = "Event";

  api::ObjectMeta metadata;
  api::ObjectReference involved_object;
  std::string reason;
  std::string message;
  EventSource source;
  api::Time first_timestamp;
  api::Time last_timestamp;
  int32_t count = 0;
  std::string type;
  api::MicroTime event_time;
  std::string action;
  std::string reporting_component;
  std::string reporting_instance;

  bool operator==(const CoreEvent&) const = default;
  static const api::TypeInfo& Type();
};

}  // namespace berth::kube
