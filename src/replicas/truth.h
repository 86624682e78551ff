// Truth: what must hold when the API server carries out a decision, judged by the objects as they
// are there at that moment, whatever the replica that sent it believed.
//
//   room   a binding does not put a node over what it has, and takes no host port twice
//   log    a binding is in the log of every replica that the Lease names as in sync
//   late   nothing is carried out for a leader after its successor has read the cluster
//
// That a pod is bound to one node at most the API server sees to itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "scheduler/effects.h"
#include "sim/host/event_loop.h"
#include "sim/host/model_api.h"

namespace berth::replicas {

class Truth {
 public:
  // Both outlive it.
  Truth(sim::EventLoop& loop, sim::ModelApi& api) : loop_(loop), api_(api) {}

  // A leader's first list has been made at the server; `epoch`: leaseTransitions.
  void Read(int32_t epoch);
  // The server has carried out what the leader of that epoch sent.
  void CarriedOut(int32_t epoch, const scheduler::Effect& effect, const sim::ApiAnswer& answer);
  // Replicas that share work: whether one by that name runs, and whether its log or what it has
  // seen has the decision.
  struct Logs {
    std::function<bool(const std::string& name)> runs;
    std::function<bool(const std::string& name, const scheduler::BindPod& bind)> have;
  };
  void Follow(Logs logs) { logs_ = std::move(logs); }
  // At rest: no pod waits that plainly fits a node.
  void CheckRest();

  const std::optional<std::string>& Violation() const { return violation_; }
  sim::Nanos LastMove() const { return last_move_; }
  uint64_t Bindings() const { return bindings_; }
  uint64_t Takeovers() const { return takeovers_; }

 private:
  void Violated(std::string what) {
    if (!violation_) violation_ = std::move(what);
  }
  void CheckRoom(const api::Pod& bound);
  void CheckLogs(int32_t epoch, const scheduler::BindPod& bind);

  sim::EventLoop& loop_;
  sim::ModelApi& api_;
  std::optional<std::string> violation_;
  Logs logs_;
  int32_t reading_epoch_ = -1;  // the newest that has read
  sim::Nanos last_move_ = 0;
  uint64_t bindings_ = 0;
  uint64_t takeovers_ = 0;
};

}  // namespace berth::replicas
