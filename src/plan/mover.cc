#include "plan/mover.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "cluster/objects/object_store.h"
#include "framework/runtime/diagnosis.h"
#include "framework/runtime/post_filter.h"

namespace berth::plan {

using cluster::PodId;

Mover::Mover(Inventory& inventory, scheduler::ProfileSet& profiles,
             const scheduler::AlgorithmOptions& options)
    : cluster_(inventory.cluster()), profiles_(profiles), options_(options), algorithm_(options) {}

framework::Cycle* Mover::CycleOf(const cluster::Pod& pod) {
  return profiles_.CycleFor(pod.shape->source.spec.scheduler_name);
}

void Mover::Evict(PodId id) {
  cluster::Pod& pod = cluster_.MutablePod(id);
  if (pod.assumed) Unreserve(pod, pod.node);
  ReleaseDevices(pod);
  RenewVolumes(pod);
  cluster_.Forget(id);
  // A replacement starts later than everything that runs, which counts when victims are chosen.
  started_.emplace_back(id, pod.start_time);
  pod.start_time = api::Time();
}

// Claims made for the pod go with it, and shared ones lose it as a consumer. A claim nobody uses
// is deallocated.
void Mover::ReleaseDevices(const cluster::Pod& pod) {
  auto& claims = cluster_.MutableObjects().resource_claims;
  for (const api::PodResourceClaim& wanted : pod.shape->source.spec.resource_claims) {
    std::string name = wanted.resource_claim_name.value_or("");
    for (const api::PodResourceClaimStatus& status : pod.resource_claim_statuses) {
      if (status.name == wanted.name) name = status.resource_claim_name.value_or(name);
    }
    const api::ResourceClaim* claim = claims.Find(pod.namespace_(), name);
    if (claim == nullptr) continue;
    api::ResourceClaim released = *claim;
    std::erase_if(released.status.reserved_for,
                  [&](const api::ResourceClaimConsumerReference& by) { return by.uid == pod.uid; });
    if (released.status.reserved_for.empty()) {
      released.status.allocation = {};
      released.status.devices.clear();
    }
    claims.Set(std::move(released));
  }
}

// The claim of a generic ephemeral volume goes with the pod, and its replacement gets another one
// with another volume. Where the volume is made before the pod is scheduled it can be anywhere, so
// the old one stands in for it.
void Mover::RenewVolumes(const cluster::Pod& pod) {
  auto& objects = cluster_.MutableObjects();
  for (const api::Volume& volume : pod.shape->source.spec.volumes) {
    if (!volume.ephemeral) continue;
    auto claim =
        objects.persistent_volume_claims.Share(pod.namespace_(), pod.name + "-" + volume.name);
    if (claim == nullptr || claim->spec.volume_name.empty()) continue;
    const api::StorageClass* storage =
        objects.storage_classes.Find(claim->spec.storage_class_name.value_or(""));
    if (storage == nullptr || storage->volume_binding_mode != "WaitForFirstConsumer") continue;
    api::PersistentVolumeClaim renewed = *claim;
    renewed.spec.volume_name.clear();
    renewed.status = {};
    renewed.status.phase = "Pending";
    for (const char* key :
         {"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller",
          "volume.kubernetes.io/selected-node"}) {
      renewed.metadata.annotations.erase(std::string(key));
    }
    claims_.push_back(std::move(claim));
    objects.persistent_volume_claims.Set(std::move(renewed));
  }
}

Landing Mover::Place(PodId id, bool may_preempt, bool explain) {
  Landing landing;
  ++placements_;
  const cluster::Pod& pod = cluster_.GetPod(id);
  framework::Cycle* cycle = CycleOf(pod);
  if (cycle == nullptr) {
    landing.message = fmt::format("the configuration has no profile for schedulerName \"{}\"",
                                  pod.shape->source.spec.scheduler_name);
    return landing;
  }
  TryOnce(id, *cycle, explain, &landing);
  const bool preempted =
      landing.node == cluster::kNoNode && may_preempt && Preempt(id, *cycle, &landing);
  if (preempted) TryOnce(id, *cycle, explain, &landing);
  return landing;
}

void Mover::TryOnce(PodId id, framework::Cycle& cycle, bool explain, Landing* landing) {
  attempt_.Begin(cycle, cluster_, id);
  attempt_.Decide(algorithm_, /*score_always=*/false, within_);
  const scheduler::Decision& decision = attempt_.decision();
  if (decision.outcome != scheduler::Outcome::kScheduled) {
    if (decision.outcome == scheduler::Outcome::kError) {
      landing->message = decision.error;
    } else if (explain) {
      landing->message = framework::FitErrorMessage(cycle, decision.diagnosis);
    }
    return;
  }
  landing->equal_nodes = decision.best_count;
  if (list_equal_) {
    landing->equal.clear();
    for (cluster::NodeIndex n = 0; n < decision.best.Capacity(); ++n) {
      if (decision.best.Contains(n)) landing->equal.push_back(cluster_.NodeName(n));
    }
    std::sort(landing->equal.begin(), landing->equal.end());
  }
  if (const framework::Status status = attempt_.Reserve(decision.node); !status.Ok()) {
    attempt_.Rollback();
    landing->message = status.Message();
    return;
  }
  landing->node = decision.node;
  landing->message.clear();
  placed_.emplace_back(id, decision.node);
}

// True: victims were evicted, and the pod should be tried again.
bool Mover::Preempt(PodId id, framework::Cycle& cycle, Landing* landing) {
  if (attempt_.decision().outcome != scheduler::Outcome::kUnschedulable) return false;
  if (cycle.profile().post_filter.empty()) return false;
  framework::PostFilterResult proposal;
  const framework::Status status =
      framework::RunPostFilter(cycle, cluster_, attempt_.decision().diagnosis, &proposal);
  if (!status.Message().empty() && !status.Ok()) landing->message += " " + status.Message();
  using Nomination = framework::PostFilterResult::Nomination;
  if (!status.Ok() || proposal.nomination != Nomination::kSet) return false;
  for (const PodId victim : proposal.victims) Evict(victim);
  landing->victims = proposal.victims;
  cluster_.MutableNominations().Set(id, cluster_.Strings().Intern(proposal.nominated_node));
  return true;
}

void Mover::Unreserve(const cluster::Pod& pod, cluster::NodeIndex node) {
  const framework::CycleContext context{cluster_, pod, *pod.shape};
  scheduler::RunUnreserve(CycleOf(pod)->profile(), context, node, [](uint8_t) {});
}

void Mover::Forget(const Mark& mark) {
  for (size_t i = placed_.size(); i > mark.placed; --i) {
    const auto& [id, node] = placed_[i - 1];
    const cluster::Pod& pod = cluster_.GetPod(id);
    if (pod.node == node) Unreserve(pod, node);
  }
  for (size_t i = started_.size(); i > mark.started; --i) {
    cluster_.MutablePod(started_[i - 1].first).start_time = started_[i - 1].second;
  }
  for (size_t i = claims_.size(); i > mark.claims; --i) {
    cluster_.MutableObjects().persistent_volume_claims.Set(claims_[i - 1]);
  }
  placed_.resize(mark.placed);
  started_.resize(mark.started);
  claims_.resize(mark.claims);
}

void Mover::Keep() {
  placed_.clear();
  started_.clear();
  claims_.clear();
}

}  // namespace berth::plan
