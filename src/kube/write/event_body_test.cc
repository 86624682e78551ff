#include "kube/write/event_body.h"

#include <string>

#include <gtest/gtest.h>

#include "api/codec/proto.h"
#include "api/events/event.h"

namespace berth::kube {
namespace {

api::ObjectReference Reference(const scheduler::PodRef& pod) {
  return {.kind = "Pod",
          .namespace_ = pod.namespace_,
          .name = pod.name,
          .uid = pod.uid,
          .api_version = "v1",
          .resource_version = pod.resource_version,
          .field_path = ""};
}

std::string Described(const scheduler::RecordEvent& event, const EventIdentity& identity) {
  api::Event made;
  made.metadata.name = identity.name;
  made.metadata.namespace_ = identity.namespace_;
  made.event_time = identity.time;
  made.reporting_controller = event.reporting_controller;
  made.reporting_instance = identity.reporting_instance;
  made.action = event.action;
  made.reason = event.reason;
  made.note = event.note;
  made.type = event.type;
  made.regarding = Reference(event.regarding);
  if (event.related) made.related = Reference(*event.related);
  return api::WrapEnvelope(api::Event::kApiVersion, api::Event::kKind, api::ToProto(made));
}

TEST(EventBody, IsWhatTheDescriptionOfTheTypeGives) {
  for (const size_t length : {0, 1, 100, 127, 128, 300, 20'000}) {
    for (const bool related : {false, true}) {
      scheduler::RecordEvent event;
      event.regarding = {"ns", std::string(length, 'p'), "uid", "12"};
      if (related) event.related = scheduler::PodRef{"other", std::string(length, 'r'), "u2", ""};
      event.type = "Warning";
      event.reason = "FailedScheduling";
      event.action = "Scheduling";
      event.note = std::string(length, 'n');
      event.reporting_controller = "default-scheduler";
      const std::string name(length, 'e');
      for (const int64_t nanos : {int64_t{0}, int64_t{1'794'857'984'079'657'123}, int64_t{1}}) {
        const EventIdentity identity{"ns", name, "default-scheduler-vm",
                                     api::MicroTime::FromUnixNano(nanos)};
        EXPECT_EQ(EventBody(event, identity), Described(event, identity)) << length << " " << nanos;
      }
    }
  }
}

TEST(EventBody, ATimeThatIsNotSetIsEmpty) {
  const scheduler::RecordEvent event;
  const EventIdentity identity{"ns", "e", "i", {}};
  EXPECT_EQ(EventBody(event, identity), Described(event, identity));
}

}  // namespace
}  // namespace berth::kube
