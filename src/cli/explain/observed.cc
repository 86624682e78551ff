#include "cli/explain/observed.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "api/time.h"
#include "explain/views.h"
#include "record/player.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

// What another scheduler wrote about a pod that waited.
struct Seen {
  uint64_t sequence = 0;  // of the record that showed it; 0: none
  int64_t time_ns = 0;
  std::string node;  // empty: it found none
  std::string message;
};

std::string ReportOf(const api::Pod& pod) {
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled" && condition.status == "False" &&
        condition.reason == "Unschedulable") {
      return condition.message;
    }
  }
  return "";
}

// Follows one pod.
class PodWatcher : public record::PlayObserver {
 public:
  PodWatcher(const record::RunReader& reader, std::string_view what, std::string namespace_,
             std::string name)
      : namespace_name_(std::move(namespace_)),
        name_(std::move(name)),
        reader_(reader),
        progress_(what, reader.TotalBytes()) {}

  bool Playing(const record::Moment& moment, const record::Record& record,
               scheduler::Engine* engine) final {
    if (moment.sequence % 1024 == 0) progress_.Update(reader_.BytesRead());
    const auto* upsert = std::get_if<record::Upsert>(&record);
    const auto* pod = upsert == nullptr ? nullptr : std::get_if<api::Pod>(&upsert->object);
    if (pod == nullptr || engine == nullptr || pod->metadata.name != name_ ||
        pod->metadata.namespace_ != namespace_name_) {
      return true;
    }
    const scheduler::Source source = engine->Explaining();
    const cluster::PodId id = explain::FindPod(source, namespace_name_, name_);
    if (id == cluster::kNoPod || source.cluster->GetPod(id).node != cluster::kNoNode) return true;
    return Changes(moment, source, id, *pod);
  }

 protected:
  // The pod waits, and becomes `after`. False: no further.
  virtual bool Changes(const record::Moment& moment, const scheduler::Source& source,
                       cluster::PodId id, const api::Pod& after) = 0;

 private:
  const std::string namespace_name_;
  const std::string name_;
  const record::RunReader& reader_;
  term::Progress progress_;
};

class Finder final : public PodWatcher {
 public:
  using PodWatcher::PodWatcher;
  const Seen& seen() const { return seen_; }

 private:
  bool Changes(const record::Moment& moment, const scheduler::Source&, cluster::PodId,
               const api::Pod& after) override {
    const std::string report = ReportOf(after);
    const bool bound = !after.spec.node_name.empty();
    if (bound || (!report.empty() && report != report_)) {
      seen_ = {moment.sequence, moment.time_ns, after.spec.node_name, bound ? "" : report};
    }
    report_ = report;
    return true;
  }

  std::string report_;
  Seen seen_;
};

class Explaining final : public PodWatcher {
 public:
  Explaining(const record::RunReader& reader, std::string namespace_, std::string name,
             const Seen& seen, explain::ExplainOptions options)
      : PodWatcher(reader, "explaining", std::move(namespace_), std::move(name)),
        seen_(seen),
        options_(std::move(options)) {
    options_.chosen = seen_.node;
    if (options_.node.empty()) options_.node = seen_.node;
  }
  Result<explain::DecisionView> Take() { return std::move(view_); }

 private:
  bool Changes(const record::Moment& moment, const scheduler::Source& source, cluster::PodId id,
               const api::Pod& after) override {
    if (moment.sequence < seen_.sequence) return true;
    // A node that is not known yet can be neither chosen nor judged here.
    if (source.cluster->FindNode(seen_.node) == cluster::kNoNode) {
      if (options_.node == seen_.node) options_.node.clear();
      options_.chosen.clear();
    }
    view_ = explain::Explain(source, id, options_);
    if (view_) Describe(after);
    return false;
  }

  void Describe(const api::Pod& pod) {
    explain::DecisionSummary record;
    record.time = api::MicroTime::FromUnixNano(seen_.time_ns);
    record.namespace_ = pod.metadata.namespace_;
    record.name = pod.metadata.name;
    record.uid = pod.metadata.uid;
    record.profile = pod.spec.scheduler_name;
    record.outcome = seen_.node.empty() ? "Unschedulable" : "Scheduled";
    record.node = seen_.node;
    record.message = seen_.message;
    record.nodes = view_->funnel.nodes;
    record.evaluated = view_->funnel.nodes;
    record.feasible = view_->funnel.feasible;
    const auto chosen = std::find_if(view_->top_nodes.begin(), view_->top_nodes.end(),
                                     [](const explain::NodeScore& score) { return score.chosen; });
    if (chosen != view_->top_nodes.end() && chosen->node == seen_.node) {
      record.score = chosen->total;
      if (view_->tie && view_->tie->total == chosen->total) record.equal = view_->tie->count;
    }
    view_->record = std::move(record);
    view_->recomputed = false;
    view_->present.reset();
    view_->durations_ms.clear();
  }

  const Seen seen_;
  explain::ExplainOptions options_;
  Result<explain::DecisionView> view_ = Fail("the decision was not reached");
};

}  // namespace

Result<RecordedDecision> ExplainObserved(const record::RunFiles& run, std::optional<int64_t> until,
                                         const std::string& namespace_, const std::string& name,
                                         const explain::ExplainOptions& options,
                                         const Plugins& plugins) {
  record::PlayOptions play;
  play.extra_plugins = plugins.extra;
  play.until_ns = until;
  record::RunReader first(run);
  Finder finder(first, "searching", namespace_, name);
  play.observer = &finder;
  const record::PlayOutcome searched = record::Play(first, play);
  if (finder.seen().sequence == 0) {
    if (!searched.trouble.empty()) return Fail(searched.trouble);
    return Fail(fmt::format("run {} has no decision on the pod {}/{} from {} to {}", run.number,
                            namespace_, name,
                            api::Time::FromUnixNano(searched.first_time_ns).FormatNano(),
                            api::Time::FromUnixNano(searched.last_time_ns).FormatNano()));
  }
  record::RunReader second(run);
  Explaining explaining(second, namespace_, name, finder.seen(), options);
  play.observer = &explaining;
  play.until_ns.reset();
  record::Play(second, play);
  auto view = explaining.Take();
  if (!view) return Fail(view.error());
  return RecordedDecision{std::move(*view), run.number, finder.seen().sequence};
}

}  // namespace berth::cli
