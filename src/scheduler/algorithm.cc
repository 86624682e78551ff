#include "scheduler/algorithm.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"
#include "base/vectorize.h"
#include "framework/classes/class_cache.h"
#include "framework/runtime/heap_choice.h"
#include "framework/runtime/nominated_filter.h"
#include "framework/runtime/num_feasible_nodes.h"

namespace berth::scheduler {
namespace {

using cluster::Cluster;
using cluster::NodeIndex;
using cluster::Pod;
using framework::Code;
using framework::Cycle;
using framework::NodeSet;
using framework::Verdict;

using RejectedBy = std::array<uint32_t, 256>;  // nodes, by plugin position

// The first error among the verdicts of rejected nodes, in order of text; empty when there is none.
// Counts who rejected them.
std::string FirstError(const Cycle& cycle, const NodeSet& rejected, RejectedBy* rejected_by) {
  std::string first;
  rejected.ForEach([&](NodeIndex n) {
    const Verdict& verdict = cycle.verdicts()[n];
    ++(*rejected_by)[verdict.plugin];
    if (verdict.code != Code::kError) return;
    std::string text = fmt::format("{}", fmt::join(cycle.Reasons(verdict), ", "));
    if (first.empty() || text < first) first = std::move(text);
  });
  return first;
}

void AddRejectingPlugins(const Cycle& cycle, const NodeSet& rejected,
                         framework::Diagnosis* diagnosis) {
  std::array<bool, 256> seen{};
  rejected.ForEach([&](NodeIndex n) {
    const Verdict& verdict = cycle.verdicts()[n];
    if (verdict.plugin == framework::kNoPlugin) return;
    const bool pending = verdict.code == Code::kPending;
    if (seen[verdict.plugin] && !pending) return;
    seen[verdict.plugin] = true;
    diagnosis->AddPlugin(verdict.code, cycle.profile().At(verdict.plugin).Name());
  });
}

BERTH_VECTORIZED int64_t HighestOfWord(const int64_t* scores) {
  int64_t highest = scores[0];
  for (size_t i = 1; i < NodeSet::kWordBits; ++i) highest = std::max(highest, scores[i]);
  return highest;
}

// As NodeSet::Count, with the processor's own instruction where it has one.
BERTH_VECTORIZED size_t CountWords(const uint64_t* words, size_t count) {
  size_t members = 0;
  for (size_t i = 0; i < count; ++i) members += static_cast<size_t>(std::popcount(words[i]));
  return members;
}
size_t CountOf(const NodeSet& set) { return CountWords(set.Words().data(), set.Words().size()); }

// REQUIRES: the set is not empty.
NodeIndex FirstOf(const NodeSet& set) {
  BERTH_DCHECK(!set.Empty());
  size_t w = 0;
  while (set.Words()[w] == 0) ++w;
  return static_cast<NodeIndex>(w * NodeSet::kWordBits +
                                static_cast<size_t>(std::countr_zero(set.Words()[w])));
}

void Reset(size_t nodes, Decision* d) {
  d->outcome = Outcome::kError;
  d->node = cluster::kNoNode;
  d->from_class = false;
  d->only_node = false;
  d->feasible.Resize(0);
  d->feasible_count = 0;
  d->evaluated_nodes = 0;
  d->nominated_first = false;
  d->scored = false;
  d->best.Resize(0);
  d->best_count = 0;
  d->total = 0;
  d->pre_filter = framework::Status();
  d->error.clear();
  framework::Diagnosis& diagnosis = d->diagnosis;
  diagnosis.num_all_nodes = nodes;
  diagnosis.rejected.Resize(0);
  diagnosis.counted.clear();
  diagnosis.absent = framework::Status();
  diagnosis.pre_filter_message.clear();
  diagnosis.post_filter_message.clear();
  diagnosis.unschedulable_plugins.clear();
  diagnosis.pending_plugins.clear();
}

// The nodes that may be chosen, before any plugin is asked.
const NodeSet& CandidatesOf(const Cycle& cycle, const Cluster& cluster) {
  return cycle.within() != nullptr ? *cycle.within() : cluster.Nodes();
}
size_t CandidateCount(const Cycle& cycle, const Cluster& cluster) {
  return cycle.within() != nullptr ? CountOf(*cycle.within()) : cluster.NodeCount();
}
bool IsCandidate(const Cycle& cycle, NodeIndex n) {
  return cycle.within() == nullptr || cycle.within()->Contains(n);
}

// The nodes a search looks at, in kube-scheduler's order.
std::vector<NodeIndex> CandidateOrder(const Cycle& cycle, const Cluster& cluster) {
  const framework::PreFilterResult& restriction = cycle.restriction();
  const std::span<const NodeIndex> order =
      restriction.all_nodes ? cluster.NodeOrder() : std::span(restriction.nodes);
  std::vector<NodeIndex> candidates;
  std::ranges::copy_if(order, std::back_inserter(candidates),
                       [&](NodeIndex n) { return IsCandidate(cycle, n); });
  return candidates;
}

// Empty sets of nodes, for a cycle that looks at them all.
void ResetSets(const Cluster& cluster, Decision* d) {
  d->feasible.Resize(cluster.Rows());
  d->best.Resize(cluster.Rows());
  d->diagnosis.rejected.Resize(cluster.Rows());
}

}  // namespace

void Algorithm::Schedule(Cycle& cycle, Cluster& cluster, const Pod& pod, Decision* decision,
                         bool score_always, const NodeSet* within) {
  const size_t nodes = within != nullptr ? CountOf(*within) : cluster.NodeCount();
  Reset(nodes, decision);
  if (nodes == 0) {
    decision->error = "no nodes available to schedule pods";
    return;
  }
  cycle.Begin(cluster, pod, within);
  const bool goes_on = RunPreFilter(cycle, decision);
  if (goes_on && !score_always && options_.classes) {
    const auto known =
        cycle.restriction().all_nodes ? &Algorithm::TryClass : &Algorithm::TryOnlyNode;
    if ((this->*known)(cycle, cluster, decision)) return;
  }
  NoteRestricting(cycle, decision);
  ResetSets(cluster, decision);
  if (!goes_on) return;
  framework::WatchedPoint filter(cycle.watch(), framework::Point::kFilter);
  const auto find = score_always ? &Algorithm::FindNodes : &Algorithm::FindLast;
  const bool found =
      FindNominated(cycle, cluster, decision) || (this->*find)(cycle, cluster, decision);
  filter.End(decision->error.empty() ? Code::kSuccess : Code::kError);
  if (found && Score(cycle, decision, score_always)) Choose(cycle, decision);
}

bool Algorithm::Begin(Cycle& cycle, Cluster& cluster, const Pod& pod, Decision* decision,
                      const NodeSet* within) {
  const size_t nodes = within != nullptr ? CountOf(*within) : cluster.NodeCount();
  Reset(nodes, decision);
  if (nodes == 0) {
    decision->error = "no nodes available to schedule pods";
    return false;
  }
  cycle.Begin(cluster, pod, within);
  const bool goes_on = RunPreFilter(cycle, decision);
  NoteRestricting(cycle, decision);
  ResetSets(cluster, decision);
  return goes_on;
}

bool Algorithm::FindNodes(Cycle& cycle, Cluster& cluster, Decision* decision) {
  NoteAbsent(cycle, decision);
  return FindLast(cycle, cluster, decision);
}

// As FindNodes, when nobody is asked about the nodes that were found, and nobody asks about others.
bool Algorithm::FindLast(Cycle& cycle, Cluster& cluster, Decision* decision) {
  Search(cycle, cluster, decision);
  if (!decision->error.empty()) return false;
  if (decision->feasible_count == 0) {
    NoteAbsent(cycle, decision);
    NoneLeft(cycle, decision);
  }
  return decision->feasible_count > 0;
}

void Algorithm::NoteRestricting(const Cycle& cycle, Decision* decision) {
  for (const uint8_t index : cycle.restricting_plugins()) {
    decision->diagnosis.unschedulable_plugins.emplace(cycle.profile().At(index).Name());
  }
}

// Why nodes were not looked at: those PreFilter left out.
void Algorithm::NoteAbsent(const Cycle& cycle, Decision* decision) {
  framework::Diagnosis& diagnosis = decision->diagnosis;
  if (cycle.restriction().all_nodes || !diagnosis.absent.Ok()) return;
  diagnosis.absent = framework::Status::Unresolvable(fmt::format(
      "node(s) didn't satisfy plugin(s) [{}]", fmt::join(diagnosis.unschedulable_plugins, " ")));
}

void Algorithm::NoneLeft(Cycle& cycle, Decision* decision) {
  decision->outcome = Outcome::kUnschedulable;
  AddRejectingPlugins(cycle, decision->diagnosis.rejected, &decision->diagnosis);
}

bool Algorithm::Score(Cycle& cycle, Decision* decision, bool always) {
  if (decision->feasible_count <= 1 && !always) return true;
  const framework::Status status = cycle.RunScore(decision->feasible);
  if (!status.Ok()) {
    decision->error = status.Message();
    return false;
  }
  decision->scored = true;
  cycle.CountScores(decision->feasible_count);
  return true;
}

void Algorithm::Choose(Cycle& cycle, Decision* decision, const NodeSet* drawn) {
  if (decision->scored) {
    ChooseBest(cycle, decision);
    decision->total = cycle.TotalScore(FirstOf(decision->best));
  } else {
    decision->best = decision->feasible;
    decision->best_count = 1;
  }
  if (!cycle.profile().GetBehaviour().tie_break_by_heap) {
    decision->node = ChooseRandom(decision->best, decision->best_count);
  } else if (decision->best_count == 1) {
    decision->node = FirstOf(decision->best);
  } else {
    size_t count = 0;
    if (drawn != nullptr) {
      candidates_ = decision->best;
      candidates_.IntersectWith(*drawn);
      count = CountOf(candidates_);
    }
    decision->node = count > 0 ? ChooseRandom(candidates_, count) : ChooseByHeap(cycle, *decision);
  }
  decision->outcome = Outcome::kScheduled;
}

NodeIndex Algorithm::ChooseRandom(const NodeSet& best, size_t count) {
  const size_t rank = random_.Below(count);
  return rank == 0 ? FirstOf(best) : best.Nth(rank);
}

NodeIndex Algorithm::ChooseByHeap(const Cycle& cycle, const Decision& decision) {
  const Cluster& cluster = cycle.context().cluster;
  const framework::PreFilterResult& restriction = cycle.restriction();
  const auto is_best = [&](NodeIndex n) { return decision.best.Contains(n); };
  if (!restriction.all_nodes || cycle.within() != nullptr) {
    const std::vector<NodeIndex> order = CandidateOrder(cycle, cluster);
    const auto is_feasible = [&](NodeIndex n) { return decision.feasible.Contains(n); };
    return framework::HeapChoice(order, search_start_ % order.size(), is_feasible, is_best);
  }
  positions_.Update(cluster);
  const auto order = positions_.Order();
  const framework::FeasibleList list(order, FeasiblePositions(cluster, decision),
                                     search_start_ % order.size());
  return framework::HeapChoice(list, decision.best_count, is_best, [&](const auto& f) {
    decision.best.ForEach([&](NodeIndex n) { f(positions_.Of(n), n); });
  });
}

// Takes off what is not feasible, or adds what is, whichever is less.
const framework::RankedSet& Algorithm::FeasiblePositions(const Cluster& cluster,
                                                         const Decision& decision) {
  const auto order = positions_.Order();
  const bool most = 2 * decision.feasible_count > order.size();
  fits_.Assign(order.size(), most);
  const auto all = cluster.Nodes().Words();
  const auto feasible = decision.feasible.Words();
  for (size_t w = 0; w < all.size(); ++w) {
    const uint64_t moved = most ? all[w] & ~feasible[w] : feasible[w];
    NodeSet::ForEachBit(moved, w, [&](NodeIndex n) { fits_.Set(positions_.Of(n), !most); });
  }
  fits_.Prepare();
  return fits_;
}

bool Algorithm::RunPreFilter(Cycle& cycle, Decision* decision) {
  framework::Diagnosis& diagnosis = decision->diagnosis;
  decision->pre_filter = cycle.RunPreFilter();
  const framework::Status& status = decision->pre_filter;
  if (status.Ok()) return true;
  if (!framework::IsRejected(status.code())) {
    decision->error = status.Message();
    return false;
  }
  decision->outcome = Outcome::kUnschedulable;
  diagnosis.absent = status;
  diagnosis.pre_filter_message = status.Message();
  diagnosis.AddPlugin(status.code(), status.plugin());
  return false;
}

// A daemon's way, which has no need of sets of all nodes. If the pod does not fit, why is told as
// always.
bool Algorithm::TryOnlyNode(Cycle& cycle, Cluster& cluster, Decision* decision) {
  const framework::PreFilterResult& restriction = cycle.restriction();
  if (restriction.nodes.size() != 1 || !cycle.context().pod.nominated_node_name.empty() ||
      cycle.plugin_watch() != nullptr || !IsCandidate(cycle, restriction.nodes.front())) {
    return false;
  }
  framework::WatchedPoint filter(cycle.watch(), framework::Point::kFilter);
  const NodeIndex n = restriction.nodes.front();
  if (!framework::FeasibleWithNominated(cycle, cluster, n)) {
    if (cycle.watch() != nullptr) cycle.watch()->StartedOver();
    return false;
  }
  filter.End(Code::kSuccess);
  cycle.CountPassed();
  decision->only_node = true;
  decision->feasible_count = 1;
  decision->evaluated_nodes = 1;
  decision->best_count = 1;
  decision->node = n;
  decision->outcome = Outcome::kScheduled;
  next_start_ = (next_start_ + 1) % CandidateCount(cycle, cluster);
  return true;
}

bool Algorithm::TryClass(Cycle& cycle, Cluster& cluster, Decision* decision) {
  if (!cycle.context().pod.nominated_node_name.empty()) return false;
  // A plugin's time is that of a look at all nodes.
  if (cycle.plugin_watch() != nullptr) return false;
  const size_t nodes = CandidateCount(cycle, cluster);
  if (NodesToFind(cycle, nodes) < nodes) return false;
  const framework::ClassAnswer* answer = cycle.classes().Find(cycle, cluster);
  if (answer == nullptr) {
    if (cycle.watch() != nullptr) cycle.watch()->StartedOver();
    return false;
  }
  decision->from_class = true;
  if (answer->feasible_count == 0) {
    NothingFits(cycle, cluster, decision);
    return true;
  }
  decision->feasible_count = answer->feasible_count;
  decision->evaluated_nodes = nodes;
  decision->scored = answer->scored;
  decision->best_count = answer->best_count;
  decision->total = answer->total;
  next_start_ %= nodes;
  decision->node = cycle.profile().GetBehaviour().tie_break_by_heap
                       ? cycle.classes().heap().Choose(*answer, cluster, next_start_)
                       : answer->Pick(random_.Below(answer->best_count));
  decision->outcome = Outcome::kScheduled;
  return true;
}

// As a scan ends when it has found nothing.
void Algorithm::NothingFits(Cycle& cycle, const Cluster& cluster, Decision* decision) {
  const size_t nodes = CandidateCount(cycle, cluster);
  // No score was wanted, as it turned out: all that happened was the search.
  if (cycle.watch() != nullptr) cycle.watch()->StartedOver();
  framework::WatchedPoint filter(cycle.watch(), framework::Point::kFilter);
  ResetSets(cluster, decision);
  framework::Diagnosis& diagnosis = decision->diagnosis;
  diagnosis.rejected = CandidatesOf(cycle, cluster);
  cycle.class_answer().Rejections().ForEach([&](const framework::VerdictCount& count) {
    diagnosis.counted.push_back(count);
    if (count.verdict.plugin == framework::kNoPlugin) return;
    diagnosis.AddPlugin(count.verdict.code, cycle.profile().At(count.verdict.plugin).Name());
  });
  decision->evaluated_nodes = nodes;
  decision->outcome = Outcome::kUnschedulable;
  next_start_ %= nodes;
  filter.End(Code::kSuccess);
}

// Preemption may have made room on one node: if the pod fits there, no other node is looked at.
bool Algorithm::FindNominated(Cycle& cycle, Cluster& cluster, Decision* decision) {
  const std::string& name = cycle.context().pod.nominated_node_name;
  if (name.empty()) return false;
  const NodeIndex n = cluster.FindNode(name);
  if (n == cluster::kNoNode || !IsCandidate(cycle, n)) return false;
  candidates_.Resize(cluster.Rows());
  candidates_.Clear();
  candidates_.Insert(n);
  const size_t word = n / NodeSet::kWordBits;
  framework::FilterWithNominated(cycle, cluster, candidates_, word, word + 1);
  ++decision->evaluated_nodes;
  cycle.CountFilters(1, RejectedBy{});
  if (candidates_.Contains(n)) {
    decision->nominated_first = true;
    decision->feasible.Insert(n);
    decision->feasible_count = 1;
    return true;
  }
  decision->diagnosis.rejected.Insert(n);
  const Verdict& verdict = cycle.verdicts()[n];
  if (verdict.plugin != framework::kNoPlugin && verdict.code != Code::kError) {
    decision->diagnosis.AddPlugin(verdict.code, cycle.profile().At(verdict.plugin).Name());
  }
  return false;
}

void Algorithm::Search(Cycle& cycle, Cluster& cluster, Decision* decision) {
  framework::Diagnosis& diagnosis = decision->diagnosis;
  const framework::PreFilterResult& restriction = cycle.restriction();
  const size_t nodes = CandidateCount(cycle, cluster);
  const size_t candidates =
      restriction.all_nodes
          ? nodes
          : static_cast<size_t>(std::ranges::count_if(
                restriction.nodes, [&](NodeIndex n) { return IsCandidate(cycle, n); }));
  const bool nominated = !cycle.context().pod.nominated_node_name.empty();  // and refused
  if (!restriction.all_nodes && restriction.nodes.size() == 1 && candidates == 1 && !nominated) {
    SearchOne(cycle, cluster, restriction.nodes.front(), decision);
    return;
  }
  const size_t evaluated_before = decision->evaluated_nodes;
  search_start_ = next_start_;
  const size_t wanted = NodesToFind(cycle, candidates);
  if (wanted < candidates) {
    SearchInOrder(cycle, cluster, wanted, decision);
  } else {
    if (restriction.all_nodes) {
      candidates_ = CandidatesOf(cycle, cluster);
    } else {
      candidates_.Resize(cluster.Rows());
      candidates_.Clear();
      for (const NodeIndex n : restriction.nodes) {
        if (IsCandidate(cycle, n)) candidates_.Insert(n);
      }
    }
    decision->feasible = candidates_;
    framework::FilterWithNominated(cycle, cluster, decision->feasible, 0,
                                   candidates_.Words().size());
    decision->feasible_count = CountOf(decision->feasible);
    decision->evaluated_nodes += candidates;
    const auto feasible = decision->feasible.Words();
    const auto all = candidates_.Words();
    const auto rejected = diagnosis.rejected.MutableWords();
    for (size_t w = 0; w < all.size(); ++w) rejected[w] |= all[w] & ~feasible[w];
  }
  next_start_ = (next_start_ + decision->feasible_count + CountOf(diagnosis.rejected)) % nodes;
  RejectedBy rejected_by{};
  decision->error = FirstError(cycle, diagnosis.rejected, &rejected_by);
  cycle.CountFilters(decision->evaluated_nodes - evaluated_before, rejected_by);
}

// Need not walk over all the others.
void Algorithm::SearchOne(Cycle& cycle, Cluster& cluster, NodeIndex n, Decision* decision) {
  const size_t word = n / NodeSet::kWordBits;
  decision->feasible.Insert(n);
  framework::FilterWithNominated(cycle, cluster, decision->feasible, word, word + 1);
  decision->feasible_count = decision->feasible.Contains(n) ? 1 : 0;
  ++decision->evaluated_nodes;
  next_start_ = (next_start_ + 1) % CandidateCount(cycle, cluster);
  RejectedBy rejected_by{};
  if (decision->feasible_count == 0) {
    decision->diagnosis.rejected.Insert(n);
    decision->error = FirstError(cycle, decision->diagnosis.rejected, &rejected_by);
  }
  cycle.CountFilters(1, rejected_by);
}

size_t Algorithm::NodesToFind(const Cycle& cycle, size_t candidates) const {
  if (cycle.profile().score.empty() && !options_.extenders_choose) return 1;
  const int32_t percentage = cycle.profile().PercentageOfNodesToScore();
  // kube-scheduler samples large clusters because it must; looking at every
  // node gives it the better answer.
  if (percentage == 0 && !options_.adaptive_sampling) return candidates;
  const auto capped =
      static_cast<int32_t>(std::min<size_t>(candidates, std::numeric_limits<int32_t>::max()));
  const int32_t wanted = framework::NumFeasibleNodesToFind(percentage, capped);
  return wanted < 0 ? candidates : static_cast<size_t>(wanted);
}

bool Algorithm::RepeatsItself(const framework::Profile& profile) const {
  const int32_t percentage = profile.PercentageOfNodesToScore();
  const bool all = percentage >= 100 || (percentage == 0 && !options_.adaptive_sampling);
  return all && next_start_ == 0 && !profile.score.empty() &&
         profile.GetBehaviour().tie_break_by_heap;
}

// Looks at nodes in kube-scheduler's order from where the last search stopped, until one more than
// `wanted` are found.
void Algorithm::SearchInOrder(Cycle& cycle, Cluster& cluster, size_t wanted, Decision* decision) {
  const framework::PreFilterResult& restriction = cycle.restriction();
  std::span<const NodeIndex> order =
      restriction.all_nodes ? cluster.NodeOrder() : std::span(restriction.nodes);
  std::vector<NodeIndex> narrowed;
  if (cycle.within() != nullptr) {
    narrowed = CandidateOrder(cycle, cluster);
    order = narrowed;
  }
  const size_t start = next_start_ % order.size();
  candidates_.Resize(cluster.Rows());
  candidates_.Clear();
  for (size_t done = 0; done < order.size();) {
    const size_t batch = std::min(order.size() - done, wanted - decision->feasible_count + 64);
    size_t first_word = std::numeric_limits<size_t>::max();
    size_t end_word = 0;
    for (size_t i = done; i < done + batch; ++i) {
      const NodeIndex n = order[(start + i) % order.size()];
      candidates_.Insert(n);
      first_word = std::min<size_t>(first_word, n / NodeSet::kWordBits);
      end_word = std::max<size_t>(end_word, n / NodeSet::kWordBits + 1);
    }
    framework::FilterWithNominated(cycle, cluster, candidates_, first_word, end_word);
    for (size_t i = done; i < done + batch; ++i) {
      const NodeIndex n = order[(start + i) % order.size()];
      ++decision->evaluated_nodes;
      if (!candidates_.Contains(n)) {
        decision->diagnosis.rejected.Insert(n);
        continue;
      }
      if (decision->feasible_count == wanted) return;
      candidates_.Erase(n);
      decision->feasible.Insert(n);
      ++decision->feasible_count;
    }
    done += batch;
  }
}

void Algorithm::ChooseBest(const Cycle& cycle, Decision* decision) {
  const framework::ScoreColumn& total = cycle.total();
  if (total.IsUniform()) {
    decision->best = decision->feasible;
    decision->best_count = decision->feasible_count;
    return;
  }
  // First the highest total of every word, so that only words which hold it are looked at again.
  const int64_t* scores = total.Dense();
  const auto feasible = decision->feasible.Words();
  int64_t highest = std::numeric_limits<int64_t>::min();
  word_best_.resize(feasible.size());
  for (size_t w = 0; w < feasible.size(); ++w) {
    word_best_[w] = std::numeric_limits<int64_t>::min();
    if (feasible[w] == ~uint64_t{0}) {
      word_best_[w] = HighestOfWord(scores + w * NodeSet::kWordBits);
    } else {
      NodeSet::ForEachBit(feasible[w], w,
                          [&](NodeIndex n) { word_best_[w] = std::max(word_best_[w], scores[n]); });
    }
    highest = std::max(highest, word_best_[w]);
  }
  for (size_t w = 0; w < feasible.size(); ++w) {
    if (word_best_[w] != highest) continue;
    NodeSet::ForEachBit(feasible[w], w, [&](NodeIndex n) {
      if (scores[n] != highest) return;
      decision->best.Insert(n);
      ++decision->best_count;
    });
  }
}

}  // namespace berth::scheduler
