// The PostFilter point: the plugins that may make room for a pod no node can take.
#pragma once

#include "framework/cycle.h"
#include "framework/diagnosis.h"

namespace berth::framework {

// Asks the PostFilter plugins of the cycle's profile in turn. Success: `result` says what to do.
// Otherwise the reasons of all that were asked, whose text goes behind the failure message.
// `cluster` is the one the cycle runs on.
Status RunPostFilter(Cycle& cycle, cluster::Cluster& cluster, const Diagnosis& diagnosis,
                     PostFilterResult* result);

}  // namespace berth::framework
