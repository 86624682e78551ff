#include "plugins/capacity_scheduling/capacity_scheduling.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "plugins/capacity_scheduling/elastic_quota.h"
#include "plugins/common/custom_hints.h"
#include "plugins/default_preemption/dry_run.h"

namespace berth::plugins::capacity_scheduling {
namespace {

using cluster::Cluster;
using cluster::PodId;
using default_preemption::Evaluator;
using framework::CycleContext;
using framework::PluginState;
using framework::Status;

// What a resource is bound by that a quota does not mention.
constexpr int64_t kNoMin = 0;
constexpr int64_t kNoMax = std::numeric_limits<int64_t>::max();

constexpr std::string_view kTerminating =
    "not eligible due to a terminating pod on the nominated node.";

QuotaState& Mutable(PluginState* state) { return *static_cast<QuotaState*>(state); }

// As kube-scheduler's sort leaves them: it turns around pods that started at the same time.
std::vector<PodId> LeastImportantFirst(const Cluster& cluster, const std::vector<PodId>& pods) {
  std::vector<PodId> sorted(pods.rbegin(), pods.rend());
  std::stable_sort(sorted.begin(), sorted.end(), [&](PodId a, PodId b) {
    return default_preemption::MoreImportant(cluster.GetPod(b), cluster.GetPod(a));
  });
  const auto waits = [&](PodId id) { return cluster.GetPod(id).start_time.IsZero(); };
  for (auto from = sorted.begin(); from != sorted.end();) {
    const auto to = std::find_if(from, sorted.end(), [&](PodId id) {
      return !waits(id) ||
             cluster.GetPod(id).shape->priority != cluster.GetPod(*from).shape->priority;
    });
    std::reverse(from, to);
    from = to == from ? from + 1 : to;
  }
  return sorted;
}

size_t Draw(void* random, size_t n) { return static_cast<Random*>(random)->Below(n); }

}  // namespace

// --- QuotaState

Amounts& QuotaState::AddedTo(uint32_t index) {
  for (auto& [known, amounts] : added) {
    if (known == index) return amounts;
  }
  return added.emplace_back(index, Amounts()).second;
}

Amounts QuotaState::UsedOf(const QuotaLedger& ledger, uint32_t index) const {
  Amounts used = ledger.used()[index];
  for (const auto& [known, amounts] : added) {
    if (known == index) Add(used, amounts);
  }
  return used;
}

bool QuotaState::IsOverMin(const QuotaLedger& ledger, uint32_t index) const {
  return IsOver(UsedOf(ledger, index), {}, ledger.quotas()[index].min, kNoMin);
}

bool QuotaState::IsOverMaxWith(const QuotaLedger& ledger, const Amounts& more) const {
  return IsOver(more, UsedOf(ledger, quota), ledger.quotas()[quota].max, kNoMax);
}

bool QuotaState::AreAllOverMinWith(const QuotaLedger& ledger, const Amounts& more) const {
  Amounts used = more;
  for (const Amounts& amounts : ledger.used()) Add(used, amounts);
  for (const auto& [index, amounts] : added) Add(used, amounts);
  return IsOver(used, {}, ledger.total_min(), kNoMin);
}

// --- Quotas of pods

void CapacityScheduling::BeginCycle(const CycleContext&, PluginState* state) const {
  QuotaState& quotas = Mutable(state);
  quotas.prepared = false;
  quotas.added.clear();
}

Status CapacityScheduling::PreFilter(const CycleContext& c, PluginState* state,
                                     framework::PreFilterResult*) const {
  ledger_.Refresh(c.cluster);
  QuotaState& quotas = Mutable(state);
  quotas.prepared = true;
  quotas.quota = ledger_.QuotaOf(c.shape);
  quotas.request = ledger_.RequestOf(c.shape);
  if (quotas.quota == QuotaLedger::kNone) return {};
  quotas.with_own_nominated = quotas.with_all_nominated = quotas.request;
  AddNominated(c, &quotas);
  if (quotas.IsOverMaxWith(ledger_, quotas.with_own_nominated)) {
    return Status::Unschedulable(fmt::format(
        "Pod {0}/{1} is rejected in PreFilter because ElasticQuota {0} is more than Max",
        c.shape.namespace_, c.pod.name));
  }
  if (quotas.AreAllOverMinWith(ledger_, quotas.with_all_nominated)) {
    return Status::Unschedulable(fmt::format(
        "Pod {}/{} is rejected in PreFilter because total ElasticQuota used is more than min",
        c.shape.namespace_, c.pod.name));
  }
  return {};
}

void CapacityScheduling::AddNominated(const CycleContext& c, QuotaState* quotas) const {
  if (c.cluster.Nominated().Empty()) return;
  c.cluster.Nominated().ForEachNode([&](cluster::StringId node, const std::vector<PodId>& pods) {
    if (c.cluster.FindNode(node) == cluster::kNoNode) return;
    for (const PodId id : pods) {
      const cluster::Pod& pod = c.cluster.GetPod(id);
      if (pod.uid == c.pod.uid) continue;
      const uint32_t index = ledger_.QuotaOf(*pod.shape);
      if (index == QuotaLedger::kNone) continue;
      const Amounts& request = ledger_.RequestOf(*pod.shape);
      if (index == quotas->quota) {
        if (pod.shape->priority < c.shape.priority) continue;
        Add(quotas->with_own_nominated, request);
        Add(quotas->with_all_nominated, request);
      } else if (!quotas->IsOverMin(ledger_, index)) {
        Add(quotas->with_all_nominated, request);
      }
    }
  });
}

Status CapacityScheduling::AddPod(const CycleContext&, PluginState* state, const cluster::Pod& pod,
                                  cluster::NodeIndex) const {
  const uint32_t index = ledger_.QuotaOf(*pod.shape);
  if (index != QuotaLedger::kNone) {
    Add(Mutable(state).AddedTo(index), ledger_.RequestOf(*pod.shape));
  }
  return {};
}

Status CapacityScheduling::RemovePod(const CycleContext&, PluginState* state,
                                     const cluster::Pod& pod, cluster::NodeIndex) const {
  const uint32_t index = ledger_.QuotaOf(*pod.shape);
  if (index != QuotaLedger::kNone) {
    Subtract(Mutable(state).AddedTo(index), ledger_.RequestOf(*pod.shape));
  }
  return {};
}

// --- Preemption

const QuotaState& CapacityScheduling::StateOf(const framework::Cycle& cycle) const {
  const auto plugins = cycle.profile().Plugins();
  for (size_t i = 0; i < plugins.size(); ++i) {
    if (plugins[i].get() == static_cast<const framework::Plugin*>(this)) {
      return *static_cast<const QuotaState*>(cycle.state(static_cast<uint8_t>(i)));
    }
  }
  static const QuotaState kNothing;
  return kNothing;
}

std::string CapacityScheduling::NotEligible(const framework::Cycle& cycle, const Cluster& cluster,
                                            const framework::Diagnosis& diagnosis) const {
  const cluster::Pod& pod = cycle.context().pod;
  if (pod.shape->never_preempts) return "not eligible due to preemptionPolicy=Never.";
  const QuotaState& quotas = StateOf(cycle);
  if (!quotas.prepared) return "not eligible due to failed to read from cycleState";
  if (pod.nominated_node_name.empty()) return "";
  if (default_preemption::CodeOfNominated(cycle, cluster, diagnosis) ==
      framework::Code::kUnschedulableAndUnresolvable) {
    return "";
  }
  const cluster::NodeIndex n = cluster.FindNode(pod.nominated_node_name);
  if (n == cluster::kNoNode) return "";
  const bool has_quota = quotas.quota != QuotaLedger::kNone;
  const bool over_min =
      has_quota && IsOver(quotas.with_own_nominated, quotas.UsedOf(ledger_, quotas.quota),
                          ledger_.quotas()[quotas.quota].min, kNoMin);
  for (const PodId id : cluster.Record(n).pods) {
    const cluster::Pod& other = cluster.GetPod(id);
    if (!other.terminating) continue;
    const uint32_t index = ledger_.QuotaOf(*other.shape);
    if ((index != QuotaLedger::kNone) != has_quota) continue;
    if (!has_quota || index == quotas.quota) {
      if (other.shape->priority < pod.shape->priority) return std::string(kTerminating);
    } else if (!over_min && quotas.IsOverMin(ledger_, index)) {
      return std::string(kTerminating);
    }
  }
  return "";
}

Status CapacityScheduling::PotentialVictims(const framework::Cycle& cycle, const Cluster& cluster,
                                            cluster::NodeIndex node, std::vector<PodId>* pods) {
  const QuotaState& quotas = StateOf(cycle);
  const int32_t priority = cycle.context().shape.priority;
  const bool has_quota = quotas.quota != QuotaLedger::kNone;
  const bool over_min =
      has_quota && IsOver(quotas.with_own_nominated, quotas.UsedOf(ledger_, quotas.quota),
                          ledger_.quotas()[quotas.quota].min, kNoMin);
  // A victim's quota shrinks at once, and may be within its guarantee for the next pod.
  QuotaState left = quotas;
  for (const PodId id : LeastImportantFirst(cluster, cluster.Record(node).pods)) {
    const cluster::PodShape& shape = *cluster.GetPod(id).shape;
    const uint32_t index = ledger_.QuotaOf(shape);
    if ((index != QuotaLedger::kNone) != has_quota) continue;
    const bool goes = !has_quota || over_min
                          ? index == quotas.quota && shape.priority < priority
                          : index != quotas.quota && left.IsOverMin(ledger_, index);
    if (!goes) continue;
    if (has_quota) Subtract(left.AddedTo(index), ledger_.RequestOf(shape));
    pods->push_back(id);
  }
  return {};
}

void CapacityScheduling::Sort(const Cluster& cluster, std::vector<PodId>& pods) const {
  default_preemption::SortByImportance(cluster, pods);
}

Status CapacityScheduling::Allows(const framework::Cycle& cycle) {
  const QuotaState& quotas = StateOf(cycle);
  if (quotas.quota == QuotaLedger::kNone) return {};
  if (quotas.IsOverMaxWith(ledger_, quotas.request) ||
      quotas.AreAllOverMinWith(ledger_, quotas.request)) {
    return Status::Unschedulable("global quota max exceeded");
  }
  return {};
}

bool CapacityScheduling::MustGo(const framework::Cycle& cycle) {
  const QuotaState& quotas = StateOf(cycle);
  return quotas.quota != QuotaLedger::kNone &&
         (quotas.IsOverMaxWith(ledger_, quotas.with_own_nominated) ||
          quotas.AreAllOverMinWith(ledger_, quotas.with_all_nominated));
}

Status CapacityScheduling::PostFilter(framework::Cycle& cycle, Cluster& cluster,
                                      const framework::Diagnosis& diagnosis,
                                      framework::PostFilterResult* result) {
  std::vector<framework::PreemptionCandidate> candidates;
  Status status = FindCandidates(cycle, cluster, diagnosis, &candidates, result);
  return status.Ok() ? PickCandidate(cluster, candidates, result) : status;
}

Status CapacityScheduling::FindCandidates(framework::Cycle& cycle, Cluster& cluster,
                                          const framework::Diagnosis& diagnosis,
                                          std::vector<framework::PreemptionCandidate>* candidates,
                                          framework::PostFilterResult* result) {
  if (std::string why = NotEligible(cycle, cluster, diagnosis); !why.empty()) {
    return Status::Unschedulable(std::move(why));
  }
  const auto nodes = Evaluator::PotentialNodes(cycle, cluster, diagnosis);
  return evaluator_.Find(cycle, cluster, diagnosis, nodes, {0, nodes.size()}, *this, candidates,
                         result);
}

Status CapacityScheduling::PickCandidate(
    const Cluster& cluster, const std::vector<framework::PreemptionCandidate>& candidates,
    framework::PostFilterResult* result) {
  return default_preemption::Pick(cluster, candidates, &Draw, &random_, result);
}

Status CapacityScheduling::ReviewFailed(std::string_view why) const {
  return Status::Error(std::string(why));
}

// --- Construction

std::vector<framework::RegisteredEvent> CapacityScheduling::EventsToRegister(
    const config::Behaviour&) const {
  return {On(queue::EventResource::kPod, queue::kDelete),
          OnCustom(ElasticQuotaKind(), queue::kAll)};
}

cluster::PluginInputs Inputs(const config::PluginArgs&) {
  return {.kinds = {ElasticQuotaKind()}, .node_annotations = {}, .pod_annotations = {}};
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle& handle) {
  return std::make_unique<CapacityScheduling>(handle.seed);
}

}  // namespace berth::plugins::capacity_scheduling
