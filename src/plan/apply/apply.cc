#include "plan/apply/apply.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cluster/transaction.h"
#include "plan/drain.h"
#include "plan/restore_spread.h"

namespace berth::plan {
namespace {

using cluster::NodeIndex;
using cluster::PodId;

constexpr int64_t kMostIdleRounds = 20;
constexpr std::string_view kRestoreSpread = "restore-spread";

const api::OwnerReference* ControllerOf(const api::Pod& pod) {
  for (const api::OwnerReference& owner : pod.metadata.owner_references) {
    if (owner.controller.value_or(false)) return &owner;
  }
  return nullptr;
}

bool IsOwnedBy(const api::Pod& pod, const std::string& owner_uid) {
  const api::OwnerReference* owner = ControllerOf(pod);
  return owner != nullptr && owner->uid == owner_uid;
}

bool IsFinished(const api::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

// What the scheduler says about a pod it has no node for; null: nothing.
const std::string* UnschedulableMessage(const api::Pod& pod) {
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled" && condition.status == "False" &&
        condition.reason == "Unschedulable") {
      return &condition.message;
    }
  }
  return nullptr;
}

// Why a plan does not work, in a sentence.
std::string Obstacle(const Plan& plan) {
  for (const Step& step : plan.pods) {
    if (step.outcome != "Homeless" && step.outcome != "Blocked" && step.outcome != "Lost") continue;
    return fmt::format("pod {}/{} on {}: {}", step.namespace_, step.name, step.from, step.message);
  }
  return "a pod has no place";
}

PodId FindByName(const cluster::Cluster& cluster, const Step& step) {
  const NodeIndex node = cluster.FindNode(step.from);
  if (node == cluster::kNoNode) return cluster::kNoPod;
  for (const PodId id : cluster.Record(node).pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.name == step.name && pod.namespace_() == step.namespace_) return id;
  }
  return cluster::kNoPod;
}

}  // namespace

Apply::Apply(Hand& hand, ApplyState state, ApplyOptions options)
    : hand_(hand), state_(std::move(state)), options_(std::move(options)) {
  state_.outcome = "Running";
  state_.message.clear();
}

Result<void> Apply::Run() {
  if (state_.in_flight) {
    if (auto ok = Resume(); !ok) return ok;
  }
  while (state_.outcome == "Running") {
    if (++idle_rounds_ > kMostIdleRounds) {
      Stop("the cluster changes faster than the plan is carried out");
      break;
    }
    auto ok = state_.question == kRestoreSpread ? SpreadRound() : DrainRound();
    if (!ok) return ok;
  }
  return Save();
}

Result<std::unique_ptr<Model>> Apply::ReadModel() {
  ModelOptions options = options_.model;
  options.list_equal = true;
  return Model::Make(options,
                     [&](const api::ObjectConsumer& consume) { return hand_.Read(consume); });
}

Result<void> Apply::Save() { return options_.save ? options_.save(state_) : Result<void>(); }

Apply::Next Apply::Stop(std::string message) {
  state_.outcome = "Stopped";
  state_.message = std::move(message);
  return Next::kStopped;
}

Result<Apply::Next> Apply::ReadAgain() {
  ++state_.replans;
  return Next::kReadAgain;
}

// The process ended between an eviction and its replacement, or right before the eviction.
Result<void> Apply::Resume() {
  const auto pods = hand_.PodsOn(state_.in_flight->from);
  if (!pods) return Fail(pods.error());
  const bool still_there = std::any_of(pods->begin(), pods->end(), [&](const api::Pod& pod) {
    return pod.metadata.uid == state_.in_flight->pod.uid && !pod.metadata.deletion_timestamp;
  });
  if (still_there) {
    --state_.evicted;
    state_.in_flight.reset();
    return Save();
  }
  const auto replacement = Await();
  if (!replacement) return Fail(replacement.error());
  if (!*replacement) return {};
  const std::string predicted = state_.in_flight->predicted;
  Note(**replacement);
  const Carried& last = state_.carried.back();
  if (!last.AsPredicted() &&
      std::find(last.equal.begin(), last.equal.end(), last.landed) == last.equal.end()) {
    Stop(fmt::format("pod {}/{} landed on {}, and {} was predicted", last.namespace_,
                     last.replacement, last.landed, predicted));
  }
  return Save();
}

