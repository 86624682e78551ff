#include "plan/spread_excess.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <boost/unordered/unordered_flat_set.hpp>

namespace berth::plan {

using cluster::NodeIndex;
using cluster::PodId;
using cluster::PodShape;
using plugins::pod_topology_spread::Constraint;
using plugins::pod_topology_spread::ConstraintsOf;
using plugins::pod_topology_spread::Eligibility;
using plugins::pod_topology_spread::kDoNotSchedule;
using plugins::pod_topology_spread::kScheduleAnyway;

SpreadExcess::SpreadExcess(const cluster::Cluster& cluster, bool soft) : cluster_(cluster) {
  boost::unordered_flat_set<const PodShape*> shapes;
  for (PodId id = 0; id < cluster.PodIdLimit(); ++id) {
    if (!cluster.PodExists(id) || cluster.GetPod(id).node == cluster::kNoNode) continue;
    const PodShape* shape = cluster.GetPod(id).shape;
    if (shapes.insert(shape).second) Learn(*shape, soft);
  }
  for (PodId id = 0; id < cluster.PodIdLimit(); ++id) {
    if (!cluster.PodExists(id)) continue;
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.node == cluster::kNoNode || pod.terminating) continue;
    for (const uint32_t g : GroupsOf(*pod.shape)) {
      Group& group = groups_[g];
      if (!group.eligible->Contains(pod.node)) continue;
      ++group.pods[group.eligible->DomainOf(group.column->codes[pod.node])];
    }
  }
  for (Group& group : groups_) {
    group.excess = ExcessOf(group);
    total_ += group.excess;
  }
}

void SpreadExcess::Learn(const PodShape& shape, bool soft) {
  const auto& list = shape.source.spec.topology_spread_constraints;
  if (list.empty()) return;
  for (const std::string_view action : {kDoNotSchedule, kScheduleAnyway}) {
    if (action == kScheduleAnyway && !soft) continue;
    auto constraints = ConstraintsOf(list, shape.source.metadata.labels, action);
    if (!constraints) continue;  // the scheduler refuses such pods, and the plan says so
    Eligibility what;
    for (const Constraint& constraint : *constraints) {
      what.required_keys.push_back(cluster_.Strings().Intern(constraint.topology_key));
    }
    std::sort(what.required_keys.begin(), what.required_keys.end());
    what.required_keys.erase(std::unique(what.required_keys.begin(), what.required_keys.end()),
                             what.required_keys.end());
    for (Constraint& constraint : *constraints) {
      // A selector that restricts nothing counts no pods.
      if (!constraint.selector.Empty()) AddGroup(shape, std::move(constraint), what);
    }
  }
}

void SpreadExcess::AddGroup(const PodShape& shape, Constraint constraint, const Eligibility& what) {
  Eligibility own = what;
  own.own_key = cluster_.Strings().Intern(constraint.topology_key);
  own.honors_node_affinity = constraint.honors_node_affinity;
  own.honors_taints = constraint.honors_taints;
  Group group;
  group.eligible = eligible_.Get(cluster_, shape, own);
  std::vector<uint32_t>& siblings = by_namespace_[shape.namespace_];
  const bool known = std::any_of(siblings.begin(), siblings.end(), [&](uint32_t g) {
    return groups_[g].eligible == group.eligible && groups_[g].constraint == constraint;
  });
  if (known) return;
  group.eligible->Refresh(cluster_);
  group.namespace_ = shape.namespace_;
  group.constraint = std::move(constraint);
  group.column = &cluster_.Labels(own.own_key);
  siblings.push_back(static_cast<uint32_t>(groups_.size()));
  groups_.push_back(std::move(group));
}

const std::vector<uint32_t>& SpreadExcess::GroupsOf(const PodShape& shape) const {
  const auto known = counted_by_.find(&shape);
  if (known != counted_by_.end()) return known->second;
  std::vector<uint32_t> groups;
  const auto siblings = by_namespace_.find(shape.namespace_);
  if (siblings != by_namespace_.end()) {
    for (const uint32_t g : siblings->second) {
      if (groups_[g].constraint.selector.Matches(shape.source.metadata.labels)) groups.push_back(g);
    }
  }
  return counted_by_.emplace(&shape, std::move(groups)).first->second;
}

// With fewer domains than minDomains the emptiest counts as having no pods.
int64_t SpreadExcess::Allowed(const Group& group) const {
  const std::vector<uint32_t>& domains = group.eligible->Domains();
  int64_t least = 0;
  if (domains.size() >= static_cast<size_t>(std::max(0, group.constraint.min_domains))) {
    least = INT64_MAX;
    for (const uint32_t domain : domains) {
      const auto it = group.pods.find(domain);
      least = std::min(least, it == group.pods.end() ? 0 : it->second);
    }
    if (domains.empty()) least = 0;
  }
  return least + group.constraint.max_skew;
}

int64_t SpreadExcess::ExcessOf(const Group& group) const {
  const int64_t allowed = Allowed(group);
  int64_t excess = 0;
  for (const auto& [domain, pods] : group.pods) excess += std::max<int64_t>(0, pods - allowed);
  return excess;
}

void SpreadExcess::Count(const PodShape& shape, NodeIndex node, int32_t delta) {
  for (const uint32_t g : GroupsOf(shape)) {
    Group& group = groups_[g];
    if (!group.eligible->Contains(node)) continue;
    group.pods[group.eligible->DomainOf(group.column->codes[node])] += delta;
    total_ -= group.excess;
    group.excess = ExcessOf(group);
    total_ += group.excess;
  }
}

bool SpreadExcess::InOverfullDomain(const cluster::Pod& pod) const {
  for (const uint32_t g : GroupsOf(*pod.shape)) {
    const Group& group = groups_[g];
    if (group.excess == 0 || !group.eligible->Contains(pod.node)) continue;
    const auto it = group.pods.find(group.eligible->DomainOf(group.column->codes[pod.node]));
    if (it != group.pods.end() && it->second > Allowed(group)) return true;
  }
  return false;
}

std::vector<std::string> SpreadExcess::Violations() const {
  std::vector<std::string> texts;
  for (const Group& group : groups_) {
    if (group.excess == 0) continue;
    texts.push_back(
        fmt::format("{} more pods of namespace {} matching \"{}\" than maxSkew {} over {} allows",
                    group.excess, group.namespace_, group.constraint.selector.String(),
                    group.constraint.max_skew, group.constraint.topology_key));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace berth::plan
