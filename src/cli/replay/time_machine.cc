#include "cli/replay/time_machine.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "api/time.h"
#include "record/run_reader.h"

namespace berth::cli {
namespace {

constexpr size_t kLookEvery = 512;  // records
constexpr size_t kMostTasks = 1000;

std::string Text(int64_t time_ns) { return api::Time::FromUnixNano(time_ns).FormatNano(); }

}  // namespace

const api::TypeInfo& Timeline::Run::Type() {
  static const api::TypeInfo type = api::Describe<Timeline::Run>("TimelineRun")
                                        .Always(1, "run", &Timeline::Run::run)
                                        .Always(2, "from", &Timeline::Run::from)
                                        .Always(3, "to", &Timeline::Run::to)
                                        .Build();
  return type;
}

const api::TypeInfo& Timeline::Type() {
  static const api::TypeInfo type = api::Describe<Timeline>("Timeline")
                                        .Always(1, "from", &Timeline::from)
                                        .Always(2, "to", &Timeline::to)
                                        .Always(3, "at", &Timeline::at)
                                        .Always(4, "run", &Timeline::run)
                                        .Always(5, "sequence", &Timeline::sequence)
                                        .Always(6, "moving", &Timeline::moving)
                                        .Always(7, "done", &Timeline::done)
                                        .Always(8, "moves", &Timeline::moves)
                                        .Always(9, "observed", &Timeline::observed)
                                        .Always(10, "redacted", &Timeline::redacted)
                                        .Field(11, "trouble", &Timeline::trouble)
                                        .Always(12, "runs", &Timeline::runs)
                                        .Always(13, "activity", &Timeline::activity)
                                        .Build();
  return type;
}

TimeMachine::TimeMachine(std::vector<record::RunFiles> runs, const Plugins& plugins)
    : runs_(std::move(runs)), plugins_(plugins) {}

Result<std::unique_ptr<TimeMachine>> TimeMachine::Make(std::vector<record::RunFiles> runs,
                                                       const Plugins& plugins) {
  std::unique_ptr<TimeMachine> machine(new TimeMachine(std::move(runs), plugins));
  if (auto read = machine->ReadRuns(); !read) return Fail(read.error());
  machine->thread_ = std::thread([self = machine.get()] { self->Work(); });
  return machine;
}

TimeMachine::~TimeMachine() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// What is known before anything is played: the times of the runs, and how much happened when.
Result<void> TimeMachine::ReadRuns() {
  std::vector<std::vector<record::BlockInfo>> blocks;
  for (const record::RunFiles& run : runs_) {
    blocks.push_back(record::BlocksOf(run));
    if (blocks.back().empty()) return Fail(fmt::format("run {} cannot be read", run.number));
    begins_.push_back(blocks.back().front().time_ns);
    fixed_.runs.push_back({run.number, Text(begins_.back()), Text(blocks.back().back().time_ns)});
  }
  from_ns_ = begins_.front();
  to_ns_ = blocks.back().back().time_ns;
  fixed_.from = Text(from_ns_);
  fixed_.to = Text(to_ns_);
  fixed_.activity.assign(kActivityParts, 0);
  const double part =
      static_cast<double>(std::max<int64_t>(1, to_ns_ - from_ns_)) / double{kActivityParts};
  for (const auto& run : blocks) {
    for (size_t i = 0; i + 1 < run.size(); ++i) {
      const double place = static_cast<double>(run[i].time_ns - from_ns_) / part;
      const auto at = static_cast<size_t>(std::clamp(place, 0.0, double{kActivityParts - 1}));
      fixed_.activity[at] +=
          static_cast<int64_t>(run[i + 1].first_sequence - run[i].first_sequence);
    }
  }
  record::RunReader reader(runs_.front());
  auto record = reader.Next();
  if (!record) return Fail(record.error());
  const auto* begin = *record == nullptr ? nullptr : std::get_if<record::Begin>(*record);
  if (begin == nullptr) {
    return Fail(fmt::format("run {} does not begin with an engine", runs_.front().number));
  }
  const auto options = record::EngineOptionsOf(*begin, plugins_.extra);
  if (!options) return Fail(options.error());
  behaviour_ = options->behaviour;
  auto config = config::Load(begin->config, behaviour_);
  if (!config) return Fail(config.error().In("recorded configuration"));
  config_ = std::move(*config);
  fixed_.redacted = begin->redacted;
  return {};
}

// --- Any thread

void TimeMachine::MoveTo(int64_t time_ns) {
  {
    const std::lock_guard lock(mutex_);
    target_ = Target{std::clamp(time_ns, from_ns_, std::max(from_ns_, to_ns_))};
    now_ns_ = *target_->time_ns;
    now_.moving = true;
    now_.done = 0;
  }
  changed_.notify_all();
}

void TimeMachine::MoveToNextCycle() {
  {
    const std::lock_guard lock(mutex_);
    if (now_.moving) return;
    target_ = Target{};
    now_.moving = true;
    now_.done = 0;
  }
  changed_.notify_all();
}

void TimeMachine::Do(std::function<void(scheduler::Engine&)> task) {
  {
    const std::lock_guard lock(mutex_);
    if (tasks_.size() >= kMostTasks) return;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

Timeline TimeMachine::Look() const {
  Timeline timeline = fixed_;
  const std::lock_guard lock(mutex_);
  timeline.at = Text(now_ns_);
  timeline.run = now_.run;
  timeline.sequence = now_.sequence;
  timeline.moving = now_.moving;
  timeline.done = now_.done;
  timeline.moves = now_.moves;
  timeline.observed = now_.observed;
  timeline.trouble = now_.trouble;
  return timeline;
}

int64_t TimeMachine::Now() const {
  const std::lock_guard lock(mutex_);
  return now_ns_;
}

uint32_t TimeMachine::Run() const {
  const std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(now_.run);
}

bool TimeMachine::Ready() const {
  const std::lock_guard lock(mutex_);
  return has_engine_ || now_.moving;
}

// --- The machine's thread

void TimeMachine::Work() {
  for (;;) {
    std::optional<Target> target;
    std::function<void(scheduler::Engine&)> task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || target_ || !tasks_.empty(); });
      if (stopping_) return;
      target = std::exchange(target_, std::nullopt);
      if (!target) {
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
    }
    if (target) {
      Move(*target);
    } else if (cursor_ && cursor_->player.GetEngine() != nullptr) {
      task(*cursor_->player.GetEngine());
    }
  }
}

const record::RunFiles& TimeMachine::RunAt(int64_t time_ns) const {
  size_t run = 0;
  for (size_t i = 1; i < begins_.size(); ++i) {
    if (begins_[i] <= time_ns) run = i;
  }
  return runs_[run];
}

void TimeMachine::Move(const Target& target) {
  bool whole = true;
  if (target.time_ns) {
    const int64_t time_ns = *target.time_ns;
    const record::RunFiles& run = RunAt(time_ns);
    if (!cursor_ || cursor_->number != run.number || at_ns_ > time_ns) {
      cursor_.reset();  // before another engine needs memory
      record::PlayOptions play;
      play.extra_plugins = plugins_.extra;
      cursor_ = std::make_unique<Cursor>(run, std::move(play));
    }
    // The last block begins at the end that is known; what follows is played with it.
    whole = PlayUntil(time_ns >= to_ns_ ? INT64_MAX : time_ns);
    if (whole) at_ns_ = time_ns;
  } else if (cursor_) {
    whole = PlayCycle();
  }
  if (whole) Note(false);
}

bool TimeMachine::PlayUntil(int64_t time_ns) {
  for (size_t records = 1;; ++records) {
    const auto next = cursor_->player.Peek();
    if (!next || next->time_ns > time_ns || !cursor_->player.Next()) return true;
    if (records % kLookEvery != 0) continue;
    if (Interrupted()) {
      at_ns_ = next->time_ns;
      return false;
    }
    Note(true);
  }
}

bool TimeMachine::PlayCycle() {
  for (size_t records = 1;; ++records) {
    const uint64_t steps = cursor_->player.Outcome().steps;
    const auto next = cursor_->player.Peek();
    if (!next || !cursor_->player.Next()) return true;
    at_ns_ = std::max(at_ns_, next->time_ns);
    const record::PlayOutcome& outcome = cursor_->player.Outcome();
    if (outcome.observed || outcome.steps != steps) {
      const std::lock_guard lock(mutex_);
      if (!target_) now_ns_ = at_ns_;
      return true;
    }
    if (records % kLookEvery == 0 && Interrupted()) return false;
  }
}

bool TimeMachine::Interrupted() {
  const std::lock_guard lock(mutex_);
  return stopping_ || target_.has_value();
}

void TimeMachine::Note(bool moving) {
  const record::PlayOutcome* outcome = cursor_ ? &cursor_->player.Outcome() : nullptr;
  const std::lock_guard lock(mutex_);
  has_engine_ = cursor_ && cursor_->player.GetEngine() != nullptr;
  if (outcome != nullptr) {
    now_.run = cursor_->number;
    now_.sequence = static_cast<int64_t>(cursor_->reader.Sequence());
    now_.observed = outcome->observed;
    now_.trouble = !outcome->trouble.empty() ? outcome->trouble : outcome->divergence;
    const int64_t begin =
        fixed_.runs.empty()
            ? 0
            : begins_[static_cast<size_t>(
                  std::find_if(runs_.begin(), runs_.end(),
                               [&](const auto& run) { return run.number == cursor_->number; }) -
                  runs_.begin())];
    const double way = static_cast<double>(std::max<int64_t>(1, now_ns_ - begin));
    now_.done = std::clamp(static_cast<double>(outcome->last_time_ns - begin) / way, 0.0, 1.0);
  }
  if (moving || target_) return;
  now_.moving = false;
  now_.done = 1;
  ++now_.moves;
}

}  // namespace berth::cli
