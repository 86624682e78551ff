// Group adoption: when a configuration has pod groups of other APIs scheduled, and what that
// changes in its profiles.
//
// It does when a profile enables Coscheduling in the mode Group. All profiles then schedule groups,
// whatever the feature gates are.
#pragma once

#include <span>

#include "cluster/objects/adopted_groups.h"
#include "config/config.h"
#include "scheduler/profile_set.h"

namespace berth::scheduler {

// Whether one of the profiles wants it.
bool AdoptsGroups(std::span<const config::ResolvedProfile> profiles);
// Makes the profile schedule groups. `behaviour` is that of the gates.
void ServeAdoptedGroups(const config::Behaviour& behaviour, config::ResolvedProfile& profile);

// The groups of a configuration; empty: it adopts none. Arguments as of ProfileSet::Make.
Result<cluster::AdoptedGroups> AdoptedGroupsOf(const config::KubeSchedulerConfiguration& config,
                                               const config::Behaviour& behaviour,
                                               std::span<const ExtraPlugin> extra = {});

}  // namespace berth::scheduler
