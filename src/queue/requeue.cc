#include "queue/requeue.h"

#include <bit>

namespace berth::queue {
namespace {

bool IsForAnother(const Event& event, std::string_view pod_uid) {
  if (!event.new_object) return false;
  const auto* pod = event.New<cluster::Pod>();
  return pod == nullptr || pod->uid != pod_uid;
}

// Does the hint of one of the plugins return Queue?
bool AnyMayHelp(uint64_t plugins, FunctionRef<bool(uint8_t)> may_help) {
  for (; plugins != 0; plugins &= plugins - 1) {
    if (may_help(static_cast<uint8_t>(std::countr_zero(plugins)))) return true;
  }
  return false;
}

}  // namespace

Requeue DecideRequeue(const Rejection& rejected_by, std::string_view pod_uid, const Event& event,
                      uint64_t registered, FunctionRef<bool(uint8_t)> may_help) {
  if ((rejected_by.unschedulable | rejected_by.pending) == 0) return Requeue::kAfterBackoff;
  if (event.what.IsWildCard()) {
    return IsForAnother(event, pod_uid) ? Requeue::kSkip : Requeue::kAfterBackoff;
  }
  if (AnyMayHelp(rejected_by.pending & registered, may_help)) return Requeue::kImmediately;
  if (AnyMayHelp(rejected_by.unschedulable & registered, may_help)) return Requeue::kAfterBackoff;
  return Requeue::kSkip;
}

}  // namespace berth::queue
