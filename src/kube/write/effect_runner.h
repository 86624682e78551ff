// EffectRunner: carries out what the engine asks for, as kube-scheduler would on the wire.
//
//   BindPod         POST pods/NAME/binding, protobuf; may be repeated
//   PatchPodStatus  PATCH pods/NAME/status, strategic merge, only what differs; repeated
//   DeletePod       DELETE pods/NAME, no precondition
//   ReadPod         GET pods/NAME
//   WriteObject     PUT of the whole object, with the fields berth does not know as they were; POST
//                   of a new one; or GET, PUT without the finalizer of claims and DELETE
//   RecordEvent     handed to the EventRecorder
//
// Requests about one pod go one after the other: a condition that says why a pod is pending must
// not arrive after its binding. A request without an answer is reported as kUnknown unless it
// surely never arrived.
//
// A request that may be repeated is sent four times at most, after pauses of about 10, 50 and
// 250 ms, while the answer is 500, 503 or a refused connection. A binding that is refused with a
// conflict after a 500 or 503 is reported as kUnknown: the earlier request may have been carried
// out.
#pragma once

#include <functional>
#include <memory>

#include "config/behaviour.h"
#include "kube/client/api_client.h"
#include "kube/watch/raw_objects.h"
#include "kube/write/event_recorder.h"
#include "scheduler/effects.h"

namespace berth::kube {

// How requests are sent, by the Kubernetes version and its gates.
struct EffectRules {
  EffectRules() = default;
  explicit EffectRules(const config::Behaviour& behaviour)
      : merges(behaviour.async_api_calls),
        patches_retry_conflicts(behaviour.status_patches_retry_conflicts),
        binding_retries(behaviour.binding_retries) {}

  // Of status patches that wait for their turn only the last is sent, with what those before it
  // said and it does not, and none once there is a binding to send; what was left out counts as
  // done.
  bool merges = false;
  bool patches_retry_conflicts = false;  // 409 is repeated, too
  bool binding_retries = false;          // bindings are repeated
};

class EffectRunner {
 public:
  using Done = std::function<void(scheduler::EffectResult)>;

  // All outlive the runner.
  EffectRunner(net::Loop& loop, ApiClient& client, EventRecorder& events, RawObjects& raw,
               Done done, const EffectRules& rules = {});
  ~EffectRunner();

  // `done` hears of every effect but RecordEvent, from the loop, once.
  void Run(scheduler::Effect&& effect);
  // For requests from here on.
  void SetRules(const EffectRules& rules);
  // Bindings from here on are marked with the leader's epoch (bodies.h).
  void MarkBindings(int32_t epoch);
  // Requests whose answer is still to come.
  size_t Outstanding() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::kube
