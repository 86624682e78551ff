// The preemption that a plugin in a shared object may propose: the implementation of berth_proposal
// and the functions of berth_host for it.
#pragma once

#include <cstdint>
#include <vector>

#include "berth/plugin_abi.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/diagnosis.h"
#include "loader/views.h"

// Made on the stack for the duration of a PostFilter.
struct berth_proposal {
  berth::framework::Cycle& cycle;
  berth::cluster::Cluster& cluster;
  std::vector<berth_node> rejected;
  std::vector<int32_t> codes;  // parallel to `rejected`
  // What was proposed last.
  berth::cluster::NodeIndex node = berth::cluster::kNoNode;
  std::vector<berth::cluster::PodId> victims;
};

namespace berth::loader {

// Nothing is proposed yet.
berth_proposal ProposalOf(framework::Cycle& cycle, cluster::Cluster& cluster,
                          const framework::Diagnosis& diagnosis);

// Sets the functions of berth_host for proposals.
void FillProposals(berth_host& host);

}  // namespace berth::loader
