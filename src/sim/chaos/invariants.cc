#include "sim/chaos/invariants.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/rules/pod_priority.h"
#include "api/rules/pod_requests.h"
#include "cluster/cluster.h"
#include "sim/chaos/faulty_network.h"
#include "sim/chaos/inhabitants.h"
#include "sim/chaos/plain_fit.h"

namespace berth::sim {
namespace {

using Pods = std::vector<const api::Pod*>;

bool IsOurs(const api::Pod& pod) { return pod.spec.scheduler_name == kOurScheduler; }

bool ShrinksAny(const PlainAmounts& from, const PlainAmounts& to) {
  return std::any_of(from.begin(), from.end(), [&](const auto& entry) {
    const auto it = to.find(entry.first);
    return it == to.end() || it->second < entry.second;
  });
}

// The pods on a node of the engine's cluster, but for `except`.
Pods OnNode(const cluster::Cluster& cluster, cluster::NodeIndex node, cluster::PodId except) {
  Pods pods;
  for (const cluster::PodId id : cluster.Record(node).pods) {
    if (id != except) pods.push_back(&cluster.GetPod(id).shape->source);
  }
  return pods;
}

// Pods that have not finished and are on `node`.
Pods BoundTo(const ModelApi& api, const std::string& node) {
  Pods pods;
  api.ForEach<api::Pod>([&](const api::Pod& pod) {
    if (pod.spec.node_name == node && !IsFinished(pod)) pods.push_back(&pod);
  });
  return pods;
}

}  // namespace

Invariants::Invariants(EventLoop& loop, ModelApi& api) : loop_(loop), api_(api), gangs_(api) {
  api_.Subscribe([this](const ApiChange& change) { OnChange(change); });
}

void Invariants::Violated(std::string_view invariant, std::string what) {
  if (!violation_) violation_ = fmt::format("{}: {}", invariant, what);
}

// What the engine cannot know of before it is told: kept per node, for CheckRoom.
void Invariants::OnChange(const ApiChange& change) {
  gangs_.OnChange(change);
  if (const auto* node = std::get_if<api::Node>(change.object.get())) {
    if (change.type == ApiChange::Type::kModified) {
      const auto& old_node = std::get<api::Node>(*change.old_object);
      if (!ShrinksAny(AllocatableOf(old_node), AllocatableOf(*node))) return;
    }
    surprise_[node->metadata.name] = loop_.Now();
    return;
  }
  const auto* pod = std::get_if<api::Pod>(change.object.get());
  if (pod == nullptr) return;
  if (change.type == ApiChange::Type::kDeleted) {
    last_move_ = loop_.Now();
    return;
  }
  if (change.old_object == nullptr || pod->spec.node_name.empty()) return;
  const auto& old_pod = std::get<api::Pod>(*change.old_object);
  if (old_pod.spec.node_name.empty()) {
    last_move_ = loop_.Now();
    if (!IsOurBinding(*pod)) {
      surprise_[pod->spec.node_name] = loop_.Now();
      gangs_.Diminished(*pod);
    }
  } else if (ShrinksAny(RequestsOf(*pod), RequestsOf(old_pod))) {
    surprise_[pod->spec.node_name] = loop_.Now();
  }
}

bool Invariants::IsOurBinding(const api::Pod& pod) const {
  const auto decision = decisions_.find(pod.metadata.uid);
  return being_bound_.contains(pod.metadata.uid) && decision != decisions_.end() &&
         decision->second.node == pod.spec.node_name;
}

// --- Decisions and bindings

void Invariants::Attempted(const cluster::Pod& pod, scheduler::Outcome outcome,
                           std::string_view node, std::string_view) {
  ++attempts_;
  // The end of an earlier attempt: preemption breaks off bindings within the preemptor's cycle.
  const bool of_binding =
      outcome == scheduler::Outcome::kError && decisions_.find(pod.uid) != decisions_.end();
  if (highest_active_ && !of_binding && pod.shape->priority < *highest_active_) {
    Violated("order", fmt::format("{} of priority {} is tried while {} of priority {} is ready",
                                  pod.Key(), pod.shape->priority, highest_name_, *highest_active_));
  }
  if (outcome != scheduler::Outcome::kScheduled) return;
  decisions_[pod.uid] = {std::string(node), loop_.Now()};
  const std::string name(node);
  const auto* seen = host_->Seen<api::Node>(ModelApi::Key("", name));
  const cluster::Cluster& cluster = host_->Get().GetCluster();
  const cluster::NodeIndex index = cluster.FindNode(name);
  if (seen == nullptr || index == cluster::kNoNode) {
    Violated("feasible", fmt::format("{} is to go to {}, which is not there", pod.Key(), name));
    return;
  }
  const std::string why = WhyNot(pod.shape->source, *seen, OnNode(cluster, index, pod.id));
  if (!why.empty()) {
    Violated("feasible", fmt::format("{} is to go to {}: {}", pod.Key(), name, why));
  }
}

void Invariants::Asked(const scheduler::Effect& effect) {
  if (const auto* bind = std::get_if<scheduler::BindPod>(&effect.action)) {
    CheckBindAsked(*bind, effect.id);
  }
}

void Invariants::CheckBindAsked(const scheduler::BindPod& bind, scheduler::EffectId id) {
  const std::string& uid = bind.pod.uid;
  const auto decision = decisions_.find(uid);
  if (decision == decisions_.end() || decision->second.node != bind.node) {
    Violated("decided",
             fmt::format("{} is bound to {}, but {}", bind.pod.name, bind.node,
                         decision == decisions_.end() ? "nothing was decided"
                                                      : decision->second.node + " was decided"));
  }
  if (!being_bound_.emplace(uid, id).second) {
    Violated("decided", fmt::format("{} is bound twice at once", bind.pod.name));
  }
  if (bound_.contains(uid)) {
    Violated("decided", fmt::format("{} is bound although it has been", bind.pod.name));
  }
  const auto* seen = host_->Seen<api::Pod>(ModelApi::Key(bind.pod.namespace_, bind.pod.name));
  if (seen != nullptr && seen->metadata.uid == uid && !seen->spec.scheduling_gates.empty()) {
    Violated("gated", fmt::format("{} is gated and bound", bind.pod.name));
  }
}

void Invariants::CarriedOut(const scheduler::Effect& effect, const ApiAnswer& answer) {
  const auto* bind = std::get_if<scheduler::BindPod>(&effect.action);
  if (bind == nullptr || !answer.Ok()) return;
  ++bindings_;
  CheckRoom(std::get<api::Pod>(*answer.object), bind->node);
}

void Invariants::CheckRoom(const api::Pod& bound, const std::string& node_name) {
  const auto* node = api_.Find<api::Node>("", node_name);
  const auto decision = decisions_.find(bound.metadata.uid);
  if (node == nullptr || decision == decisions_.end()) return;
  const auto surprise = surprise_.find(node_name);
  if (surprise != surprise_.end() && decision->second.at <= surprise->second + kViewLag) return;
  Pods others = BoundTo(api_, node_name);
  std::erase_if(others,
                [&](const api::Pod* pod) { return pod->metadata.uid == bound.metadata.uid; });
  const std::string what = WhatIsShort(bound, *node, others);
  if (!what.empty()) {
    Violated("room", fmt::format("{} was bound to {}: {}", bound.metadata.name, node_name, what));
  }
}

void Invariants::Answered(const scheduler::Effect& effect, const scheduler::EffectResult& result) {
  const auto* bind = std::get_if<scheduler::BindPod>(&effect.action);
  if (bind == nullptr) return;
  const auto it = being_bound_.find(bind->pod.uid);
  if (it == being_bound_.end() || it->second != effect.id) return;  // said before
  being_bound_.erase(it);
  if (result.code == scheduler::EffectResult::Code::kOk) {
    bound_.insert(bind->pod.uid);
  } else if (const auto* pod = api_.Find<api::Pod>(bind->pod.namespace_, bind->pod.name)) {
    gangs_.Diminished(*pod);
  }
}

void Invariants::Crashed() {
  decisions_.clear();
  being_bound_.clear();
  bound_.clear();
  gangs_.Crashed();
}

void Invariants::BeforeStep(const scheduler::Engine& engine) {
  highest_active_.reset();
  if (engine.PendingPods(queue::QueueName::kActive) == 0) return;
  host_->ForEachSeen<api::Pod>([&](const api::Pod& pod) {
    if (!pod.spec.node_name.empty() || pod.metadata.deletion_timestamp) return;
    const int32_t priority = api::PodPriority(pod);
    if (highest_active_ && priority <= *highest_active_) return;
    if (engine.WhereIs(pod.metadata.uid) != "active") return;
    highest_active_ = priority;
    highest_name_ = pod.metadata.name;
  });
}

void Invariants::AfterStep(const scheduler::Engine& engine, bool tried) {
  highest_active_.reset();
  if (!tried) return;
  if (const std::string held = gangs_.WhatIsHeld(engine); !held.empty()) Violated("held", held);
}

// --- States

void Invariants::CheckAlways() {
  if (!host_->Running()) return;
  const scheduler::Engine& engine = host_->Get();
  for (const std::string& contradiction : engine.Invariants()) {
    Violated("one place", contradiction);
  }
  host_->ForEachSeen<api::Pod>([&](const api::Pod& pod) {
    const bool pending = pod.spec.node_name.empty();
    if (pending && (!IsOurs(pod) || pod.metadata.deletion_timestamp)) return;
    const std::string_view where = engine.WhereIs(pod.metadata.uid);
    if (where.empty()) {
      // Reading the pod may have told the engine of its end before the watch does.
      const auto* current = api_.Find<api::Pod>(pod.metadata.namespace_, pod.metadata.name);
      const bool ended =
          current == nullptr || current->metadata.uid != pod.metadata.uid || IsFinished(*current);
      if (ended) return;
      Violated("one place", fmt::format("{} {} is nowhere", pod.metadata.name,
                                        pending ? "waits but" : "has a node but"));
      return;
    }
    const bool decided = where == "assigned" || where == "assumed" || where == "binding";
    const cluster::PodId id = engine.GetCluster().FindPod(pod.metadata.uid);
    if (!decided || id == cluster::kNoPod) return;
    if (const std::string_view queued = engine.Queue().WhereIs(id); !queued.empty()) {
      Violated("one place",
               fmt::format("{} is {} and in queue {}", pod.metadata.name, where, queued));
    }
  });
}

void Invariants::CheckQuiet() {
  CheckCachedPods();
  std::map<std::string, Pods> pods;
  api_.ForEach<api::Pod>([&](const api::Pod& pod) {
    if (!pod.spec.node_name.empty() && !IsFinished(pod)) {
      pods[pod.spec.node_name].push_back(&pod);
    }
  });
  size_t nodes = 0;
  api_.ForEach<api::Node>([&](const api::Node& node) {
    ++nodes;
    CheckCachedNode(node, pods[node.metadata.name]);
  });
  if (nodes != host_->Get().GetCluster().NodeCount()) {
    Violated("cache", fmt::format("there are {} nodes, the engine knows {}", nodes,
                                  host_->Get().GetCluster().NodeCount()));
  }
  CheckExclusive();
}

void Invariants::CheckCachedPods() {
  const scheduler::Engine& engine = host_->Get();
  const cluster::Cluster& cluster = engine.GetCluster();
  std::map<std::string_view, const api::Pod*> by_uid;
  api_.ForEach<api::Pod>([&](const api::Pod& pod) {
    if (!IsFinished(pod)) by_uid.emplace(pod.metadata.uid, &pod);
  });
  for (cluster::PodId id = 0; id < cluster.PodIdLimit(); ++id) {
    if (!cluster.PodExists(id)) continue;
    const cluster::Pod& known = cluster.GetPod(id);
    const auto it = by_uid.find(known.uid);
    const std::string_view where = engine.WhereIs(known.uid);
    const bool on_its_way = where == "binding" || where == "waiting";
    if (it == by_uid.end()) {
      if (!on_its_way) Violated("cache", fmt::format("{} is gone but known", known.Key()));
      continue;
    }
    const std::string& node = it->second->spec.node_name;
    const bool placed = known.node != cluster::kNoNode;
    if (node.empty() ? placed && !on_its_way : !placed || cluster.NodeName(known.node) != node) {
      Violated("cache", fmt::format("{} is on '{}', the engine has it on '{}' ({})", known.Key(),
                                    node, placed ? cluster.NodeName(known.node) : "", where));
    }
  }
  for (const auto& [uid, pod] : by_uid) {
    const bool pending = pod->spec.node_name.empty();
    if (!pending && cluster.FindPod(uid) == cluster::kNoPod) {
      Violated("cache", fmt::format("{} has a node and is not known", pod->metadata.name));
    }
  }
}

void Invariants::CheckCachedNode(const api::Node& node, const Pods& pods) {
  const cluster::Cluster& cluster = host_->Get().GetCluster();
  const std::string& name = node.metadata.name;
  const cluster::NodeIndex n = cluster.FindNode(name);
  if (n == cluster::kNoNode) {
    Violated("cache", fmt::format("{} is not known", name));
    return;
  }
  int64_t cpu = 0;
  int64_t memory = 0;
  size_t count = pods.size();
  for (const api::Pod* pod : pods) {
    const auto amounts = api::PodResources::Of(*pod).node;
    cpu += amounts.milli_cpu;
    memory += amounts.memory;
  }
  for (const cluster::PodId id : cluster.Record(n).pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    if (!pod.assumed) continue;  // CheckCachedPods has seen to it that it may be
    cpu += pod.shape->on_node.cpu;
    memory += pod.shape->on_node.memory;
    ++count;
  }
  const auto expect = [&](std::string_view what, int64_t api, int64_t engine) {
    if (api == engine) return;
    Violated("cache", fmt::format("{} of {}: {}, the engine has {}", what, name, api, engine));
  };
  const cluster::ResourceColumn& cpus = *cluster.Resource(cluster::kCpu);
  const cluster::ResourceColumn& memories = *cluster.Resource(cluster::kMemory);
  PlainAmounts allocatable = AllocatableOf(node);
  expect("pods", static_cast<int64_t>(count), cluster.PodCount()[n]);
  expect("cpu used", cpu, cpus.requested[n]);
  expect("memory used", memory, memories.requested[n]);
  expect("cpu", allocatable["cpu"], cpus.allocatable[n]);
  expect("memory", allocatable["memory"], memories.allocatable[n]);
  expect("cordon", node.spec.unschedulable, cluster.Unschedulable().Contains(n));
  expect("taints", static_cast<int64_t>(node.spec.taints.size()),
         static_cast<int64_t>(cluster.Taints().Get(cluster.TaintSetOf()[n]).size()));
}

void Invariants::CheckExclusive() {
  std::map<std::string, std::string> owners;
  const auto own = [&](std::string thing, const std::string& owner) {
    const auto [it, fresh] = owners.emplace(std::move(thing), owner);
    if (!fresh) {
      Violated("exclusive", fmt::format("{} belongs to {} and {}", it->first, it->second, owner));
    }
  };
  api_.ForEach<api::ResourceClaim>([&](const api::ResourceClaim& claim) {
    if (!claim.status.allocation) return;
    for (const auto& result : claim.status.allocation->devices.results) {
      own(fmt::format("device {}/{}/{}", result.driver, result.pool, result.device),
          claim.metadata.name);
    }
  });
  api_.ForEach<api::PersistentVolumeClaim>([&](const api::PersistentVolumeClaim& claim) {
    if (!claim.spec.volume_name.empty()) {
      own("volume " + claim.spec.volume_name, claim.metadata.name);
    }
  });
}

bool Invariants::WaitsForANode(const api::Pod& pod) const {
  if (!pod.spec.node_name.empty() || IsFinished(pod) || !IsOurs(pod)) return false;
  if (pod.metadata.deletion_timestamp || !pod.spec.scheduling_gates.empty()) return false;
  const std::string_view where = host_->Get().WhereIs(pod.metadata.uid);
  return where != "binding" && where != "waiting";
}

// As the engine has it. A pod of a group keeps its nomination, as in kube-scheduler, also when the
// patch that tells the API server was lost.
std::string Invariants::NominatedNode(const api::Pod& pod) const {
  const cluster::Cluster& cluster = host_->Get().GetCluster();
  const cluster::PodId id = cluster.FindPod(pod.metadata.uid);
  const cluster::StringId node =
      id == cluster::kNoPod ? cluster::kNoString : cluster.Nominated().NodeOf(id);
  return node == cluster::kNoString ? pod.status.nominated_node_name : cluster.Strings().Text(node);
}

// Pods about which the plain check says all there is to say.
bool Invariants::IsSimplyWaiting(const api::Pod& pod, const Pods& all) const {
  if (!WaitsForANode(pod)) return false;
  if (!GangInvariants::GroupOf(pod).empty()) return false;  // it may wait for others
  if (!IsPlain(pod)) return false;
  return std::none_of(all.begin(), all.end(),
                      [&](const api::Pod* other) { return Repels(*other, pod); });
}

void Invariants::CheckRest() {
  if (const std::string split = gangs_.WhatIsSplit(); !split.empty()) Violated("gang", split);
  const std::string starved =
      gangs_.WhatIsStarved([this](const api::Pod& pod) { return WaitsForANode(pod); },
                           [this](const api::Pod& pod) { return NominatedNode(pod); });
  if (!starved.empty()) Violated("starved", starved);
  const cluster::Cluster& cluster = host_->Get().GetCluster();
  Pods all;
  api_.ForEach<api::Pod>([&](const api::Pod& pod) {
    if (!IsFinished(pod)) all.push_back(&pod);
  });
  for (const api::Pod* pod : all) {
    if (!IsSimplyWaiting(*pod, all)) continue;
    const int32_t priority = api::PodPriority(*pod);
    const bool preempts = !pod->spec.preemption_policy || *pod->spec.preemption_policy != "Never";
    api_.ForEach<api::Node>([&](const api::Node& node) {
      Pods others = OnNode(cluster, cluster.FindNode(node.metadata.name), cluster::kNoPod);
      for (const api::Pod* other : all) {
        const bool promised = other != pod && other->spec.node_name.empty() &&
                              other->status.nominated_node_name == node.metadata.name;
        if (promised && api::PodPriority(*other) >= priority) others.push_back(other);
      }
      const auto where = [&] {
        return fmt::format("{} of priority {} waits ({})", pod->metadata.name, priority,
                           host_->Get().WhereIs(pod->metadata.uid));
      };
      if (WhyNot(*pod, node, others).empty()) {
        Violated("liveness", fmt::format("{} and fits {}", where(), node.metadata.name));
      }
      std::erase_if(others,
                    [&](const api::Pod* other) { return api::PodPriority(*other) < priority; });
      if (preempts && WhyNot(*pod, node, others).empty()) {
        Violated("starvation", fmt::format("{} while pods of lower priority have its place on {}",
                                           where(), node.metadata.name));
      }
    });
  }
}

}  // namespace berth::sim
