// Coscheduling (of scheduler-plugins): the pods of a PodGroup are bound together, or not at all.
//
// Members are placed one by one and wait on Permit, holding their resources, until as many are
// placed as the group asks for at least. When one fits nowhere, all that wait are rejected.
//
// In the mode Group the plugin only names the kinds of groups (Inputs) and sorts the queue; the
// group cycle of the engine decides, with GangScheduling.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/args/coscheduling_args.h"
#include "framework/points/device_claims.h"
#include "framework/points/group_search.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"
#include "plugins/coscheduling/pod_group.h"

namespace berth::plugins::coscheduling {

inline constexpr std::string_view kName = config::CoschedulingArgs::kPlugin;

class Coscheduling final : public framework::QueueSortPlugin,
                           public framework::PreFilterPlugin,
                           public framework::PostFilterPlugin,
                           public framework::ReservePlugin,
                           public framework::PermitPlugin,
                           public framework::TimeAwarePlugin,
                           public framework::GroupSearchPlugin,
                           public framework::EnqueueExtensions {
 public:
  // `pods` may be null: then nothing waits and nothing is activated.
  Coscheduling(const config::CoschedulingArgs& args, const cluster::Cluster& cluster,
               framework::PodControl* pods)
      : args_(args), cluster_(cluster), pods_(pods) {}

  std::string_view Name() const override { return kName; }
  int64_t GroupSearchSteps() const override { return args_.search_steps; }
  // It rejects pods, not nodes.
  uint32_t DependsOn() const override { return 0; }
  void SetTime(const api::Time& now) override { now_ = now; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;

  // Priority, then the time of the group (when it failed last, else when it was created) or the
  // pod's first attempt, then the name. A group that fails moves back, so this is no fixed order.
  // In the mode Group: priority, then time.
  bool ByFirstAttempt() const override { return !args_.GroupMode(); }
  bool Less(const cluster::Cluster&, const cluster::Pod& a, int64_t a_queued, const cluster::Pod& b,
            int64_t b_queued) const override;

  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  framework::Status PostFilter(framework::Cycle& cycle, cluster::Cluster& cluster,
                               const framework::Diagnosis& diagnosis,
                               framework::PostFilterResult* result) override;
  framework::Status Permit(const framework::CycleContext&, framework::PluginState*,
                           cluster::NodeIndex node, int64_t* timeout_ns) override;
  framework::Status Reserve(const framework::CycleContext&, framework::PluginState*,
                            cluster::NodeIndex) override {
    return {};
  }
  void Unreserve(const framework::CycleContext&, framework::PluginState*,
                 cluster::NodeIndex) override;

 private:
  using Deadlines =
      std::map<std::string, api::Time, std::less<>>;  // by "namespace/name" of a group

  // Null: the pod has no group, or the group does not exist.
  const PodGroup* Find(const cluster::PodShape& shape) const;
  std::vector<const cluster::Pod*> Members(const cluster::PodShape& shape) const;
  // How many members are on nodes, the pods that wait included.
  int64_t Assigned(const cluster::PodShape& shape) const;
  void RejectWaiting(const cluster::PodShape& shape, std::string_view why) const;
  void NoteFailure(const cluster::PodShape& shape);
  api::Time TimeOf(const cluster::Pod& pod, int64_t queued) const;
  // The entry has neither run out nor been removed.
  bool Holds(const Deadlines& deadlines, const std::string& group) const;
  // Adds an entry unless one holds.
  void Hold(Deadlines& deadlines, const std::string& group, int64_t ns) const;

  const config::CoschedulingArgs args_;
  const cluster::Cluster& cluster_;
  framework::PodControl* const pods_;
  api::Time now_ = api::Time::FromUnixNano(0);
  mutable Deadlines permitted_;  // groups whose minimum resources were there
  Deadlines backed_off_;         // groups that are not tried
  Deadlines failed_;             // groups, and when they failed last
  mutable std::map<std::string, std::optional<PodGroup>, std::less<>> groups_;  // parsed
  mutable uint64_t groups_generation_ = UINT64_MAX;
};

cluster::PluginInputs Inputs(const config::PluginArgs&);
Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::coscheduling
