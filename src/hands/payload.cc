#include "hands/payload.h"

#include <exception>
#include <utility>

#include "api/codec/proto.h"
#include "api/codec/protozero.h"

namespace berth::hands {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;

constexpr size_t kMaxConditionTypes = 1000;

struct Malformed final : std::exception {
  explicit Malformed(std::string text) : what_text(std::move(text)) {}
  const char* what() const noexcept override { return what_text.c_str(); }
  std::string what_text;
};

void Put(pbf_writer& out, uint32_t tag, const scheduler::PodRef& pod) {
  pbf_writer inner(out, tag);
  inner.add_bytes(1, pod.namespace_);
  inner.add_bytes(2, pod.name);
  inner.add_bytes(3, pod.uid);
  inner.add_bytes(4, pod.resource_version);
}

scheduler::PodRef GetPod(pbf_reader field) {
  scheduler::PodRef pod;
  while (field.next()) {
    switch (field.tag()) {
      case 1:
        pod.namespace_ = field.get_view();
        break;
      case 2:
        pod.name = field.get_view();
        break;
      case 3:
        pod.uid = field.get_view();
        break;
      case 4:
        pod.resource_version = field.get_view();
        break;
      default:
        field.skip();
    }
  }
  return pod;
}

template <class T>
T GetValue(pbf_reader& field, const char* name) {
  auto value = api::FromProto<T>(field.get_view());
  if (!value) throw Malformed(value.error().In(name).Message());
  return std::move(*value);
}

std::string Encode(const scheduler::PatchPodStatus& patch) {
  std::string bytes;
  pbf_writer out(bytes);
  Put(out, 1, patch.pod);
  if (patch.condition) out.add_bytes(2, api::ToProto(*patch.condition));
  if (patch.nominated_node_name) out.add_bytes(3, *patch.nominated_node_name);
  for (const std::string& type : patch.condition_types) out.add_bytes(4, type);
  if (patch.old_condition) out.add_bytes(5, api::ToProto(*patch.old_condition));
  if (patch.extended_resource_claim) {
    out.add_bytes(6, api::ToProto(*patch.extended_resource_claim));
  }
  return bytes;
}

std::string Encode(const scheduler::RecordEvent& event) {
  std::string bytes;
  pbf_writer out(bytes);
  Put(out, 1, event.regarding);
  if (event.related) Put(out, 2, *event.related);
  out.add_bytes(3, event.type);
  out.add_bytes(4, event.reason);
  out.add_bytes(5, event.action);
  out.add_bytes(6, event.note);
  out.add_bytes(7, event.reporting_controller);
  if (event.note_counts) out.add_bool(8, true);
  if (event.related_is_group) out.add_bool(9, true);
  return bytes;
}

void Get(pbf_reader field, scheduler::PatchPodStatus& patch) {
  while (field.next()) {
    switch (field.tag()) {
      case 1:
        patch.pod = GetPod(field.get_message());
        break;
      case 2:
        patch.condition = GetValue<api::PodCondition>(field, "condition");
        break;
      case 3:
        patch.nominated_node_name = std::string(field.get_view());
        break;
      case 4:
        if (patch.condition_types.size() >= kMaxConditionTypes) {
          throw Malformed("conditionTypes: more than 1000");
        }
        patch.condition_types.emplace_back(field.get_view());
        break;
      case 5:
        patch.old_condition = GetValue<api::PodCondition>(field, "oldCondition");
        break;
      case 6:
        patch.extended_resource_claim =
            GetValue<api::PodExtendedResourceClaimStatus>(field, "extendedResourceClaim");
        break;
      default:
        field.skip();
    }
  }
  if (patch.pod.uid.empty()) throw Malformed("pod.uid: missing");
}

void Get(pbf_reader field, scheduler::RecordEvent& event) {
  while (field.next()) {
    switch (field.tag()) {
      case 1:
        event.regarding = GetPod(field.get_message());
        break;
      case 2:
        event.related = GetPod(field.get_message());
        break;
      case 3:
        event.type = field.get_view();
        break;
      case 4:
        event.reason = field.get_view();
        break;
      case 5:
        event.action = field.get_view();
        break;
      case 6:
        event.note = field.get_view();
        break;
      case 7:
        event.reporting_controller = field.get_view();
        break;
      case 8:
        event.note_counts = field.get_uint64() != 0;
        break;
      case 9:
        event.related_is_group = field.get_uint64() != 0;
        break;
      default:
        field.skip();
    }
  }
}

template <class T>
Result<T> Decode(std::string_view bytes, std::string_view what) {
  try {
    T value;
    Get(pbf_reader(bytes), value);
    return value;
  } catch (const std::exception& error) {
    return Fail(Error(error.what()).In(what));
  }
}

}  // namespace

bool IsShared(const scheduler::EffectAction& action) {
  return std::holds_alternative<scheduler::BindPod>(action) ||
         std::holds_alternative<scheduler::PatchPodStatus>(action) ||
         std::holds_alternative<scheduler::RecordEvent>(action);
}

std::string EncodePayload(const scheduler::EffectAction& action) {
  if (const auto* patch = std::get_if<scheduler::PatchPodStatus>(&action)) return Encode(*patch);
  return Encode(std::get<scheduler::RecordEvent>(action));
}

Result<scheduler::PatchPodStatus> DecodePatch(std::string_view bytes) {
  return Decode<scheduler::PatchPodStatus>(bytes, "patch");
}

Result<scheduler::RecordEvent> DecodeEvent(std::string_view bytes) {
  return Decode<scheduler::RecordEvent>(bytes, "event");
}

}  // namespace berth::hands
