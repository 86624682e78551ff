#include "sim/scenario/run.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/host/engine_host.h"
#include "sim/host/model_api.h"
#include "sim/record/recorder.h"
#include "sim/record/workload_name.h"
#include "sim/scenario/clerk.h"
#include "sim/scenario/kubelet.h"
#include "sim/scenario/stage.h"
#include "sim/scenario/volume_controller.h"
#include "sim/scenario/workload_controller.h"
#include "sim/workloads.h"

namespace berth::sim {
namespace {

constexpr int64_t kSamples = 120;
constexpr int64_t kMaxSamples = 100'000;
constexpr Nanos kShortestCycle = 1000;
constexpr size_t kMaxWarnings = 20;
constexpr size_t kMaxNames = 100;

api::Time Start() { return api::Time::FromUnixNano(1'767'225'600 * kSecond); }

// Delays as the scenario says; nothing is lost.
class SteadyNetwork : public Network {
 public:
  SteadyNetwork(const Scenario& scenario, uint64_t seed) : scenario_(scenario), chance_(seed) {}

  Fate FateOf(const scheduler::Effect&) override {
    const Nanos there_and_back = scenario_.writes.Draw(chance_);
    Fate fate;
    fate.request_delay = there_and_back / 2;
    fate.answer_delay = there_and_back - fate.request_delay;
    return fate;
  }
  Nanos WatchDelay(std::string_view) override { return scenario_.watches.Draw(chance_); }
  // A cycle that takes no time at all could be repeated for ever.
  Nanos CycleTime() override { return std::max(kShortestCycle, scenario_.cycle.Draw(chance_)); }

 private:
  const Scenario& scenario_;
  Chance chance_;
};

// One field more than twenty: the model servers of a run and the tallies of its report.
class Run {
 public:
  Run(const Scenario& scenario, const RunOptions& options)
      : scenario_(scenario),
        options_(options),
        chance_(options.seed),
        loop_(Start()),
        api_(loop_),
        clerk_(api_),
        recorder_(loop_, api_, scenario.reference_pod),
        kubelet_(loop_, api_, scenario.pod_startup, chance_.Seed()),
        controller_(loop_, api_, clerk_, [this](const std::string& text) { Warn(text); }),
        volumes_(loop_, api_),
        stage_(loop_, api_, clerk_, kubelet_, options.duration, chance_.Seed(), Hooks()),
        network_(scenario, chance_.Seed()),
        host_(loop_, api_, network_, options.config, EngineOptions(), &recorder_, options.tap) {
    api_.Subscribe([this](const ApiChange& change) { NoteLost(change); });
  }

  Result<ScenarioReport> Go() {
    if (auto ok = Populate(); !ok) return Fail(ok.error());
    for (const ScenarioEvent& event : scenario_.events) ScheduleFirst(event);
    Restart();
    const Nanos step = SampleEvery();
    recorder_.Sample(host_);
    for (Nanos at = 0; at < options_.duration && !error_;) {
      at = std::min(at + step, options_.duration);
      Pass(at);
      if (!error_) recorder_.Sample(host_);
      if (options_.progress) options_.progress(at);
    }
    if (error_) return Fail(*error_);
    if (!began_) recorder_.BeforeFirstEvent();
    return Finish(step);
  }

 private:
  Stage::Hooks Hooks() {
    return {.warn = [this](const std::string& text) { Warn(text); },
            .fail = [this](const Error& error) { FailWith(error); },
            .crash = [this](Nanos down) { Crash(down); }};
  }

  scheduler::EngineOptions EngineOptions() {
    scheduler::EngineOptions engine;
    engine.algorithm.seed = options_.seed;
    engine.behaviour = options_.behaviour;
    engine.algorithm.adaptive_sampling = options_.adaptive_sampling;
    engine.extra_plugins = options_.extra_plugins;
    return engine;
  }

  Nanos SampleEvery() const {
    if (options_.sample_every > 0) return options_.sample_every;
    return std::max(kSecond, options_.duration / kSamples);
  }

  // The cluster as it is before anything happens. Workloads last: their pods are made later.
  Result<void> Populate() {
    clerk_.Learn(scenario_.objects);
    for (const NodeGroup& group : scenario_.nodes) stage_.AddNodes(group);
    for (const bool workloads : {false, true}) {
      for (const api::Object& object : scenario_.objects) {
        if (IsWorkload(object) != workloads) continue;
        const auto* pod = std::get_if<api::Pod>(&object);
        if (pod != nullptr && (IsFinished(*pod) || pod->metadata.deletion_timestamp)) continue;
        if (auto ok = clerk_.Apply(object); !ok) return ok;
      }
    }
    api_.ForEach<api::Pod>([this](const api::Pod& pod) {
      input_pods_.insert(ModelApi::Key(pod.metadata.namespace_, pod.metadata.name));
    });
    inferred_ = controller_.InferMissing();
    return {};
  }

  void ScheduleFirst(const ScenarioEvent& event) {
    const Nanos at = event.at ? event.at->ns : event.every->ns;
    ScheduleAt(event, at, 1);
  }

  // The `turn`-th time.
  void ScheduleAt(const ScenarioEvent& event, Nanos at, int64_t turn) {
    const bool too_late = at > options_.duration || (event.until && at > event.until->ns) ||
                          (event.times && turn > *event.times);
    if (too_late) return;
    loop_.At(at, [this, &event, at, turn] {
      if (!std::exchange(began_, true)) recorder_.BeforeFirstEvent();
      if (!event.name.empty()) recorder_.Mark(event.name);
      if (auto ok = stage_.Do(event); !ok) FailWith(ok.error().In(event.path));
      if (event.every) ScheduleAt(event, at + event.every->ns, turn + 1);
    });
  }

  void Pass(Nanos until) {
    while (!error_ && loop_.RunNext(until)) {
    }
    if (!error_) loop_.RunUntil(until);
  }

  void Crash(Nanos down) {
    if (!host_.Running()) return;
    host_.Crash();
    loop_.After(down, [this] { Restart(); });
  }

  void Restart() {
    if (host_.Running()) return;
    if (auto ok = host_.Start(); !ok) FailWith(ok.error().In("the scheduler does not start"));
  }

  // A pod of the input that ends before its time, and no controller to replace it.
  void NoteLost(const ApiChange& change) {
    const auto* pod = std::get_if<api::Pod>(change.object.get());
    if (pod == nullptr || change.type != ApiChange::Type::kDeleted || IsFinished(*pod)) return;
    if (ControllerOf(pod->metadata) != nullptr || pod->spec.node_name.empty()) return;
    const std::string key = ModelApi::Key(pod->metadata.namespace_, pod->metadata.name);
    if (!input_pods_.contains(key) || stage_.WasDeleted(key)) return;
    ++lost_count_;
    if (lost_.size() < kMaxNames) lost_.push_back(key);
  }

  void FailWith(const Error& error) {
    if (!error_) error_ = error;
  }

  void Warn(const std::string& text) {
    const std::string line = fmt::format("{}: {}", api::Duration{loop_.Now()}.Format(), text);
    if (warnings_.size() < kMaxWarnings) warnings_.push_back(line);
    ++warned_;
  }

  ScenarioReport Finish(Nanos step) {
    ScenarioReport report = recorder_.Report();
    report.seed = static_cast<int64_t>(options_.seed);
    report.duration_seconds = Seconds(options_.duration);
    report.sample_every_seconds = Seconds(step);
    report.pods.finished = kubelet_.Finished();
    report.warnings = std::move(warnings_);
    if (warned_ > kMaxWarnings) {
      report.warnings.push_back(fmt::format("and {} more", warned_ - kMaxWarnings));
    }
    report.pods.lost = lost_count_;
    report.lost = std::move(lost_);
    report.inferred = std::move(inferred_);
    if (!report.inferred.empty()) {
      constexpr std::string_view kText =
          "the controllers of some pods are not in the input ({} in all, e.g. {}); each was taken "
          "to "
          "keep the pods it had. Dump replicasets,statefulsets,jobs,replicationcontrollers as well";
      report.warnings.push_back(
          fmt::format(kText, report.inferred.size(), report.inferred.front()));
    }
    if (report.inferred.size() > kMaxNames) report.inferred.resize(kMaxNames);
    return report;
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  Chance chance_;
  EventLoop loop_;
  ModelApi api_;
  Clerk clerk_;
  Recorder recorder_;
  Kubelet kubelet_;
  WorkloadController controller_;
  VolumeController volumes_;
  Stage stage_;
  SteadyNetwork network_;
  EngineHost host_;
  std::optional<Error> error_;
  std::vector<std::string> warnings_;
  size_t warned_ = 0;
  std::vector<std::string> inferred_;
  std::set<std::string> input_pods_;
  std::vector<std::string> lost_;
  int64_t lost_count_ = 0;
  bool began_ = false;  // the first event has happened
};

}  // namespace

Result<ScenarioReport> RunScenario(const Scenario& scenario, const RunOptions& options) {
  if (options.sample_every > 0 && options.duration / options.sample_every > kMaxSamples) {
    return Fail(fmt::format("sampleEvery: {} gives more than {} samples in {}",
                            api::Duration{options.sample_every}.Format(), kMaxSamples,
                            api::Duration{options.duration}.Format()));
  }
  return std::make_unique<Run>(scenario, options)->Go();
}

}  // namespace berth::sim
