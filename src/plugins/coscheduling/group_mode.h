// What Coscheduling reads in the mode Group: the PodGroups of scheduler-plugins and of Volcano, as
// groups that the engine adopts.
#pragma once

#include <vector>

#include "cluster/inputs.h"
#include "cluster/objects/adopted_groups.h"

namespace berth::plugins::coscheduling {

std::vector<cluster::AdoptedGroupKind> GroupModeKinds();
// The same kinds, the annotations in which pods name them, and the PriorityClasses that groups
// name.
cluster::PluginInputs GroupModeInputs();

}  // namespace berth::plugins::coscheduling
