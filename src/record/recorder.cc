#include "record/recorder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace berth::record {

Recorder::Recorder(Sink& sink, const config::FeatureGates& gates, RecorderOptions options)
    : sink_(sink),
      options_(std::move(options)),
      gates_{gates},
      redactor_(options_.redact ? std::optional<Redactor>(std::in_place) : std::nullopt),
      writer_(batch_.records, redactor_ ? &*redactor_ : nullptr) {}

void Recorder::Allow(const config::FeatureGates& gates) {
  const std::lock_guard lock(mutex_);
  gates_.push_back(gates);
}

void Recorder::Flush() {
  if (batch_.count == 0) return;
  Batch full;
  full.first_sequence = next_sequence_ - batch_.count;
  full.count = std::exchange(batch_.count, 0);
  full.first_time_ns = batch_.first_time_ns;
  full.last_time_ns = now_ns_;
  full.records.reserve(options_.batch_bytes + options_.batch_bytes / 4);
  std::swap(full.records, batch_.records);
  if (!sink_.Put(std::move(full))) ended_ = true;
}

void Recorder::Added() {
  if (batch_.count++ == 0) batch_.first_time_ns = now_ns_;
  ++next_sequence_;
  const bool full = batch_.records.size() >= options_.batch_bytes;
  if (full || now_ns_ - batch_.first_time_ns >= options_.batch_ns) Flush();
}

void Recorder::Close() {
  closed_ = true;
  if (ended_) return;
  writer_.AddEnd();
  Added();
  Flush();
  ended_ = true;
}

void Recorder::MayStartRun() {
  if (closed_ || !(sink_.WantsRun() || WantsRun())) return;
  if (!ended_ && next_sequence_ > 1) {
    writer_.AddEnd();
    Added();
    Flush();
  }
  batch_.records.clear();
  batch_.count = 0;
  next_sequence_ = 1;
  ended_ = false;
  if (WantsRun()) redactor_->Reset();
  sink_.StartRun();
}

void Recorder::Began(const config::KubeSchedulerConfiguration& config,
                     const scheduler::EngineOptions& options, const api::Time& now) {
  MayStartRun();
  if (ended_) return;
  Begin begin;
  {
    const std::lock_guard lock(mutex_);
    const auto gates = std::find_if(gates_.rbegin(), gates_.rend(), [&](const auto& candidate) {
      return config::Behaviour(candidate) == options.behaviour;
    });
    if (gates == gates_.rend()) {
      ended_ = true;
      sink_.End("the feature gates of the engine are unknown");
      return;
    }
    begin.minor = gates->Minor();
    begin.emulated = gates->Emulated();
    begin.min_compatibility = gates->MinCompatibility();
    for (const auto& [name, value] : gates->Asked()) {
      begin.gates += fmt::format("{}{}={}", begin.gates.empty() ? "" : ",", name, value);
    }
  }
  now_ns_ = now.UnixNano();
  begin.berth_version = options_.berth_version;
  begin.time_ns = now_ns_;
  begin.config = config::ToJson(config);
  begin.seed = options.algorithm.seed;
  begin.adaptive_sampling = options.algorithm.adaptive_sampling;
  begin.classes = options.algorithm.classes;
  begin.call_extenders = options.call_extenders;
  begin.max_in_unschedulable_ns = options.max_in_unschedulable_ns;
  begin.assumed_ttl_ns = options.assumed_ttl_ns;
  begin.planted_bug = static_cast<uint64_t>(options.planted_bug);
  for (const scheduler::ExtraPlugin& plugin : options.extra_plugins) {
    begin.extra_plugins.emplace_back(plugin.row.name);
  }
  begin.redacted = redactor_.has_value();
  begin.observed = options_.observed;
  writer_.Add(begin);
  Added();
}

void Recorder::Synced() {
  if (ended_) return;
  writer_.AddSynced();
  Added();
}

void Recorder::AdvanceTo(const api::Time& now) {
  if (ended_) return;
  now_ns_ = std::max(now_ns_, now.UnixNano());
  writer_.AddAdvance(now.UnixNano());
  Added();
}

void Recorder::Upsert(const api::Object& object) {
  if (ended_) return;
  writer_.AddUpsert(object);
  Added();
}

void Recorder::UpdateStatus(const api::Pod& pod) {
  if (ended_) return;
  writer_.AddStatus(pod);
  Added();
}

void Recorder::Delete(const api::Object& object) {
  if (ended_) return;
  writer_.AddDelete(object);
  Added();
}

void Recorder::Replace(std::string_view kind, std::span<const api::Object> objects,
                       scheduler::ListPart part) {
  if (ended_) return;
  writer_.AddReplace(kind, part, objects);
  Added();
}

void Recorder::UpdateNodeMetrics(std::string_view node, const cluster::NodeMetrics& metrics) {
  if (ended_) return;
  writer_.AddMetrics(node, metrics);
  Added();
}

void Recorder::Complete(const scheduler::EffectResult& result) {
  if (ended_) return;
  writer_.AddComplete(result);
  Added();
}

void Recorder::Step(bool tried) {
  if (ended_) return;
  writer_.AddStep(tried);
  Added();
}

void Recorder::Taken(std::span<const scheduler::Effect> effects) {
  if (ended_ || effects.empty()) return;
  digests_.clear();
  const DigestOptions digest{.redactor = redactor_ ? &*redactor_ : nullptr, .notes = !redactor_};
  for (const scheduler::Effect& effect : effects) digests_.push_back(DigestOf(effect, digest));
  writer_.AddTaken(digests_);
  Added();
}

}  // namespace berth::record
