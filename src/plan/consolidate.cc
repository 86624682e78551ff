#include "plan/consolidate.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "cluster/transaction.h"
#include "plan/budgets.h"
#include "plan/drain.h"

namespace berth::plan {
namespace {

using cluster::NodeIndex;
using cluster::PodId;

struct Candidate {
  std::string name;
  NodeIndex node;
  int64_t disruption;
};

class Search {
 public:
  Search(Inventory& inventory, Mover& mover, const ConsolidateOptions& options)
      : inventory_(inventory),
        cluster_(inventory.cluster()),
        mover_(mover),
        options_(options),
        budgets_(cluster_),
        random_(options.seed) {
    for (const std::string& name : options.candidates) {
      const NodeIndex node = cluster_.FindNode(name);
      if (MayGo(node)) candidates_.push_back({name, node, Disruption(inventory_, node)});
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair(a.disruption, a.name) < std::pair(b.disruption, b.name);
    });
    chosen_.resize(candidates_.size());
  }

  // The names of the best set.
  std::vector<std::string> Run() {
    LongestPrefix();
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

  // A node may go when nothing on it forbids that by itself.
  bool MayGo(NodeIndex node) const {
    const auto& pods = cluster_.Record(node).pods;
    return std::all_of(pods.begin(), pods.end(), [&](PodId id) {
      const PodFacts& facts = inventory_.Facts(cluster_.GetPod(id));
      return facts.fate == Fate::kStays ||
             (facts.fate == Fate::kReplaced && facts.protected_by.empty());
    });
  }

  bool MayGoOn() { return !options_.go_on || options_.go_on(trials_); }

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

  // The cheapest nodes, as many of them as can go together: found by bisection.
  void LongestPrefix() {
    size_t fits = 0;
    size_t fails = candidates_.size() + 1;
    while (fails - fits > 1 && MayGoOn()) {
      const size_t middle = fits + (fails - fits) / 2;
      std::vector<bool> set(candidates_.size(), false);
      std::fill_n(set.begin(), middle, true);
      (Feasible(set) ? fits : fails) = middle;
    }
    std::fill_n(chosen_.begin(), fits, true);
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
    const auto size = std::count(before.begin(), before.end(), true);
    for (const size_t out : Shuffled()) {
      if (!before[out] || !MayGoOn()) continue;
      chosen_ = before;
      chosen_[out] = false;
      std::vector<size_t> order = Shuffled();
      std::erase(order, out);
      order.push_back(out);
      Extend(order);
      if (std::count(chosen_.begin(), chosen_.end(), true) > size) return true;
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
      if (++*moves > options_.max_moves || !budgets_.Take(pod, &why)) return false;
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
  Random random_;
  std::vector<Candidate> candidates_;  // cheapest first
  std::vector<bool> chosen_;           // a feasible set
  size_t trials_ = 0;
};

}  // namespace

Plan PlanConsolidation(Inventory& inventory, Mover& mover, const ConsolidateOptions& options) {
  std::vector<std::string> nodes = Search(inventory, mover, options).Run();
  // The order of the trials: what lands where depends on it.
  std::stable_sort(nodes.begin(), nodes.end(), [&](const std::string& a, const std::string& b) {
    const auto cost = [&](const std::string& name) {
      return std::pair(Disruption(inventory, inventory.cluster().FindNode(name)), name);
    };
    return cost(a) < cost(b);
  });
  Plan plan = PlanDrain(inventory, mover, nodes);
  plan.question = "consolidate";
  return plan;
}

}  // namespace berth::plan
