#include "explain/groups/view.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/objects/object_store.h"
#include "cluster/pods/group_members.h"
#include "cluster/pods/group_state.h"
#include "explain/groups/help.h"
#include "explain/groups/trial.h"
#include "explain/workload.h"
#include "framework/runtime/profile.h"

namespace berth::explain {
namespace {

using cluster::PodId;
using scheduler::PartialPlacement;

constexpr size_t kNodesShown = 20;
constexpr size_t kDomainsShown = 50;
constexpr size_t kBlockersShown = 5;
constexpr int64_t kMaxDomainTrials = 200'000;  // pods times domains
constexpr std::string_view kCondition = "PodGroupInitiallyScheduled";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";

const std::string* TopologyOf(const api::PodGroup& group) {
  const auto& constraints = group.spec.scheduling_constraints;
  return constraints && !constraints->topology.empty() ? &constraints->topology.front().key
                                                       : nullptr;
}

// In the order in which a cycle tries them, as far as the objects say.
std::vector<PodId> MembersOf(const cluster::Cluster& cluster, const api::PodGroup& group) {
  std::vector<PodId> members;
  for (const PodId id : cluster.Members().Of(group.metadata.namespace_, group.metadata.name)) {
    members.push_back(id);
  }
  std::ranges::sort(members, {}, [&](PodId id) {
    const cluster::Pod& pod = cluster.GetPod(id);
    return std::tuple(-int64_t{pod.shape->priority}, pod.creation_timestamp.UnixNano(), id);
  });
  return members;
}

// Of Jobs the cluster keeps no owner references: they do not spread their pods.
std::string WorkloadName(const cluster::Pod& pod) {
  const std::string* job =
      api::FindValue(pod.shape->source.metadata.labels, "batch.kubernetes.io/job-name");
  return job == nullptr ? ControllerOf(pod) : "Job/" + *job;
}

std::string StateOf(const GroupSummary& group) {
  const int64_t wanted = std::max<int64_t>(1, group.min_count);
  if (group.pods > 0 && group.placed >= group.pods && group.placed >= wanted) return "Running";
  if (group.placed >= wanted) return "Scheduled";
  return group.pods < wanted ? "Incomplete" : "Waiting";
}

GroupSummary Summarize(const cluster::Cluster& cluster, const api::PodGroup& group) {
  GroupSummary summary;
  summary.namespace_ = group.metadata.namespace_;
  summary.name = group.metadata.name;
  summary.uid = group.metadata.uid;
  summary.min_count = cluster::MinCountOf(group);
  summary.priority = cluster::PriorityOf(group);
  if (const std::string* key = TopologyOf(group)) summary.topology = *key;
  if (!group.metadata.creation_timestamp.IsZero()) {
    summary.created_at = api::MicroTime::FromUnixNano(group.metadata.creation_timestamp.UnixNano());
  }
  PodId first = cluster::kNoPod;
  for (const PodId id : cluster.Members().Of(summary.namespace_, summary.name)) {
    first = std::min(first, id);
    ++summary.pods;
    if (cluster.GetPod(id).node != cluster::kNoNode) ++summary.placed;
  }
  if (first != cluster::kNoPod) {
    summary.profile = cluster.GetPod(first).shape->source.spec.scheduler_name;
    summary.workload = WorkloadName(cluster.GetPod(first));
  }
  summary.state = StateOf(summary);
  for (const api::Condition& condition : group.status.conditions) {
    if (condition.type != kCondition) continue;
    summary.reason = condition.reason;
    summary.message = condition.message;
    if (condition.status == "True" && summary.pods == 0) summary.state = "Finished";
  }
  return summary;
}

// Nodes by the value of the label, in order of the value.
std::map<std::string, framework::NodeSet> DomainsOf(cluster::Cluster& cluster,
                                                    const std::string& key) {
  std::map<std::string, framework::NodeSet> domains;
  const cluster::LabelColumn& labels = cluster.Labels(cluster.Strings().Intern(key));
  cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
    const uint32_t code = labels.codes[n];
    if (code == cluster::LabelColumn::kAbsent) return;
    framework::NodeSet& nodes = domains[cluster.Strings().Text(labels.values[code])];
    if (nodes.Empty()) nodes.Resize(cluster.Rows());
    nodes.Insert(n);
  });
  return domains;
}

