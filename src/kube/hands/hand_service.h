// HandService: the hand's side of sharing work (src/hands) over the API server's clients.
//
// It answers batches and polls of the leader, and sends the work they bring with an EffectRunner of
// its own. On the loop's thread only.
//
// Nothing is sent after its batch's validity: what the client still holds then is dropped by the
// fence, which is moved to the end of the newest batch's validity. Within a session a task may so
// be sent a little later than its own batch says, but never later than the leader counts on: it
// waits for the end of the newest one (Dispatcher::Link::void_at). The work of an earlier session
// is cancelled when the next one begins.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "hands/hand.h"
#include "kube/client/api_client.h"
#include "kube/client/fence.h"
#include "kube/watch/raw_objects.h"
#include "kube/write/effect_runner.h"
#include "kube/write/event_recorder.h"
#include "net/loop.h"

namespace berth::kube {

class HandService {
 public:
  // The answer's bytes, or why the message was refused.
  using Reply = std::function<void(Result<std::string>)>;

  // `client` is fenced by `fence`, which is the service's to move. `election`: "namespace/name".
  HandService(net::Loop& loop, ApiClient& client, Fence& fence, std::string election,
              std::string identity, bool marks_bindings);
  ~HandService();

  // Before the first message. `list`: the cluster is to be listed in its newest version, after
  // which State().Listed() is to be called.
  void Attach(EventRecorder& events, std::function<void()> list);
  void SetRules(const EffectRules& rules);

  // A batch or a poll has come. `reply` is called once, now or later.
  void Serve(bool poll, std::string_view bytes, Reply reply);

  hands::Hand& State() { return hand_; }
  const hands::Hand& State() const { return hand_; }
  // Works for a leader: a batch has come within the last seconds.
  bool IsActive() const;

 private:
  struct Session {
    std::string leader;
    int64_t epoch = -1;
    uint64_t number = 0;
    bool operator==(const Session&) const = default;
  };
  struct HeldPoll {
    hands::Poll poll;
    Reply reply;
    net::Loop::TimerId timer = 0;
  };

  void TakeBatch(std::string_view bytes, const Reply& reply);
  void BeginSession(Session session);
  void HoldPoll(std::string_view bytes, Reply reply);
  void RunTasks();
  void OnResult(scheduler::EffectResult&& result);
  void AnswerSoon();
  void AnswerPolls();
  void Answer(const HeldPoll& held);

  net::Loop& loop_;
  ApiClient& client_;
  Fence& fence_;
  const bool marks_bindings_;
  hands::Hand hand_;
  Session session_;
  net::Nanoseconds last_batch_{0};
  EffectRules rules_;
  RawObjects raw_;  // stays empty: hands do not write whole objects
  EventRecorder* events_ = nullptr;
  std::function<void()> list_;
  std::unique_ptr<EffectRunner> runner_;
  std::list<HeldPoll> polls_;
  bool answers_soon_ = false;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::kube
