#include "scheduler/engine/batching.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "config/minor_rules.h"

namespace berth::scheduler {
namespace {

using cluster::NodeIndex;
using framework::Cycle;
using framework::NodeSet;

constexpr int64_t kMaxAgeNs = 500'000'000;

// A step of batching, for the observer.
class Step {
 public:
  Step(EngineObserver* observer, std::string_view profile, BatchStep step)
      : observer_(observer), profile_(profile), step_(step) {
    if (observer_ != nullptr) observer_->BatchStepBegan(step_);
  }
  ~Step() {
    if (observer_ != nullptr) observer_->BatchStepEnded(profile_, step_, hinted_);
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  void SetHinted(bool hinted) { hinted_ = hinted; }

 private:
  EngineObserver* const observer_;
  const std::string_view profile_;
  const BatchStep step_;
  bool hinted_ = false;
};

}  // namespace

Batching::Batching(PodSigner signer, std::string profile, EngineObserver* observer)
    : signer_(std::move(signer)), profile_(std::move(profile)), observer_(observer) {}

NodeIndex Batching::FindHint(Cycle& cycle, cluster::Cluster& cluster, uint64_t number,
                             const api::Time& now, bool watched) {
  number_ = number;
  watched_ = watched;
  rescores_ = config::MinorRulesOf(cycle.profile().GetBehaviour()).batches_rescore;
  signature_ = signer_.Sign(cluster, cycle.context().pod);
  Step step(watched ? observer_ : nullptr, profile_, BatchStep::kGetHint);
  hint_ = TakeHint(cycle, cluster, now);
  step.SetHinted(hint_ != cluster::kNoString);
  if (hint_ != cluster::kNoString) return cluster.FindNode(hint_);
  if (observer_ != nullptr) observer_->BatchAttempted(profile_, BatchAttempt::kNoHint);
  return cluster::kNoNode;
}

cluster::StringId Batching::TakeHint(Cycle& cycle, cluster::Cluster& cluster,
                                     const api::Time& now) {
  if (!ranking_ || ranking_->nodes.empty()) return cluster::kNoString;
  if (!IsUsable(cycle.context().pod, now)) return cluster::kNoString;
  const NodeIndex last = cluster.FindNode(last_node_);
  if (last == cluster::kNoNode) {
    Flush("node_missing");
    return cluster::kNoString;
  }
  // Without nominated pods, as kube-scheduler does it.
  const bool fits = cycle.FilterOne(last);
  const bool rejected = !fits && framework::IsRejected(cycle.verdicts()[last].code);
  if (!rejected && !rescores_) {
    Flush("node_not_full");
  } else if (!rejected && !fits) {
    Flush("filter_error");
  } else if (rejected || RankLastAgain(cycle, cluster, last)) {
    return Pop(ranking_->nodes).node;
  }
  return cluster::kNoString;
}

bool Batching::IsUsable(const cluster::Pod& pod, const api::Time& now) {
  if (number_ != last_number_ + 1) return Flush("pod_skipped");
  if (rescores_ && !pod.nominated_node_name.empty()) return Flush("pod_nominated");
  if (signature_.empty() || signature_ != ranking_->signature) return Flush("pod_incompatible");
  if (now.UnixNano() > ranking_->made_ns + kMaxAgeNs) return Flush("expired");
  return true;
}

// The ranking stays: only the next Store replaces it.
bool Batching::Flush(std::string_view reason) {
  if (observer_ != nullptr) observer_->BatchFlushed(profile_, reason);
  return false;
}

bool Batching::RankLastAgain(Cycle& cycle, const cluster::Cluster& cluster, NodeIndex last) {
  Step step(watched_ ? observer_ : nullptr, profile_, BatchStep::kRescore);
  if (observer_ != nullptr) observer_->BatchRescored(profile_);
  std::vector<Ranked> nodes = ranking_->nodes;
  nodes.push_back({last_node_, 0});
  NodeSet candidates;
  candidates.Resize(cluster.Rows());
  for (const Ranked& ranked : nodes) {
    const NodeIndex n = cluster.FindNode(ranked.node);
    if (n == cluster::kNoNode) return Flush("node_missing");
    candidates.Insert(n);
  }
  BERTH_DCHECK(candidates.Contains(last));
  if (!cycle.RunScore(candidates).Ok()) return Flush("rescore_error");
  for (Ranked& ranked : nodes) ranked.total = cycle.TotalScore(cluster.FindNode(ranked.node));
  MakeHeap(nodes);
  ranking_->nodes = std::move(nodes);
  return true;
}

void Batching::Store(Cycle& cycle, const Decision& decision, size_t start, const api::Time& now,
                     bool watched) {
  Step step(watched ? observer_ : nullptr, profile_, BatchStep::kStore);
  last_number_ = number_;
  last_node_ = cycle.context().cluster.Record(decision.node).name;
  if (hint_ != cluster::kNoString) {
    const bool used = hint_ == last_node_;
    if (observer_ != nullptr) {
      observer_->BatchAttempted(profile_,
                                used ? BatchAttempt::kHintUsed : BatchAttempt::kHintNotUsed);
    }
    if (used) return;
  }
  ranking_.reset();
  if (decision.feasible_count <= 1) {
    Flush("empty_list");
  } else if (signature_.empty()) {
    Flush("pod_not_batchable");
  } else {
    KeepOthers(cycle, decision, start, now);
  }
}

void Batching::KeepOthers(const Cycle& cycle, const Decision& decision, size_t start,
                          const api::Time& now) {
  const cluster::Cluster& cluster = cycle.context().cluster;
  const framework::PreFilterResult& restriction = cycle.restriction();
  const std::span<const NodeIndex> order =
      restriction.all_nodes ? cluster.NodeOrder() : std::span(restriction.nodes);
  Ranking ranking{signature_, {}, now.UnixNano()};
  ranking.nodes.reserve(decision.feasible_count);
  for (size_t i = 0; i < order.size(); ++i) {
    const NodeIndex n = order[(start + i) % order.size()];
    if (!decision.feasible.Contains(n)) continue;
    ranking.nodes.push_back(
        {cluster.Record(n).name, decision.scored ? cycle.TotalScore(n) : int64_t{0}});
  }
  MakeHeap(ranking.nodes);
  const Ranked chosen = Pop(ranking.nodes);
  BERTH_DCHECK(chosen.node == last_node_);
  static_cast<void>(chosen);
  ranking_ = std::move(ranking);
}

// --- container/heap

namespace {

// Moves the node at `i` down among the first `size`.
template <class T>
void SiftDown(std::vector<T>& nodes, size_t i, size_t size) {
  for (size_t child = 2 * i + 1; child < size; child = 2 * i + 1) {
    if (child + 1 < size && nodes[child + 1].total > nodes[child].total) ++child;
    if (nodes[child].total <= nodes[i].total) return;
    std::swap(nodes[i], nodes[child]);
    i = child;
  }
}

}  // namespace

void Batching::MakeHeap(std::vector<Ranked>& nodes) {
  for (size_t i = nodes.size() / 2; i-- > 0;) SiftDown(nodes, i, nodes.size());
}

Batching::Ranked Batching::Pop(std::vector<Ranked>& nodes) {
  std::swap(nodes.front(), nodes.back());
  SiftDown(nodes, 0, nodes.size() - 1);
  const Ranked top = nodes.back();
  nodes.pop_back();
  return top;
}

}  // namespace berth::scheduler
