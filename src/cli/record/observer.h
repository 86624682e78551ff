// RecordingObserver: writes what a ClusterFeed passes on into a recording. On the loop's thread.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "cli/observe/cluster_feed.h"
#include "record/recorder.h"
#include "scheduler/engine.h"

namespace berth::cli {

class RecordingObserver final : public FeedSink {
 public:
  // `config` and `engine`: those of the scheduler that is observed. `recorder` outlives the
  // observer and was made for observing.
  RecordingObserver(record::Recorder& recorder, config::KubeSchedulerConfiguration config,
                    berth::scheduler::EngineOptions engine)
      : recorder_(recorder), config_(std::move(config)), engine_(std::move(engine)) {}

  // A run begins; the feed lists everything after this.
  void Begin(const api::Time& now) { recorder_.Began(config_, engine_, now); }

  void AdvanceTo(const api::Time& now) override { recorder_.AdvanceTo(now); }
  void Replace(std::string_view kind, std::vector<api::Object> objects) override {
    objects_ += objects.size();
    recorder_.Replace(kind, objects, berth::scheduler::ListPart::kWhole);
  }
  void Upsert(api::Object&& object) override {
    ++changes_;
    recorder_.Upsert(object);
  }
  void Delete(const api::Object& object) override {
    ++changes_;
    recorder_.Delete(object);
  }
  void Start() override { recorder_.Synced(); }

  uint64_t Objects() const { return objects_; }  // listed
  uint64_t Changes() const { return changes_; }  // watched

 private:
  record::Recorder& recorder_;
  const config::KubeSchedulerConfiguration config_;
  const berth::scheduler::EngineOptions engine_;
  uint64_t objects_ = 0;
  uint64_t changes_ = 0;
};

}  // namespace berth::cli
