// Engine: scheduling cycles in which extenders have a say.
//
// The cycle stops where an extender is asked and goes on when the answer is in. In between the
// engine decides nothing and takes up nothing: inputs wait (Defer), so that plugin states, verdicts
// and node rows stay what they were. The host answers every call, at the latest when the extender's
// time is up.
#include <fmt/format.h>

#include "api/go/go_text.h"
#include "base/wrap.h"
#include "scheduler/engine_impl.h"

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

bool Engine::Impl::AsksExtenders(PodId id) {
  return (RecordOf(id).extenders &
          (extenders_.With(Verb::kFilter) | extenders_.With(Verb::kPrioritize))) != 0;
}

void Engine::Impl::BeginExtended(PodId id, ProfileRuntime& runtime) {
  TellBegan(cluster_.GetPod(id), runtime);
  extended_.emplace();
  extended_->pod = id;
  extended_->profile = RecordOf(id).profile;
  attempt_.Begin(*runtime.cycle, cluster_, id);
  if (!algorithm_.Begin(*runtime.cycle, cluster_, cluster_.GetPod(id), &attempt_.decision())) {
    EndExtended();
    return;
  }
  framework::WatchedPoint filter(runtime.cycle->watch(), framework::Point::kFilter);
  const bool nominated = algorithm_.FindNominated(*runtime.cycle, cluster_, &attempt_.decision());
  filter.End(Code::kSuccess);
  if (nominated) {
    extended_->stage = Stage::kNominated;
    AskNextFilter(0);
  } else {
    FindExtended();
  }
}

void Engine::Impl::FindExtended() {
  ProfileRuntime& runtime = runtimes_[extended_->profile];
  framework::WatchedPoint filter(runtime.cycle->watch(), framework::Point::kFilter);
  const bool found = algorithm_.FindNodes(*runtime.cycle, cluster_, &attempt_.decision());
  filter.End(attempt_.decision().error.empty() ? Code::kSuccess : Code::kError);
  if (!found) {
    EndExtended();
    return;
  }
  extended_->stage = Stage::kFilter;
  extended_->feasible_before = attempt_.decision().feasible_count;
  AskNextFilter(0);
}

// The next extender that filters, from position `from` on, is asked about the nodes that are left.
void Engine::Impl::AskNextFilter(size_t from) {
  const ExtenderMask mask = RecordOf(extended_->pod).extenders & extenders_.With(Verb::kFilter);
  const int next = attempt_.decision().feasible_count == 0 ? -1 : NextExtender(mask, from);
  if (next < 0) {
    Filtered();
    return;
  }
  extended_->extender = static_cast<size_t>(next);
  extended_->outstanding = 1;
  Ask(Verb::kFilter, extended_->extender);
}

void Engine::Impl::Ask(Verb verb, size_t extender) {
  CallExtender call;
  call.extender = extender;
  call.verb = verb;
  call.pod = RefOf(cluster_.GetPod(extended_->pod));
  if (verb == Verb::kPreempt) {
    for (const auto& [node, candidate] : extended_->candidates) {
      CallExtender::Victims& victims = call.victims[node];
      victims.pdb_violations = candidate.pdb_violations;
      for (const PodId victim : candidate.victims) {
        victims.pods.push_back(RefOf(cluster_.GetPod(victim)));
      }
    }
  } else {
    call.nodes.reserve(attempt_.decision().feasible_count);
    attempt_.decision().feasible.ForEach(
        [&](NodeIndex n) { call.nodes.push_back(cluster_.NodeName(n)); });
  }
  EmitAwaited(std::move(call), {Awaited::For::kExtender, {}, 0, extender});
}

void Engine::Impl::ExtenderResult(size_t extender, const EffectResult& result) {
  if (!extended_) return;
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
      } else if (extenders_.At(extender).ignorable) {
        AskNextPreempt(extender + 1);
      } else {
        ProceedNoFit(extended_->post_filter->ResumeFailed(why));
      }
      break;
    }
  }
  if (!extended_) TakeUpDeferred();
}

