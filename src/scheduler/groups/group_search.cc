// The search of GroupAlgorithm: where the pods in their order do not find places, the hardest are
// placed first, and a pod that cannot be placed has those before it try other nodes.
//
// A depth-first search over nodes, bounded by the number of pods it may place. Every pod is placed
// by a decision of its own, beside those before it, so what the search finds is as valid as what
// the plain order finds.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "cluster/transaction.h"
#include "scheduler/groups/group_algorithm.h"

namespace berth::scheduler {
namespace {

using cluster::PodId;
using cluster::PodShape;
using framework::Code;
using framework::NodeSet;
using framework::PlacementProgress;
using framework::PodGroupInfo;
using framework::Status;

// Calls f(resource, amount) for what the pod asks for.
template <class F>
void ForEachAmount(const PodShape& shape, F&& f) {
  const cluster::Amounts& amounts = shape.fit;
  f(cluster::kCpu, amounts.cpu);
  f(cluster::kMemory, amounts.memory);
  f(cluster::kEphemeralStorage, amounts.ephemeral_storage);
  for (const auto& [resource, amount] : amounts.scalars) f(resource, amount);
}

struct Hardness {
  size_t nodes = 0;   // that would take the pod now
  double demand = 0;  // of the resource it needs most of, as a share of the group's largest need
};

}  // namespace

// The pods of a shape are next to each other.
std::vector<PodId> GroupAlgorithm::HardestFirst(const PodGroupInfo& info, const NodeSet* within) {
  std::map<cluster::ResourceId, int64_t> largest;
  std::map<const PodShape*, Hardness> shapes;
  for (const PodId id : info.unscheduled) {
    const PodShape& shape = *cluster_.GetPod(id).shape;
    if (!shapes.try_emplace(&shape).second) continue;
    ForEachAmount(shape, [&](cluster::ResourceId resource, int64_t amount) {
      int64_t& most = largest[resource];
      most = std::max(most, amount);
    });
  }
  std::vector<PodId> order(info.unscheduled.begin(), info.unscheduled.end());
  for (const PodId id : order) {
    const PodShape& shape = *cluster_.GetPod(id).shape;
    Hardness& own = shapes[&shape];
    if (own.demand > 0) continue;
    attempt_.Begin(cycle_, cluster_, id);
    decider_.Decide(attempt_, within);
    own.nodes = attempt_.decision().feasible_count;
    own.demand = 1e-9;  // known from now on
    ForEachAmount(shape, [&](cluster::ResourceId resource, int64_t amount) {
      if (amount <= 0) return;
      own.demand = std::max(own.demand,
                            static_cast<double>(amount) / static_cast<double>(largest[resource]));
    });
  }
  std::ranges::stable_sort(order, [&](PodId a, PodId b) {
    const PodShape& shape_a = *cluster_.GetPod(a).shape;
    const PodShape& shape_b = *cluster_.GetPod(b).shape;
    const Hardness& hard_a = shapes[&shape_a];
    const Hardness& hard_b = shapes[&shape_b];
    if (hard_a.nodes != hard_b.nodes) return hard_a.nodes < hard_b.nodes;
    if (hard_a.demand != hard_b.demand) return hard_a.demand > hard_b.demand;
    return shape_a.serial < shape_b.serial;
  });
  return order;
}

// One run of the search. Each pod of the order has a choice: a node, or none.
class GroupAlgorithm::Hunt {
 public:
  Hunt(GroupAlgorithm& algorithm, const PodGroupInfo& info, const NodeSet* within,
       PlacementProgress progress)
      : algorithm_(algorithm),
        info_(info),
        order_(algorithm.HardestFirst(info, within)),
        all_(within != nullptr ? *within : algorithm.cluster_.Nodes()),
        progress_(progress),
        steps_(algorithm.search_steps_) {}

  // True: `search` has as many pods with nodes as the group needs, and they are placed. False:
  // nothing was found within the steps, and nothing is placed.
  bool Run(Search* search) {
    while (!IsSatisfied()) {
      const bool forward = choices_.empty() || choices_.back().settled;
      if (forward && choices_.size() < order_.size()) {
        Open();
      } else if (forward && !BackUp()) {
        return false;
      }
      while (!Settle()) {
        if (failed_ || !BackUp()) return TakeAllBack();
      }
    }
    for (auto choice = choices_.rbegin(); choice != choices_.rend(); ++choice) {
      if (choice->placed != nullptr) choice->placed->Commit();
    }
    for (Choice& choice : choices_) {
      if (choice.placed != nullptr) search->members.push_back(std::move(choice.member));
    }
    search->kept = std::move(search_.kept);
    return true;
  }

