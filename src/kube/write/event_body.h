// EventBody: an events.k8s.io/v1 Event that happened for the first time, as protobuf.
#pragma once

#include <string>
#include <string_view>

#include "api/time.h"
#include "scheduler/effects.h"

namespace berth::kube {

// What the recorder adds to what the engine says.
struct EventIdentity {
  std::string_view namespace_;
  std::string_view name;
  std::string_view reporting_instance;
  api::MicroTime time;
};

// The bytes that api::ToProto gives for the api::Event, in its envelope.
std::string EventBody(const scheduler::RecordEvent& event, const EventIdentity& identity);

}  // namespace berth::kube
