#include "plan/consolidate.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/random.h"
#include "cluster/transaction.h"
#include "plan/budgets.h"
#include "plan/disruption.h"
#include "plan/drain.h"
#include "plan/gangs.h"

namespace berth::plan {
namespace {

using cluster::NodeIndex;
using cluster::PodId;

struct Candidate {
  std::string name;
  NodeIndex node;
  double worth;  // its value less the cost of its evictions
  double cost;   // disruption for each unit of value
  int64_t pods;  // that would be evicted
};

class Search {
 public:
  Search(Inventory& inventory, Mover& mover, const ConsolidateOptions& options)
      : inventory_(inventory),
        cluster_(inventory.cluster()),
        mover_(mover),
        options_(options),
        budgets_(cluster_),
        gangs_(inventory),
        random_(options.seed) {
    DisruptionCost disruption(inventory_, options.lose_local_data);
    for (const std::string& name : options.candidates) {
      const NodeIndex node = cluster_.FindNode(name);
      if (!disruption.MayGo(node)) continue;
      const double value = options.value ? options.value(*inventory_.FindNode(name)) : 1;
      const auto cost = static_cast<double>(disruption.Of(node));
      const double worth = value - options.eviction_cost * cost / kOrdinaryPod;
      if (worth > 0) candidates_.push_back({name, node, worth, cost / value, PodsOf(node)});
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return std::tie(a.cost, a.name) < std::tie(b.cost, b.name);
    });
    chosen_.resize(candidates_.size());
  }

  // The names of the best set, in the order in which they were tried.
  std::vector<std::string> Run() {
    const uint64_t begin = mover_.Placements();
    last_placement_ = begin + options_.max_placements;
    ChooseLongestPrefix(Sweep());
    for (bool better = true; better && MayGoOn();) {
      better = Extend(InOrder());
      for (int round = 0; !better && round < kShuffles && MayGoOn(); ++round) better = Swap();
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (chosen_[i]) names.push_back(candidates_[i].name);
    }
    return names;
  }

 private:
  static constexpr int kShuffles = 8;
  static constexpr double kSmallest = 1e-9;  // difference of worth

  static constexpr double kOrdinaryPod = 10;  // its disruption

  int64_t PodsOf(NodeIndex node) const {
    const auto& pods = cluster_.Record(node).pods;
    return std::count_if(pods.begin(), pods.end(), [&](PodId id) {
      return inventory_.Facts(cluster_.GetPod(id)).fate != Fate::kStays;
    });
  }

  bool MayGoOn() {
    return mover_.Placements() < last_placement_ && (!options_.go_on || options_.go_on(trials_));
  }

  double WorthOf(const std::vector<bool>& set) const {
    double worth = 0;
    for (size_t i = 0; i < set.size(); ++i) worth += set[i] ? candidates_[i].worth : 0;
    return worth;
  }

  std::vector<size_t> InOrder() const {
    std::vector<size_t> order(candidates_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    return order;
  }

  std::vector<size_t> Shuffled() {
    std::vector<size_t> order = InOrder();
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.Below(i)]);
    return order;
  }

  // Empties node after node, the cheapest first, each if what is on it by then has a place on the
  // nodes that remain. One pass costs little more than the moves themselves, but pods may move
  // more than once, which the plan does not do: what it finds is tried again as a set.
  std::vector<size_t> Sweep() {
    std::vector<size_t> emptied;
    cluster::NodeSet remaining = cluster_.Nodes();
    mover_.Restart();
    mover_.Restrict(&remaining);
    int64_t moves = 0;
    {
      cluster::Transaction all(cluster_);
      for (size_t i = 0; i < candidates_.size() && MayGoOn(); ++i) {
        const Candidate& candidate = candidates_[i];
        if (candidate.pods > options_.max_moves - moves) continue;
        remaining.Erase(candidate.node);
        const Mover::Mark mark = mover_.Now();
        cluster::Transaction one(cluster_);
        int64_t again = INT64_MIN;  // moves of a pod that came to the node do not count
        if (Empty(candidate.node, &again)) {
          one.Commit();
          emptied.push_back(i);
          moves += candidate.pods;
        } else {
          mover_.Forget(mark);
          one.Rollback();
          remaining.Insert(candidate.node);
          budgets_.Reset();
        }
      }
      mover_.Forget();
    }
    mover_.Restrict(nullptr);
    budgets_.Reset();
    return emptied;
  }

