#include "kube/write/event_body.h"

#include "api/scheduling/pod_group.h"
#include "kube/write/proto_text.h"

namespace berth::kube {

namespace {

// generation 0 and no creationTimestamp, the end of the metadata.
constexpr std::string_view kMetaEnd("\x38\0\x42\0", 4);
// deprecatedSource, deprecatedFirstTimestamp, deprecatedLastTimestamp and deprecatedCount.
constexpr std::string_view kDeprecated("\x62\x04\x0a\0\x12\0\x6a\0\x72\0\x78\0", 12);

// Field 2 with its head.
std::string Time(const api::MicroTime& time) {
  if (time.IsZero()) return std::string("\x12\0", 2);
  const auto seconds = static_cast<uint64_t>(time.seconds);
  const auto nanos = static_cast<uint64_t>(time.nanos / 1000 * 1000);
  const size_t size = 2 + ProtoText::NumberSize(seconds) + ProtoText::NumberSize(nanos);
  ProtoText out(2 + size);
  out.Head(2, size);
  out.Bytes("\x08");
  out.Number(seconds);
  out.Bytes("\x10");
  out.Number(nanos);
  return std::move(out).Take();
}

}  // namespace

std::string EventBody(const scheduler::RecordEvent& event, const EventIdentity& identity) {
  using Out = ProtoText;
  const std::initializer_list<std::string_view> type = {"events.k8s.io/v1", "Event"};
  const std::initializer_list<std::string_view> meta = {
      identity.name, "", identity.namespace_, "", "", ""};
  const scheduler::PodRef& pod = event.regarding;
  const std::initializer_list<std::string_view> regarding = {
      "Pod", pod.namespace_, pod.name, pod.uid, "v1", pod.resource_version, ""};
  const scheduler::PodRef none;
  const scheduler::PodRef& other = event.related ? *event.related : none;
  const std::initializer_list<std::string_view> related = {
      event.related_is_group ? api::PodGroup::kKind : "Pod",
      other.namespace_,
      other.name,
      other.uid,
      event.related_is_group ? api::PodGroup::kApiVersion : "v1",
      other.resource_version,
      ""};
  const std::string time = Time(identity.time);

  const size_t meta_size = Out::Size(meta) + kMetaEnd.size();
  const size_t size = Out::MessageSize(meta_size) + time.size() +
                      Out::Size({event.reporting_controller, identity.reporting_instance,
                                 event.action, event.reason, event.note, event.type}) +
                      Out::MessageSize(Out::Size(regarding)) +
                      (event.related ? Out::MessageSize(Out::Size(related)) : 0) +
                      kDeprecated.size();
  Out out(Out::EnvelopeSize(type, size));
  out.BeginEnvelope(type, size);
  out.Head(1, meta_size);
  out.Fields(meta);
  out.Bytes(kMetaEnd);
  out.Bytes(time);
  out.Text(4, event.reporting_controller);
  out.Text(5, identity.reporting_instance);
  out.Text(6, event.action);
  out.Text(7, event.reason);
  out.Head(8, Out::Size(regarding));
  out.Fields(regarding);
  if (event.related) {
    out.Head(9, Out::Size(related));
    out.Fields(related);
  }
  out.Text(10, event.note);
  out.Text(11, event.type);
  out.Bytes(kDeprecated);
  out.EndEnvelope();
  return std::move(out).Take();
}

}  // namespace berth::kube