// What is wrong with the answer; empty: nothing, and it has been taken up.
std::string Engine::Impl::TakeFilterAnswer(const ExtenderAnswer& answer) {
  framework::Cycle& cycle = *runtimes_[extended_->profile].cycle;
  framework::NodeSet kept;
  kept.Resize(cluster_.Rows());
  for (const std::string& name : answer.nodes) {
    const NodeIndex n = cluster_.FindNode(name);
    if (n == cluster::kNoNode || !attempt_.decision().feasible.Contains(n)) {
      return fmt::format(
          "extender {} claims a filtered node {} which is not found in the input node list",
          api::GoQuote(extenders_.At(extended_->extender).url_prefix), api::GoQuote(name));
    }
    kept.Insert(n);
  }
  const auto reject = [&](const std::map<std::string, std::string>& failed, Code code) {
    for (const auto& [name, reason] : failed) {
      const bool worse =
          code == Code::kUnschedulable && answer.failed_and_unresolvable.contains(name);
      const NodeIndex n = cluster_.FindNode(name);
      if (n == cluster::kNoNode || worse) continue;
      cycle.RejectForeign(n, code, reason);
      attempt_.decision().diagnosis.rejected.Insert(n);
    }
  };
  reject(answer.failed_and_unresolvable, Code::kUnschedulableAndUnresolvable);
  reject(answer.failed, Code::kUnschedulable);
  attempt_.decision().feasible_count = kept.Count();
  attempt_.decision().feasible = std::move(kept);
  return "";
}

void Engine::Impl::FilterFailed(size_t extender, const std::string& why) {
  if (extenders_.At(extender).ignorable) {
    AskNextFilter(extender + 1);
  } else if (extended_->stage == Stage::kNominated) {  // then all nodes, as if there were none
    Forget(&attempt_.decision());
    FindExtended();
  } else {
    attempt_.decision().error = why;
    attempt_.decision().outcome = Outcome::kError;
    EndExtended();
  }
}

void Engine::Impl::Filtered() {
  framework::Cycle& cycle = *runtimes_[extended_->profile].cycle;
  if (extended_->stage == Stage::kNominated) {
    if (attempt_.decision().feasible_count == 0) {
      Forget(&attempt_.decision());
      FindExtended();
      return;
    }
  } else {
    if (attempt_.decision().feasible_count != extended_->feasible_before) {
      attempt_.decision().diagnosis.unschedulable_plugins.emplace(framework::kExtenderName);
    }
    if (attempt_.decision().feasible_count == 0) {
      algorithm_.NoneLeft(cycle, &attempt_.decision());
      EndExtended();
      return;
    }
  }
  if (!algorithm_.Score(cycle, &attempt_.decision(), interest_.scores)) {
    EndExtended();
    return;
  }
  AskAllScores();
}

// --- Prioritize

void Engine::Impl::AskAllScores() {
  const ExtenderMask mask = RecordOf(extended_->pod).extenders & extenders_.With(Verb::kPrioritize);
  extended_->stage = Stage::kPrioritize;
  extended_->outstanding = 0;
  if (attempt_.decision().feasible_count > 1) {
    for (int i = NextExtender(mask, 0); i >= 0; i = NextExtender(mask, i + 1)) {
      ++extended_->outstanding;
      Ask(Verb::kPrioritize, static_cast<size_t>(i));
    }
  }
  if (extended_->outstanding == 0) Prioritized();
}

void Engine::Impl::TakeScores(size_t extender, const ExtenderAnswer& answer) {
  const int64_t weight = WrapMul(extenders_.At(extender).weight, kExtenderScoreScale);
  for (const auto& [name, score] : answer.scores) {
    const NodeIndex n = cluster_.FindNode(name);
    if (n == cluster::kNoNode || !attempt_.decision().feasible.Contains(n)) continue;
    int64_t& sum = extended_->scores[n];
    sum = WrapAdd(sum, WrapMul(score, weight));
  }
}

void Engine::Impl::Prioritized() {
  framework::Cycle& cycle = *runtimes_[extended_->profile].cycle;
  for (const auto& [n, score] : extended_->scores) cycle.AddToTotal(n, score);
  algorithm_.Choose(cycle, &attempt_.decision());
  EndExtended();
}

// The cycle goes on as any other.
void Engine::Impl::EndExtended() {
  const PodId id = extended_->pod;
  ProfileRuntime& runtime = runtimes_[extended_->profile];
  extended_.reset();
  attempt_.Decided();
  TellDecided(cluster_.GetPod(id), runtime);
  Conclude(id, runtime);
}

// --- Preempt

void Engine::Impl::BeginReview(PodId id, ProfileRuntime& runtime) {
  extended_.emplace();
  extended_->pod = id;
  extended_->profile = RecordOf(id).profile;
  extended_->stage = Stage::kPreempt;
  extended_->post_filter = std::make_unique<framework::ReviewedPostFilter>(
      *runtime.cycle, cluster_, attempt_.decision().diagnosis);
  ProceedNoFit(extended_->post_filter->Run());
}