  // As many of `nodes`, in their order, as can go together. Mostly all or nearly all can, so the
  // first trials leave out few; what is between the best of them and the next is bisected for as
  // long as the search may go on.
  void ChooseLongestPrefix(const std::vector<size_t>& nodes) {
    const auto prefix = [&](size_t length) {
      std::vector<bool> set(candidates_.size(), false);
      for (size_t i = 0; i < length; ++i) set[nodes[i]] = true;
      return set;
    };
    size_t fits = nodes.size();
    size_t fails = nodes.size() + 1;
    for (size_t less = std::max<size_t>(1, nodes.size() / 256); fits > 0; less *= 4) {
      if (Feasible(prefix(fits))) break;
      fails = fits;
      fits -= std::min(fits, less);
    }
    while (fails - fits > 1 && MayGoOn()) {
      const size_t middle = fits + (fails - fits) / 2;
      (Feasible(prefix(middle)) ? fits : fails) = middle;
    }
    chosen_ = prefix(fits);
  }

  // Adds nodes in the given order while the set stays feasible. True: at least one was added.
  bool Extend(const std::vector<size_t>& order) {
    bool added = false;
    for (const size_t i : order) {
      if (chosen_[i] || !MayGoOn()) continue;
      std::vector<bool> set = chosen_;
      set[i] = true;
      if (!Feasible(set)) continue;
      chosen_ = std::move(set);
      added = true;
    }
    return added;
  }

  // Gives one chosen node back and tries to get two others for it. True: it worked.
  bool Swap() {
    const std::vector<bool> before = chosen_;
    const double worth = WorthOf(before);
    for (const size_t out : Shuffled()) {
      if (!before[out] || !MayGoOn()) continue;
      chosen_ = before;
      chosen_[out] = false;
      std::vector<size_t> order = Shuffled();
      std::erase(order, out);
      order.push_back(out);
      Extend(order);
      if (WorthOf(chosen_) > worth + kSmallest) return true;
    }
    chosen_ = before;
    return false;
  }

  // Whether all nodes of the set can go. The cluster is as before.
  bool Feasible(const std::vector<bool>& set) {
    ++trials_;
    mover_.Restart();
    Cordon(set, true);
    bool fits = true;
    {
      cluster::Transaction trial(cluster_);
      int64_t moves = 0;
      for (size_t i = 0; fits && i < set.size(); ++i) {
        if (set[i]) fits = Empty(candidates_[i].node, &moves);
      }
      mover_.Forget();
    }
    budgets_.Reset();
    Cordon(set, false);
    return fits;
  }

  void Cordon(const std::vector<bool>& set, bool cordoned) {
    for (size_t i = 0; i < set.size(); ++i) {
      if (set[i]) inventory_.SetCordoned(candidates_[i].name, cordoned);
    }
  }

  bool Empty(NodeIndex node, int64_t* moves) {
    std::string why;
    for (const PodId id : EvictionOrder(cluster_, node)) {
      const cluster::Pod& pod = cluster_.GetPod(id);
      if (inventory_.Facts(pod).fate == Fate::kStays) continue;
      if (++*moves > options_.max_moves || !gangs_.MayLeave(pod, &why)) return false;
      if (!budgets_.Take(pod, &why)) return false;
      mover_.Evict(id);
      const Landing landing = mover_.Place(id, /*may_preempt=*/false, /*explain=*/false);
      if (landing.node == cluster::kNoNode) return false;
      budgets_.Return(pod);
    }
    return true;
  }

  Inventory& inventory_;
  cluster::Cluster& cluster_;
  Mover& mover_;
  const ConsolidateOptions& options_;
  Budgets budgets_;
  const Gangs gangs_;
  Random random_;
  std::vector<Candidate> candidates_;  // cheapest first
  std::vector<bool> chosen_;           // a feasible set
  size_t trials_ = 0;
  uint64_t last_placement_ = 0;
};

}  // namespace

Plan PlanConsolidation(Inventory& inventory, Mover& mover, const ConsolidateOptions& options) {
  const std::vector<std::string> nodes = Search(inventory, mover, options).Run();
  Plan plan = PlanDrain(inventory, mover, nodes);
  plan.question = "consolidate";
  return plan;
}

}  // namespace berth::plan