Result<void> Apply::DrainRound() {
  for (size_t i = 0; !cordoned_ && i < state_.nodes.size(); ++i) {
    if (auto ok = hand_.Cordon(state_.nodes[i]); !ok) return ok;
  }
  cordoned_ = true;
  auto made = ReadModel();
  if (!made) return Fail(made.error());
  Model& model = **made;
  const cluster::Cluster& cluster = model.inventory().cluster();
  std::vector<std::string> nodes;
  for (const std::string& name : state_.nodes) {
    const NodeIndex node = cluster.FindNode(name);
    if (node == cluster::kNoNode) continue;  // the machine is gone already
    const std::vector<PodId> pods = EvictionOrder(cluster, node);
    const bool empty = std::all_of(pods.begin(), pods.end(), [&](PodId id) {
      return model.inventory().Facts(cluster.GetPod(id)).fate == Fate::kStays;
    });
    if (!empty) nodes.push_back(name);
  }
  if (nodes.empty()) {
    state_.outcome = "Done";
    return {};
  }
  const auto rest = CheckRest(model, nodes);
  if (!rest) return Fail(rest.error());
  if (*rest != Next::kGoOn) return {};
  model.mover().Restart();
  int64_t left = options_.evictions_per_read;
  for (const std::string& node : nodes) {
    const auto next = DrainNode(model, node, &left);
    if (!next) return Fail(next.error());
    if (*next != Next::kGoOn) return {};
  }
  return {};
}

Result<Apply::Next> Apply::CheckRest(Model& model, const std::vector<std::string>& nodes) {
  Plan rest;
  {
    cluster::Transaction trial(model.inventory().cluster());
    rest = TryDrain(model.inventory(), model.mover(), nodes);
    model.mover().Forget();
  }
  if (rest.preempted > 0) return Stop("what is left would preempt other pods");
  // A budget that has not seen the last replacement become ready agrees later.
  if (rest.blocked > 0 && rest.homeless == 0 && rest.lost == 0 && !rest.budgets.empty() &&
      waited_ms_ < options_.step_timeout_ms) {
    waited_ms_ += hand_.Pause();
    --idle_rounds_;
    return Next::kReadAgain;
  }
  if (!rest.Works()) return Stop("what is left does not work any more: " + Obstacle(rest));
  if (state_.evicted + rest.moves > state_.max_disruption) {
    return Stop(fmt::format("{} evictions were made and {} are left, more than the {} allowed",
                            state_.evicted, rest.moves, state_.max_disruption));
  }
  return Next::kGoOn;
}

Result<Apply::Next> Apply::DrainNode(Model& model, const std::string& node, int64_t* left) {
  const cluster::Cluster& cluster = model.inventory().cluster();
  for (const PodId id : EvictionOrder(cluster, cluster.FindNode(node))) {
    if (model.inventory().Facts(cluster.GetPod(id)).fate == Fate::kStays) continue;
    if ((*left)-- == 0) return Next::kReadAgain;
    const auto next = Step(model, id);
    if (!next || *next != Next::kGoOn) return next;
  }
  return Next::kGoOn;
}

