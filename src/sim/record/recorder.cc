#include "sim/record/recorder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/record/reasons.h"
#include "sim/record/workload_name.h"

namespace berth::sim {
namespace {

constexpr double kReferencePercentile = 90;
constexpr size_t kMaxReasons = 10;
constexpr size_t kMaxMarks = 500;
constexpr size_t kMaxNames = 20;

double Percent(int64_t part, int64_t whole) {
  if (whole <= 0) return 0;
  return std::round(1000.0 * static_cast<double>(part) / static_cast<double>(whole)) / 10;
}

double Rounded(double value) { return std::round(value * 1000) / 1000; }

LatencyLine LineOf(std::string priority, std::vector<int64_t> latencies) {
  std::sort(latencies.begin(), latencies.end());
  LatencyLine line;
  line.priority = std::move(priority);
  line.pods = static_cast<int64_t>(latencies.size());
  double sum = 0;
  for (const int64_t latency : latencies) sum += static_cast<double>(latency);
  line.mean = latencies.empty() ? 0 : Rounded(sum / static_cast<double>(line.pods) / kSecond);
  line.p50 = Seconds(Percentile(latencies, 50));
  line.p90 = Seconds(Percentile(latencies, 90));
  line.p99 = Seconds(Percentile(latencies, 99));
  line.max = Seconds(Percentile(latencies, 100));
  return line;
}

// Buckets of a third of a decade or so from 10 ms on: 1, 2, 5, 10.
std::vector<LatencyBucket> HistogramOf(const std::vector<int64_t>& latencies) {
  std::vector<Nanos> bounds{0};
  for (Nanos decade = 10 * kMillisecond; decade <= 10'000 * kSecond; decade *= 10) {
    for (const int64_t step : {1, 2, 5}) bounds.push_back(decade * step);
  }
  std::vector<LatencyBucket> buckets;
  for (size_t i = 0; i < bounds.size(); ++i) {
    const bool last = i + 1 == bounds.size();
    buckets.push_back({Seconds(bounds[i]), last ? 0 : Seconds(bounds[i + 1]), 0});
  }
  for (const int64_t latency : latencies) {
    const auto it = std::upper_bound(bounds.begin(), bounds.end(), latency);
    ++buckets[static_cast<size_t>(it - bounds.begin()) - 1].pods;
  }
  // Empty ends say nothing.
  const auto is_empty = [](const LatencyBucket& b) { return b.pods == 0; };
  while (!buckets.empty() && is_empty(buckets.back())) buckets.pop_back();
  const auto first = std::find_if_not(buckets.begin(), buckets.end(), is_empty);
  buckets.erase(buckets.begin(), first);
  return buckets;
}

}  // namespace

Recorder::Recorder(EventLoop& loop, ModelApi& api, const std::optional<ReferencePod>& reference)
    : loop_(loop) {
  if (reference) {
    reference_ = Amounts{reference->cpu.MilliValue(), reference->memory.Value(), 1};
  }
  api.Subscribe([this](const ApiChange& change) { OnChange(change); });
}

void Recorder::OnChange(const ApiChange& change) {
  ledger_.OnChange(change);
  if (const auto* pod = std::get_if<api::Pod>(change.object.get())) OnPod(change, *pod);
}

void Recorder::OnPod(const ApiChange& change, const api::Pod& pod) {
  const std::string& uid = pod.metadata.uid;
  if (change.type == ApiChange::Type::kAdded) {
    const Amounts requests = RequestsOf(pod);
    cpu_requests_.Add(requests.milli_cpu);
    memory_requests_.Add(requests.memory);
    ++counts_.created;
    ++since_.created;
    if (!pod.spec.node_name.empty()) return;
    Waiting& waiting = waiting_[uid];
    waiting.created = loop_.Now();
    waiting.priority = pod.spec.priority.value_or(0);
    waiting.gated = !pod.spec.scheduling_gates.empty();
    waiting.name = pod.metadata.name;
    waiting.workload = WorkloadName(pod);
    return;
  }
  if (change.type == ApiChange::Type::kDeleted) {
    if (!IsFinished(pod)) ++counts_.deleted;
    waiting_.erase(uid);
    return;
  }
  const auto it = waiting_.find(uid);
  if (it == waiting_.end()) return;
  it->second.gated = !pod.spec.scheduling_gates.empty();
  if (!pod.spec.node_name.empty()) Bound(pod);
}

void Recorder::Bound(const api::Pod& pod) {
  const auto it = waiting_.find(pod.metadata.uid);
  const Nanos latency = loop_.Now() - it->second.created;
  latencies_[it->second.priority].push_back(latency);
  latencies_since_.push_back(latency);
  ++attempts_[it->second.attempts];
  ++counts_.scheduled;
  ++since_.scheduled;
  waiting_.erase(it);
}

void Recorder::Attempted(const cluster::Pod& pod, scheduler::Outcome outcome,
                         std::string_view /*node*/, std::string_view message) {
  ++scheduler_.attempts;
  ++since_.attempts;
  const bool failed = outcome != scheduler::Outcome::kScheduled;
  if (failed) {
    ++scheduler_.failed_attempts;
    for (const std::string& reason : ReasonsIn(message)) ++reasons_[reason];
  }
  const auto it = waiting_.find(pod.uid);
  if (it == waiting_.end()) return;
  ++it->second.attempts;
  it->second.unschedulable = outcome == scheduler::Outcome::kUnschedulable;
  it->second.message = failed ? message : std::string_view();
}

void Recorder::Preempted(const scheduler::PodRef& /*preemptor*/, size_t victims,
                         std::string_view /*node*/) {
  ++scheduler_.preemptions;
  counts_.preempted += static_cast<int64_t>(victims);
  since_.preempted += static_cast<int64_t>(victims);
}

void Recorder::Mark(const std::string& name) {
  if (events_.size() < kMaxMarks) events_.push_back({Seconds(loop_.Now()), name});
}

Amounts Recorder::Reference() const {
  if (reference_) return *reference_;
  return {cpu_requests_.Percentile(kReferencePercentile),
          memory_requests_.Percentile(kReferencePercentile), 1};
}

void Recorder::Sample(const EngineHost& host) {
  SamplePoint point = std::exchange(since_, SamplePoint());
  point.at = Seconds(loop_.Now());
  const Ledger::Totals totals = ledger_.Sum();
  point.nodes = totals.nodes;
  point.bound = totals.bound;
  point.pending = static_cast<int64_t>(waiting_.size());
  point.cpu = Percent(totals.requested.milli_cpu, totals.allocatable.milli_cpu);
  point.memory = Percent(totals.requested.memory, totals.allocatable.memory);
  point.pods = Percent(totals.requested.pods, totals.allocatable.pods);
  const Amounts reference = Reference();
  // As long as there has been no pod, nothing is known of what pods are like.
  const bool known = reference.milli_cpu > 0 || reference.memory > 0;
  const Ledger::FreeSpace space = known ? ledger_.Free(reference) : Ledger::FreeSpace();
  point.cpu_stranded = Percent(space.stranded.milli_cpu, space.free.milli_cpu);
  point.memory_stranded = Percent(space.stranded.memory, space.free.memory);
  point.headroom = space.headroom;
  point.scheduler_up = host.Running();
  if (host.Running()) {
    const auto depth = [&](queue::QueueName name) {
      return static_cast<int64_t>(host.Get().PendingPods(name));
    };
    point.active = depth(queue::QueueName::kActive);
    point.backoff = depth(queue::QueueName::kBackoff);
    point.unschedulable = depth(queue::QueueName::kUnschedulable);
    point.gated = depth(queue::QueueName::kGated);
  }
  std::sort(latencies_since_.begin(), latencies_since_.end());
  point.p50 = Seconds(Percentile(latencies_since_, 50));
  point.p99 = Seconds(Percentile(latencies_since_, 99));
  latencies_since_.clear();
  samples_.push_back(point);
}

void Recorder::CountReasons(ScenarioReport* report) const {
  std::map<std::string, int64_t> pending;
  for (const auto& [uid, waiting] : waiting_) {
    for (const std::string& reason : ReasonsIn(waiting.message)) ++pending[reason];
    if (waiting.gated) {
      ++report->pods.gated;
    } else if (waiting.unschedulable) {
      ++report->pods.unschedulable;
    }
  }
  for (const auto& [reason, attempts] : reasons_) {
    const auto it = pending.find(reason);
    report->reasons.push_back({reason, attempts, it == pending.end() ? 0 : it->second});
  }
  std::stable_sort(report->reasons.begin(), report->reasons.end(),
                   [](const ReasonLine& a, const ReasonLine& b) {
                     return std::pair(a.pending, a.attempts) > std::pair(b.pending, b.attempts);
                   });
  if (report->reasons.size() > kMaxReasons) report->reasons.resize(kMaxReasons);
}

void Recorder::BeforeFirstEvent() {
  for (const auto& [uid, waiting] : waiting_) ++pending_before_[waiting.workload];
}

void Recorder::ListPending(ScenarioReport* report) const {
  std::map<std::string, PendingLine> lines;
  for (const auto& [workload, pods] : pending_before_) lines[workload].before = pods;
  // Sorted: the order of a hash table must not show.
  std::map<std::pair<std::string, std::string>, const Waiting*> pods;
  for (const auto& [uid, waiting] : waiting_) pods[{waiting.workload, waiting.name}] = &waiting;
  for (const auto& [key, waiting] : pods) {
    PendingLine& line = lines[key.first];
    ++line.pending;
    if (line.reasons.empty()) line.reasons = ReasonsIn(waiting->message);
    if (line.pods.size() < kMaxNames) line.pods.push_back(waiting->name);
  }
  for (auto& [workload, line] : lines) {
    line.workload = workload;
    report->pending.push_back(std::move(line));
  }
  std::stable_sort(
      report->pending.begin(), report->pending.end(),
      [](const PendingLine& a, const PendingLine& b) { return a.pending > b.pending; });
}

void Recorder::Summarize(ScenarioReport* report) const {
  const auto summary = [&](std::string what, double SamplePoint::*value) {
    Summary line{std::move(what), 0, 0, samples_.empty() ? 0 : samples_.back().*value};
    for (const SamplePoint& sample : samples_) {
      line.mean += sample.*value / static_cast<double>(samples_.size());
      line.peak = std::max(line.peak, sample.*value);
    }
    line.mean = std::round(line.mean * 10) / 10;
    return line;
  };
  report->utilization = {summary("cpu", &SamplePoint::cpu), summary("memory", &SamplePoint::memory),
                         summary("pods", &SamplePoint::pods)};
  FragmentationSummary& fragmentation = report->fragmentation;
  const Amounts reference = Reference();
  fragmentation.reference_cpu = fmt::format("{}m", reference.milli_cpu);
  fragmentation.reference_memory = fmt::format("{}Mi", (reference.memory + (1 << 20) - 1) >> 20);
  fragmentation.cpu = summary("cpu", &SamplePoint::cpu_stranded);
  fragmentation.memory = summary("memory", &SamplePoint::memory_stranded);
  fragmentation.headroom = samples_.empty() ? 0 : samples_.back().headroom;
  SchedulerSummary& scheduler = report->scheduler;
  double before = 0;
  for (const SamplePoint& sample : samples_) {
    const double length = sample.at - before;
    before = sample.at;
    if (length <= 0) continue;
    scheduler.peak_per_second = std::max(scheduler.peak_per_second,
                                         Rounded(static_cast<double>(sample.scheduled) / length));
  }
  if (before > 0) {
    scheduler.mean_per_second = Rounded(static_cast<double>(counts_.scheduled) / before);
  }
}

ScenarioReport Recorder::Report() const {
  ScenarioReport report;
  report.nodes = ledger_.Sum().nodes;
  report.pods = counts_;
  report.pods.pending = static_cast<int64_t>(waiting_.size());
  report.scheduler = scheduler_;
  report.scheduler.crashes = crashes_;
  std::vector<int64_t> all;
  for (const auto& [priority, latencies] : latencies_) {
    all.insert(all.end(), latencies.begin(), latencies.end());
  }
  report.latency.push_back(LineOf("all", all));
  if (latencies_.size() > 1) {
    for (auto it = latencies_.rbegin(); it != latencies_.rend(); ++it) {
      report.latency.push_back(LineOf(std::to_string(it->first), it->second));
    }
  }
  report.latency_histogram = HistogramOf(all);
  for (const auto& [attempts, pods] : attempts_) report.attempts.push_back({attempts, pods});
  CountReasons(&report);
  ListPending(&report);
  Summarize(&report);
  report.events = events_;
  report.samples = samples_;
  return report;
}

}  // namespace berth::sim
