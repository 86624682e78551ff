// Apply: carries a plan out, one eviction at a time, and verifies each of them.
//
// Before an eviction the model, which is the cluster as it was read, says where the replacement
// lands; the target is looked at once more, so that nobody else has taken its capacity. Afterwards
// the replacement is awaited and compared. Where nodes had the same score the scheduler may choose
// another one of them: the model follows it. A cluster that has changed is read again, and what is
// left is planned again. Anything else ends it (docs/decisions/0025-apply-by-ordering.md).
//
// Invariants: at most one eviction is under way; the state is saved before an eviction is sent and
// after its replacement was seen; no more than state.max_disruption evictions are ever sent; none
// is sent unless everything that is left has a place.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "plan/apply/hand.h"
#include "plan/apply/state.h"
#include "plan/model.h"

namespace berth::plan {

struct ApplyOptions {
  ModelOptions model;
  int64_t step_timeout_ms = 600'000;  // for a budget to agree, and for a replacement to get a node
  int64_t surprise_ms = 10'000;       // how long a replacement may be unschedulable
  int64_t evictions_per_read = 25;    // after which the cluster is read again
  // Keeps the state; an error ends Run.
  std::function<Result<void>(const ApplyState&)> save = {};
  std::function<void(const Carried&)> carried = {};  // called after each step
};

class Apply {
 public:
  // Goes on where `state` is. `hand` outlives it.
  Apply(Hand& hand, ApplyState state, ApplyOptions options);

  // Until the plan is carried out or a surprise: see state().outcome and message. An error is that
  // of the hand or of `save`; another Apply may go on from the saved state.
  Result<void> Run();

  const ApplyState& state() const { return state_; }

 private:
  enum class Next : uint8_t {
    kGoOn,
    kReadAgain,  // the model is no longer the cluster
    kStopped,
  };

  Result<void> Resume();
  Result<void> DrainRound();
  Result<void> SpreadRound();
  // Whether everything that is left has a place; stops if not.
  Result<Next> CheckRest(Model& model, const std::vector<std::string>& nodes);
  Result<Next> DrainNode(Model& model, const std::string& node, int64_t* left);
  Result<Next> Step(Model& model, cluster::PodId id);
  // The pod as the API server has it; nothing: it is no longer on its node.
  Result<std::optional<api::Pod>> Look(const cluster::Pod& pod);
  Result<Next> Send(const cluster::Pod& pod, const api::Pod& object, const Landing& landing,
                    const std::string& target);
  Result<Next> Settle(Model& model, cluster::PodId id, cluster::NodeIndex target);
  // The replacement of what is in flight, once it has a node. Nothing: stopped.
  Result<std::optional<api::Pod>> Await();
  Result<bool> IsAsModelled(Model& model, cluster::NodeIndex node, cluster::PodId but);
  void Note(const api::Pod& replacement);
  Result<Next> ReadAgain();
  Next Stop(std::string message);
  Result<void> Save();
  Result<std::unique_ptr<Model>> ReadModel();

  Hand& hand_;
  ApplyState state_;
  const ApplyOptions options_;
  bool cordoned_ = false;
  int64_t idle_rounds_ = 0;  // without an eviction
  int64_t waited_ms_ = 0;    // for budgets, since the last eviction
};

}  // namespace berth::plan
