// OutOfTreePlugin: a plugin of a shared object as the framework sees it, one per profile.
//
// Faults are contained: exceptions are caught, invalid codes become errors, strings are sanitized,
// and calls that exceed their budget are reported. A call that never returns cannot be aborted: the
// plugin runs in this process.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "berth/plugin_abi.h"
#include "framework/points/out_of_tree.h"
#include "framework/points/plugin.h"
#include "framework/points/pre_bind.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"
#include "loader/faults.h"
#include "loader/views.h"

// What berth_instance points to.
struct berth_instance {
  std::string name;
  berth::loader::PluginWatch* watch = nullptr;
  std::mutex mutex;
  std::vector<berth::framework::PermitVerdict> verdicts;  // guarded by the mutex
};

namespace berth::loader {

class OutOfTreePlugin final : public framework::PreEnqueuePlugin,
                              public framework::QueueSortPlugin,
                              public framework::PreFilterPlugin,
                              public framework::FilterPlugin,
                              public framework::PostFilterPlugin,
                              public framework::PreScorePlugin,
                              public framework::ScorePlugin,
                              public framework::ReservePlugin,
                              public framework::PermitPlugin,
                              public framework::PreBindPlugin,
                              public framework::BindPlugin,
                              public framework::PostBindPlugin,
                              public framework::EnqueueExtensions,
                              public framework::FallibleScorePlugin,
                              public framework::WaitingPodsPlugin {
 public:
  using CycleContext = framework::CycleContext;
  using NodeIndex = framework::NodeIndex;
  using PluginState = framework::PluginState;
  using Status = framework::Status;

  // `watch` outlives the plugin. `args` is JSON or empty.
  static Result<std::unique_ptr<framework::Plugin>> Make(const berth_plugin& table,
                                                         std::string_view args, PluginWatch& watch,
                                                         std::chrono::nanoseconds budget);
  ~OutOfTreePlugin() override;

  std::string_view Name() const override { return instance_.name; }
  std::unique_ptr<PluginState> NewState() const override;
  void BeginCycle(const CycleContext&, PluginState*) const override;
  void Reasons(const CycleContext&, const PluginState*, const framework::Verdict&,
               std::vector<std::string>* out) const override;

  Status PreEnqueue(const cluster::Cluster&, const cluster::Pod&) const override;
  bool Less(const cluster::Cluster&, const cluster::Pod& a, int64_t a_queued, const cluster::Pod& b,
            int64_t b_queued) const override;
  Status PreFilter(const CycleContext&, PluginState*, framework::PreFilterResult*) const override;
  void Filter(const CycleContext&, const PluginState*, framework::FilterBatch&) const override;
  Status PostFilter(framework::Cycle& cycle, cluster::Cluster& cluster,
                    const framework::Diagnosis& diagnosis,
                    framework::PostFilterResult* result) override;
  Status PreScore(const CycleContext&, PluginState*,
                  const framework::NodeSet& feasible) const override;
  void Score(const CycleContext&, const PluginState*, framework::ScoreBatch&) const override;
  bool HasNormalize() const override { return table_.normalize != nullptr; }
  void Normalize(const CycleContext&, const PluginState*, const framework::NodeSet& feasible,
                 framework::ScoreColumn&) const override;
  Status ScoreFailure(const PluginState*) const override;
  Status Reserve(const CycleContext&, PluginState*, NodeIndex node) override;
  void Unreserve(const CycleContext&, PluginState*, NodeIndex node) override;
  Status Permit(const CycleContext&, PluginState*, NodeIndex node, int64_t* timeout_ns) override;
  void TakeVerdicts(std::vector<framework::PermitVerdict>* out) override;
  std::unique_ptr<framework::PreBindTask> PreparePreBind(const CycleContext&, PluginState*,
                                                         NodeIndex node) override;
  Status PreBind(const cluster::Cluster& cluster, const cluster::Pod& pod, NodeIndex node);
  Status Bind(const CycleContext&, NodeIndex node) const override;
  void PostBind(const cluster::Cluster&, const cluster::Pod&, NodeIndex node) override;
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;

 private:
  class State;
  class Stopwatch;

  OutOfTreePlugin(const berth_plugin& table, std::string_view name, PluginWatch& watch,
                  std::chrono::nanoseconds budget);

  std::vector<framework::RegisteredEvent> NamedEvents(const config::Behaviour&) const;
  Result<framework::Hint> Hint(const cluster::Cluster&, const cluster::Pod&,
                               const queue::Event&) const;

  void Report(std::string_view point, Fault::Kind kind, std::string message) const;
  // Calls into the library. Exceptions become BERTH_ERROR.
  template <class Call>
  int32_t Guard(berth_answer& answer, Call&& call) const;
  // As Guard, timed, with the code as a Status; codes that are not in `allowed` (bits) are errors.
  template <class Call>
  Status Ask(std::string_view point, uint32_t allowed, Call&& call) const;
  Status ToStatus(std::string_view point, uint32_t allowed, int32_t code,
                  berth_answer& answer) const;

  const berth_plugin table_;
  const std::chrono::nanoseconds budget_;
  mutable berth_instance instance_;
  void* self_ = nullptr;
};

}  // namespace berth::loader