class View {
 public:
  View(const scheduler::Source& source, const api::PodGroup& group)
      : source_(source), cluster_(*source.cluster), group_(group) {}

  Result<GroupView> Make() {
    view_.group = Summarize(cluster_, group_);
    members_ = MembersOf(cluster_, group_);
    for (const PodId id : members_) {
      const cluster::Pod& pod = cluster_.GetPod(id);
      if (pod.node == cluster::kNoNode && !pod.terminating) waiting_.push_back(id);
    }
    const int64_t wanted = std::max<int64_t>(1, view_.group.min_count);
    view_.needed = std::max<int64_t>(0, wanted - view_.group.placed);
    if (waiting_.empty()) {
      AddMembers(nullptr, nullptr);
      return std::move(view_);
    }
    const framework::Profile* profile =
        source_.ProfileFor(cluster_.GetPod(waiting_.front()).shape->source.spec.scheduler_name);
    if (profile == nullptr) {
      return Fail(
          fmt::format("the pods of pod group {}/{} belong to scheduler \"{}\", which is "
                      "not this one",
                      view_.group.namespace_, view_.group.name, view_.group.profile));
    }
    if (!profile->GetBehaviour().pod_groups) {
      view_.message =
          "this scheduler does not schedule pod groups: the feature gate GenericWorkload is off";
      AddMembers(nullptr, nullptr);
      return std::move(view_);
    }
    Try(*profile);
    return std::move(view_);
  }

 private:
  void Try(const framework::Profile& profile) {
    GroupTrial trial(cluster_, profile, waiting_);
    const std::string gate = GateOf(profile);
    const scheduler::GroupResult result = trial.Run(group_);
    view_.outcome = result.status.Ok()        ? "Placed"
                    : result.status.IsError() ? "Error"
                                              : "Unschedulable";
    view_.message = scheduler::ConditionOf(result).message;
    if (!gate.empty()) {
      view_.outcome = "Gated";
      view_.message = gate;
    }
    if (result.post_filter_ran) view_.preemption = result.post_filter.Message();
    for (const PodId victim : result.preemption.victims) {
      view_.victims.push_back(cluster_.GetPod(victim).Key());
    }
    AddDomains(trial);
    const PartialPlacement best = Best(trial);
    AddBest(best);
    AddMembers(&best, &profile);
    const bool complete = static_cast<int64_t>(waiting_.size()) >= view_.needed;
    if (complete && !result.status.Ok()) {
      view_.help = HelpForGroup(source_, group_, best, trial);
    }
    view_.tried = trial.runs();
  }

  std::string GateOf(const framework::Profile& profile) const {
    for (const PodId id : waiting_) {
      const auto gate = scheduler::RunPreEnqueue(profile, cluster_, cluster_.GetPod(id));
      if (!gate.Open()) return gate.status.Message();
    }
    return "";
  }

  void AddDomains(GroupTrial& trial) {
    const std::string* key = TopologyOf(group_);
    view_.domain_key = key == nullptr ? std::string(kZone) : *key;
    auto domains = DomainsOf(cluster_, view_.domain_key);
    if (domains.empty() && key == nullptr) view_.domain_key.clear();
    view_.domain_count = static_cast<int64_t>(domains.size());
    int64_t trials = 0;
    for (const auto& [name, nodes] : domains) {
      trials += static_cast<int64_t>(waiting_.size());
      if (trials > kMaxDomainTrials || trial.Exhausted()) break;
      ++view_.domains_tried;
      const PartialPlacement most = trial.Most(&nodes);
      GroupDomain& domain = view_.domains.emplace_back();
      domain.name = name;
      domain.nodes = static_cast<int64_t>(nodes.Count());
      domain.fits = static_cast<int64_t>(most.placed);
      domain.enough = domain.fits >= view_.needed;
      for (const PartialPlacement::Member& member : most.members) {
        if (member.node != cluster::kNoNode) continue;
        domain.message = member.message;
        break;
      }
      if (key != nullptr && (best_nodes_.Empty() || domain.fits > best_fits_)) {
        best_nodes_ = nodes;
        best_fits_ = domain.fits;
        view_.best_domain = name;
      }
    }
    std::ranges::stable_sort(view_.domains, std::ranges::greater(), &GroupDomain::fits);
    if (view_.domains.size() > kDomainsShown) view_.domains.resize(kDomainsShown);
  }

