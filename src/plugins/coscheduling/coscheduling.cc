#include "plugins/coscheduling/coscheduling.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "base/wrap.h"
#include "cluster/objects/object_store.h"
#include "framework/runtime/cycle.h"
#include "plugins/common/custom_hints.h"
#include "plugins/coscheduling/group_mode.h"
#include "plugins/coscheduling/resource_gap.h"

namespace berth::plugins::coscheduling {
namespace {

using cluster::Pod;
using cluster::PodShape;
using framework::CycleContext;
using framework::Status;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDefaultWait = 60 * kSecond;
// How long a group counts as permitted when the arguments give no time.
constexpr int64_t kDefaultHold = 3 * kSecond;

// "namespace/name". REQUIRES: the pod has a group.
std::string FullName(const PodShape& shape) { return shape.namespace_ + "/" + *GroupOf(shape); }

api::Time After(const api::Time& time, int64_t ns) {
  return api::Time::FromUnixNano(WrapAdd(time.UnixNano(), ns));
}

}  // namespace

// --- Groups

const PodGroup* Coscheduling::Find(const PodShape& shape) const {
  const std::string* name = GroupOf(shape);
  const cluster::CustomKind& kind = PodGroupKind();
  const auto* store = cluster_.Objects().custom.Find(kind.ApiVersion(), kind.kind);
  if (name == nullptr || store == nullptr) return nullptr;
  if (store->Generation() != groups_generation_) {
    groups_.clear();
    groups_generation_ = store->Generation();
  }
  const auto [it, inserted] = groups_.try_emplace(FullName(shape));
  if (inserted) {
    if (const auto* object = store->Find(shape.namespace_, *name)) {
      if (auto parsed = api::FromJson<PodGroup>(object->json)) it->second = std::move(*parsed);
    }
  }
  return it->second ? &*it->second : nullptr;
}

std::vector<const Pod*> Coscheduling::Members(const PodShape& shape) const {
  std::vector<const Pod*> members;
  for (const cluster::PodId id : cluster_.Labelled().Of(kGroupLabel, *GroupOf(shape))) {
    const Pod& pod = cluster_.GetPod(id);
    if (pod.namespace_() == shape.namespace_) members.push_back(&pod);
  }
  return members;
}

int64_t Coscheduling::Assigned(const PodShape& shape) const {
  const auto members = Members(shape);
  return std::count_if(members.begin(), members.end(),
                       [](const Pod* pod) { return pod->node != cluster::kNoNode; });
}

void Coscheduling::RejectWaiting(const PodShape& shape, std::string_view why) const {
  if (pods_ == nullptr) return;
  const std::string& group = *GroupOf(shape);
  pods_->ForEachWaiting([&](const framework::WaitingPod& waiting) {
    const std::string* own = GroupOf(*waiting.pod.shape);
    if (own == nullptr || *own != group || waiting.pod.namespace_() != shape.namespace_) return;
    pods_->Reject(waiting.pod.uid, kName, why);
  });
}

void Coscheduling::NoteFailure(const PodShape& shape) {
  const std::string name = FullName(shape);
  permitted_.erase(name);
  failed_.insert_or_assign(name, now_);
}

bool Coscheduling::Holds(const Deadlines& deadlines, const std::string& group) const {
  const auto it = deadlines.find(group);
  return it != deadlines.end() && now_ <= it->second;
}

void Coscheduling::Hold(Deadlines& deadlines, const std::string& group, int64_t ns) const {
  std::erase_if(deadlines, [&](const auto& entry) { return entry.second < now_; });
  deadlines.try_emplace(group, After(now_, ns));
}

// --- Order

api::Time Coscheduling::TimeOf(const Pod& pod, int64_t queued) const {
  const std::string* name = GroupOf(*pod.shape);
  if (name == nullptr) return api::Time::FromUnixNano(queued);
  const auto failed = failed_.find(FullName(*pod.shape));
  if (failed != failed_.end()) return failed->second;
  const PodGroup* group = Find(*pod.shape);
  return group == nullptr ? api::Time::FromUnixNano(queued) : group->metadata.creation_timestamp;
}

bool Coscheduling::Less(const cluster::Cluster&, const Pod& a, int64_t a_queued, const Pod& b,
                        int64_t b_queued) const {
  if (a.shape->priority != b.shape->priority) return a.shape->priority > b.shape->priority;
  if (args_.GroupMode()) return a_queued < b_queued;
  const api::Time time_a = TimeOf(a, a_queued);
  const api::Time time_b = TimeOf(b, b_queued);
  return time_a == time_b ? a.Key() < b.Key() : time_a < time_b;
}

// --- The cycle

Status Coscheduling::PreFilter(const CycleContext& c, framework::PluginState*,
                               framework::PreFilterResult*) const {
  const PodGroup* group = Find(c.shape);
  if (group == nullptr) return {};  // a group that is missing is found missing by Permit
  const std::string name = FullName(c.shape);
  if (Holds(backed_off_, name)) {
    return Status::Unresolvable(fmt::format("podGroup {} failed recently", name));
  }
  const auto members = Members(c.shape);
  const int64_t gap = int64_t{group->spec.min_member} - static_cast<int64_t>(members.size());
  if (gap > 0) {
    return Status::Unresolvable(
        fmt::format("pre-filter pod {} cannot find enough sibling pods, current pods number: {}, "
                    "minMember of group: {}",
                    c.pod.name, members.size(), group->spec.min_member));
  }
  const auto gated = std::count_if(members.begin(), members.end(), [](const Pod* pod) {
    return !pod->shape->scheduling_gates.empty();
  });
  if (gap + gated > 0) {
    return Status::Unresolvable(fmt::format(
        "pre-filter pod {} cannot proceed due to gated pods in the same PodGroup", c.pod.name));
  }
  if (!group->spec.min_resources || Holds(permitted_, name)) return {};
  std::string missing = ResourceGap(c.cluster, *group->spec.min_resources, group->spec.min_member,
                                    c.shape.namespace_, *GroupOf(c.shape));
  if (!missing.empty()) return Status::Unresolvable(std::move(missing));
  const int64_t wait = WrapMul(args_.permit_waiting_time_seconds, kSecond);
  Hold(permitted_, name, wait == 0 ? kDefaultHold : wait);
  return {};
}

Status Coscheduling::PostFilter(framework::Cycle& cycle, cluster::Cluster&,
                                const framework::Diagnosis&, framework::PostFilterResult* result) {
  const CycleContext& c = cycle.context();
  // The original always answers with an empty nomination, which leaves the pod's own alone.
  result->nomination = framework::PostFilterResult::Nomination::kKeep;
  const PodGroup* group = Find(c.shape);
  if (group == nullptr) return Status::Unschedulable("can not find pod group");
  const int64_t min = group->spec.min_member;
  const int64_t assigned = Assigned(c.shape);
  const Status no_help(framework::Code::kUnschedulable, std::vector<std::string>());
  if (assigned >= min) return no_help;
  const double missing = static_cast<double>(min - assigned) / static_cast<double>(min);
  if (missing <= static_cast<double>(args_.pod_group_reject_percentage) / 100.0) return no_help;
  RejectWaiting(c.shape, "optimistic rejection in PostFilter");
  const std::string name = FullName(c.shape);
  if (args_.pod_group_backoff_seconds > 0 && static_cast<int64_t>(Members(c.shape).size()) >= min) {
    Hold(backed_off_, name, WrapMul(args_.pod_group_backoff_seconds, kSecond));
  }
  NoteFailure(c.shape);
  return Status::Unschedulable(
      fmt::format("PodGroup {} gets rejected due to Pod {} is unschedulable even after PostFilter",
                  name, c.pod.name));
}

Status Coscheduling::Permit(const CycleContext& c, framework::PluginState*, cluster::NodeIndex,
                            int64_t* timeout_ns) {
  if (GroupOf(c.shape) == nullptr) return {};
  const PodGroup* group = Find(c.shape);
  if (group == nullptr) return Status::Unschedulable("PodGroup not found");
  const int64_t assigned = Assigned(c.shape);
  if (assigned >= group->spec.min_member) {
    failed_.erase(FullName(c.shape));
    if (pods_ == nullptr) return {};
    pods_->ForEachWaiting([&](const framework::WaitingPod& waiting) {
      const std::string* own = GroupOf(*waiting.pod.shape);
      if (own != nullptr && *own == *GroupOf(c.shape) &&
          waiting.pod.namespace_() == c.shape.namespace_) {
        pods_->Allow(waiting.pod.uid, kName);
      }
    });
    return {};
  }
  // The first one brings its siblings along; later ones would only repeat it.
  if (assigned == 1 && pods_ != nullptr) {
    for (const Pod* member : Members(c.shape)) {
      if (member->uid != c.pod.uid) pods_->Activate(c.shape.namespace_, member->name);
    }
  }
  const int64_t by_args = WrapMul(args_.permit_waiting_time_seconds, kSecond);
  const auto& timeout = group->spec.schedule_timeout_seconds;
  if (!timeout) {
    *timeout_ns = by_args == 0 ? kDefaultWait : by_args;
  } else {
    *timeout_ns = *timeout == 0 ? by_args : *timeout * kSecond;
  }
  return {framework::Code::kWait, std::vector<std::string>()};
}

void Coscheduling::Unreserve(const CycleContext& c, framework::PluginState*, cluster::NodeIndex) {
  if (Find(c.shape) == nullptr) return;
  RejectWaiting(c.shape, "rejection in Unreserve");
  NoteFailure(c.shape);
}

// --- Construction

std::vector<framework::RegisteredEvent> Coscheduling::EventsToRegister(
    const config::Behaviour&) const {
  if (args_.GroupMode()) return {};  // it rejects no pod
  return {On(queue::EventResource::kPod, queue::kAdd),
          OnCustom(PodGroupKind(), queue::kAdd | queue::kUpdate)};
}

cluster::PluginInputs Inputs(const config::PluginArgs& args) {
  const auto* own = config::OwnArgsAs<config::CoschedulingArgs>(args);
  if (own != nullptr && own->GroupMode()) return GroupModeInputs();
  return {.kinds = {PodGroupKind()},
          .node_annotations = {},
          .pod_annotations = {},
          .pod_labels = {std::string(kGroupLabel)}};
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  const auto* own = config::OwnArgsAs<config::CoschedulingArgs>(args);
  return std::make_unique<Coscheduling>(own != nullptr ? *own : config::CoschedulingArgs(),
                                        handle.cluster, handle.pods);
}

}  // namespace berth::plugins::coscheduling
