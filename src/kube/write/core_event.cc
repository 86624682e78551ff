#include "kube/write/core_event.h"

namespace berth::kube {

const api::TypeInfo& EventSource::Type() {
  static const api::TypeInfo type = api::Describe<EventSource>("EventSource")
                                        .Field(1, "component", &EventSource::component)
                                        .Field(2, "host", &EventSource::host)
                                        .Build();
  return type;
}

const api::TypeInfo& CoreEvent::Type() {
  static const api::TypeInfo type =
      api::Describe<CoreEvent>("Event")
          .Always(1, "metadata", &CoreEvent::metadata)
          .Always(2, "involvedObject", &CoreEvent::involved_object)
          .Field(3, "reason", &CoreEvent::reason)
          .Field(4, "message", &CoreEvent::message)
          .Field(5, "source", &CoreEvent::source)
          .Field(6, "firstTimestamp", &CoreEvent::first_timestamp)
          .Field(7, "lastTimestamp", &CoreEvent::last_timestamp)
          .Field(8, "count", &CoreEvent::count)
          .Field(9, "type", &CoreEvent::type)
          .Field(10, "eventTime", &CoreEvent::event_time)
          .Field(12, "action", &CoreEvent::action)
          .Always(14, "reportingComponent", &CoreEvent::reporting_component)
          .Always(15, "reportingInstance", &CoreEvent::reporting_instance)
          .Object(kApiVersion, kKind)
          .Build();
  return type;
}

}  // namespace berth::kube