  PlacementProgress progress() const { return progress_; }

 private:
  struct Choice {
    NodeSet allowed;       // nodes that were not tried in vain
    bool settled = false;  // the pod has a node, or does without
    MemberResult member;
    std::unique_ptr<cluster::Transaction> placed;  // null: without
  };

  const PodShape* ShapeAt(size_t i) const { return algorithm_.cluster_.GetPod(order_[i]).shape; }
  bool IsSatisfied() const {
    return std::ranges::any_of(choices_, [](const Choice& c) { return c.placed != nullptr; }) &&
           choices_.back().settled && algorithm_.Feasible(info_, progress_).Ok();
  }

  // Pods of one shape stand for each other: what one has tried in vain the next need not try.
  void Open() {
    const size_t i = choices_.size();
    const bool alike = i > 0 && ShapeAt(i) == ShapeAt(i - 1);
    NodeSet allowed = alike ? choices_[i - 1].allowed : all_;
    choices_.emplace_back().allowed = std::move(allowed);
  }

  // Finds the last pod its next node. False: there is none, and it cannot be done without.
  bool Settle() {
    Choice& choice = choices_.back();
    if (choice.allowed.Empty()) return DoWithout();
    if (steps_-- <= 0) {
      failed_ = true;
      return false;
    }
    choice.placed = std::make_unique<cluster::Transaction>(algorithm_.cluster_);
    const bool all = choice.allowed.Count() == algorithm_.cluster_.NodeCount();
    const PodId pod = order_[choices_.size() - 1];
    choice.member = algorithm_.PlaceMember(pod, all ? nullptr : &choice.allowed);
    if (choice.member.status.Ok()) {
      algorithm_.KeepState(choice.member, &search_);
      ++progress_.scheduled;
      --progress_.remaining;
      choice.settled = true;
      return true;
    }
    choice.placed.reset();
    failed_ = !choice.member.status.IsRejected();
    if (failed_) return false;
    choice.allowed.Clear();
    return DoWithout();
  }

  bool DoWithout() {
    --progress_.remaining;
    if (algorithm_.Feasible(info_, progress_).code() == Code::kUnschedulable) {
      ++progress_.remaining;
      return false;
    }
    choices_.back().settled = true;
    return true;
  }

  // Takes back choices until one has had a node and may have another. False: there is none.
  bool BackUp() {
    while (!choices_.empty()) {
      Choice& choice = choices_.back();
      if (choice.settled) ++progress_.remaining;
      choice.settled = false;
      if (choice.placed != nullptr) {
        TakeBack();
        return true;
      }
      choices_.pop_back();
    }
    return false;
  }

  // The node of the last pod.
  void TakeBack() {
    Choice& choice = choices_.back();
    --progress_.scheduled;
    algorithm_.UnreserveLast(choice.member, &search_);
    choice.placed.reset();
    choice.allowed.Erase(choice.member.node);
  }

  bool TakeAllBack() {
    for (; !choices_.empty(); choices_.pop_back()) {
      if (choices_.back().placed != nullptr) TakeBack();
    }
    return false;
  }

  GroupAlgorithm& algorithm_;
  const PodGroupInfo& info_;
  const std::vector<PodId> order_;
  const NodeSet all_;
  PlacementProgress progress_;
  int64_t steps_;
  bool failed_ = false;  // no steps are left, or a plugin has failed
  Search search_;        // has the states that are kept
  std::vector<Choice> choices_;
};

bool GroupAlgorithm::RunSearch(const PodGroupInfo& info, const NodeSet* within,
                               PlacementProgress start, Search* search) {
  cluster::Transaction trial(cluster_);
  Hunt hunt(*this, info, within, start);
  if (!hunt.Run(search)) return false;
  // The pods beyond the minimum take what is left.
  std::vector<PodId> others;
  for (const PodId pod : info.unscheduled) {
    const auto& members = search->members;
    if (std::ranges::find(members, pod, &MemberResult::pod) == members.end()) {
      others.push_back(pod);
    }
  }
  search->status = {};
  search->any_scheduled = true;
  PlacementProgress progress = hunt.progress();
  progress.remaining = static_cast<int64_t>(others.size());
  PlaceMembers({info.group, others}, within, progress, search);
  TakeBack(search);
  return search->status.Ok();
}

}  // namespace berth::scheduler
