#include "loader/out_of_tree_plugin.h"

#include <exception>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "framework/runtime/hint_map.h"
#include "loader/changes.h"
#include "loader/proposal.h"

namespace berth::loader {
namespace {

using framework::Code;
using framework::Status;

constexpr uint32_t Bit(int32_t code) { return uint32_t{1} << code; }
constexpr uint32_t kMayFail = Bit(BERTH_SUCCESS) | Bit(BERTH_ERROR);
constexpr uint32_t kMayReject = kMayFail | Bit(BERTH_UNSCHEDULABLE) | Bit(BERTH_UNRESOLVABLE);
constexpr uint32_t kMayPend = kMayReject | Bit(BERTH_PENDING);
constexpr int32_t kCodes = BERTH_PENDING + 1;
constexpr size_t kMaxEvents = 256;

Code ToCode(int32_t code) {
  switch (code) {
    case BERTH_SUCCESS:
      return Code::kSuccess;
    case BERTH_UNSCHEDULABLE:
      return Code::kUnschedulable;
    case BERTH_UNRESOLVABLE:
      return Code::kUnschedulableAndUnresolvable;
    case BERTH_WAIT:
      return Code::kWait;
    case BERTH_SKIP:
      return Code::kSkip;
    case BERTH_PENDING:
      return Code::kPending;
    default:
      return Code::kError;
  }
}

// --- The functions of berth_host that are about the plugin itself

void Log(berth_instance* instance, berth_string message) {
  instance->watch->Logged(instance->name, CleanText(message));
}

void Decide(berth_instance* instance, framework::PermitVerdict verdict) {
  const std::lock_guard lock(instance->mutex);
  instance->verdicts.push_back(std::move(verdict));
}
void AllowWaiting(berth_instance* instance, berth_string uid) {
  Decide(instance, {std::string(FromAbi(uid)), true});
}
void RejectWaiting(berth_instance* instance, berth_string uid, berth_string message) {
  Decide(instance, {std::string(FromAbi(uid)), false, CleanText(message)});
}

const berth_host& Host() {
  static const berth_host kHost = [] {
    berth_host host{};
    host.size = sizeof host;
    host.abi_version = BERTH_PLUGIN_ABI_VERSION;
    FillViews(host);
    FillChanges(host);
    FillProposals(host);
    host.log = &Log;
    host.allow_waiting = &AllowWaiting;
    host.reject_waiting = &RejectWaiting;
    return host;
  }();
  return kHost;
}

// The simple PreBind of plugins: one question, no writes.
class AskOnce final : public framework::PreBindTask {
 public:
  AskOnce(OutOfTreePlugin& plugin, std::string pod_uid, std::string node)
      : plugin_(plugin), pod_uid_(std::move(pod_uid)), node_(std::move(node)) {}

  framework::PreBindStep Next(cluster::Cluster& cluster, const api::Time&,
                              std::span<const framework::WriteResult>) override {
    const cluster::PodId pod = cluster.FindPod(pod_uid_);
    const cluster::NodeIndex node = cluster.FindNode(node_);
    // The pod was deleted meanwhile; the binding will fail.
    if (pod == cluster::kNoPod || node == cluster::kNoNode) return {};
    Status status = plugin_.PreBind(cluster, cluster.GetPod(pod), node);
    if (status.Ok()) return {};
    return {framework::PreBindStep::Kind::kFail, {}, std::move(status)};
  }

