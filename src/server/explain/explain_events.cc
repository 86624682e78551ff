#include "server/explain/explain_events.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "explain/cluster_copy.h"
#include "explain/explainer.h"
#include "server/explain/suggest.h"

namespace berth::server {
namespace {

// Pods whose last explanation is remembered.
constexpr size_t kMaxTold = 20'000;

// The first `size` bytes at most, and no half letters.
std::string_view Cut(std::string_view text, size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return text.substr(0, size);
}

// A pod that waits, and why.
struct Waiting {
  scheduler::PodRef pod;
  std::string scheduler_name;
  int64_t nodes = 0;
  std::vector<explain::Rejection> rejections;
};

struct Look {
  std::vector<Waiting> pods;
  explain::ClusterCopy copy;  // when there are any
};

scheduler::RecordEvent EventFor(const Waiting& waiting, std::string_view help) {
  scheduler::RecordEvent event;
  event.regarding = waiting.pod;
  event.type = "Normal";
  event.reason = "SchedulingExplained";
  event.action = "Scheduling";
  event.note = ExplainNote(waiting.nodes, waiting.rejections, help);
  event.reporting_controller = waiting.scheduler_name;
  event.note_counts = true;
  return event;
}

}  // namespace

std::string ExplainNote(int64_t nodes, const std::vector<explain::Rejection>& rejections,
                        std::string_view help) {
  std::string end;
  if (!help.empty()) end = fmt::format(" Would help: {}.", Cut(help, kMaxNote / 2));
  constexpr size_t kRoomForMore = 32;  // " And 12 more reasons."
  std::string note = fmt::format("0/{} nodes fit.", nodes);
  size_t shown = 0;
  for (const explain::Rejection& rejection : rejections) {
    std::string part = " ";
    if (!rejection.plugin.empty()) part += rejection.plugin + ": ";
    if (rejection.nodes > 0) part += fmt::format("{} ", rejection.nodes);
    part += rejection.reason;
    if (!part.ends_with('.')) part += '.';
    const size_t room = kMaxNote - end.size() - kRoomForMore;
    if (shown == 0 && note.size() + part.size() > room) part = Cut(part, room - note.size());
    if (note.size() + part.size() > room) break;
    note += part;
    ++shown;
  }
  const size_t more = rejections.size() - shown;
  if (more > 0) note += fmt::format(" And {} more reason{}.", more, more == 1 ? "" : "s");
  return note + end;
}

class ExplainEvents::Impl : public std::enable_shared_from_this<Impl> {
 public:
  explicit Impl(ExplainEventsOptions options) : options_(std::move(options)) {}

  void Start() {
    thread_ = std::thread([this] { Run(); });
  }

  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, options_.period, [this] { return stopping_; })) {
      lock.unlock();
      const bool ready = options_.ready();
      if (ready) Ask();
      lock.lock();
      if (!ready) continue;
      changed_.wait(lock, [this] { return stopping_ || answer_; });
      if (stopping_) return;
      const Look look = std::move(*answer_);
      answer_.reset();
      lock.unlock();
      Tell(look);
      lock.lock();
    }
  }

  void Ask() {
    options_.on_engine([weak = weak_from_this()](scheduler::Engine& engine) {
      const auto self = weak.lock();
      if (!self) return;
      Look look = self->Collect(engine.Explaining());
      const std::lock_guard lock(self->mutex_);
      self->answer_ = std::move(look);
      self->changed_.notify_all();
    });
  }

  // On the engine's thread, as all that it touches.
  Look Collect(const scheduler::Source& source) {
    Look look;
    const scheduler::DecisionLog& log = *source.log;
    if (last_seen_ > log.Newest()) last_seen_ = 0;  // another engine starts anew
    if (log.Newest() - last_seen_ > log.Kept()) last_seen_ = log.Newest() - log.Kept();
    while (last_seen_ < log.Newest() && look.pods.size() < kPodsPerLook) {
      if (auto waiting = LookAt(source, *log.Find(++last_seen_))) {
        look.pods.push_back(std::move(*waiting));
      }
    }
    if (!look.pods.empty()) look.copy = explain::CopyCluster(source);
    return look;
  }

  // Nothing: it is of no interest (any more), or has been told.
  std::optional<Waiting> LookAt(const scheduler::Source& source,
                                const scheduler::AttemptRecord& attempt) {
    if (attempt.outcome != scheduler::Outcome::kUnschedulable || !attempt.failed) return {};
    if (!attempt.failed->nominated_node.empty()) return {};  // room is being made
    const scheduler::AttemptNames names = source.log->NamesOf(attempt);
    if (names.uid.empty() || !source.cluster->PodExists(attempt.pod)) return {};
    const cluster::Pod& pod = source.cluster->GetPod(attempt.pod);
    if (pod.uid != names.uid || pod.node != cluster::kNoNode) return {};
    const scheduler::AttemptRecord* last = source.log->FindLast(pod.id, pod.uid);
    if (last == nullptr || last->id != attempt.id) return {};
    if (told_.size() >= kMaxTold) told_.clear();
    const size_t said = std::hash<std::string>()(attempt.failed->message);
    const auto [told, is_new] = told_.emplace(pod.uid, said);
    if (!is_new && std::exchange(told->second, said) == said) return {};
    return Waiting{{pod.namespace_(), pod.name, pod.uid},
                   pod.shape->source.spec.scheduler_name,
                   attempt.nodes,
                   explain::ToRejections(attempt.failed->reasons)};
  }

  void Tell(const Look& look) {
    if (look.pods.empty()) return;
    const config::KubeSchedulerConfiguration config = options_.config();
    for (const Waiting& waiting : look.pods) {
      const auto list = SuggestOnCopy(look.copy, config, options_.behaviour, options_.plugins,
                                      waiting.pod.namespace_, waiting.pod.name);
      const bool helps = list && !list->items.empty();
      options_.record(EventFor(waiting, helps ? list->items.front().text : ""));
    }
  }

  const ExplainEventsOptions options_;
  uint64_t last_seen_ = 0;                        // of decisions; on the engine's thread
  std::unordered_map<std::string, size_t> told_;  // by uid: a hash of the message; likewise

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::optional<Look> answer_;
  std::thread thread_;
};

ExplainEvents::ExplainEvents(ExplainEventsOptions options)
    : impl_(std::make_shared<Impl>(std::move(options))) {
  impl_->Start();
}
ExplainEvents::~ExplainEvents() { Stop(); }
void ExplainEvents::Stop() { impl_->Stop(); }

}  // namespace berth::server