  // With a topology constraint in the best domain.
  PartialPlacement Best(GroupTrial& trial) {
    return trial.Most(best_nodes_.Empty() ? nullptr : &best_nodes_);
  }

  void AddBest(const PartialPlacement& best) {
    view_.best = static_cast<int64_t>(best.placed);
    std::map<std::string, int64_t> nodes;
    for (const PartialPlacement::Member& member : best.members) {
      if (member.node != cluster::kNoNode) {
        ++nodes[cluster_.NodeName(member.node)];
        continue;
      }
      auto known = std::ranges::find(view_.blockers, member.message, &GroupBlocker::message);
      if (known == view_.blockers.end()) {
        known = view_.blockers.insert(known, {cluster_.GetPod(member.pod).name, 0, member.message});
      }
      ++known->pods;
    }
    for (const auto& [node, pods] : nodes) view_.best_nodes.push_back({node, pods});
    std::ranges::stable_sort(view_.best_nodes, std::ranges::greater(), &NodePods::pods);
    if (view_.best_nodes.size() > kNodesShown) view_.best_nodes.resize(kNodesShown);
    std::ranges::stable_sort(view_.blockers, std::ranges::greater(), &GroupBlocker::pods);
    if (view_.blockers.size() > kBlockersShown) view_.blockers.resize(kBlockersShown);
  }

  void AddMembers(const PartialPlacement* best, const framework::Profile* profile) {
    if (best != nullptr) {
      for (const PartialPlacement::Member& found : best->members) {
        const cluster::Pod& pod = cluster_.GetPod(found.pod);
        GroupMember& member = view_.members.emplace_back();
        member.name = pod.name;
        member.message = found.message;
        member.outcome = found.node == cluster::kNoNode ? "Unschedulable" : "Fits";
        if (found.node != cluster::kNoNode) member.would_go = cluster_.NodeName(found.node);
        const auto gate = scheduler::RunPreEnqueue(*profile, cluster_, pod);
        if (gate.Open()) continue;
        member.outcome = "Gated";
        member.message = gate.status.Message();
      }
    } else {
      for (const PodId id : waiting_) {
        GroupMember& member = view_.members.emplace_back();
        member.name = cluster_.GetPod(id).name;
        member.outcome = "NotTried";
      }
    }
    for (const PodId id : members_) {
      const cluster::Pod& pod = cluster_.GetPod(id);
      if (pod.node == cluster::kNoNode) continue;
      GroupMember& member = view_.members.emplace_back();
      member.name = pod.name;
      member.node = cluster_.NodeName(pod.node);
      member.outcome = "Placed";
    }
  }

  const scheduler::Source& source_;
  cluster::Cluster& cluster_;
  const api::PodGroup& group_;
  std::vector<PodId> members_;
  std::vector<PodId> waiting_;
  framework::NodeSet best_nodes_;  // of the domain with the most pods; empty: no constraint
  int64_t best_fits_ = 0;
  GroupView view_;
};

}  // namespace

GroupList ListGroups(const scheduler::Source& source, std::string_view namespace_) {
  GroupList list;
  list.followed = std::ranges::any_of(
      source.profiles, [](const auto* profile) { return profile->GetBehaviour().pod_groups; });
  source.cluster->Objects().pod_groups.ForEach([&](const api::PodGroup& group) {
    if (!namespace_.empty() && group.metadata.namespace_ != namespace_) return;
    ++list.total;
    list.items.push_back(Summarize(*source.cluster, group));
  });
  const auto rank = [](const GroupSummary& group) {
    const bool waits = group.state == "Waiting" || group.state == "Incomplete";
    return std::tuple(!waits, std::string_view(group.namespace_), std::string_view(group.name));
  };
  std::ranges::sort(list.items, {}, rank);
  if (list.items.size() > kGroupsShown) list.items.resize(kGroupsShown);
  return list;
}

Result<GroupView> ExplainGroup(const scheduler::Source& source, std::string_view namespace_,
                               std::string_view name) {
  const auto group = source.cluster->Objects().pod_groups.Share(namespace_, name);
  if (group == nullptr) return Fail(fmt::format("no pod group {}/{}", namespace_, name));
  return View(source, *group).Make();
}

}  // namespace berth::explain