Result<void> Apply::SpreadRound() {
  RestoreSpreadOptions options;
  options.soft = state_.soft;
  options.lose_local_data = state_.lose_local_data;
  options.max_moves = state_.max_disruption - state_.evicted;
  auto planned = ReadModel();
  if (!planned) return Fail(planned.error());
  const Plan plan = PlanRestoreSpread((*planned)->inventory(), (*planned)->mover(), options);
  if (plan.pods.empty()) {
    state_.outcome = "Done";
    return {};
  }
  auto made = ReadModel();
  if (!made) return Fail(made.error());
  Model& model = **made;
  for (const struct Step& step : plan.pods) {
    const PodId id = FindByName(model.inventory().cluster(), step);
    if (id == cluster::kNoPod) return {};
    model.mover().Restart();
    const auto next = Step(model, id);
    if (!next) return Fail(next.error());
    // With another of equal nodes the excess may be another one, too.
    if (*next != Next::kGoOn || !state_.carried.back().AsPredicted()) return {};
  }
  return {};
}

Result<std::optional<api::Pod>> Apply::Look(const cluster::Pod& pod) {
  auto pods = hand_.PodsOn(pod.node_name);
  if (!pods) return Fail(pods.error());
  for (api::Pod& object : *pods) {
    if (object.metadata.uid != pod.uid || object.metadata.deletion_timestamp) continue;
    return std::optional(std::move(object));
  }
  return std::optional<api::Pod>();
}

Result<Apply::Next> Apply::Step(Model& model, PodId id) {
  cluster::Cluster& cluster = model.inventory().cluster();
  const cluster::Pod& pod = cluster.GetPod(id);
  if (state_.evicted >= state_.max_disruption) {
    return Stop(fmt::format("{} evictions were made, as many as allowed", state_.evicted));
  }
  const NodeIndex from = pod.node;
  const auto object = Look(pod);
  if (!object) return Fail(object.error());
  if (!*object || ControllerOf(**object) == nullptr) return ReadAgain();
  model.mover().Evict(id);
  const Landing landing = model.mover().Place(id, /*may_preempt=*/false, /*explain=*/true);
  if (landing.node == cluster::kNoNode || landing.node == from) return ReadAgain();
  const auto as_modelled = IsAsModelled(model, landing.node, id);
  if (!as_modelled) return Fail(as_modelled.error());
  if (!*as_modelled) return ReadAgain();
  const auto sent = Send(pod, **object, landing, cluster.NodeName(landing.node));
  if (!sent || *sent != Next::kGoOn) return sent;
  return Settle(model, id, landing.node);
}

// Whether the node has the pods that it has in the model, without `but`.
Result<bool> Apply::IsAsModelled(Model& model, NodeIndex node, PodId but) {
  const cluster::Cluster& cluster = model.inventory().cluster();
  const auto& expected = cluster.Record(node).pods;
  const auto live = std::count_if(expected.begin(), expected.end(), [&](PodId id) {
    return id != but && !cluster.GetPod(id).terminating;
  });
  const auto pods = hand_.PodsOn(cluster.NodeName(node));
  if (!pods) return Fail(pods.error());
  return live == std::count_if(pods->begin(), pods->end(), [](const api::Pod& pod) {
           return !IsFinished(pod) && !pod.metadata.deletion_timestamp;
         });
}

Result<Apply::Next> Apply::Send(const cluster::Pod& pod, const api::Pod& object,
                                const Landing& landing, const std::string& target) {
  InFlight flight;
  flight.pod = {pod.namespace_(), pod.name, pod.uid};
  flight.owner_uid = ControllerOf(object)->uid;
  flight.from = object.spec.node_name;
  flight.predicted = target;
  flight.equal = landing.equal;
  flight.labels = object.metadata.labels;
  const auto siblings = hand_.PodsWith(flight.pod.namespace_, flight.labels);
  if (!siblings) return Fail(siblings.error());
  for (const api::Pod& sibling : *siblings) {
    if (IsOwnedBy(sibling, flight.owner_uid)) flight.known.push_back(sibling.metadata.uid);
  }
  state_.in_flight = flight;
  ++state_.evicted;
  if (auto ok = Save(); !ok) return Fail(ok.error());
  std::string why;
  for (int64_t waited = 0;;) {
    const auto done = hand_.Evict(flight.pod, &why);
    if (!done) return Fail(done.error());
    if (*done == Hand::Eviction::kDone) break;
    if (*done == Hand::Eviction::kNotNow && waited < options_.step_timeout_ms) {
      waited += hand_.Pause();
      continue;
    }
    --state_.evicted;
    state_.in_flight.reset();
    if (*done == Hand::Eviction::kGone) return ReadAgain();
    return Stop(fmt::format("pod {}/{} may not be evicted: {}", flight.pod.namespace_,
                            flight.pod.name, why));
  }
  idle_rounds_ = 0;
  waited_ms_ = 0;
  return Next::kGoOn;
}

