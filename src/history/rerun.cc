#include "history/rerun.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "history/feeder.h"
#include "record/player.h"
#include "record/run_reader.h"
#include "sim/host/engine_host.h"
#include "sim/host/model_api.h"
#include "sim/host/network.h"
#include "sim/record/recorder.h"
#include "sim/scenario/volume_controller.h"

namespace berth::history {
namespace {

using sim::Nanos;

constexpr int64_t kSamples = 120;
constexpr Nanos kCycle = 100'000;

// Requests take what the base class says, a cycle what one takes on a machine of today.
class SteadyNetwork final : public sim::Network {
 public:
  Nanos CycleTime() override { return kCycle; }
};

FeederOptions OptionsOf(const RerunOptions& options) {
  FeederOptions feeder;
  for (const auto& profile : options.rules.config.profiles) {
    feeder.scheduler_names.insert(profile.scheduler_name);
  }
  feeder.drained = options.drained;
  return feeder;
}

// What the last changes of a recording cause is decided within this time.
constexpr Nanos kSettle = sim::kSecond;

// All objects are there when the first pod is tried, or when an observer has listed them.
bool EndsLists(const record::Record& record) {
  return std::holds_alternative<record::Step>(record) ||
         std::holds_alternative<record::Synced>(record);
}

class Running {
 public:
  Running(const RerunOptions& options, int64_t from_ns, int64_t to_ns)
      : options_(options),
        from_ns_(from_ns),
        to_ns_(to_ns),
        loop_(api::Time::FromUnixNano(from_ns)),
        api_(loop_),
        recorder_(loop_, api_, std::nullopt),
        pools_(loop_, api_, options.prices),
        volumes_(loop_, api_),
        feeder_(loop_, api_, OptionsOf(options)),
        host_(loop_, api_, network_, options.rules.config, EngineOptions(), &recorder_) {
    api_.Subscribe([this](const sim::ApiChange& change) { NoteBinding(change); });
  }

  Result<RerunResult> Run() {
    record::RunReader reader(options_.run);
    RerunResult result;
    for (uint64_t records = 0;; ++records) {
      auto record = reader.Next();
      if (!record) {
        result.damage = record.error().Message();
        break;
      }
      if (*record == nullptr) break;
      if (const auto* advance = std::get_if<record::Advance>(*record)) {
        if (options_.until_ns && advance->time_ns > *options_.until_ns) break;
        PassUntil(advance->time_ns - from_ns_);
      } else if (EndsLists(**record) && !host_.Running()) {
        if (auto begun = Begin(); !begun) return Fail(begun.error());
      } else {
        feeder_.Apply(**record);
      }
      if (options_.progress && records % 4096 == 0) options_.progress(reader.BytesRead());
    }
    if (!host_.Running()) {
      if (auto begun = Begin(); !begun) return Fail(begun.error());
    }
    PassUntil(std::max(to_ns_ - from_ns_, loop_.Now()) + kSettle);
    recorder_.Sample(host_);
    Finish(result);
    return result;
  }

 private:
  scheduler::EngineOptions EngineOptions() const {
    scheduler::EngineOptions engine;
    engine.algorithm.seed = options_.rules.seed;
    engine.behaviour = options_.rules.behaviour;
    engine.extra_plugins = options_.rules.extra_plugins;
    return engine;
  }

  Nanos SampleEvery() const {
    return std::max<Nanos>(sim::kSecond, (to_ns_ - from_ns_) / kSamples);
  }

  // All that was listed is there.
  Result<void> Begin() {
    for (const api::Node& node : options_.added_nodes) {
      const sim::ApiAnswer made = api_.Create(node);
      if (!made.Ok()) {
        return Fail(fmt::format("node {} is in the recording already", node.metadata.name));
      }
    }
    feeder_.Begin();
    if (auto started = host_.Start(); !started) {
      return Fail(started.error().In("the scheduler does not start"));
    }
    recorder_.Sample(host_);
    next_sample_ = loop_.Now() + SampleEvery();
    return {};
  }

  void PassUntil(Nanos until) {
    while (host_.Running() && next_sample_ < until) {
      loop_.RunUntil(next_sample_);
      recorder_.Sample(host_);
      next_sample_ += SampleEvery();
    }
    if (until > loop_.Now()) loop_.RunUntil(until);
  }

  // The first node a pod gets is kept when the pod is gone.
  void NoteBinding(const sim::ApiChange& change) {
    const auto* pod = std::get_if<api::Pod>(change.object.get());
    if (pod == nullptr || pod->spec.node_name.empty()) return;
    nodes_.try_emplace(pod->metadata.uid, pod->spec.node_name);
  }

  void Finish(RerunResult& result) {
    result.report = recorder_.Report();
    result.report.seed = static_cast<int64_t>(options_.rules.seed);
    result.report.duration_seconds = sim::Seconds(to_ns_ - from_ns_);
    result.report.sample_every_seconds = sim::Seconds(SampleEvery());
    for (const auto& [kind, count] : feeder_.LeftOut()) {
      result.report.warnings.push_back(
          fmt::format("{} changes of {} are left out: the model has no such kind", count, kind));
    }
    result.pools = pools_.Costs();
    result.from_ns = from_ns_;
    result.to_ns = to_ns_;
    std::map<std::string, std::map<uint64_t, const std::string*>> by_key;
    for (const auto& [uid, pod] : feeder_.Pods()) {
      if (pod.ours) by_key[pod.key].emplace(std::stoull(uid.substr(uid.find('-') + 1)), &uid);
    }
    for (const auto& [key, uids] : by_key) {
      int64_t number = 0;
      for (const auto& [order, uid] : uids) {
        const PodHistory& pod = feeder_.Pods().at(*uid);
        const auto node = nodes_.find(*uid);
        result.pods.emplace(
            fmt::format("{}#{}", key, ++number),
            PodResult{pod.workload, pod.node, node == nodes_.end() ? "" : node->second, pod.given});
      }
    }
  }

  const RerunOptions& options_;
  const int64_t from_ns_;
  const int64_t to_ns_;
  sim::EventLoop loop_;
  sim::ModelApi api_;
  sim::Recorder recorder_;
  PoolUse pools_;
  sim::VolumeController volumes_;
  Feeder feeder_;
  SteadyNetwork network_;
  sim::EngineHost host_;
  Nanos next_sample_ = 0;
  std::map<std::string, std::string> nodes_;  // by uid
};

}  // namespace

Result<Rules> RulesOf(const record::Begin& begin,
                      const std::vector<scheduler::ExtraPlugin>& extra_plugins) {
  auto options = record::EngineOptionsOf(begin, extra_plugins);
  if (!options) return Fail(options.error());
  auto config = config::Load(begin.config, options->behaviour);
  if (!config) return Fail(config.error().In("recorded configuration"));
  return Rules{std::move(*config), options->behaviour, begin.seed,
               std::move(options->extra_plugins)};
}

Result<RerunResult> Rerun(const RerunOptions& options) {
  const auto from = record::BeginOf(options.run);
  if (!from) return Fail(fmt::format("the beginning of run {} is damaged", options.run.number));
  int64_t to = record::LastTimeOf(options.run).value_or(*from);
  if (options.until_ns) to = std::min(to, *options.until_ns);
  return std::make_unique<Running>(options, *from, to)->Run();
}

}  // namespace berth::history
