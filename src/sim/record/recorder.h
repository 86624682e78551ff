// Recorder: observes a run and builds its report.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "sim/host/engine_host.h"
#include "sim/host/event_loop.h"
#include "sim/host/model_api.h"
#include "sim/record/ledger.h"
#include "sim/record/percentiles.h"
#include "sim/record/scenario_report.h"
#include "sim/scenario/scenario.h"

namespace berth::sim {

class Recorder : public HostObserver {
 public:
  // `loop` and `api` outlive it. Without a reference pod, the 90th percentiles of what pods have
  // requested so far are used.
  Recorder(EventLoop& loop, ModelApi& api, const std::optional<ReferencePod>& reference);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Takes a sample.
  void Sample(const EngineHost& host);
  // A named event happens now.
  void Mark(const std::string& name);

  // The first event is about to happen: what is pending now was pending before.
  void BeforeFirstEvent();

  // The report, without the fields that only the run knows.
  ScenarioReport Report() const;

  void Attempted(const cluster::Pod& pod, scheduler::Outcome outcome, std::string_view node,
                 std::string_view message) override;
  void Preempted(const scheduler::PodRef& preemptor, size_t victims,
                 std::string_view node) override;
  void Crashed() override { ++crashes_; }

 private:
  // A pod without a node.
  struct Waiting {
    Nanos created = 0;
    int32_t priority = 0;
    int32_t attempts = 0;
    bool gated = false;
    bool unschedulable = false;  // by the last attempt
    std::string message;         // of it
    std::string name;            // of the pod
    std::string workload;
  };

  void OnChange(const ApiChange& change);
  void OnPod(const ApiChange& change, const api::Pod& pod);
  void Bound(const api::Pod& pod);
  Amounts Reference() const;
  void CountReasons(ScenarioReport* report) const;
  void ListPending(ScenarioReport* report) const;
  void Summarize(ScenarioReport* report) const;

  EventLoop& loop_;
  std::optional<Amounts> reference_;
  Ledger ledger_;
  CountedValues cpu_requests_;
  CountedValues memory_requests_;
  boost::unordered_flat_map<std::string, Waiting> waiting_;  // by uid
  std::map<int32_t, std::vector<int64_t>> latencies_;        // by priority
  std::vector<int64_t> latencies_since_;
  std::map<int64_t, int64_t> attempts_;  // pods scheduled, by attempts
  std::map<std::string, int64_t, std::less<>> reasons_;
  std::map<std::string, int64_t> pending_before_;  // by workload
  PodCounts counts_;
  SchedulerSummary scheduler_;
  int64_t crashes_ = 0;
  SamplePoint since_;  // counters since the last sample
  std::vector<SamplePoint> samples_;
  std::vector<EventLine> events_;
};

}  // namespace berth::sim