// `over`: the PostFilter plugins have said all they have to say.
void Engine::Impl::ProceedNoFit(bool over) {
  if (!over) {
    extended_->candidates.clear();
    for (const auto& candidate : extended_->post_filter->candidates()) {
      extended_->candidates.emplace(cluster_.NodeName(candidate.node), candidate);
    }
    AskNextPreempt(0);
    return;
  }
  const PodId id = extended_->pod;
  ProfileRuntime& runtime = runtimes_[extended_->profile];
  const auto run = std::move(extended_->post_filter);
  extended_.reset();
  FinishNoFit(id, runtime, run->status(), run->result());
}

void Engine::Impl::AskNextPreempt(size_t from) {
  const ExtenderMask mask = RecordOf(extended_->pod).extenders & extenders_.With(Verb::kPreempt);
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
std::string Engine::Impl::TakeVictims(size_t extender, const ExtenderAnswer& answer) {
  const config::Extender& config = extenders_.At(extender);
  std::map<std::string, framework::PreemptionCandidate> candidates;
  for (const auto& [name, victims] : answer.victims) {
    framework::PreemptionCandidate candidate;
    candidate.node = cluster_.FindNode(name);
    candidate.pdb_violations = victims.pdb_violations;
    if (candidate.node == cluster::kNoNode) {
      return fmt::format("nodeinfo not found for node name {}", api::GoQuote(name));
    }
    for (const std::string& uid : victims.uids) {
      const PodId victim = cluster_.FindPod(uid);
      if (victim == cluster::kNoPod || cluster_.GetPod(victim).node != candidate.node) {
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

// --- Bind

// True: an extender binds the pod, in place of the Bind plugins.
bool Engine::Impl::SendExtenderBind(Binding& binding) {
  const ExtenderMask mask = binding.extenders & extenders_.With(Verb::kBind);
  const int next = mask == 0 ? -1 : NextExtender(mask, binding.next_extender);
  if (next < 0) return false;
  binding.next_extender = static_cast<size_t>(next) + 1;
  binding.extender_binds = true;
  binding.binder = queue::kNoPlugin;
  if (wants_->binds) observer_->BindBegan(binding.ref, binding.node_name);
  CallExtender call;
  call.extender = static_cast<size_t>(next);
  call.verb = Verb::kBind;
  call.pod = binding.ref;
  call.nodes = {binding.node_name};
  EmitAwaited(std::move(call), {Awaited::For::kBinding, binding.key, 0, 0});
  return true;
}

void Engine::Impl::ExtenderBindFailed(Binding& binding, const EffectResult& result) {
  binding.extender_binds = false;
  const bool unclear = result.code == EffectResult::Code::kUnknown;
  if (unclear && binding.pod != cluster::kNoPod) RecordOf(binding.pod).unclear_binding = true;
  if (extenders_.At(binding.next_extender - 1).ignorable) {
    BindNow(binding);
    return;
  }
  binding.bind_error = result.message;
  if (!unclear) {
    BindingFailed(binding, false, binding.bind_error, binding.binder);
    return;
  }
  binding.stage = Binding::Stage::kConfirm;
  EmitAwaited(ReadPod{binding.ref}, {Awaited::For::kBinding, binding.key, 0, 0});
}

// --- Inputs that have to wait

bool Engine::Impl::AnswersExtender(EffectId id) const {
  const auto it = awaited_.find(id);
  return it != awaited_.end() && it->second.what == Awaited::For::kExtender;
}

bool Engine::Impl::DeferPermit(bool allow, const PodKey& key, std::string_view plugin,
                               std::string_view message) {
  const Binding* binding = FindBinding(key);
  if (binding == nullptr || binding->stage != Binding::Stage::kWaiting) return false;
  deferred_.push_back(DeferredPermit{allow, key, std::string(plugin), std::string(message)});
  return true;
}

void Engine::Impl::TakeUpDeferred() {
  std::vector<DeferredInput> inputs = std::exchange(deferred_, {});
  AdvanceTo(now_);
  for (DeferredInput& input : inputs) {
    std::visit(
        [this]<class T>(T& value) {
          if constexpr (std::is_same_v<T, api::Object>) {
            Upsert(std::move(value));
          } else if constexpr (std::is_same_v<T, DeferredDelete>) {
            Delete(value.object);
          } else if constexpr (std::is_same_v<T, DeferredStatus>) {
            UpdateStatus(std::move(value.pod));
          } else if constexpr (std::is_same_v<T, DeferredReplace>) {
            Replace(value.kind, std::move(value.objects), value.part);
          } else if constexpr (std::is_same_v<T, EffectResult>) {
            Complete(std::move(value));
          } else if (value.allow) {
            Allow(value.pod, value.plugin);
          } else {
            Reject(value.pod, value.plugin, value.message);
          }
        },
        input);
  }
}

}  // namespace berth::scheduler
