// berth-conformance --gangs: runs of Coscheduling in its mode Permit, step by step. Pods of several
// groups are tried one after the other, wait, are allowed or rejected together, run out of time and
// go away. After each step the same pods must have been bound or rejected, with the same messages,
// and at the end the queue must have the same order.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include "api/codec/json_dom.h"
#include "conformance/lines.h"
#include "conformance/objects.h"
#include "conformance/runner.h"
#include "framework/points/device_claims.h"
#include "framework/points/pod_control.h"
#include "framework/runtime/diagnosis.h"
#include "framework/runtime/post_filter.h"
#include "scheduler/algorithm.h"
#include "scheduler/attempt.h"
#include "scheduler/profile_set.h"

namespace berth::conformance {
namespace {

using cluster::PodId;
using simdjson::dom::element;

constexpr int kMinor = 34;
constexpr std::string_view kPlugin = "Coscheduling";
constexpr std::string_view kWait = "Wait";
constexpr int64_t kStart = 1'800'000'000'000'000'000;  // after all times of the recordings
constexpr int64_t kStepNs = 1'000'000;

std::string Text(element object, std::string_view key) {
  std::string_view text;
  return object.at_key(key).get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::vector<std::string> Texts(element object, std::string_view key) {
  std::vector<std::string> texts;
  simdjson::dom::array list;
  if (object.at_key(key).get(list) != simdjson::SUCCESS) return texts;
  for (const element item : list) texts.emplace_back(std::string_view(item));
  return texts;
}

double Number(element object, std::string_view key) {
  double number = 0;
  return object.at_key(key).get(number) == simdjson::SUCCESS ? number : 0;
}

std::string StatusText(element object, std::string_view key) {
  element status;
  if (object.at_key(key).get(status) != simdjson::SUCCESS) return "";
  if (Text(status, "code") == kWait) return std::string(kWait);  // its text is the framework's
  return fmt::format("{} by {}: {}", Text(status, "code"), Text(status, "plugin"),
                     fmt::join(Texts(status, "reasons"), "; "));
}

std::string StatusText(const framework::Status& status) {
  std::vector<std::string> reasons = status.reasons();
  std::sort(reasons.begin(), reasons.end());
  return fmt::format("{} by {}: {}", framework::CodeName(status.code()), status.plugin(),
                     fmt::join(reasons, "; "));
}

// What came of a step.
struct Outcome {
  std::vector<std::string> feasible;
  std::string permit;
  double waits_for = 0;  // seconds
  std::vector<std::string> activated;
  std::string message;
  std::string post_filter;
  std::vector<std::string> ended;

  bool operator==(const Outcome&) const = default;

  static Outcome Recorded(element step) {
    Outcome o{.feasible = Texts(step, "feasible"),
              .permit = StatusText(step, "permit"),
              .waits_for = Number(step, "waitsFor"),
              .activated = Texts(step, "activated"),
              .message = Text(step, "message"),
              .post_filter = StatusText(step, "postfilter"),
              .ended = {}};
    simdjson::dom::array list;
    if (step["ended"].get(list) != simdjson::SUCCESS) return o;
    for (const element end : list) {
      o.ended.push_back(Ended(Text(end, "pod"), Text(end, "code"), Text(end, "message")));
    }
    return o;
  }
  static std::string Ended(const std::string& pod, std::string_view code,
                           const std::string& message) {
    return fmt::format("{} {} {}", pod, code, message);
  }
  std::string Describe() const {
    return fmt::format(
        "feasible [{}] permit [{}] waits {} activated [{}] message [{}] postfilter [{}] ended [{}]",
        fmt::join(feasible, " "), permit, waits_for, fmt::join(activated, " "), message,
        post_filter, fmt::join(ended, ", "));
  }
};

// The cluster of a run, and what the engine does about pods that wait.
class Run final : public framework::PodControl {
 public:
  static Result<std::unique_ptr<Run>> Make(element line) {
    const config::FeatureGates gates(kMinor);
    config::Behaviour behaviour(gates);
    behaviour.FollowPodGroups(gates);
    std::unique_ptr<Run> run(new Run);
    run->cluster_.SetRequestRules(behaviour.requests);
    auto config = config::Load(simdjson::minify(line["config"]), behaviour);
    if (!config) return Fail(config.error());
    const auto inputs = scheduler::InputsOf(*config, behaviour);
    if (!inputs) return Fail(inputs.error());
    run->cluster_.Track(*inputs);
    if (auto ok = LoadObjects(line["objects"], run->cluster_); !ok) return Fail(ok.error());
    auto profiles =
        scheduler::ProfileSet::Make(*config, behaviour, run->cluster_, nullptr, 0, {}, run.get());
    if (!profiles) return Fail(profiles.error());
    run->profiles_ = std::make_unique<scheduler::ProfileSet>(std::move(*profiles));
    for (const element item : line["pods"].get_array()) {
      auto pod = api::FromDom<api::Pod>(item, "pods");
      if (!pod) return Fail(pod.error());
      run->pods_.push_back(run->cluster_.AddPod(*pod));
    }
    return run;
  }

  Outcome Carry(element step) {
    SetTime();
    outcome_ = {};
    const PodId id = Find(Text(step, "pod"));
    const std::string action = Text(step, "do");
    if (action == "schedule") {
      Schedule(id, Text(step, "node"));
    } else if (action == "timeout") {
      Reject(cluster_.GetPod(id).uid, kPlugin, "out of time");
    } else {
      std::replace(pods_.begin(), pods_.end(), id, cluster::kNoPod);
      cluster_.RemovePod(id);
    }
    EndWaits();
    std::sort(outcome_.activated.begin(), outcome_.activated.end());
    return outcome_;
  }

  // "[0,1],[2,0]": the pairs of pods of which the first goes before the second.
  std::string Order(const std::vector<int64_t>& queued) {
    const auto& sort = *profiles_->Profiles()[0]->queue_sort[0].plugin;
    std::string pairs;
    for (size_t i = 0; i < pods_.size(); ++i) {
      for (size_t j = 0; j < pods_.size(); ++j) {
        if (i == j || pods_[i] == cluster::kNoPod || pods_[j] == cluster::kNoPod) continue;
        if (!sort.Less(cluster_, cluster_.GetPod(pods_[i]), queued[i] * 1'000'000'000,
                       cluster_.GetPod(pods_[j]), queued[j] * 1'000'000'000)) {
          continue;
        }
        pairs += fmt::format("{}[{},{}]", pairs.empty() ? "" : ",", i, j);
      }
    }
    return pairs;
  }

  // --- PodControl: the first answer about a pod counts

  void ForEachWaiting(FunctionRef<void(const framework::WaitingPod&)> visit) const override {
    for (const auto& [key, wait] : waits_) {
      visit({cluster_.GetPod(wait.pod), wait.node, {kPlugin}});
    }
  }
  void Allow(std::string_view uid, std::string_view) override { Answer(uid, {}); }
  void Reject(std::string_view uid, std::string_view, std::string_view message) override {
    Answer(uid, framework::Status::Unschedulable(std::string(message)));
  }
  void Activate(std::string_view namespace_, std::string_view name) override {
    outcome_.activated.push_back(fmt::format("{}/{}", namespace_, name));
  }

 private:
  struct Wait {
    PodId pod;
    cluster::NodeIndex node;
    std::optional<framework::Status> answer;
  };

  Run() : algorithm_({}) {}

  void SetTime() {
    now_ += kStepNs;
    for (const auto& plugin : profiles_->Profiles()[0]->Plugins()) {
      if (auto* aware = dynamic_cast<framework::TimeAwarePlugin*>(plugin.get())) {
        aware->SetTime(api::Time::FromUnixNano(now_));
      }
    }
  }

  PodId Find(const std::string& key) const {
    for (PodId id = 0; id < cluster_.PodIdLimit(); ++id) {
      if (cluster_.PodExists(id) && cluster_.GetPod(id).Key() == key) return id;
    }
    return cluster::kNoPod;
  }

  void Answer(std::string_view uid, const framework::Status& status) {
    for (auto& [key, wait] : waits_) {
      if (cluster_.GetPod(wait.pod).uid == uid && !wait.answer) wait.answer = status;
    }
  }

  void Schedule(PodId id, const std::string& recorded_node) {
    framework::Cycle& cycle = *profiles_->CycleFor("default-scheduler");
    attempt_.Begin(cycle, cluster_, id);
    attempt_.Decide(algorithm_, /*score_always=*/true);
    scheduler::Decision& decision = attempt_.decision();
    if (decision.outcome == scheduler::Outcome::kError) {
      outcome_.message = "error: " + decision.error;
      return;
    }
    if (decision.outcome == scheduler::Outcome::kUnschedulable) return NoNode(cycle);
    decision.feasible.ForEach(
        [&](cluster::NodeIndex n) { outcome_.feasible.push_back(cluster_.NodeName(n)); });
    std::sort(outcome_.feasible.begin(), outcome_.feasible.end());
    const auto node = cluster_.FindNode(recorded_node);
    if (node == cluster::kNoNode || !decision.feasible.Contains(node)) return;
    framework::Status status = attempt_.Reserve(node);
    if (status.Ok()) status = attempt_.Permit();
    if (!attempt_.waits().empty() && status.Ok()) {
      outcome_.waits_for = static_cast<double>(attempt_.waits()[0].timeout_ns) / 1e9;
      waits_[cluster_.GetPod(id).Key()] = {id, node, {}};
      outcome_.permit = kWait;
      return;
    }
    outcome_.permit = StatusText(status);
    if (status.Ok()) {
      cluster_.MutablePod(id).assumed = false;
    } else {
      attempt_.Rollback();
    }
  }

  void NoNode(framework::Cycle& cycle) {
    framework::Diagnosis& diagnosis = attempt_.decision().diagnosis;
    outcome_.message = framework::FitErrorMessage(cycle, diagnosis);
    framework::PostFilterResult proposal;
    const framework::Status status =
        framework::RunPostFilter(cycle, cluster_, diagnosis, &proposal);
    outcome_.post_filter = StatusText(status);
    if (!status.Message().empty()) outcome_.message += " " + status.Message();
  }

  // One after the other: the end of one wait may be the end of others.
  void EndWaits() {
    const auto answered = [](const auto& entry) { return entry.second.answer.has_value(); };
    for (auto it = std::find_if(waits_.begin(), waits_.end(), answered); it != waits_.end();
         it = std::find_if(waits_.begin(), waits_.end(), answered)) {
      const auto [key, wait] = *it;
      waits_.erase(it);
      outcome_.ended.push_back(
          Outcome::Ended(key, framework::CodeName(wait.answer->code()), wait.answer->Message()));
      if (wait.answer->Ok()) {
        cluster_.MutablePod(wait.pod).assumed = false;
        continue;
      }
      const cluster::Pod& pod = cluster_.GetPod(wait.pod);
      scheduler::RunUnreserve(*profiles_->Profiles()[0], {cluster_, pod, *pod.shape}, wait.node,
                              [](uint8_t) {});
      cluster_.Forget(wait.pod);
    }
  }

  cluster::Cluster cluster_;
  std::unique_ptr<scheduler::ProfileSet> profiles_;
  scheduler::Algorithm algorithm_;
  scheduler::Attempt attempt_;
  std::vector<PodId> pods_;  // kNoPod: deleted
  std::map<std::string, Wait> waits_;
  int64_t now_ = kStart;
  Outcome outcome_;
};

std::string Differences(element line) {
  const auto run = Run::Make(line);
  if (!run) return run.error().Message();
  size_t number = 0;
  for (const element step : line["steps"].get_array()) {
    const Outcome recorded = Outcome::Recorded(step);
    const Outcome ours = (*run)->Carry(step);
    if (recorded != ours) {
      return fmt::format("step {}, {} {}\n  recorded {}\n  ours     {}", number, Text(step, "do"),
                         Text(step, "pod"), recorded.Describe(), ours.Describe());
    }
    ++number;
  }
  std::vector<int64_t> queued;
  for (const element time : line["queued"].get_array()) queued.push_back(int64_t(time));
  const std::string recorded = simdjson::minify(line["less"]);
  const std::string ours = "[" + (*run)->Order(queued) + "]";
  if (recorded == ours) return "";
  return fmt::format("order\n  recorded {}\n  ours     {}", recorded, ours);
}

}  // namespace

int RunGangs(const std::string& file) {
  return CheckLines(file, [](element line) {
    Checked checked{.group = "gangs", .difference = Differences(line)};
    if (!checked.difference.empty()) {
      checked.difference = Text(line, "name") + ", " + checked.difference;
    }
    return checked;
  });
}

}  // namespace berth::conformance
