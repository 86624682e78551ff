// ExtenderCalls: scheduling cycles in which extenders have a say.
//
// The cycle stops where an extender is asked and goes on when the answer is in. In between the
// engine decides nothing and takes up nothing: inputs wait, so that plugin states, verdicts and
// node rows stay what they were. The host answers every call, at the latest when the extender's
// time is up.
//
// The cycle of a pod group places its pods in a transaction, which does not stay open meanwhile. It
// ends with an error where an answer is missing, and is run again when the answer is in
// (GroupAttempts::Resume): pods that were decided about go where they went, and the pod whose turn
// it is takes the answers from here.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/attempt.h"
#include "scheduler/engine/context.h"

namespace berth::scheduler {

class ExtenderCalls {
 public:
  explicit ExtenderCalls(EngineContext& context) : c_(context) {}

  // Is an extender asked before the pod gets a node?
  bool AsksExtenders(PodId id);
  void BeginExtended(PodId id, ProfileRuntime& runtime);
  // Of a pod that fits nowhere: extenders review the victims.
  void BeginReview(PodId id, ProfileRuntime& runtime);
  // Decides about a pod of a group. False: an extender is being asked, and the attempt's decision
  // is an error.
  bool DecideMember(Attempt& attempt, ProfileRuntime& runtime, const framework::NodeSet* within);
  // True: the cycle that waited is over.
  bool ExtenderResult(size_t extender, const EffectResult& result);
  // A cycle waits for extenders.
  bool Waiting() const { return extended_.has_value(); }

 private:
  void Decide(ProfileRuntime& runtime);
  void TakeAnswer(size_t extender, const EffectResult& result);
  Decision& decision() { return attempt_->decision(); }
  void FindExtended();
  void AskNextFilter(size_t from);
  void Ask(CallExtender::Verb verb, size_t extender);
  std::string TakeFilterAnswer(const ExtenderAnswer& answer);
  void FilterFailed(size_t extender, const std::string& why);
  void Filtered();
  void AskAllScores();
  void TakeScores(size_t extender, const ExtenderAnswer& answer);
  void Prioritized();
  void EndExtended();
  void ProceedNoFit(bool over);
  void AskNextPreempt(size_t from);
  std::string TakeVictims(size_t extender, const ExtenderAnswer& answer);

  EngineContext& c_;
  std::optional<ExtendedCycle> extended_;
  Attempt* attempt_ = nullptr;  // of the cycle; that of a group only within DecideMember
  // Of the pod of a group whose turn it is: by extender, in the order in which they came.
  std::vector<std::pair<size_t, EffectResult>> answers_;
  size_t first_node_ = 0;  // where the search for its nodes starts
};

}  // namespace berth::scheduler
