// Requests low enough for the nodes that would fit but for them.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "explain/suggester.h"

namespace berth::explain {
namespace {

using cluster::NodeIndex;

constexpr int64_t kMebi = int64_t{1} << 20;
constexpr size_t kMaxParts = 32;    // replicas that could share a node
constexpr size_t kMaxTargets = 64;  // amounts to choose from, for several replicas

int64_t Rounded(const std::string& resource, int64_t amount) {
  const bool bytes = resource == "memory" || resource == "ephemeral-storage";
  return bytes && amount >= kMebi ? amount / kMebi * kMebi : amount;
}

}  // namespace

std::vector<Suggester::Demand> Suggester::Demands(const PodEdit& edit) const {
  api::Pod pod = workload_.pod().pod;
  if (edit) edit(pod);
  const auto snapshot = cluster_.Snapshot(pod);
  const cluster::Amounts& fit = snapshot->shape->fit;
  std::vector<Demand> demands;
  const auto add = [&](std::string_view resource, int64_t amount) {
    if (amount > 0) demands.push_back({std::string(resource), amount});
  };
  add("cpu", fit.cpu);
  add("memory", fit.memory);
  add("ephemeral-storage", fit.ephemeral_storage);
  for (const auto& [id, amount] : fit.scalars) add(cluster_.Resources().Name(id), amount);
  return demands;
}

// What the node would have left without the workload's own pods.
int64_t Suggester::Free(const Demand& demand, NodeIndex n) const {
  const cluster::ResourceColumn* column =
      cluster_.Resource(cluster_.Resources().Find(demand.resource));
  if (column == nullptr) return 0;
  int64_t free = column->allocatable[n] - column->requested[n];
  for (const Workload::Member& member : workload_.members) {
    if (member.placed && cluster_.GetPod(member.id).node == n) free += demand.amount;
  }
  return free;
}

void Suggester::Requests(const Also& also) {
  if (!now_.rejected_by.contains("NodeResourcesFit") || Exhausted()) return;
  const std::vector<Demand> demands = Demands(also.edit);
  if (demands.empty()) return;
  Trial light;
  light.first_only = true;
  light.edit = [&also](api::Pod& pod) {
    if (also.edit) also.edit(pod);
    DropRequests(pod);
  };
  if (!Try(light).fits) return;
  std::vector<NodeIndex> nodes;  // that fit but for the requests
  rehearsal_.search().feasible().ForEach([&](NodeIndex n) { nodes.push_back(n); });
  bool any = false;
  for (const Demand& demand : demands) {
    const std::vector<int64_t> targets = Targets(demand, demands, nodes);
    if (targets.empty()) continue;
    if (workload_.single()) {
      const std::set<int64_t> tried{targets.front(), targets[targets.size() / 4]};
      for (auto target = tried.rbegin(); target != tried.rend(); ++target) {
        any = TryLower({{demand.resource, *target}}, demands, also, /*add=*/true) || any;
      }
    } else {
      any = LowerForAll(demand, targets, demands, also) || any;
    }
  }
  if (!any) LowerSeveral(demands, nodes, also);
}

// Amounts lower than asked for that some node has, largest first; for several replicas also parts
// of them.
std::vector<int64_t> Suggester::Targets(const Demand& demand, const std::vector<Demand>& demands,
                                        const std::vector<NodeIndex>& nodes) const {
  const size_t parts = std::min(kMaxParts, workload_.members.size());
  std::vector<int64_t> targets;
  for (const NodeIndex n : nodes) {
    const bool rest_fits = std::all_of(demands.begin(), demands.end(), [&](const Demand& d) {
      return d.resource == demand.resource || d.amount <= Free(d, n);
    });
    if (!rest_fits) continue;
    for (size_t part = 1; part <= parts; ++part) {
      const int64_t amount = Rounded(demand.resource, Free(demand, n) / static_cast<int64_t>(part));
      if (amount > 0 && amount < demand.amount) targets.push_back(amount);
    }
  }
  std::sort(targets.begin(), targets.end(), std::greater<>());
  return targets;
}

// The largest amount with which every replica fits.
bool Suggester::LowerForAll(const Demand& demand, const std::vector<int64_t>& targets,
                            const std::vector<Demand>& demands, const Also& also) {
  std::vector<int64_t> distinct = targets;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<int64_t> amounts;
  const size_t step = distinct.size() / kMaxTargets + 1;
  for (size_t i = 0; i < distinct.size(); i += step) amounts.push_back(distinct[i]);
  size_t low = 0;
  size_t high = amounts.size();  // those from here on are not known to fit
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (TryLower({{demand.resource, amounts[middle]}}, demands, also, /*add=*/false)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low < amounts.size() &&
         TryLower({{demand.resource, amounts[low]}}, demands, also, /*add=*/true);
}

bool Suggester::TryLower(const std::vector<Demand>& targets, const std::vector<Demand>& demands,
                         const Also& also, bool add) {
  if (Exhausted()) return false;
  ByName<std::string> change = also.change;
  std::vector<std::string> parts;
  for (const Demand& target : targets) {
    parts.push_back(fmt::format("{} request ≤ {}", target.resource,
                                AmountText(target.resource, target.amount)));
    for (const Demand& demand : demands) {
      if (demand.resource != target.resource) continue;
      const std::string suffix = targets.size() == 1 ? "" : "." + target.resource;
      change["resource" + suffix] = target.resource;
      change["from" + suffix] = AmountText(target.resource, demand.amount);
      change["to" + suffix] = AmountText(target.resource, target.amount);
    }
  }
  const PodEdit lower = [edit = also.edit, targets](api::Pod& pod) {
    if (edit) edit(pod);
    for (const Demand& target : targets) LowerRequest(pod, target.resource, target.amount);
  };
  const TrialResult result = Try(lower);
  if (!result.fits || !add) return result.fits;
  Add(also.text.empty() ? "LowerRequest" : "Several",
      fmt::format("{} if {}{}", Fits(result), also.text.empty() ? "" : also.text + " and ",
                  fmt::join(parts, " and ")),
      result, std::move(change), lower);
  return true;
}

// Nodes that lack more than one resource: the one where least has to be given up.
void Suggester::LowerSeveral(const std::vector<Demand>& demands,
                             const std::vector<NodeIndex>& nodes, const Also& also) {
  NodeIndex best = cluster::kNoNode;
  double best_share = 0;
  for (const NodeIndex n : nodes) {
    double share = 1;
    for (const Demand& d : demands) {
      share = std::min(share, static_cast<double>(Rounded(d.resource, Free(d, n))) /
                                  static_cast<double>(d.amount));
    }
    if (share <= best_share) continue;
    best_share = share;
    best = n;
  }
  if (best == cluster::kNoNode) return;
  const size_t parts = std::min(kMaxParts, workload_.members.size());
  for (size_t part = 1; part <= parts; ++part) {
    std::vector<Demand> targets;
    for (const Demand& d : demands) {
      const int64_t amount = Rounded(d.resource, Free(d, best) / static_cast<int64_t>(part));
      if (amount < d.amount) targets.push_back({d.resource, amount});
    }
    if (targets.empty()) continue;
    if (TryLower(targets, demands, also, /*add=*/true) || Exhausted()) return;
  }
}

}  // namespace berth::explain
