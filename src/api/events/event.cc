#include "api/events/event.h"

namespace berth::api {

const TypeInfo& EventSeries::Type() {
  static const TypeInfo type = Describe<EventSeries>("EventSeries")
                                   .Always(1, "count", &EventSeries::count)
                                   .Always(2, "lastObservedTime", &EventSeries::last_observed_time)
                                   .Build();
  return type;
}

const TypeInfo& Event::Type() {
  static const TypeInfo type =
      Describe<Event>("Event")
          .Always(1, "metadata", &Event::metadata)
          .Always(2, "eventTime", &Event::event_time)
          .Field(3, "series", &Event::series)
          .Field(4, "reportingController", &Event::reporting_controller)
          .Field(5, "reportingInstance", &Event::reporting_instance)
          .Field(6, "action", &Event::action)
          .Field(7, "reason", &Event::reason)
          .Always(8, "regarding", &Event::regarding)
          .Field(9, "related", &Event::related)
          .Field(10, "note", &Event::note)
          .Field(11, "type", &Event::type)
          .Field(13, "deprecatedFirstTimestamp", &Event::deprecated_first_timestamp)
          .Field(14, "deprecatedLastTimestamp", &Event::deprecated_last_timestamp)
          .Field(15, "deprecatedCount", &Event::deprecated_count)
          .Object(kApiVersion, kKind)
          .Ignore({"deprecatedSource"})
          .Build();
  return type;
}

}  // namespace berth::api
