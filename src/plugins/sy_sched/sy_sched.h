// SySched (of scheduler-plugins): places pods beside pods that may make the same system calls.
//
// The score of a node is how many system calls are open there without need once the pod runs on it:
// those that others may make and the pod may not, and for every pod there those that it may not
// make itself. Which calls a pod may make is in the SeccompProfiles that it names. Pods count on
// their node from when their kubelet has started them (status.startTime).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cluster/pods/shape_table.h"
#include "config/args/sy_sched_args.h"
#include "framework/runtime/profile.h"
#include "plugins/sy_sched/seccomp_profiles.h"

namespace berth::plugins::sy_sched {

inline constexpr std::string_view kName = config::SySchedArgs::kPlugin;

class SySched final : public framework::ScorePlugin, public framework::ClassAwarePlugin {
 public:
  // REQUIRES: arguments with defaults.
  explicit SySched(const config::SySchedArgs& args) : args_(args) {}

  std::string_view Name() const override { return kName; }
  // The SeccompProfiles are a premise.
  uint32_t DependsOn() const override { return framework::kOnNodePods | framework::kOnNodeCount; }
  std::unique_ptr<framework::PluginState> NewState() const override;
  // Brings what is known of the nodes up to date, so that Score only reads.
  void BeginCycle(const framework::CycleContext&, framework::PluginState*) const override;

  // The largest number where the pod names no profile and there is no default one.
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  bool HasNormalize() const override { return true; }
  void Normalize(const framework::CycleContext&, const framework::PluginState*,
                 const framework::NodeSet&, framework::ScoreColumn&) const override;
  bool AppendPremises(const framework::CycleContext&, framework::PluginState*,
                      std::vector<int64_t>* out) const override;

 private:
  // What a pod may do.
  struct PodCalls {
    uint64_t version = 0;  // of the profiles
    SyscallSet set;
    int64_t size = 0;
  };
  // The pods of a node.
  struct Host {
    int64_t pods = 0;
    int64_t sizes = 0;  // of their sets, added up
    int64_t size = 0;   // of the union of their sets
  };

  const PodCalls& CallsOf(const cluster::PodShape& shape) const;
  SyscallSet ReadCalls(const cluster::PodShape& shape) const;
  void UpdateRow(const cluster::Cluster& cluster, cluster::NodeIndex n) const;
  uint64_t* CallsOn(cluster::NodeIndex n) const { return host_calls_.data() + n * words_; }

  const config::SySchedArgs args_;
  // Changed by BeginCycle alone.
  mutable SeccompProfiles profiles_;
  mutable cluster::PerShape<PodCalls> calls_;
  mutable size_t words_ = 0;                  // of a set
  mutable std::vector<Host> hosts_;           // by row
  mutable std::vector<uint64_t> host_calls_;  // the unions, one after the other
  mutable uint64_t read_ = 0;                 // position in the changes of rows
  mutable std::vector<cluster::PodId> counted_;
};

cluster::PluginInputs Inputs(const config::PluginArgs&);
Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::sy_sched
