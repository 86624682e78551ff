#include "explain/groups/report.h"

namespace berth::explain {

using api::Describe;
using api::TypeInfo;

const TypeInfo& GroupBlocker::Type() {
  static const TypeInfo type = Describe<GroupBlocker>("GroupBlocker")
                                   .Always(1, "pod", &GroupBlocker::pod)
                                   .Always(2, "pods", &GroupBlocker::pods)
                                   .Always(3, "message", &GroupBlocker::message)
                                   .Build();
  return type;
}

const TypeInfo& NodePods::Type() {
  static const TypeInfo type = Describe<NodePods>("NodePods")
                                   .Always(1, "node", &NodePods::node)
                                   .Always(2, "pods", &NodePods::pods)
                                   .Build();
  return type;
}

const TypeInfo& WhatIfGroup::Type() {
  static const TypeInfo type = Describe<WhatIfGroup>("WhatIfGroup")
                                   .Always(1, "namespace", &WhatIfGroup::namespace_)
                                   .Always(2, "name", &WhatIfGroup::name)
                                   .Always(3, "outcome", &WhatIfGroup::outcome)
                                   .Always(4, "fits", &WhatIfGroup::fits)
                                   .Field(5, "minCount", &WhatIfGroup::min_count)
                                   .Always(6, "pods", &WhatIfGroup::pods)
                                   .Field(7, "running", &WhatIfGroup::running)
                                   .Always(8, "placed", &WhatIfGroup::placed)
                                   .Field(9, "best", &WhatIfGroup::best)
                                   .Field(10, "bestDomain", &WhatIfGroup::best_domain)
                                   .Field(11, "domain", &WhatIfGroup::domain)
                                   .Field(12, "domains", &WhatIfGroup::domains)
                                   .Field(13, "nodes", &WhatIfGroup::nodes)
                                   .Field(14, "blockers", &WhatIfGroup::blockers)
                                   .Field(15, "victims", &WhatIfGroup::victims)
                                   .Field(16, "message", &WhatIfGroup::message)
                                   .Field(17, "source", &WhatIfGroup::source)
                                   .Build();
  return type;
}

const TypeInfo& WhatIfGroups::Type() {
  static const TypeInfo type = Describe<WhatIfGroups>("WhatIfGroups")
                                   .Always(1, "fits", &WhatIfGroups::fits)
                                   .Always(2, "groups", &WhatIfGroups::groups)
                                   .Field(3, "notes", &WhatIfGroups::notes)
                                   .Always(4, "tookMs", &WhatIfGroups::took_ms)
                                   .Build();
  return type;
}

const TypeInfo& GroupSummary::Type() {
  static const TypeInfo type = Describe<GroupSummary>("PodGroupSummary")
                                   .Always(1, "namespace", &GroupSummary::namespace_)
                                   .Always(2, "name", &GroupSummary::name)
                                   .Field(3, "uid", &GroupSummary::uid)
                                   .Always(4, "state", &GroupSummary::state)
                                   .Field(5, "minCount", &GroupSummary::min_count)
                                   .Always(6, "pods", &GroupSummary::pods)
                                   .Always(7, "placed", &GroupSummary::placed)
                                   .Field(8, "priority", &GroupSummary::priority)
                                   .Field(9, "profile", &GroupSummary::profile)
                                   .Field(10, "workload", &GroupSummary::workload)
                                   .Field(11, "topology", &GroupSummary::topology)
                                   .Field(12, "createdAt", &GroupSummary::created_at)
                                   .Field(13, "reason", &GroupSummary::reason)
                                   .Field(14, "message", &GroupSummary::message)
                                   .Build();
  return type;
}

const TypeInfo& GroupList::Type() {
  static const TypeInfo type = Describe<GroupList>("PodGroupList")
                                   .Always(1, "followed", &GroupList::followed)
                                   .Always(2, "total", &GroupList::total)
                                   .Always(3, "items", &GroupList::items)
                                   .Build();
  return type;
}

const TypeInfo& GroupMember::Type() {
  static const TypeInfo type = Describe<GroupMember>("PodGroupMember")
                                   .Always(1, "name", &GroupMember::name)
                                   .Field(2, "node", &GroupMember::node)
                                   .Always(3, "outcome", &GroupMember::outcome)
                                   .Field(4, "wouldGo", &GroupMember::would_go)
                                   .Field(5, "message", &GroupMember::message)
                                   .Build();
  return type;
}

const TypeInfo& GroupDomain::Type() {
  static const TypeInfo type = Describe<GroupDomain>("PodGroupDomain")
                                   .Always(1, "name", &GroupDomain::name)
                                   .Always(2, "nodes", &GroupDomain::nodes)
                                   .Always(3, "fits", &GroupDomain::fits)
                                   .Field(4, "enough", &GroupDomain::enough)
                                   .Field(5, "message", &GroupDomain::message)
                                   .Build();
  return type;
}

const TypeInfo& GroupView::Type() {
  static const TypeInfo type = Describe<GroupView>("PodGroupView")
                                   .Always(1, "group", &GroupView::group)
                                   .Field(2, "outcome", &GroupView::outcome)
                                   .Field(3, "message", &GroupView::message)
                                   .Always(4, "needed", &GroupView::needed)
                                   .Always(5, "best", &GroupView::best)
                                   .Field(6, "bestDomain", &GroupView::best_domain)
                                   .Field(7, "bestNodes", &GroupView::best_nodes)
                                   .Field(8, "blockers", &GroupView::blockers)
                                   .Always(9, "members", &GroupView::members)
                                   .Field(10, "domainKey", &GroupView::domain_key)
                                   .Field(11, "domains", &GroupView::domains)
                                   .Field(12, "domainCount", &GroupView::domain_count)
                                   .Field(13, "domainsTried", &GroupView::domains_tried)
                                   .Field(14, "preemption", &GroupView::preemption)
                                   .Field(15, "victims", &GroupView::victims)
                                   .Always(16, "help", &GroupView::help)
                                   .Field(17, "tried", &GroupView::tried)
                                   .Build();
  return type;
}

}  // namespace berth::explain
