#include "plugins/default_preemption/known_victims.h"

#include <algorithm>
#include <limits>

#include "cluster/objects/object_store.h"

namespace berth::plugins::default_preemption {
namespace {

using cluster::NodeIndex;
using framework::Code;

constexpr uint32_t kOnNodeItself = framework::kOnNodeObject | framework::kOnNodePods;
constexpr uint32_t kNone = UINT32_MAX;
// Shapes whose findings are kept; looking through them is part of every search.
constexpr size_t kMostTables = 16;

// When the victims of the highest priority started, the earliest of them. Not started: now.
int64_t EarliestStart(const cluster::Cluster& cluster, const Candidate& candidate) {
  int32_t highest = cluster.GetPod(candidate.victims.front()).shape->priority;
  int64_t earliest = std::numeric_limits<int64_t>::max();
  for (const cluster::PodId id : candidate.victims) {
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.shape->priority > highest) {  // a pod may have another priority than its group
      highest = pod.shape->priority;
      earliest = std::numeric_limits<int64_t>::max();
    }
    if (pod.shape->priority != highest || pod.start_time.IsZero()) continue;
    earliest = std::min(earliest, pod.start_time.UnixNano());
  }
  return earliest;
}

}  // namespace

Harm HarmOf(const cluster::Cluster& cluster, const Candidate& candidate) {
  Harm harm;
  harm.pdb_violations = candidate.pdb_violations;
  harm.victims = candidate.victims.size();
  if (candidate.victims.empty()) return harm;
  harm.highest_priority = cluster.GetPod(candidate.victims.front()).shape->priority;
  for (const cluster::PodId id : candidate.victims) {
    // Shifted so that every victim counts, those of negative priority too.
    harm.sum_of_priorities += int64_t{cluster.GetPod(id).shape->priority} + (int64_t{1} << 31);
  }
  harm.ran_since = ~EarliestStart(cluster, candidate);  // as negated, without overflow
  return harm;
}

// Findings for the pods of one shape.
struct KnownVictims::Table {
  uint32_t shape = 0;
  uint64_t serial = 0;
  uint64_t last_use = 0;
  std::vector<uint8_t> filters;   // that concerned the pods
  std::vector<uint32_t> slot_of;  // by row; kNone: nothing is known
  std::deque<Finding> findings;   // a deque: what was handed out stays where it is
  std::vector<uint32_t> free;

  // True: something was known.
  bool Forget(NodeIndex row) {
    if (row >= slot_of.size() || slot_of[row] == kNone) return false;
    free.push_back(slot_of[row]);
    slot_of[row] = kNone;
    return true;
  }
  size_t Known() const { return findings.size() - free.size(); }
};

KnownVictims::KnownVictims() = default;
KnownVictims::~KnownVictims() = default;

void KnownVictims::Clear() {
  tables_.clear();
  held_ = 0;
}

// Shapes come and go; those of pods that do not preempt any more are given up.
void KnownVictims::MakeRoom() {
  while (tables_.size() > 1 && (tables_.size() >= kMostTables || held_ >= kMostFindings)) {
    const auto oldest =
        std::min_element(tables_.begin(), tables_.end(),
                         [](const auto& a, const auto& b) { return a->last_use < b->last_use; });
    held_ -= (*oldest)->Known();
    tables_.erase(oldest);
  }
}

KnownVictims::Table& KnownVictims::TableFor(const cluster::PodShape& shape) {
  const auto it = std::find_if(tables_.begin(), tables_.end(), [&](const auto& table) {
    return table->shape == shape.id && table->serial == shape.serial;
  });
  Table* table = it == tables_.end() ? nullptr : it->get();
  if (table != nullptr && table->filters != filters_) {
    held_ -= table->Known();
    tables_.erase(it);
    table = nullptr;
  }
  if (table == nullptr) {
    MakeRoom();
    table = tables_.emplace_back(std::make_unique<Table>()).get();
    table->shape = shape.id;
    table->serial = shape.serial;
    table->filters = filters_;
  }
  table->last_use = ++clock_;
  return *table;
}

// False: this pod's dry runs depend on more than can be followed.
bool KnownVictims::BeginKept(const framework::Cycle& cycle, const cluster::Cluster& cluster,
                             const DisruptionBudgets& budgets) {
  if (!enabled_) return false;
  const framework::Profile& profile = cycle.profile();
  const auto on_node_itself = [&](uint8_t index) {
    return (profile.At(index).DependsOn() & ~kOnNodeItself) == 0;
  };
  filters_.clear();
  for (const auto& [plugin, index] : profile.filter) {
    if (cycle.FilterSkipped(index)) continue;
    if (!on_node_itself(index)) return false;
    filters_.push_back(index);
  }
  for (const auto& [plugin, index] : profile.pre_filter) {
    if (cycle.FilterSkipped(index) || !plugin->HasExtensions()) continue;
    if (!on_node_itself(index)) return false;
  }
  bool current = cluster_ == &cluster && budgets_ == budgets.Generation();
  if (current) {
    current = cluster.Changes().ForEachSince(position_, [&](NodeIndex row) {
      for (const auto& table : tables_) held_ -= table->Forget(row) ? 1 : 0;
    });
  }
  if (!current) Clear();
  cluster_ = &cluster;
  budgets_ = budgets.Generation();
  current_ = &TableFor(cycle.context().shape);
  if (current_->slot_of.size() < cluster.Rows()) current_->slot_of.resize(cluster.Rows(), kNone);
  return true;
}

KnownVictims::Search::Search(KnownVictims& known, framework::Cycle& cycle,
                             cluster::Cluster& cluster, const DisruptionBudgets& budgets,
                             const UnitRules& rules)
    : known_(known), cycle_(cycle), cluster_(cluster), dry_run_(cycle, cluster, budgets, rules) {
  known_.passing_.clear();
  // Groups may have pods on other nodes, which are evicted too.
  const bool groups = rules.groups && cluster.Objects().pod_groups.Size() > 0;
  kept_ = !groups && known_.BeginKept(cycle, cluster, budgets);
}

KnownVictims::Search::~Search() {
  if (kept_) known_.position_ = cluster_.Changes().Read();
}

const Finding& KnownVictims::Search::LookAt(NodeIndex node) {
  const cluster::Nominations& nominations = cluster_.Nominated();
  Table* table = known_.current_;
  const bool keep =
      kept_ && (nominations.Empty() || nominations.On(cluster_.Record(node).name) == nullptr);
  if (keep && table->slot_of[node] != kNone) {
    ++known_.statistics_.reused;
    return table->findings[table->slot_of[node]];
  }
  return DryRunOn(node, keep);
}

const Finding& KnownVictims::Search::DryRunOn(NodeIndex node, bool keep) {
  Table* table = known_.current_;
  ++known_.statistics_.dry_runs;
  Finding finding;
  finding.is_candidate = dry_run_.SelectVictims(node, &finding.candidate, &finding.why);
  if (finding.is_candidate) finding.harm = HarmOf(cluster_, finding.candidate);
  // The words of an error belong to its cycle.
  keep = keep && finding.why.verdict.code != Code::kError && known_.held_ < kMostFindings;
  if (!keep) return known_.passing_.emplace_back(std::move(finding));
  ++known_.held_;
  if (table->free.empty()) {
    table->slot_of[node] = static_cast<uint32_t>(table->findings.size());
    return table->findings.emplace_back(std::move(finding));
  }
  table->slot_of[node] = table->free.back();
  table->free.pop_back();
  return table->findings[table->slot_of[node]] = std::move(finding);
}

}  // namespace berth::plugins::default_preemption
