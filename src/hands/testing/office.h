// Office: a dispatcher and its hands with a network that delivers at once, for tests.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hands/dispatcher.h"
#include "hands/hand.h"

namespace berth::hands {

inline scheduler::Effect Bind(scheduler::EffectId id, const std::string& pod,
                              const std::string& node = "n1") {
  return {id, scheduler::BindPod{{"default", pod, "uid-" + pod, "7"}, node}};
}

inline scheduler::Effect Patch(scheduler::EffectId id, const std::string& pod,
                               const std::string& message) {
  scheduler::PatchPodStatus patch;
  patch.pod = {"default", pod, "uid-" + pod, "7"};
  patch.condition.emplace();
  patch.condition->type = "PodScheduled";
  patch.condition->message = message;
  return {id, std::move(patch)};
}

class Office {
 public:
  static constexpr const char* kLease = "kube-system/kube-scheduler";

  explicit Office(const std::vector<std::string>& names, Mistake mistake = Mistake::kNone)
      : dispatcher(Options(mistake)) {
    std::set<std::string> ids(names.begin(), names.end());
    for (const std::string& name : names) {
      hands.emplace(name, Hand(kLease, name, mistake)).first->second.SawLeader("leader", 3);
    }
    dispatcher.Begin(3, {});
    dispatcher.SetFence(now + std::chrono::seconds(10));
    dispatcher.SetHands(ids, now);
  }

  static DispatcherOptions Options(Mistake mistake) {
    DispatcherOptions options;
    options.lease = kLease;
    options.identity = "leader";
    options.mistake = mistake;
    return options;
  }

  // Delivers messages until nothing is left to be delivered. Hands in `silent` do not answer.
  void Settle() {
    for (int round = 0; round < 50; ++round) {
      Dispatcher::Outputs out = dispatcher.Take(now);
      bool any = !out.batches.empty();
      for (auto& [to, batch] : out.batches) Deliver(to, batch);
      for (auto& [to, poll] : out.polls) polls[to] = poll;
      for (auto& effect : out.local) local.push_back(std::move(effect));
      for (auto& result : out.results) results.push_back(std::move(result));
      for (auto& pod : out.adopted) adopted.push_back(std::move(pod));
      if (out.in_sync) {
        lease = *out.in_sync;
        if (writes_lease) dispatcher.OnLeaseWritten(lease);
        any = true;
      }
      for (auto& [name, hand] : hands) {
        if (hand.TakeListRequest() && lists) hand.Listed();
        if (silent.contains(name)) continue;
        for (auto& work : hand.TakeWork(now)) {
          sent.emplace_back(name, std::move(work));
          any = true;
        }
        any |= AnswerPoll(name, hand);
      }
      if (!any) return;
    }
  }
  void Pass(Nanoseconds time) {
    now += time;
    dispatcher.SetFence(now + std::chrono::seconds(10));
    Settle();
  }
  // Until both hands are in sync.
  void Join() {
    for (int i = 0; i < 5; ++i) Pass(std::chrono::milliseconds(350));
  }
  Dispatcher::Role RoleOf(const std::string& name) const {
    for (const auto& state : dispatcher.Hands()) {
      if (state.id == name) return state.role;
    }
    return Dispatcher::Role::kDown;
  }

  Nanoseconds now = std::chrono::hours(1);
  Dispatcher dispatcher;
  std::map<std::string, Hand> hands;
  std::set<std::string> silent;
  bool writes_lease = true;
  bool lists = true;
  std::vector<std::string> lease;
  std::map<std::string, Poll> polls;
  std::vector<std::pair<std::string, Hand::Work>> sent;  // by hands
  std::vector<scheduler::Effect> local;
  std::vector<scheduler::EffectResult> results;
  std::vector<api::Pod> adopted;
  std::vector<std::pair<std::string, Batch>> batches;

 private:
  void Deliver(const std::string& to, const Batch& batch) {
    batches.emplace_back(to, batch);
    const auto decoded = DecodeBatch(Encode(batch));
    auto answer = silent.contains(to) ? Fail("silence") : hands.at(to).Take(*decoded, now);
    if (answer) {
      dispatcher.OnAnswer(to, *DecodeAnswer(Encode(*answer)), false, now);
    } else {
      refusals.push_back(answer.error().Message());
      dispatcher.OnFailure(to, batch.session, false, now);
    }
  }
  bool AnswerPoll(const std::string& name, Hand& hand) {
    const auto poll = polls.find(name);
    if (poll == polls.end() || !hand.HasResults()) return false;
    auto answer = hand.Take(poll->second, now);
    const uint64_t session = poll->second.session;
    polls.erase(poll);
    if (answer) {
      dispatcher.OnAnswer(name, *answer, true, now);
    } else {
      dispatcher.OnFailure(name, session, true, now);
    }
    return true;
  }

 public:
  std::vector<std::string> refusals;
};

}  // namespace berth::hands
