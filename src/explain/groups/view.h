// Views of pod groups: a list, and everything about one of them.
#pragma once

#include <string_view>

#include "base/error.h"
#include "explain/groups/report.h"
#include "scheduler/decisions/source.h"

namespace berth::explain {

// Empty `namespace_`: all. At most kGroupsShown of them; `total` counts all.
inline constexpr size_t kGroupsShown = 1000;
GroupList ListGroups(const scheduler::Source& source, std::string_view namespace_);

// Tries the group on the source's cluster, which should be a copy of the engine's: rows and tables
// may differ afterwards, although the objects are the same. `source` needs its cluster, profiles
// and nodes. An error when there is no such group, or no profile for its pods.
Result<GroupView> ExplainGroup(const scheduler::Source& source, std::string_view namespace_,
                               std::string_view name);

}  // namespace berth::explain
