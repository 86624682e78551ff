#include "conformance/replay.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json_dom.h"
#include "conformance/objects.h"
#include "conformance/plugin_reports.h"
#include "framework/points/device_claims.h"
#include "framework/runtime/nominated_filter.h"
#include "framework/runtime/post_filter.h"
#include "plugins/default_preemption/default_preemption.h"

namespace berth::conformance {
namespace {

using cluster::NodeIndex;
using cluster::PodId;
using framework::NodeSet;

std::vector<std::string> Sorted(std::vector<std::string> list) {
  std::sort(list.begin(), list.end());
  return list;
}

StatusResult ToResult(const framework::Status& status) {
  return {std::string(framework::CodeName(status.code())), std::string(status.plugin()),
          Sorted(status.reasons())};
}

// What the FailedScheduling event would carry, if it differs.
std::string Truncated(const std::string& message) {
  constexpr size_t kLimit = 1024;
  constexpr std::string_view kSuffix = " ...";
  if (message.size() <= kLimit) return "";
  return message.substr(0, kLimit - kSuffix.size()) + std::string(kSuffix);
}

// The gates of the case: those of the minor, and what the case switches.
Result<config::FeatureGates> GatesOf(int minor, simdjson::dom::element scenario) {
  config::FeatureGates gates(minor);
  simdjson::dom::object given;
  if (scenario["featureGates"].get(given) != simdjson::SUCCESS) return gates;
  for (const auto& [name, value] : given) {
    bool on = false;
    if (value.get(on) != simdjson::SUCCESS) return berth::Fail("featureGates: not a boolean");
    if (auto set = gates.Set(fmt::format("{}={}", name, on)); !set) return berth::Fail(set.error());
  }
  return gates;
}

}  // namespace

Result<std::unique_ptr<Replay>> Replay::Make(int minor, simdjson::dom::element scenario) {
  const auto gates = GatesOf(minor, scenario);
  if (!gates) return berth::Fail(gates.error());
  config::Behaviour behaviour(*gates);
  behaviour.FollowPodGroups(*gates);
  std::unique_ptr<Replay> replay(new Replay(behaviour));
  const auto config = replay->ConfigOf(scenario);
  if (!config) return berth::Fail(config.error());
  const auto inputs = scheduler::InputsOf(*config, behaviour);
  if (!inputs) return berth::Fail(inputs.error());
  replay->cluster_.Track(*inputs);
  if (auto ok = LoadObjects(scenario["objects"], replay->cluster_); !ok)
    return berth::Fail(ok.error());
  if (auto ok = replay->MakeProfiles(*config); !ok) return berth::Fail(ok.error());
  if (auto ok = replay->SetTime(scenario); !ok) return berth::Fail(ok.error());
  size_t i = 0;
  for (const simdjson::dom::element item : scenario["pods"].get_array()) {
    auto pod = api::FromDom<api::Pod>(item, fmt::format("pods[{}]", i++));
    if (!pod) return berth::Fail(pod.error());
    replay->pods_.push_back(replay->cluster_.AddPod(*pod));
  }
  replay->NominateFromStatus();
  return replay;
}

Result<config::KubeSchedulerConfiguration> Replay::ConfigOf(simdjson::dom::element scenario) const {
  config::KubeSchedulerConfiguration config = config::Default(behaviour_);
  simdjson::dom::element given;
  if (scenario["config"].get(given) == simdjson::SUCCESS && !given.is_null()) {
    auto loaded = config::Load(simdjson::minify(given), behaviour_);
    if (!loaded) return berth::Fail(loaded.error());
    config = std::move(*loaded);
  }
  // The recording looks at every node and every preemption candidate.
  for (config::KubeSchedulerProfile& profile : config.profiles) {
    profile.percentage_of_nodes_to_score = 100;
    for (config::PluginConfig& entry : profile.plugin_config) {
      if (auto* args = std::get_if<config::DefaultPreemptionArgs>(&entry.args)) {
        args->min_candidate_nodes_percentage = 100;
      }
    }
  }
  return config;
}

Result<void> Replay::MakeProfiles(const config::KubeSchedulerConfiguration& config) {
  auto profiles = scheduler::ProfileSet::Make(config, behaviour_, cluster_);
  if (!profiles) return berth::Fail(profiles.error());
  profiles_ = std::make_unique<scheduler::ProfileSet>(std::move(*profiles));
  for (const auto& profile : profiles_->Profiles()) {
    profiles_->CycleFor(profile->Name())->set_keep_raw(true);
  }
  return {};
}

// Plugins that read a clock get the time of the case, if it has one.
Result<void> Replay::SetTime(simdjson::dom::element scenario) {
  std::string_view text;
  if (scenario["now"].get(text) != simdjson::SUCCESS) return {};
  const auto now = api::Time::Parse(text);
  if (!now) return berth::Fail("now: " + now.error().Message());
  for (const auto& profile : profiles_->Profiles()) {
    for (const auto& plugin : profile->Plugins()) {
      if (auto* aware = dynamic_cast<framework::TimeAwarePlugin*>(plugin.get())) {
        aware->SetTime(*now);
      }
    }
  }
  return {};
}

void Replay::NominateFromStatus() {
  for (const PodId id : pods_) {
    const cluster::Pod& pod = cluster_.GetPod(id);
    const auto* cycle = profiles_->CycleFor(pod.shape->source.spec.scheduler_name);
    PodResult ignored;
    if (pod.nominated_node_name.empty() || cycle == nullptr || Gated(*cycle, pod, &ignored))
      continue;
    cluster_.MutableNominations().Set(id, cluster_.Strings().Intern(pod.nominated_node_name));
  }
}

bool Replay::Gated(const framework::Cycle& cycle, const cluster::Pod& pod,
                   PodResult* result) const {
  const scheduler::EnqueueGate gate = scheduler::RunPreEnqueue(cycle.profile(), cluster_, pod);
  if (gate.Open()) return false;
  result->gated = true;
  result->gated_by = ToResult(gate.status);
  return true;
}

std::optional<PodResult> Replay::GatedResult(PodId id) {
  const cluster::Pod& pod = cluster_.GetPod(id);
  const auto* cycle = profiles_->CycleFor(pod.shape->source.spec.scheduler_name);
  PodResult result;
  result.pod = pod.Key();
  result.attempt = 1;
  if (cycle == nullptr || !Gated(*cycle, pod, &result)) return std::nullopt;
  return result;
}

PodResult Replay::Schedule(PodId id, int32_t attempt) {
  PodResult result;
  const cluster::Pod& pod = cluster_.GetPod(id);
  result.pod = pod.Key();
  result.attempt = attempt;
  const std::string& name = pod.shape->source.spec.scheduler_name;
  framework::Cycle* cycle = profiles_->CycleFor(name);
  if (cycle == nullptr) {
    result.error = fmt::format("profile not found for scheduler name \"{}\"", name);
    return result;
  }
  if (Gated(*cycle, pod, &result)) return result;
  const bool from_class = FindInClass(*cycle, pod);
  attempt_.Begin(*cycle, cluster_, id);
  attempt_.Decide(algorithm_, /*score_always=*/true);
  if (from_class && !ClassAgrees(*cycle)) {
    result.error = "the class of the pod gives another answer than looking at every node";
    return result;
  }
  if (cluster_.NodeCount() == 0) {
    result.message = attempt_.decision().error;
    return result;
  }
  ReportPreFilter(*cycle, &result);
  if (attempt_.decision().pre_filter.Ok()) ReportFilter(*cycle, &result);
  result.nominated_first = attempt_.decision().nominated_first;
  switch (attempt_.decision().outcome) {
    case scheduler::Outcome::kError:
      result.error = attempt_.decision().error;
      ClearNomination(id);
      break;
    case scheduler::Outcome::kUnschedulable:
      Fail(*cycle, id, &result);
      break;
    case scheduler::Outcome::kScheduled:
      result.feasible = Names(attempt_.decision().feasible);
      ReportScores(*cycle, &result);
      result.best = Names(attempt_.decision().best);
      result.selected = result.best.front();
      Commit(id, &result);
      break;
  }
  return result;
}

// Decides from the pod's class first, which must come to the same.
bool Replay::FindInClass(framework::Cycle& cycle, const cluster::Pod& pod) {
  if (cluster_.NodeCount() == 0 || !pod.nominated_node_name.empty()) return false;
  cycle.classes().set_eager(true);
  cycle.Begin(cluster_, pod);
  if (!cycle.RunPreFilter().Ok()) return false;
  const framework::ClassAnswer* answer = cycle.classes().Find(cycle, cluster_);
  if (answer == nullptr) return false;
  class_answer_ = *answer;
  answer->List(&class_feasible_, &class_best_);
  if (class_answer_->feasible_count == 0) class_verdicts_ = cycle.verdicts();
  return true;
}

bool Replay::ClassAgrees(const framework::Cycle& cycle) const {
  if (class_answer_->feasible_count == 0) {
    bool agrees = attempt_.decision().outcome == scheduler::Outcome::kUnschedulable &&
                  attempt_.decision().diagnosis.rejected.Count() == cluster_.NodeCount();
    attempt_.decision().diagnosis.rejected.ForEach(
        [&](NodeIndex n) { agrees = agrees && class_verdicts_[n] == cycle.verdicts()[n]; });
    return agrees;
  }
  return attempt_.decision().outcome == scheduler::Outcome::kScheduled &&
         attempt_.decision().feasible_count == class_answer_->feasible_count &&
         attempt_.decision().feasible == class_feasible_ &&
         attempt_.decision().best == class_best_ &&
         (!class_answer_->scored || attempt_.decision().total == class_answer_->total);
}

void Replay::ReportPreFilter(const framework::Cycle& cycle, PodResult* result) const {
  const StatusResult status = ToResult(attempt_.decision().pre_filter);
  result->prefilter = PreFilterOutcome{status.code, status.plugin, status.reasons, std::nullopt};
  if (!cycle.restriction().all_nodes)
    result->prefilter->node_names = cycle.restriction().node_names;
}

void Replay::ReportFilter(framework::Cycle& cycle, PodResult* result) {
  NodeSet asked = cluster_.Nodes();
  if (!cycle.restriction().all_nodes) {
    asked.Clear();
    for (const NodeIndex n : cycle.restriction().nodes) asked.Insert(n);
  }
  const NodeIndex nominated = cluster_.FindNode(cycle.context().pod.nominated_node_name);
  if (nominated != cluster::kNoNode) asked.Insert(nominated);
  NodeSet passed = attempt_.decision().feasible;
  if (attempt_.decision().nominated_first) {
    passed = asked;
    framework::FilterWithNominated(cycle, cluster_, passed);
  }
  // With the nominated node taken, nobody was told about the nodes PreFilter left out.
  StatusResult absent = ToResult(attempt_.decision().diagnosis.absent);
  if (attempt_.decision().nominated_first) {
    std::set<std::string_view> plugins;
    for (const uint8_t index : cycle.restricting_plugins()) {
      plugins.insert(cycle.profile().At(index).Name());
    }
    absent = ToResult(framework::Status::Unresolvable(
        fmt::format("node(s) didn't satisfy plugin(s) [{}]", fmt::join(plugins, " "))));
  }
  cluster_.Nodes().ForEach([&](NodeIndex n) {
    StatusResult& status = result->filter[cluster_.NodeName(n)];
    if (passed.Contains(n)) {
      status.code = "Success";
    } else if (asked.Contains(n)) {
      const framework::Verdict& verdict = cycle.verdicts()[n];
      status.code = framework::CodeName(verdict.code);
      if (verdict.plugin != framework::kNoPlugin) {
        status.plugin = cycle.profile().At(verdict.plugin).Name();
      }
      status.reasons = Sorted(cycle.Reasons(verdict));
    } else {
      status = absent;
    }
  });
}

void Replay::ReportScores(const framework::Cycle& cycle, PodResult* result) const {
  const auto& plugins = cycle.profile().score;
  for (const auto& [plugin, index] : cycle.profile().pre_score) {
    if (cycle.PreScoreSkipped(index)) result->skipped_score_plugins.emplace_back(plugin->Name());
  }
  std::sort(result->skipped_score_plugins.begin(), result->skipped_score_plugins.end());
  attempt_.decision().feasible.ForEach([&](NodeIndex n) {
    NodeScores& scores = result->scores[cluster_.NodeName(n)];
    scores.total = plugins.empty() ? 1 : cycle.TotalScore(n);
    for (size_t i = 0; i < plugins.size(); ++i) {
      if (cycle.ScoreSkipped(i)) continue;
      const int64_t normalized = cycle.NormalizedScore(i, n);
      scores.plugins[std::string(plugins[i].plugin->Name())] = {cycle.RawScore(i, n), normalized,
                                                                normalized * plugins[i].weight};
    }
  });
}

void Replay::Commit(PodId id, PodResult* result) {
  const framework::Cycle& cycle = attempt_.cycle();
  const NodeIndex node = cluster_.FindNode(result->selected);
  cluster::Pod& pod = cluster_.MutablePod(id);
  if (pod.start_time.IsZero()) pod.start_time = pod.creation_timestamp;
  const DeviceUse before = DeviceUseOf(cluster_.Objects());
  if (const framework::Status status = attempt_.Reserve(node); !status.Ok()) {
    attempt_.Rollback();
    const StatusResult failed = ToResult(status);
    result->reserve = ReserveResult{failed.code, failed.plugin, failed.reasons, {}, {}, {}};
    result->selected.clear();
    ClearNomination(id);
    return;
  }
  cluster_.MutablePod(id).assumed = false;  // the API server has confirmed it in the recording
  ReserveResult reserve;
  reserve.code = "Success";
  for (const auto& [plugin, index] : cycle.profile().reserve) {
    AddReserveReport(*plugin, cycle.state(index), &reserve);
  }
  AddDeviceReport(before, DeviceUseOf(cluster_.Objects()), &reserve);
  if (!reserve.static_bindings.empty() || !reserve.provisioned.empty() ||
      !reserve.allocated_devices.empty() || !reserve.consumed_capacity.empty()) {
    result->reserve = std::move(reserve);
  }
}

void Replay::Fail(framework::Cycle& cycle, PodId id, PodResult* result) {
  framework::Diagnosis& diagnosis = attempt_.decision().diagnosis;
  result->unschedulable_plugins.assign(diagnosis.unschedulable_plugins.begin(),
                                       diagnosis.unschedulable_plugins.end());
  result->pending_plugins.assign(diagnosis.pending_plugins.begin(),
                                 diagnosis.pending_plugins.end());
  const std::string before = framework::FitErrorMessage(cycle, diagnosis);
  if (!cycle.profile().post_filter.empty()) {
    const auto report = EvaluatePreemption(cycle, cluster_, diagnosis);
    framework::PostFilterResult proposal;
    const framework::Status status =
        framework::RunPostFilter(cycle, cluster_, diagnosis, &proposal);
    PreemptionOutcome& outcome = result->preemption.emplace();
    outcome.code = "Success";
    if (!status.Ok()) {
      const StatusResult refused = ToResult(status);
      outcome.code = refused.code;
      outcome.plugin = refused.plugin;
      outcome.reasons = refused.reasons;
    }
    outcome.message = status.Message();
    diagnosis.post_filter_message = outcome.message;
    AddPreemptionReport(report, cluster_, &outcome);
    ApplyPostFilter(report, cluster_, id, proposal, &outcome);
    // The recording names the first of the best candidates.
    if (behaviour_.preemption_has_message && !outcome.nominated_node.empty()) {
      outcome.message =
          plugins::default_preemption::FoundMessage(outcome.nominated_node, outcome.victims.size());
      outcome.reasons = {outcome.message};
      diagnosis.post_filter_message = outcome.message;
    }
  }
  result->message =
      diagnosis.post_filter_message.empty() ? before : before + " " + diagnosis.post_filter_message;
  result->event_message = Truncated(result->message);
}

void Replay::ClearNomination(PodId id) {
  cluster_.MutableNominations().Clear(id);
  cluster_.MutablePod(id).nominated_node_name.clear();
}

std::vector<std::string> Replay::Names(const NodeSet& nodes) const {
  std::vector<std::string> names;
  nodes.ForEach([&](NodeIndex n) { names.push_back(cluster_.NodeName(n)); });
  return Sorted(std::move(names));
}

}  // namespace berth::conformance
