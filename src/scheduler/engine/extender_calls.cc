#include "scheduler/engine/extender_calls.h"

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "base/wrap.h"
#include "scheduler/engine/attempts.h"
#include "scheduler/engine/bindings.h"
#include "scheduler/engine/group_attempts.h"
#include "scheduler/engine/intake.h"
#include "scheduler/engine/preemptions.h"

namespace berth::scheduler {
namespace {

using Stage = ExtendedCycle::Stage;
using Verb = CallExtender::Verb;
using framework::Code;

// Extenders score 0..10, plugins 0..100.
constexpr int64_t kExtenderScoreScale = 10;

void Forget(Decision* decision) {
  decision->feasible.Clear();
  decision->feasible_count = 0;
  decision->nominated_first = false;
}

}  // namespace

// --- Filter

bool ExtenderCalls::AsksExtenders(PodId id) {
  return (c_.pods.Of(id).extenders &
          (c_.extenders.With(Verb::kFilter) | c_.extenders.With(Verb::kPrioritize))) != 0;
}

void ExtenderCalls::BeginExtended(PodId id, ProfileRuntime& runtime) {
  c_.attempts->TellBegan(c_.cluster.GetPod(id), runtime);
  extended_.emplace();
  extended_->pod = id;
  extended_->profile = c_.pods.Of(id).profile;
  attempt_ = &c_.attempts->attempt();
  attempt_->Begin(*runtime.cycle, c_.cluster, id);
  Decide(runtime);
}

void ExtenderCalls::Decide(ProfileRuntime& runtime) {
  Algorithm& algorithm = c_.attempts->algorithm();
  if (!algorithm.Begin(*runtime.cycle, c_.cluster, c_.cluster.GetPod(extended_->pod), &decision(),
                       extended_->within)) {
    EndExtended();
    return;
  }
  framework::WatchedPoint filter(runtime.cycle->watch(), framework::Point::kFilter);
  const bool nominated = algorithm.FindNominated(*runtime.cycle, c_.cluster, &decision());
  filter.End(Code::kSuccess);
  if (nominated) {
    extended_->stage = Stage::kNominated;
    AskNextFilter(0);
  } else {
    FindExtended();
  }
}

// The same steps every time, with one answer more each.
bool ExtenderCalls::DecideMember(Attempt& attempt, ProfileRuntime& runtime,
                                 const framework::NodeSet* within) {
  Algorithm& algorithm = c_.attempts->algorithm();
  if (answers_.empty()) {
    first_node_ = algorithm.NextStart();
  } else {
    algorithm.StartAgainAt(first_node_);
  }
  extended_.emplace();
  extended_->pod = attempt.pod();
  extended_->profile = c_.pods.Of(attempt.pod()).profile;
  extended_->of_group = true;
  extended_->within = within;
  attempt_ = &attempt;
  Decide(runtime);
  for (size_t i = 0; extended_ && i < answers_.size(); ++i) {
    TakeAnswer(answers_[i].first, answers_[i].second);
  }
  const bool decided = !extended_;
  if (decided) {
    answers_.clear();
  } else {
    decision().outcome = Outcome::kError;
    decision().error = "an extender has not answered yet";
  }
  attempt_->Decided();
  attempt_ = nullptr;
  return decided;
}

void ExtenderCalls::FindExtended() {
  ProfileRuntime& runtime = c_.runtimes[extended_->profile];
  framework::WatchedPoint filter(runtime.cycle->watch(), framework::Point::kFilter);
  const bool found = c_.attempts->algorithm().FindNodes(*runtime.cycle, c_.cluster, &decision());
  filter.End(decision().error.empty() ? Code::kSuccess : Code::kError);
  if (!found) {
    EndExtended();
    return;
  }
  extended_->stage = Stage::kFilter;
  extended_->feasible_before = decision().feasible_count;
  AskNextFilter(0);
}

// The next extender that filters, from position `from` on, is asked about the nodes that are left.
void ExtenderCalls::AskNextFilter(size_t from) {
  const ExtenderMask mask = c_.pods.Of(extended_->pod).extenders & c_.extenders.With(Verb::kFilter);
  const int next = decision().feasible_count == 0 ? -1 : NextExtender(mask, from);
  if (next < 0) {
    Filtered();
    return;
  }
  extended_->extender = static_cast<size_t>(next);
  extended_->outstanding = 1;
  Ask(Verb::kFilter, extended_->extender);
}

void ExtenderCalls::Ask(Verb verb, size_t extender) {
  if (extended_->of_group && extended_->asked++ < answers_.size()) return;  // it has answered
  CallExtender call;
  call.extender = extender;
  call.verb = verb;
  call.pod = c_.RefOf(c_.cluster.GetPod(extended_->pod));
  if (verb == Verb::kPreempt) {
    for (const auto& [node, candidate] : extended_->candidates) {
      CallExtender::Victims& victims = call.victims[node];
      victims.pdb_violations = candidate.pdb_violations;
      for (const PodId victim : candidate.victims) {
        victims.pods.push_back(c_.RefOf(c_.cluster.GetPod(victim)));
      }
    }
  } else {
    call.nodes.reserve(decision().feasible_count);
    decision().feasible.ForEach([&](NodeIndex n) { call.nodes.push_back(c_.cluster.NodeName(n)); });
  }
  c_.outbox.EmitAwaited(std::move(call), {Awaited::For::kExtender, {}, 0, extender});
}

bool ExtenderCalls::ExtenderResult(size_t extender, const EffectResult& result) {
  if (!extended_) return false;
  if (!extended_->of_group) {
    TakeAnswer(extender, result);
    return !extended_;
  }
  answers_.emplace_back(extender, result);
  if (--extended_->outstanding > 0) return false;
  extended_.reset();
  c_.attempts->groups()->Resume();
  return !extended_;
}

void ExtenderCalls::TakeAnswer(size_t extender, const EffectResult& result) {
  const bool ok = result.code == EffectResult::Code::kOk && result.extender != nullptr;
  switch (extended_->stage) {
    case Stage::kNominated:
    case Stage::kFilter: {
      const std::string why = ok ? TakeFilterAnswer(*result.extender) : result.message;
      if (ok && why.empty()) {
        AskNextFilter(extender + 1);
      } else {
        FilterFailed(extender, why);
      }
      break;
    }
    case Stage::kPrioritize:
      if (ok) TakeScores(extender, *result.extender);
      if (--extended_->outstanding == 0) Prioritized();
      break;
    case Stage::kPreempt: {
      const std::string why = ok ? TakeVictims(extender, *result.extender) : result.message;
      if (ok && why.empty()) {
        AskNextPreempt(extender + 1);
      } else if (c_.extenders.At(extender).ignorable) {
        AskNextPreempt(extender + 1);
      } else {
        ProceedNoFit(extended_->post_filter->ResumeFailed(why));
      }
      break;
    }
  }
}

// What is wrong with the answer; empty: nothing, and it has been taken up.
std::string ExtenderCalls::TakeFilterAnswer(const ExtenderAnswer& answer) {
  framework::Cycle& cycle = *c_.runtimes[extended_->profile].cycle;
  framework::NodeSet kept;
  kept.Resize(c_.cluster.Rows());
  for (const std::string& name : answer.nodes) {
    const NodeIndex n = c_.cluster.FindNode(name);
    if (n == cluster::kNoNode || !decision().feasible.Contains(n)) {
      return fmt::format(
          "extender {} claims a filtered node {} which is not found in the input node list",
          api::GoQuote(c_.extenders.At(extended_->extender).url_prefix), api::GoQuote(name));
    }
    kept.Insert(n);
  }
  const auto reject = [&](const std::map<std::string, std::string>& failed, Code code) {
    for (const auto& [name, reason] : failed) {
      const bool worse =
          code == Code::kUnschedulable && answer.failed_and_unresolvable.contains(name);
      const NodeIndex n = c_.cluster.FindNode(name);
      if (n == cluster::kNoNode || worse) continue;
      cycle.RejectForeign(n, code, reason);
      decision().diagnosis.rejected.Insert(n);
    }
  };
  reject(answer.failed_and_unresolvable, Code::kUnschedulableAndUnresolvable);
  reject(answer.failed, Code::kUnschedulable);
  decision().feasible_count = kept.Count();
  decision().feasible = std::move(kept);
  return "";
}

void ExtenderCalls::FilterFailed(size_t extender, const std::string& why) {
  if (c_.extenders.At(extender).ignorable) {
    AskNextFilter(extender + 1);
  } else if (extended_->stage == Stage::kNominated) {  // then all nodes, as if there were none
    Forget(&decision());
    FindExtended();
  } else {
    decision().error = why;
    decision().outcome = Outcome::kError;
    EndExtended();
  }
}

void ExtenderCalls::Filtered() {
  framework::Cycle& cycle = *c_.runtimes[extended_->profile].cycle;
  if (extended_->stage == Stage::kNominated) {
    if (decision().feasible_count == 0) {
      Forget(&decision());
      FindExtended();
      return;
    }
  } else {
    if (decision().feasible_count != extended_->feasible_before) {
      decision().diagnosis.unschedulable_plugins.emplace(framework::kExtenderName);
    }
    if (decision().feasible_count == 0) {
      c_.attempts->algorithm().NoneLeft(cycle, &decision());
      EndExtended();
      return;
    }
  }
  if (!c_.attempts->algorithm().Score(cycle, &decision(), c_.attempts->interest().scores)) {
    EndExtended();
    return;
  }
  AskAllScores();
}

// --- Prioritize

void ExtenderCalls::AskAllScores() {
  const ExtenderMask mask =
      c_.pods.Of(extended_->pod).extenders & c_.extenders.With(Verb::kPrioritize);
  extended_->stage = Stage::kPrioritize;
  extended_->outstanding = 0;
  if (decision().feasible_count > 1) {
    for (int i = NextExtender(mask, 0); i >= 0; i = NextExtender(mask, i + 1)) {
      ++extended_->outstanding;
      Ask(Verb::kPrioritize, static_cast<size_t>(i));
    }
  }
  if (extended_->outstanding == 0) Prioritized();
}

void ExtenderCalls::TakeScores(size_t extender, const ExtenderAnswer& answer) {
  const int64_t weight = WrapMul(c_.extenders.At(extender).weight, kExtenderScoreScale);
  for (const auto& [name, score] : answer.scores) {
    const NodeIndex n = c_.cluster.FindNode(name);
    if (n == cluster::kNoNode || !decision().feasible.Contains(n)) continue;
    int64_t& sum = extended_->scores[n];
    sum = WrapAdd(sum, WrapMul(score, weight));
  }
}

void ExtenderCalls::Prioritized() {
  framework::Cycle& cycle = *c_.runtimes[extended_->profile].cycle;
  Decision& decision = this->decision();
  // An extender without the verb counts as one that gives every node a score of 0.
  const ExtenderMask asked = c_.pods.Of(extended_->pod).extenders;
  framework::NodeSet scored(decision.feasible.Capacity());
  if ((asked & ~c_.extenders.With(Verb::kPrioritize)) != 0) scored = decision.feasible;
  for (const auto& [n, score] : extended_->scores) {
    cycle.AddToTotal(n, score);
    scored.Insert(n);
  }
  c_.attempts->algorithm().Choose(cycle, &decision, &scored);
  EndExtended();
}

// The cycle goes on as any other.
void ExtenderCalls::EndExtended() {
  const PodId id = extended_->pod;
  ProfileRuntime& runtime = c_.runtimes[extended_->profile];
  const bool of_group = extended_->of_group;
  extended_.reset();
  if (of_group) return;
  attempt_->Decided();
  c_.attempts->TellDecided(c_.cluster.GetPod(id), runtime, decision());
  c_.attempts->Conclude(id, runtime);
}

// --- Preempt

void ExtenderCalls::BeginReview(PodId id, ProfileRuntime& runtime) {
  attempt_ = &c_.attempts->attempt();
  extended_.emplace();
  extended_->pod = id;
  extended_->profile = c_.pods.Of(id).profile;
  extended_->stage = Stage::kPreempt;
  extended_->post_filter = std::make_unique<framework::ReviewedPostFilter>(
      *runtime.cycle, c_.cluster, decision().diagnosis);
  ProceedNoFit(extended_->post_filter->Run());
}

// `over`: the PostFilter plugins have said all they have to say.
void ExtenderCalls::ProceedNoFit(bool over) {
  if (!over) {
    extended_->candidates.clear();
    for (const auto& candidate : extended_->post_filter->candidates()) {
      extended_->candidates.emplace(c_.cluster.NodeName(candidate.node), candidate);
    }
    AskNextPreempt(0);
    return;
  }
  const PodId id = extended_->pod;
  ProfileRuntime& runtime = c_.runtimes[extended_->profile];
  const auto run = std::move(extended_->post_filter);
  extended_.reset();
  c_.attempts->FinishNoFit(id, runtime, run->status(), run->result());
}

void ExtenderCalls::AskNextPreempt(size_t from) {
  const ExtenderMask mask =
      c_.pods.Of(extended_->pod).extenders & c_.extenders.With(Verb::kPreempt);
  const int next = extended_->candidates.empty() ? -1 : NextExtender(mask, from);
  if (next >= 0) {
    extended_->outstanding = 1;
    Ask(Verb::kPreempt, static_cast<size_t>(next));
    return;
  }
  std::vector<framework::PreemptionCandidate> left;
  for (auto& [node, candidate] : extended_->candidates) left.push_back(std::move(candidate));
  ProceedNoFit(extended_->post_filter->Resume(std::move(left)));
}

// As TakeFilterAnswer.
std::string ExtenderCalls::TakeVictims(size_t extender, const ExtenderAnswer& answer) {
  const config::Extender& config = c_.extenders.At(extender);
  std::map<std::string, framework::PreemptionCandidate> candidates;
  for (const auto& [name, victims] : answer.victims) {
    framework::PreemptionCandidate candidate;
    candidate.node = c_.cluster.FindNode(name);
    candidate.pdb_violations = victims.pdb_violations;
    if (candidate.node == cluster::kNoNode) {
      return fmt::format("nodeinfo not found for node name {}", api::GoQuote(name));
    }
    for (const std::string& uid : victims.uids) {
      const PodId victim = c_.cluster.FindPod(uid);
      if (victim == cluster::kNoPod || c_.cluster.GetPod(victim).node != candidate.node) {
        return fmt::format(
            "extender: {} claims to preempt pod (UID: &{{{}}}) on node: {}, but the pod is not "
            "found on that node",
            config.url_prefix, uid, name);
      }
      candidate.victims.push_back(victim);
    }
    candidates.emplace(name, std::move(candidate));
  }
  for (auto it = candidates.begin(); it != candidates.end();) {
    if (!it->second.victims.empty()) {
      ++it;
    } else if (config.ignorable) {
      it = candidates.erase(it);
    } else {
      return fmt::format("expected at least one victim pod on node {}", api::GoQuote(it->first));
    }
  }
  extended_->candidates = std::move(candidates);
  return "";
}

}  // namespace berth::scheduler
