// EffectRunner: carries out what the engine asks for, as kube-scheduler would on the wire.
//
//   BindPod         POST pods/NAME/binding, protobuf
//   PatchPodStatus  PATCH pods/NAME/status, strategic merge, only what differs; repeated after
//                   about 10 ms on 500, 503 and a refused connection
//   DeletePod       DELETE pods/NAME, no precondition
//   ReadPod         GET pods/NAME
//   WriteObject     PUT of the whole object, with the fields berth does not know as they were; POST
//                   of a new one; or GET, PUT without the finalizer of claims and DELETE
//   RecordEvent     handed to the EventRecorder
//
// Requests about one pod go one after the other: a condition that says why a pod is pending must
// not arrive after its binding. A request without an answer is reported as kUnknown unless it
// surely never arrived. With `merges` (the gate SchedulerAsyncAPICalls) of status patches that wait
// for their turn only the last is sent, with what those before it said and it does not, and none
// once there is a binding to send; what was left out counts as done.
#pragma once

#include <functional>
#include <memory>

#include "kube/client/api_client.h"
#include "kube/watch/raw_objects.h"
#include "kube/write/event_recorder.h"
#include "scheduler/effects.h"

namespace berth::kube {

class EffectRunner {
 public:
  using Done = std::function<void(scheduler::EffectResult)>;

  // All outlive the runner.
  EffectRunner(net::Loop& loop, ApiClient& client, EventRecorder& events, RawObjects& raw,
               Done done, bool merges = false);
  ~EffectRunner();

  // `done` hears of every effect but RecordEvent, from the loop, once.
  void Run(scheduler::Effect&& effect);
  // Requests whose answer is still to come.
  size_t Outstanding() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::kube
