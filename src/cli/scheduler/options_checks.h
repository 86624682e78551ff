// What kube-scheduler refuses about flags before it reads its configuration. Private to the
// scheduler command.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/scheduler/flags.h"
#include "config/feature_gates.h"

namespace berth::cli::scheduler {

// The gates of --emulated-version, --min-compatibility-version and --feature-gates in
// Kubernetes 1.`minor`. Lines to warn with go to `warnings`.
Result<config::FeatureGates> MakeFeatureGates(const FlagValues& flags, int minor,
                                              std::vector<std::string>* warnings);

// Of --emulated-version and --min-compatibility-version alone: what is out of range, reported
// later than what is malformed.
std::vector<std::string> CheckVersions(const FlagValues& flags, const config::FeatureGates& gates);

// The flags about the log. Their errors are printed bare.
Result<void> CheckLogging(const FlagValues& flags, const config::FeatureGates& gates);

// All others, in the order they are reported. Lines to warn with go to `warnings`.
std::vector<std::string> CheckFlags(const FlagValues& flags, const config::FeatureGates& gates,
                                    std::vector<std::string>* warnings);

}  // namespace berth::cli::scheduler