Result<std::optional<api::Pod>> Apply::Await() {
  const InFlight& flight = *state_.in_flight;
  int64_t unschedulable_ms = 0;
  for (int64_t waited = 0;;) {
    const auto pods = hand_.PodsWith(flight.pod.namespace_, flight.labels);
    if (!pods) return Fail(pods.error());
    const std::string* why = nullptr;
    for (const api::Pod& pod : *pods) {
      if (!IsOwnedBy(pod, flight.owner_uid) || pod.metadata.deletion_timestamp) continue;
      const auto& known = flight.known;
      if (std::find(known.begin(), known.end(), pod.metadata.uid) != known.end()) continue;
      if (!pod.spec.node_name.empty()) return std::optional(pod);
      why = UnschedulableMessage(pod);
    }
    const bool is_late = waited >= options_.step_timeout_ms;
    if (is_late || (why != nullptr && unschedulable_ms >= options_.surprise_ms)) {
      Stop(fmt::format("the replacement of pod {}/{} has no node, and {} was predicted: {}",
                       flight.pod.namespace_, flight.pod.name, flight.predicted,
                       why != nullptr ? *why : "its controller created none that was scheduled"));
      return std::optional<api::Pod>();
    }
    const int64_t pause = hand_.Pause();
    waited += pause;
    unschedulable_ms = why == nullptr ? 0 : unschedulable_ms + pause;
  }
}

void Apply::Note(const api::Pod& replacement) {
  InFlight& flight = *state_.in_flight;
  Carried carried;
  carried.namespace_ = flight.pod.namespace_;
  carried.name = flight.pod.name;
  carried.replacement = replacement.metadata.name;
  carried.from = flight.from;
  carried.predicted = flight.predicted;
  carried.landed = replacement.spec.node_name;
  carried.equal = flight.equal;
  state_.carried.push_back(std::move(carried));
  state_.in_flight.reset();
  if (options_.carried) options_.carried(state_.carried.back());
}

Result<Apply::Next> Apply::Settle(Model& model, PodId id, NodeIndex target) {
  const auto replacement = Await();
  if (!replacement) return Fail(replacement.error());
  if (!*replacement) return Next::kStopped;
  Note(**replacement);
  if (auto ok = Save(); !ok) return Fail(ok.error());
  const Carried& last = state_.carried.back();
  if (last.AsPredicted()) return Next::kGoOn;
  cluster::Cluster& cluster = model.inventory().cluster();
  const NodeIndex landed = cluster.FindNode(last.landed);
  const bool is_tie =
      std::find(last.equal.begin(), last.equal.end(), last.landed) != last.equal.end();
  if (is_tie && landed != cluster::kNoNode) {
    // What plugins reserve with volumes and devices is not known of the other node.
    const uint32_t parts = cluster.GetPod(id).shape->parts;
    if ((parts & (cluster::kHasVolumes | cluster::kHasResourceClaims)) != 0) {
      return Next::kReadAgain;
    }
    model.mover().Evict(id);
    model.mover().Put(id, landed);
    return Next::kGoOn;
  }
  const auto as_modelled = IsAsModelled(model, target, id);
  if (!as_modelled) return Fail(as_modelled.error());
  if (!*as_modelled) return ReadAgain();
  return Stop(fmt::format("pod {}/{} landed on {}, and {} was predicted", last.namespace_,
                          last.replacement, last.landed, last.predicted));
}

}  // namespace berth::plan
