#include "cli/replay/observed.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "api/time.h"
#include "shadow/shadow.h"

namespace berth::cli {
namespace {

using record::Record;

class Comparing {
 public:
  Comparing(record::RunReader& reader, const record::PlayOptions& options, const SeeComparison& see)
      : reader_(reader), options_(options), see_(see) {}

  ObservedOutcome Run() {
    while (Next()) {
    }
    if (shadow_) {
      shadow_->Finish();
      Collect();
    }
    record::PlayOutcome& played = outcome_.played;
    played.observed = true;
    played.stopped = {reader_.Sequence(), played.last_time_ns};
    shadow::Summary& summary = outcome_.summary;
    summary.from = Text(played.first_time_ns);
    summary.to = Text(played.last_time_ns);
    summary.Conclude();
    return std::move(outcome_);
  }

 private:
  static std::string Text(int64_t time_ns) { return api::Time::FromUnixNano(time_ns).FormatNano(); }

  bool Next() {
    record::PlayOutcome& played = outcome_.played;
    auto next = reader_.Next();
    if (!next) played.trouble = next.error().Message();
    if (!next || *next == nullptr) return false;
    const Record& record = **next;
    const int64_t time = TimeOf(record);
    if (options_.until_ns && time > *options_.until_ns) {
      played.reached_until = true;
      return false;
    }
    if (options_.observer != nullptr &&
        !options_.observer->Playing({reader_.Sequence(), time}, record, nullptr)) {
      played.interrupted = true;
      return false;
    }
    if (played.records++ == 0) played.first_time_ns = time;
    played.last_time_ns = time;
    if (!shadow_ && !std::holds_alternative<record::Begin>(record) &&
        !std::holds_alternative<record::End>(record)) {
      return Trouble("an input before the beginning");
    }
    return std::visit([this](const auto& value) { return Do(value); }, record);
  }

  int64_t TimeOf(const Record& record) const {
    const int64_t last = outcome_.played.last_time_ns;
    if (const auto* begin = std::get_if<record::Begin>(&record)) return begin->time_ns;
    const auto* advance = std::get_if<record::Advance>(&record);
    return advance == nullptr ? last : std::max(advance->time_ns, last);
  }

  bool Trouble(std::string_view what) {
    outcome_.played.trouble =
        fmt::format("run {}, record {}: {}", reader_.Run(), reader_.Sequence(), what);
    return false;
  }

  bool Do(const record::Begin& begin) {
    if (shadow_ || !begin.observed) return Trouble("an engine in a recording without scheduling");
    auto engine = record::EngineOptionsOf(begin, options_.extra_plugins);
    if (!engine) return Trouble(engine.error().Message());
    const auto config = config::Load(begin.config, engine->behaviour);
    if (!config) return Trouble(config.error().In("recorded configuration").Message());
    shadow::ShadowOptions options;
    options.behaviour = engine->behaviour;
    options.extra_plugins = engine->extra_plugins;
    auto shadow = shadow::Shadow::Make(*config, std::move(options));
    if (!shadow) return Trouble(shadow.error().Message());
    shadow_ = std::move(*shadow);
    outcome_.summary.server = fmt::format("run {}", reader_.Run());
    outcome_.summary.kubernetes_version = engine->behaviour.kubernetes_version;
    outcome_.played.redacted = begin.redacted;
    outcome_.played.engines = 1;
    return true;
  }
  bool Do(const record::Advance& advance) {
    shadow_->AdvanceTo(api::Time::FromUnixNano(advance.time_ns));
    Collect();
    return true;
  }
  bool Do(const record::Upsert& upsert) {
    shadow_->Upsert(upsert.object);
    return true;
  }
  bool Do(const record::Delete& gone) {
    shadow_->Delete(gone.object);
    return true;
  }
  bool Do(const record::Replace& replace) {
    if (replace.part != scheduler::ListPart::kWhole) return Trouble("a part of a list");
    shadow_->Replace(replace.kind, replace.objects);
    return true;
  }
  bool Do(const record::Synced&) {
    shadow_->Start();
    return true;
  }
  bool Do(const record::End&) {
    outcome_.played.closed = true;
    return true;
  }
  // What only an engine takes in.
  bool Do(const record::Metrics&) { return Trouble("the measured load of a node"); }
  bool Do(const record::UpdateStatus&) { return Trouble("the status of a pod alone"); }
  bool Do(const record::Complete&) { return Trouble("the result of an effect"); }
  bool Do(const record::Step&) { return Trouble("a scheduling cycle"); }
  bool Do(const record::Taken&) { return Trouble("decisions of an engine"); }

  void Collect() {
    for (const shadow::Comparison& comparison : shadow_->TakeComparisons()) {
      outcome_.summary.Add(comparison);
      ++outcome_.played.decisions;
      outcome_.played.bindings += comparison.decision == "Bound" ? 1 : 0;
      if (see_) see_(comparison);
    }
    outcome_.summary.unseen = static_cast<int64_t>(shadow_->Unseen());
  }

  record::RunReader& reader_;
  const record::PlayOptions& options_;
  const SeeComparison& see_;
  std::unique_ptr<shadow::Shadow> shadow_;
  ObservedOutcome outcome_;
};

}  // namespace

bool IsObserved(const record::RunFiles& run) {
  record::RunReader reader(run);
  const auto record = reader.Next();
  if (!record || *record == nullptr) return false;
  const auto* begin = std::get_if<record::Begin>(*record);
  return begin != nullptr && begin->observed;
}

ObservedOutcome PlayObserved(record::RunReader& reader, const record::PlayOptions& options,
                             const SeeComparison& see) {
  return Comparing(reader, options, see).Run();
}

}  // namespace berth::cli
