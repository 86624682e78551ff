// Recorder: an EngineTap that encodes what it is given and passes it on in batches.
//
// Owned by whoever owns the host; used on the engine's thread, except where a method says
// otherwise. Once the sink has refused a batch the recorder records nothing until the next engine
// is made: a gap would make everything after it worthless. The same holds when an engine is made
// that it cannot describe. A new engine takes nothing over from the one before it, so a recording
// can go on with it, in another run of the sink.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "config/feature_gates.h"
#include "record/records.h"
#include "record/sink.h"
#include "scheduler/tap.h"

namespace berth::record {

struct RecorderOptions {
  std::string berth_version;
  // Changes speed and what a crash loses: bytes before compression after which a batch is passed
  // on.
  size_t batch_bytes = 256u << 10;
  // The same in time of the engine: an older batch is passed on with the next record.
  int64_t batch_ns = 1'000'000'000;
  // Names, labels, images and so on are replaced (redaction.h).
  bool redact = false;
  // Another scheduler decides: see Begin::observed. The owner calls Began before the first list of
  // each run, and Synced after the last; no engine is needed.
  bool observed = false;
};

class Recorder final : public scheduler::EngineTap {
 public:
  // `sink` outlives the recorder. `gates`: what the engines' behaviour is made from.
  Recorder(Sink& sink, const config::FeatureGates& gates, RecorderOptions options);

  // Engines with the behaviour of `gates` may follow as well. From any thread.
  void Allow(const config::FeatureGates& gates);
  // Another engine is needed: another run should begin. On the engine's thread.
  bool WantsRun() const { return redactor_ && redactor_->IsFull(); }
  // Passes on what it has.
  void Flush();
  // Every kind has been listed. REQUIRES: RecorderOptions::observed.
  void Synced();
  // The recording ends in good order. Nothing is recorded after that.
  void Close();

  void Began(const config::KubeSchedulerConfiguration& config,
             const scheduler::EngineOptions& options, const api::Time& now) override;
  void AdvanceTo(const api::Time& now) override;
  void Upsert(const api::Object& object) override;
  void UpdateStatus(const api::Pod& pod) override;
  void Delete(const api::Object& object) override;
  void Replace(std::string_view kind, std::span<const api::Object> objects,
               scheduler::ListPart part) override;
  void UpdateNodeMetrics(std::string_view node, const cluster::NodeMetrics& metrics) override;
  void Complete(const scheduler::EffectResult& result) override;
  void Step(bool tried) override;
  void Taken(std::span<const scheduler::Effect> effects) override;

 private:
  void Added();
  // Ends the run in good order and begins the next, if the sink wants one.
  void MayStartRun();

  Sink& sink_;
  const RecorderOptions options_;
  std::mutex mutex_;  // of the next
  std::vector<config::FeatureGates> gates_;
  Batch batch_;
  std::optional<Redactor> redactor_;
  RecordWriter writer_;
  uint64_t next_sequence_ = 1;
  int64_t now_ns_ = 0;
  std::vector<uint64_t> digests_;  // scratch
  bool ended_ = false;             // until the next run
  bool closed_ = false;            // for good
};

}  // namespace berth::record
