#include "scheduler/attempt.h"

#include <algorithm>

#include "base/check.h"

namespace berth::scheduler {
namespace {

using framework::Point;
using framework::Status;

constexpr int64_t kMaxPermitTimeoutNs = 15LL * 60 * 1'000'000'000;

}  // namespace

EnqueueGate RunPreEnqueue(const framework::Profile& profile, const cluster::Cluster& cluster,
                          const cluster::Pod& pod, uint8_t first, PreEnqueueAnswer answered) {
  EnqueueGate gate;
  const auto closes = [&](const framework::Served<framework::PreEnqueuePlugin>& served) {
    Status status = served.plugin->PreEnqueue(cluster, pod);
    answered(*served.plugin, status);
    if (status.Ok()) return false;
    status.set_plugin(served.plugin->Name());
    gate = {served.index, std::move(status)};
    return true;
  };
  for (const auto& served : profile.pre_enqueue) {
    if (served.index == first && closes(served)) return gate;
  }
  for (const auto& served : profile.pre_enqueue) {
    if (served.index != first && closes(served)) return gate;
  }
  return gate;
}

EnqueueGate RunPreEnqueue(const framework::Profile& profile, const cluster::Cluster& cluster,
                          const cluster::Pod& pod) {
  return RunPreEnqueue(profile, cluster, pod, framework::kNoPlugin,
                       [](const framework::PreEnqueuePlugin&, const Status&) {});
}

void RunUnreserve(const framework::Profile& profile, const framework::CycleContext& context,
                  cluster::NodeIndex node, FunctionRef<void(uint8_t)> done) {
  for (auto back = profile.reserve.rbegin(); back != profile.reserve.rend(); ++back) {
    back->plugin->Unreserve(context, nullptr, node);
    done(back->index);
  }
}

void Attempt::Begin(framework::Cycle& cycle, cluster::Cluster& cluster, cluster::PodId pod) {
  cycle_ = &cycle;
  cluster_ = &cluster;
  pod_ = pod;
  stage_ = Stage::kNew;
  node_ = cluster::kNoNode;
  waits_.clear();
  work_.clear();
}

Outcome Attempt::Decide(Algorithm& algorithm, bool score_always, const framework::NodeSet* within) {
  BERTH_DCHECK(stage_ == Stage::kNew);
  algorithm.Schedule(*cycle_, *cluster_, cluster_->GetPod(pod_), &decision_, score_always, within);
  stage_ = Stage::kDecided;
  return decision_.outcome;
}

void Attempt::Decided() {
  BERTH_DCHECK(stage_ == Stage::kNew);
  stage_ = Stage::kDecided;
}

Status Attempt::Reserve(cluster::NodeIndex node) {
  BERTH_DCHECK(stage_ == Stage::kDecided);
  BERTH_DCHECK(cycle_->context().pod.id == pod_);
  cluster_->Assume(pod_, node);
  node_ = node;
  stage_ = Stage::kReserved;
  framework::WatchedPoint point(cycle_->watch(), Point::kReserve);
  framework::CycleWatch* const watch = cycle_->plugin_watch();
  for (const auto& [plugin, index] : cycle_->profile().reserve) {
    if (watch != nullptr) watch->PluginBegan();
    Status status = plugin->Reserve(cycle_->context(), cycle_->state(index), node);
    if (watch != nullptr) watch->PluginEnded(Point::kReserve, plugin->Name(), status.code());
    if (status.Ok()) continue;
    status.set_plugin(plugin->Name());
    point.End(status.code());
    return status;
  }
  point.End(framework::Code::kSuccess);
  return {};
}

Status Attempt::Permit() {
  BERTH_DCHECK(stage_ == Stage::kReserved);
  framework::WatchedPoint point(cycle_->watch(), Point::kPermit);
  framework::CycleWatch* const watch = cycle_->plugin_watch();
  for (const auto& [plugin, index] : cycle_->profile().permit) {
    int64_t timeout_ns = 0;
    if (watch != nullptr) watch->PluginBegan();
    Status status = plugin->Permit(cycle_->context(), cycle_->state(index), node_, &timeout_ns);
    if (watch != nullptr) watch->PluginEnded(Point::kPermit, plugin->Name(), status.code());
    if (status.Ok()) continue;
    if (status.code() == framework::Code::kWait) {
      waits_.push_back({index, std::clamp<int64_t>(timeout_ns, 0, kMaxPermitTimeoutNs)});
      continue;
    }
    status.set_plugin(plugin->Name());
    point.End(status.code());
    return status;
  }
  point.End(waits_.empty() ? framework::Code::kSuccess : framework::Code::kWait);
  stage_ = Stage::kPermitted;
  return {};
}

void Attempt::Commit() {
  BERTH_DCHECK(stage_ == Stage::kReserved || stage_ == Stage::kPermitted);
  for (const auto& [plugin, index] : cycle_->profile().pre_bind) {
    auto task = plugin->PreparePreBind(cycle_->context(), cycle_->state(index), node_);
    if (task) work_.push_back({index, std::move(task)});
  }
  stage_ = Stage::kCommitted;
}

void Attempt::Rollback() {
  BERTH_DCHECK(stage_ == Stage::kReserved || stage_ == Stage::kPermitted ||
               stage_ == Stage::kCommitted);
  BERTH_DCHECK(cycle_->context().pod.id == pod_);
  const auto& reserve = cycle_->profile().reserve;
  framework::WatchedPoint point(cycle_->watch(), Point::kUnreserve);
  framework::CycleWatch* const watch = cycle_->plugin_watch();
  for (auto back = reserve.rbegin(); back != reserve.rend(); ++back) {
    if (watch != nullptr) watch->PluginBegan();
    back->plugin->Unreserve(cycle_->context(), cycle_->state(back->index), node_);
    if (watch != nullptr) {
      watch->PluginEnded(Point::kUnreserve, back->plugin->Name(), framework::Code::kSuccess);
    }
  }
  point.End(framework::Code::kSuccess);
  waits_.clear();
  work_.clear();
  cluster_->Forget(pod_);
  node_ = cluster::kNoNode;
  stage_ = Stage::kRolledBack;
}

}  // namespace berth::scheduler
