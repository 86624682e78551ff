#include "cli/explain/recorded.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "api/time.h"
#include "cli/explain/observed.h"
#include "cli/replay/observed.h"
#include "explain/views.h"
#include "record/player.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

struct PodName {
  std::string namespace_;
  std::string name;
};

// What the log says of the newest decision, if it is about the pod.
const scheduler::AttemptRecord* NewestOf(const scheduler::Source& source, const PodName& pod) {
  const scheduler::AttemptRecord* attempt = source.log->Find(source.log->Newest());
  if (attempt == nullptr) return nullptr;
  const scheduler::AttemptNames names = source.log->NamesOf(*attempt);
  return names.namespace_ == pod.namespace_ && names.name == pod.name ? attempt : nullptr;
}

// Looks at every decision as soon as it is made.
class DecisionWatcher : public record::PlayObserver {
 public:
  DecisionWatcher(const record::RunReader& reader, std::string_view what, PodName pod)
      : pod_(std::move(pod)), reader_(reader), progress_(what, reader.TotalBytes()) {}

  bool Playing(const record::Moment& moment, const record::Record& record,
               scheduler::Engine* engine) final {
    if (moment.sequence % 1024 == 0) progress_.Update(reader_.BytesRead());
    if (engine != nullptr && may_have_decided_ && !Look(*engine)) return false;
    may_have_decided_ = false;
    if (const auto* step = std::get_if<record::Step>(&record)) {
      may_have_decided_ = step->tried;
      if (step->tried) {
        cycle_ = moment.sequence;
        if (!BeforeCycle(*engine)) return false;
      }
    } else if (std::holds_alternative<record::Complete>(record)) {
      may_have_decided_ = true;  // a cycle that waited for extenders
    } else if (std::holds_alternative<record::Begin>(record)) {
      newest_ = 0;
    }
    return true;
  }
  void Ended(scheduler::Engine* engine) final {
    if (engine != nullptr && may_have_decided_) Look(*engine);
  }

 protected:
  // False: no further.
  virtual bool BeforeCycle(scheduler::Engine&) { return true; }
  virtual bool Decided(const scheduler::Source& source,
                       const scheduler::AttemptRecord& attempt) = 0;
  // The sequence number of the record that began the last cycle.
  uint64_t Cycle() const { return cycle_; }

  const PodName pod_;

 private:
  bool Look(scheduler::Engine& engine) {
    const scheduler::Source source = engine.Explaining();
    if (source.log->Newest() == newest_) return true;
    newest_ = source.log->Newest();
    const scheduler::AttemptRecord* attempt = NewestOf(source, pod_);
    return attempt == nullptr || Decided(source, *attempt);
  }

  const record::RunReader& reader_;
  term::Progress progress_;
  bool may_have_decided_ = false;
  uint64_t newest_ = 0;
  uint64_t cycle_ = 0;
};

// Finds the last decision.
class Finder final : public DecisionWatcher {
 public:
  using DecisionWatcher::DecisionWatcher;

  uint64_t found() const { return found_; }
  const std::string& node() const { return node_; }

 private:
  bool Decided(const scheduler::Source& source, const scheduler::AttemptRecord& attempt) override {
    found_ = Cycle();
    node_ = attempt.node == cluster::kNoString ? "" : source.cluster->Strings().Text(attempt.node);
    return true;
  }

  uint64_t found_ = 0;
  std::string node_;
};

// Explains the cycle at `cycle`.
class Explaining final : public DecisionWatcher {
 public:
  Explaining(const record::RunReader& reader, PodName pod, uint64_t cycle,
             const explain::ExplainOptions& options)
      : DecisionWatcher(reader, "explaining", std::move(pod)), wanted_(cycle), options_(options) {}

  Result<explain::DecisionView> Take() { return std::move(view_); }

 private:
  bool BeforeCycle(scheduler::Engine& engine) override {
    if (Cycle() != wanted_) return true;
    const scheduler::Source source = engine.Explaining();
    const cluster::PodId id = explain::FindPod(source, pod_.namespace_, pod_.name);
    if (id == cluster::kNoPod) {
      view_ = Fail("the pod is not there before its decision");
      return false;
    }
    view_ = explain::Explain(source, id, options_);
    return view_.has_value();
  }
  bool Decided(const scheduler::Source& source, const scheduler::AttemptRecord& attempt) override {
    if (Cycle() < wanted_) return true;
    view_->record = explain::Summarize(source, attempt);
    view_->recomputed = false;
    view_->present.reset();
    view_->durations_ms.clear();
    return false;
  }

  const uint64_t wanted_;
  const explain::ExplainOptions options_;
  Result<explain::DecisionView> view_ = Fail("the decision was not reached");
};

record::PlayOutcome PlayRun(record::RunReader& reader, record::PlayOptions options,
                            DecisionWatcher& watcher) {
  options.observer = &watcher;
  return record::Play(reader, options);
}

}  // namespace

Result<RecordedDecision> ExplainRecorded(const RunChoice& choice, const std::string& namespace_,
                                         const std::string& name,
                                         const explain::ExplainOptions& options,
                                         const Plugins& plugins) {
  auto run = ChooseRun(choice);
  if (!run) return Fail(run.error());
  if (IsObserved(*run)) {
    return ExplainObserved(*run, choice.time_ns, namespace_, name, options, plugins);
  }
  record::PlayOptions play;
  play.extra_plugins = plugins.extra;
  play.until_ns = choice.time_ns;

  record::RunReader first(*run);
  Finder finder(first, "searching", {namespace_, name});
  const record::PlayOutcome searched = PlayRun(first, play, finder);
  if (!searched.divergence.empty()) {
    return Fail(fmt::format("run {}, record {}: {}; it cannot be explained with this berth",
                            run->number, searched.stopped.sequence, searched.divergence));
  }
  if (finder.found() == 0) {
    if (!searched.trouble.empty()) return Fail(searched.trouble);
    return Fail(fmt::format("run {} of {} has no decision on the pod {}/{} from {} to {}",
                            run->number, choice.dir, namespace_, name,
                            api::Time::FromUnixNano(searched.first_time_ns).FormatNano(),
                            api::Time::FromUnixNano(searched.last_time_ns).FormatNano()));
  }

  explain::ExplainOptions chosen = options;
  chosen.chosen = finder.node();
  record::RunReader second(*run);
  Explaining explaining(second, {namespace_, name}, finder.found(), chosen);
  play.until_ns.reset();  // what follows the cycle may be later
  PlayRun(second, play, explaining);
  auto view = explaining.Take();
  if (!view) return Fail(view.error());
  return RecordedDecision{std::move(*view), run->number, finder.found()};
}

}  // namespace berth::cli
