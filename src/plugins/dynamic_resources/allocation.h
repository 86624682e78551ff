// The allocation of a claim as the API keeps it, from the devices a search found.
#pragma once

#include <cstddef>
#include <string>

#include "api/resource/resource_claim.h"
#include "base/error.h"
#include "config/minor_rules.h"
#include "plugins/dynamic_resources/search.h"

namespace berth::plugins::dynamic_resources {

// REQUIRES: the search ended with kAllocated on the node of that name.
Result<api::AllocationResult> MakeAllocation(const Inventory& inventory, const Plan& plan,
                                             const Search& search, size_t claim,
                                             const std::string& node_name,
                                             const config::MinorRules& rules = {});

}  // namespace berth::plugins::dynamic_resources