 private:
  OutOfTreePlugin& plugin_;
  std::string pod_uid_;
  std::string node_;
};

}  // namespace

// The reasons of the verdicts of a cycle, and why scores failed. Filter and Score fill it from
// several threads.
class OutOfTreePlugin::State final : public PluginState {
 public:
  void Clear() {
    reasons_.clear();
    ids_.clear();
    failure_.reset();
  }
  uint32_t ReasonId(const std::string& reason) const {
    const std::lock_guard lock(mutex_);
    const auto [it, inserted] = ids_.try_emplace(reason, static_cast<uint32_t>(reasons_.size()));
    if (inserted) reasons_.push_back(reason);
    return it->second;
  }
  std::string Reason(uint32_t id) const {
    const std::lock_guard lock(mutex_);
    return id < reasons_.size() ? reasons_[id] : std::string();
  }
  // Of several, the first in the alphabet, whatever thread was first.
  void Fail(const std::string& why) const {
    const std::lock_guard lock(mutex_);
    if (!failure_ || why < *failure_) failure_ = why;
  }
  std::optional<std::string> Failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::string> reasons_;
  mutable std::unordered_map<std::string, uint32_t> ids_;
  mutable std::optional<std::string> failure_;
};

// Reports when what it was made around took too long.
class OutOfTreePlugin::Stopwatch {
 public:
  Stopwatch(const OutOfTreePlugin& plugin, std::string_view point)
      : plugin_(plugin), point_(point), start_(std::chrono::steady_clock::now()) {
    plugin_.instance_.watch->Entered(this, plugin_.instance_.name, point_);
  }
  ~Stopwatch() {
    plugin_.instance_.watch->Left(this);
    const auto took = std::chrono::steady_clock::now() - start_;
    if (took <= plugin_.budget_) return;
    const auto ms = [](std::chrono::nanoseconds ns) {
      return std::chrono::duration<double, std::milli>(ns).count();
    };
    plugin_.Report(
        point_, Fault::Kind::kOverrun,
        fmt::format("took {:.1f} ms, the budget is {:.1f} ms", ms(took), ms(plugin_.budget_)));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  const OutOfTreePlugin& plugin_;
  std::string_view point_;
  std::chrono::steady_clock::time_point start_;
};

// --- Calling

void OutOfTreePlugin::Report(std::string_view point, Fault::Kind kind, std::string message) const {
  instance_.watch->Faulted({instance_.name, point, kind, std::move(message)});
}

template <class Call>
int32_t OutOfTreePlugin::Guard(berth_answer& answer, Call&& call) const {
  try {
    return call(&answer);
  } catch (const std::exception& thrown) {
    answer.reason = CleanText(ToAbi(std::string_view(thrown.what())));
  } catch (...) {
    answer.reason = "unknown exception";
  }
  return BERTH_ERROR;
}

Status OutOfTreePlugin::ToStatus(std::string_view point, uint32_t allowed, int32_t code,
                                 berth_answer& answer) const {
  if (code == BERTH_SUCCESS) return {};
  if (code < 0 || code >= kCodes || (allowed & Bit(code)) == 0) {
    std::string message =
        fmt::format("{} answered with code {}, which means nothing there", point, code);
    Report(point, Fault::Kind::kNonsense, message);
    return Status::Error(std::move(message));
  }
  if (answer.reason.empty()) {
    answer.reason = code == BERTH_ERROR ? fmt::format("{} failed without a reason", point)
                                        : fmt::format("rejected by plugin {}", Name());
  }
  if (code == BERTH_ERROR) Report(point, Fault::Kind::kError, answer.reason);
  if (code == BERTH_SKIP) return Status::Skip();
  return {ToCode(code), std::move(answer.reason)};
}

template <class Call>
Status OutOfTreePlugin::Ask(std::string_view point, uint32_t allowed, Call&& call) const {
  const Stopwatch stopwatch(*this, point);
  berth_answer answer;
  const int32_t code = Guard(answer, call);
  return ToStatus(point, allowed, code, answer);
}

// --- Making one

OutOfTreePlugin::OutOfTreePlugin(const berth_plugin& table, std::string_view name,
                                 PluginWatch& watch, std::chrono::nanoseconds budget)
    : table_(table), budget_(budget) {
  instance_.name = name;
  instance_.watch = &watch;
}

OutOfTreePlugin::~OutOfTreePlugin() {
  if (self_ == nullptr || table_.destroy == nullptr) return;
  berth_answer unused;
  Guard(unused, [this](berth_answer*) {
    table_.destroy(self_);
    return int32_t{BERTH_SUCCESS};
  });
}

Result<std::unique_ptr<framework::Plugin>> OutOfTreePlugin::Make(const berth_plugin& table,
                                                                 std::string_view args,
                                                                 PluginWatch& watch,
                                                                 std::chrono::nanoseconds budget) {
  std::unique_ptr<OutOfTreePlugin> plugin(
      new OutOfTreePlugin(table, FromAbi(table.name), watch, budget));
  berth_answer answer;
  plugin->Guard(answer, [&](berth_answer* to) {
    plugin->self_ = table.create(&Host(), &plugin->instance_, ToAbi(args), to);
    return int32_t{BERTH_SUCCESS};
  });
  if (plugin->self_ == nullptr) {
    return Fail(answer.reason.empty() ? "it could not be made, and does not say why"
                                      : answer.reason);
  }
  return std::unique_ptr<framework::Plugin>(std::move(plugin));
}

std::unique_ptr<framework::PluginState> OutOfTreePlugin::NewState() const {
  return std::make_unique<State>();
}
void OutOfTreePlugin::BeginCycle(const CycleContext&, PluginState* state) const {
  static_cast<State*>(state)->Clear();
}
void OutOfTreePlugin::Reasons(const CycleContext&, const PluginState* state,
                              const framework::Verdict& verdict,
                              std::vector<std::string>* out) const {
  out->push_back(static_cast<const State*>(state)->Reason(verdict.reason));
}

// --- The queue

Status OutOfTreePlugin::PreEnqueue(const cluster::Cluster& cluster, const cluster::Pod& own) const {
  const berth_pod pod{cluster, own};
  return Ask("PreEnqueue", kMayReject,
             [&](berth_answer* answer) { return table_.pre_enqueue(self_, &pod, answer); });
}

// Called for every comparison of the queue, so it is not timed.
bool OutOfTreePlugin::Less(const cluster::Cluster& cluster, const cluster::Pod& a, int64_t a_queued,
                           const cluster::Pod& b, int64_t b_queued) const {
  const berth_pod first{cluster, a};
  const berth_pod second{cluster, b};
  berth_answer answer;
  const int32_t less = Guard(answer, [&](berth_answer*) {
    return table_.less(self_, &first, a_queued, &second, b_queued);
  });
  if (!answer.reason.empty()) {
    Report("QueueSort", Fault::Kind::kError, answer.reason);
    return false;
  }
  return less == 1;
}

// --- The scheduling cycle

Status OutOfTreePlugin::PreFilter(const CycleContext& c, PluginState*,
                                  framework::PreFilterResult*) const {
  const berth_pod pod{c.cluster, c.pod};
  return Ask("PreFilter", kMayReject | Bit(BERTH_SKIP),
             [&](berth_answer* answer) { return table_.pre_filter(self_, &pod, answer); });
}

void OutOfTreePlugin::Filter(const CycleContext& c, const PluginState* state,
                             framework::FilterBatch& batch) const {
  const Stopwatch stopwatch(*this, "Filter");
  const berth_pod pod{c.cluster, c.pod};
  batch.ForEach([&](NodeIndex n) {
    const berth_node node{c.cluster, n};
    berth_answer answer;
    const int32_t code =
        Guard(answer, [&](berth_answer* to) { return table_.filter(self_, &pod, &node, to); });
    if (code == BERTH_SUCCESS) return;
    const Status status = ToStatus("Filter", kMayPend, code, answer);
    batch.Reject(n, status.code(), static_cast<const State*>(state)->ReasonId(status.Message()));
  });
}

// A plugin filters again while it looks for victims (fits_without), so Filter may be called within.
Status OutOfTreePlugin::PostFilter(framework::Cycle& cycle, cluster::Cluster& cluster,
                                   const framework::Diagnosis& diagnosis,
                                   framework::PostFilterResult* result) {
  const berth_pod pod{cluster, cycle.context().pod};
  berth_proposal proposal = ProposalOf(cycle, cluster, diagnosis);
  Status status = Ask("PostFilter", kMayReject, [&](berth_answer* answer) {
    return table_.post_filter(self_, &pod, &proposal, answer);
  });
  if (!status.Ok()) return status;
  if (proposal.node == cluster::kNoNode) {
    std::string message = "PostFilter succeeded without a proposal";
    Report("PostFilter", Fault::Kind::kNonsense, message);
    return Status::Error(std::move(message));
  }
  result->nomination = framework::PostFilterResult::Nomination::kSet;
  result->nominated_node = cluster.NodeName(proposal.node);
  result->victims = std::move(proposal.victims);
  return {};
}

Status OutOfTreePlugin::PreScore(const CycleContext& c, PluginState*,
                                 const framework::NodeSet& feasible) const {
  const berth_pod pod{c.cluster, c.pod};
  std::vector<berth_string> nodes;
  feasible.ForEach([&](NodeIndex n) { nodes.push_back(ToAbi(c.cluster.NodeName(n))); });
  return Ask("PreScore", kMayFail | Bit(BERTH_SKIP), [&](berth_answer* answer) {
    return table_.pre_score(self_, &pod, nodes.data(), nodes.size(), answer);
  });
}

void OutOfTreePlugin::Score(const CycleContext& c, const PluginState* state,
                            framework::ScoreBatch& batch) const {
  const Stopwatch stopwatch(*this, "Score");
  const berth_pod pod{c.cluster, c.pod};
  int64_t* scores = batch.Scores();
  batch.ForEach([&](NodeIndex n) {
    const berth_node node{c.cluster, n};
    berth_answer answer;
    scores[n] = 0;
    const int32_t code = Guard(
        answer, [&](berth_answer* to) { return table_.score(self_, &pod, &node, &scores[n], to); });
    if (code != BERTH_SUCCESS) {
      const Status status = ToStatus("Score", kMayFail, code, answer);
      static_cast<const State*>(state)->Fail(status.Message());
      scores[n] = kFailedScore;
    } else if (!HasNormalize() && (scores[n] < 0 || scores[n] > framework::kMaxNodeScore)) {
      Report("Score", Fault::Kind::kNonsense,
             fmt::format("score {} is not in the range of 0 to 100", scores[n]));
    }
  });
}

void OutOfTreePlugin::Normalize(const CycleContext& c, const PluginState* state,
                                const framework::NodeSet& feasible,
                                framework::ScoreColumn& column) const {
  const State& cycle = *static_cast<const State*>(state);
  if (cycle.Failure()) return;  // raw scores have the marks of it
  int64_t* scores = column.Dense();
  std::vector<berth_node_score> all;
  feasible.ForEach([&](NodeIndex n) { all.push_back({ToAbi(c.cluster.NodeName(n)), scores[n]}); });
  const berth_pod pod{c.cluster, c.pod};
  const Status status = Ask("NormalizeScore", kMayFail, [&](berth_answer* answer) {
    return table_.normalize(self_, &pod, all.data(), all.size(), answer);
  });
  if (!status.Ok()) cycle.Fail(status.Message());
  auto next = all.begin();
  feasible.ForEach([&](NodeIndex n) {
    const int64_t score = (next++)->score;
    scores[n] = status.Ok() ? score : kFailedScore;
    if (status.Ok() && (score < 0 || score > framework::kMaxNodeScore)) {
      Report("NormalizeScore", Fault::Kind::kNonsense,
             fmt::format("score {} is not in the range of 0 to 100", score));
    }
  });
}

Status OutOfTreePlugin::ScoreFailure(const PluginState* state) const {
  const auto failure = static_cast<const State*>(state)->Failure();
  return failure ? Status::Error(*failure) : Status();
}

Status OutOfTreePlugin::Reserve(const CycleContext& c, PluginState*, NodeIndex n) {
  const berth_pod pod{c.cluster, c.pod};
  const berth_node node{c.cluster, n};
  return Ask("Reserve", kMayPend, [&](berth_answer* answer) {
    return table_.reserve == nullptr ? int32_t{BERTH_SUCCESS}
                                     : table_.reserve(self_, &pod, &node, answer);
  });
}

void OutOfTreePlugin::Unreserve(const CycleContext& c, PluginState*, NodeIndex n) {
  if (table_.unreserve == nullptr) return;
  const berth_pod pod{c.cluster, c.pod};
  const berth_node node{c.cluster, n};
  static_cast<void>(Ask("Unreserve", kMayFail, [&](berth_answer*) {
    table_.unreserve(self_, &pod, &node);
    return int32_t{BERTH_SUCCESS};
  }));
}

Status OutOfTreePlugin::Permit(const CycleContext& c, PluginState*, NodeIndex n,
                               int64_t* timeout_ns) {
  const berth_pod pod{c.cluster, c.pod};
  const berth_node node{c.cluster, n};
  return Ask("Permit", kMayPend | Bit(BERTH_WAIT), [&](berth_answer* answer) {
    return table_.permit(self_, &pod, &node, timeout_ns, answer);
  });
}

void OutOfTreePlugin::TakeVerdicts(std::vector<framework::PermitVerdict>* out) {
  const std::lock_guard lock(instance_.mutex);
  for (framework::PermitVerdict& verdict : instance_.verdicts) out->push_back(std::move(verdict));
  instance_.verdicts.clear();
}

// --- The binding cycle

std::unique_ptr<framework::PreBindTask> OutOfTreePlugin::PreparePreBind(const CycleContext& c,
                                                                        PluginState*, NodeIndex n) {
  return std::make_unique<AskOnce>(*this, c.pod.uid, c.cluster.NodeName(n));
}

Status OutOfTreePlugin::PreBind(const cluster::Cluster& cluster, const cluster::Pod& own,
                                NodeIndex n) {
  const berth_pod pod{cluster, own};
  const berth_node node{cluster, n};
  return Ask("PreBind", kMayReject,
             [&](berth_answer* answer) { return table_.pre_bind(self_, &pod, &node, answer); });
}

Status OutOfTreePlugin::Bind(const CycleContext& c, NodeIndex n) const {
  const berth_pod pod{c.cluster, c.pod};
  const berth_node node{c.cluster, n};
  return Ask("Bind", kMayFail | Bit(BERTH_SKIP),
             [&](berth_answer* answer) { return table_.bind(self_, &pod, &node, answer); });
}

void OutOfTreePlugin::PostBind(const cluster::Cluster& cluster, const cluster::Pod& own,
                               NodeIndex n) {
  const berth_pod pod{cluster, own};
  const berth_node node{cluster, n};
  static_cast<void>(Ask("PostBind", kMayFail, [&](berth_answer*) {
    table_.post_bind(self_, &pod, &node);
    return int32_t{BERTH_SUCCESS};
  }));
}

// --- Events

std::vector<framework::RegisteredEvent> OutOfTreePlugin::EventsToRegister(
    const config::Behaviour& behaviour) const {
  std::vector<framework::RegisteredEvent> events = NamedEvents(behaviour);
  if (table_.hint == nullptr) return events;
  for (framework::RegisteredEvent& event : events) {
    event.hint = instance_.name;
    event.function = [this](const cluster::Cluster& cluster, const cluster::Pod& pod,
                            const queue::Event& happened) { return Hint(cluster, pod, happened); };
  }
  return events;
}

std::vector<framework::RegisteredEvent> OutOfTreePlugin::NamedEvents(
    const config::Behaviour& behaviour) const {
  if (table_.events == nullptr) return framework::DefaultEvents(behaviour);
  const berth_event* events = nullptr;
  size_t count = 0;
  const Status asked = Ask("EventsToRegister", kMayFail, [&](berth_answer*) {
    count = table_.events(self_, &events);
    return int32_t{BERTH_SUCCESS};
  });
  if (!asked.Ok() || count > kMaxEvents || (count > 0 && events == nullptr)) {
    return framework::DefaultEvents(behaviour);
  }
  std::vector<framework::RegisteredEvent> registered;
  for (size_t i = 0; i < count; ++i) {
    const auto resource = ResourceOf(events[i].resource);
    const uint16_t actions = ActionsOf(events[i].actions);
    if (!resource || actions == 0) {
      Report("EventsToRegister", Fault::Kind::kNonsense, fmt::format("event {} does not exist", i));
      return framework::DefaultEvents(behaviour);
    }
    registered.push_back({{*resource, actions}, {}, {}});
  }
  return registered;
}

// What the interface has no number for may help.
Result<framework::Hint> OutOfTreePlugin::Hint(const cluster::Cluster& cluster,
                                              const cluster::Pod& own,
                                              const queue::Event& event) const {
  const auto change = ChangeOf(cluster, event);
  if (!change) return framework::Hint::kQueue;
  const Stopwatch stopwatch(*this, "Hint");
  const berth_pod pod{cluster, own};
  berth_answer answer;
  const int32_t helps =
      Guard(answer, [&](berth_answer*) { return table_.hint(self_, &pod, &*change); });
  if (!answer.reason.empty()) {
    Report("Hint", Fault::Kind::kError, answer.reason);
    return Fail(answer.reason);
  }
  return helps == 0 ? framework::Hint::kSkip : framework::Hint::kQueue;
}

}  // namespace berth::loader
