#include "loader/proposal.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cluster/transaction.h"
#include "framework/runtime/nominated_filter.h"

namespace berth::loader {
namespace {

using cluster::PodId;

int32_t ToAbiCode(framework::Code code) {
  switch (code) {
    case framework::Code::kUnschedulable:
      return BERTH_UNSCHEDULABLE;
    case framework::Code::kUnschedulableAndUnresolvable:
      return BERTH_UNRESOLVABLE;
    case framework::Code::kPending:
      return BERTH_PENDING;
    default:
      return BERTH_ERROR;
  }
}

// The pods of these uids; nothing when one of them is not on the node, or is named twice.
std::optional<std::vector<PodId>> PodsOn(const berth_node& node, const berth_string* uids,
                                         size_t count) {
  std::vector<PodId> pods;
  for (size_t i = 0; i < count; ++i) {
    const PodId id = node.cluster.FindPod(FromAbi(uids[i]));
    if (id == cluster::kNoPod || node.cluster.GetPod(id).node != node.node) return std::nullopt;
    if (std::find(pods.begin(), pods.end(), id) != pods.end()) return std::nullopt;
    pods.push_back(id);
  }
  return pods;
}

// The pods are taken off the node in the cluster itself and put back; plugins follow.
bool Fits(berth_proposal& p, cluster::NodeIndex node, const std::vector<PodId>& without) {
  const framework::Verdict before = p.cycle.verdicts()[node];
  cluster::Transaction trial(p.cluster);
  size_t removed = 0;
  bool fits = true;
  for (; fits && removed < without.size(); ++removed) {
    p.cluster.Unplace(without[removed]);
    fits = p.cycle.RemovePod(p.cluster.GetPod(without[removed]), node).Ok();
  }
  fits = fits && framework::FeasibleWithNominated(p.cycle, p.cluster, node);
  trial.Rollback();
  while (removed > 0) {
    fits = p.cycle.AddPod(p.cluster.GetPod(without[--removed]), node).Ok() && fits;
  }
  p.cycle.mutable_verdicts()[node] = before;
  return fits;
}

const berth_node* RejectedNode(const berth_proposal* p, size_t index) {
  return index < p->rejected.size() ? &p->rejected[index] : nullptr;
}
int32_t RejectedCode(const berth_proposal* p, size_t index) {
  return index < p->codes.size() ? p->codes[index] : int32_t{BERTH_ERROR};
}
int FitsWithout(berth_proposal* p, const berth_node* node, const berth_string* uids, size_t count) {
  const auto pods = PodsOn(*node, uids, count);
  return pods && Fits(*p, node->node, *pods) ? 1 : 0;
}
int Propose(berth_proposal* p, const berth_node* node, const berth_string* uids, size_t count) {
  auto pods = PodsOn(*node, uids, count);
  if (!pods || !Fits(*p, node->node, *pods)) return 0;
  p->node = node->node;
  p->victims = std::move(*pods);
  return 1;
}

}  // namespace

berth_proposal ProposalOf(framework::Cycle& cycle, cluster::Cluster& cluster,
                          const framework::Diagnosis& diagnosis) {
  berth_proposal proposal{cycle, cluster, {}, {}, cluster::kNoNode, {}};
  diagnosis.rejected.ForEach([&](cluster::NodeIndex n) {
    proposal.rejected.push_back({cluster, n});
    proposal.codes.push_back(ToAbiCode(cycle.verdicts()[n].code));
  });
  return proposal;
}

void FillProposals(berth_host& host) {
  host.rejected_node = &RejectedNode;
  host.rejected_code = &RejectedCode;
  host.fits_without = &FitsWithout;
  host.propose = &Propose;
}

}  // namespace berth::loader
