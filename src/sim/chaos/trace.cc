#include "sim/chaos/trace.h"

#include <type_traits>

#include <fmt/format.h>

namespace berth::sim {
namespace {

std::string_view NameOf(scheduler::EffectResult::Code code) {
  switch (code) {
    case scheduler::EffectResult::Code::kOk:
      return "ok";
    case scheduler::EffectResult::Code::kConflict:
      return "conflict";
    case scheduler::EffectResult::Code::kNotFound:
      return "not found";
    case scheduler::EffectResult::Code::kError:
      return "error";
    case scheduler::EffectResult::Code::kUnknown:
      return "no answer";
  }
  return "";
}

std::string_view NameOf(scheduler::Outcome outcome) {
  switch (outcome) {
    case scheduler::Outcome::kScheduled:
      return "scheduled";
    case scheduler::Outcome::kUnschedulable:
      return "unschedulable";
    case scheduler::Outcome::kError:
      return "error";
  }
  return "";
}

std::string_view NameOf(ApiChange::Type type) {
  switch (type) {
    case ApiChange::Type::kAdded:
      return "added";
    case ApiChange::Type::kModified:
      return "modified";
    case ApiChange::Type::kDeleted:
      return "deleted";
  }
  return "";
}

std::string DescribeAction(const scheduler::BindPod& bind) {
  return fmt::format("bind {} to {}", bind.pod.name, bind.node);
}
std::string DescribeAction(const scheduler::PatchPodStatus& patch) {
  std::string text = "patch " + patch.pod.name;
  if (patch.condition) {
    text += fmt::format(" {}={} {}", patch.condition->type, patch.condition->status,
                        patch.condition->reason);
  }
  if (patch.nominated_node_name) text += fmt::format(" nominated='{}'", *patch.nominated_node_name);
  return text;
}
std::string DescribeAction(const scheduler::PatchPodGroupStatus& patch) {
  return fmt::format("patch group {} {}={} {}: {}", patch.group.name, patch.condition.type,
                     patch.condition.status, patch.condition.reason, patch.condition.message);
}
std::string DescribeAction(const scheduler::DeletePod& effect) {
  return "delete " + effect.pod.name;
}
std::string DescribeAction(const scheduler::ReadPod& effect) { return "read " + effect.pod.name; }
std::string DescribeAction(const scheduler::WriteObject& effect) {
  return std::visit(
      [](const auto& object) {
        return fmt::format("write {} {}", std::decay_t<decltype(object)>::kKind,
                           object.metadata.name);
      },
      effect.write.object);
}
std::string DescribeAction(const scheduler::CallExtender& call) {
  return fmt::format("ask extender {} about {}", call.extender, call.pod.name);
}
std::string DescribeAction(const scheduler::RecordEvent& event) {
  return fmt::format("event {} {}: {}", event.reason, event.regarding.name, event.note);
}

}  // namespace

std::string Describe(const scheduler::Effect& effect) {
  return std::visit(
      [&](const auto& action) { return fmt::format("#{} {}", effect.id, DescribeAction(action)); },
      effect.action);
}

void Tracer::Line(std::string_view text) const {
  if (!sink_) return;
  sink_(fmt::format("{:12.6f} {}", static_cast<double>(loop_.Now()) / kSecond, text));
}

void Tracer::Attempted(const cluster::Pod& pod, scheduler::Outcome outcome, std::string_view node,
                       std::string_view message) {
  if (sink_) Line(fmt::format("try {}: {} {}{}", pod.Key(), NameOf(outcome), node, message));
  next_.Attempted(pod, outcome, node, message);
}

void Tracer::Preempted(const scheduler::PodRef& preemptor, size_t victims, std::string_view node) {
  if (sink_) Line(fmt::format("{} preempts {} pods on {}", preemptor.name, victims, node));
  next_.Preempted(preemptor, victims, node);
}

void Tracer::Started(const scheduler::Engine& engine) {
  Line("scheduler starts");
  next_.Started(engine);
}

void Tracer::Crashed() {
  Line("scheduler crashes");
  next_.Crashed();
}

void Tracer::Asked(const scheduler::Effect& effect) {
  if (sink_) Line("ask " + Describe(effect));
  next_.Asked(effect);
}

void Tracer::CarriedOut(const scheduler::Effect& effect, const ApiAnswer& answer) {
  if (sink_) Line(fmt::format("api {}: {} {}", Describe(effect), answer.code, answer.message));
  next_.CarriedOut(effect, answer);
}

void Tracer::Answered(const scheduler::Effect& effect, const scheduler::EffectResult& result) {
  if (sink_) Line(fmt::format("answer {}: {}", Describe(effect), NameOf(result.code)));
  next_.Answered(effect, result);
}

void Tracer::Delivered(const ApiChange& change) {
  if (sink_) {
    Line(fmt::format("watch {} {} {}", change.kind, ModelApi::KeyOf(*change.object),
                     NameOf(change.type)));
  }
  next_.Delivered(change);
}

void Tracer::Listed(std::string_view kind, size_t objects) {
  if (sink_ && objects > 0) Line(fmt::format("list {}: {} objects", kind, objects));
  next_.Listed(kind, objects);
}

}  // namespace berth::sim
