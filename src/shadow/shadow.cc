#include "shadow/shadow.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "config/disabled_fields.h"
#include "plugins/common/volume_claims.h"
#include "scheduler/engine/context.h"
#include "shadow/lag_search.h"

namespace berth::shadow {
namespace {

// Views beyond these are not tried with every sample of nodes.
constexpr size_t kViewsWithSamples = 16;
// Changes are remembered for so many lag windows.
constexpr int64_t kWindowsKept = 4;

bool IsTerminal(const api::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

bool IsOlder(const api::Object& object, const api::Object& than) {
  const api::ObjectMeta* a = api::MetadataOf(object);
  const api::ObjectMeta* b = api::MetadataOf(than);
  if (a == nullptr || b == nullptr || a->uid != b->uid) return false;
  const int64_t version = scheduler::VersionNumber(a->resource_version);
  return version >= 0 && version < scheduler::VersionNumber(b->resource_version);
}

// Heartbeats of a node change nothing that scheduling reads.
bool SameButForStatus(const api::Object& before, const api::Object& after) {
  const auto* a = std::get_if<api::Node>(&before);
  const auto* b = std::get_if<api::Node>(&after);
  if (a == nullptr || b == nullptr) return false;
  api::Node copy = *a;
  copy.metadata.resource_version = b->metadata.resource_version;
  copy.status.conditions = b->status.conditions;
  return copy == *b;
}

std::optional<api::PodCondition> ScheduledCondition(const api::Pod& pod) {
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled") return condition;
  }
  return std::nullopt;
}

bool SaysUnschedulable(const std::optional<api::PodCondition>& condition) {
  return condition && condition->status == "False" && condition->reason == "Unschedulable";
}

ObjectPtr Shared(api::Pod pod) { return std::make_shared<const api::Object>(std::move(pod)); }

bool UsesClaim(const cluster::Pod& pod, const std::string& namespace_, const std::string& claim) {
  if (pod.namespace_() != namespace_) return false;
  const auto& volumes = pod.shape->source.spec.volumes;
  return std::any_of(volumes.begin(), volumes.end(), [&](const api::Volume& volume) {
    return plugins::ClaimOf(pod, volume).name == claim;
  });
}

// The pod and its claims for volumes, by NumberOf.
std::vector<uint64_t> OwnObjects(const cluster::Pod& pod) {
  api::Object object = api::Pod();
  std::get<api::Pod>(object).metadata.uid = pod.uid;
  std::vector<uint64_t> own = {NumberOf(object)};
  for (const api::Volume& volume : pod.shape->source.spec.volumes) {
    const plugins::VolumeClaim claim = plugins::ClaimOf(pod, volume);
    if (claim.kind == plugins::VolumeClaim::Kind::kNone) continue;
    api::PersistentVolumeClaim named;
    named.metadata.namespace_ = pod.namespace_();
    named.metadata.name = claim.name;
    own.push_back(NumberOf(api::Object(std::move(named))));
  }
  return own;
}

}  // namespace

Result<std::unique_ptr<Shadow>> Shadow::Make(const config::KubeSchedulerConfiguration& config,
                                             ShadowOptions options) {
  if (!config.extenders.empty()) {
    return Fail(
        "extenders: a shadow only reads and cannot call them; their pods cannot be compared");
  }
  const auto inputs = scheduler::InputsOf(config, options.behaviour, options.extra_plugins);
  if (!inputs) return Fail(inputs.error());
  std::unique_ptr<Shadow> shadow(new Shadow(options, *inputs));
  auto judge = Judge::Make(config, shadow->options_.behaviour, shadow->state_.GetCluster(),
                           shadow->options_.extra_plugins);
  if (!judge) return Fail(judge.error());
  shadow->judge_ = std::move(*judge);
  return shadow;
}

// --- Inputs

void Shadow::AdvanceTo(const api::Time& now) {
  now_ns_ = std::max(now_ns_, now.UnixNano());
  while (!open_.empty() &&
         (open_.front().time_ns + options_.lag_ns < now_ns_ || open_.size() > kMostOpen)) {
    Question question = std::move(open_.front());
    open_.pop_front();
    Resolve(std::move(question));
  }
  history_.Forget(now_ns_ - kWindowsKept * options_.lag_ns, kMostChanges);
}

void Shadow::Upsert(api::Object object) {
  if (auto* pod = std::get_if<api::Pod>(&object)) {
    config::HideDisabledFields(options_.behaviour, *pod);
    UpsertPod(std::move(*pod));
  } else {
    UpsertOther(std::move(object));
  }
}

void Shadow::Delete(const api::Object& object) {
  if (const auto* pod = std::get_if<api::Pod>(&object)) pending_.erase(pod->metadata.uid);
  if (ObjectPtr known = state_.Find(object)) Apply(known, nullptr, false);
}

void Shadow::Replace(std::string_view kind, std::vector<api::Object> objects) {
  relisting_ = comparing_;
  for (const ObjectPtr& gone : state_.MissingFrom(kind, objects)) Delete(*gone);
  for (api::Object& object : objects) {
    if (api::KindOf(object) == kind) Upsert(std::move(object));
  }
  relisting_ = false;
}

void Shadow::Start() { comparing_ = true; }

void Shadow::Finish() {
  while (!open_.empty()) {
    Question question = std::move(open_.front());
    open_.pop_front();
    Resolve(std::move(question));
  }
}

std::vector<Comparison> Shadow::TakeComparisons() { return std::exchange(settled_, {}); }

uint64_t Shadow::Apply(const ObjectPtr& before, const ObjectPtr& after, bool placement) {
  after ? state_.Put(after) : state_.Remove(*before);
  if (!comparing_) return history_.End();
  return history_.Add(
      {.time_ns = now_ns_, .placement = placement, .before = before, .after = after});
}

// --- Pods

void Shadow::UpsertPod(api::Pod pod) {
  const cluster::PodId id = state_.GetCluster().FindPod(pod.metadata.uid);
  if (IsTerminal(pod)) return Delete(api::Object(std::move(pod)));
  if (id == cluster::kNoPod) return AddPod(std::move(pod));
  const bool bound = !pod.spec.node_name.empty();
  const auto it = pending_.find(pod.metadata.uid);
  if (it == pending_.end()) {
    if (!bound || state_.TakeUpIfEqual(id, pod)) return;  // a node is for life
    TakeUp(pod, false);
  } else if (bound) {
    PodBound(id, it->second, std::move(pod));
  } else {
    PendingChanged(id, it->second, std::move(pod));
  }
}

void Shadow::AddPod(api::Pod pod) {
  const bool bound = !pod.spec.node_name.empty();
  const bool ours = judge_->Serves(pod.spec.scheduler_name);
  if (!bound && !ours) return;  // another scheduler's
  const std::string uid = pod.metadata.uid;
  if (!bound) pending_[uid].scheduled = ScheduledCondition(pod);
  const uint64_t change = Apply(nullptr, Shared(std::move(pod)), bound);
  if (!bound) pending_[uid].since = change;
  if (bound && ours && relisting_) ++unseen_;
}

void Shadow::TakeUp(const api::Pod& pod, bool placement) {
  ObjectPtr next = Shared(pod);
  Apply(state_.Find(*next), next, placement);
}

void Shadow::PodBound(cluster::PodId id, Pending& pending, api::Pod pod) {
  const std::string& node = pod.spec.node_name;
  if (!pending.assumed.empty() && pending.assumed != node) {
    Forget(pending, pod);
    id = state_.GetCluster().FindPod(pod.metadata.uid);
  }
  if (pending.assumed.empty()) {
    if (relisting_) {
      ++unseen_;
    } else if (Compares()) {
      CompareBinding(id, pending, node);
    }
    TakeUp(pod, true);
  } else if (!state_.TakeUpIfEqual(id, pod)) {
    TakeUp(pod, false);
  }
  pending_.erase(pod.metadata.uid);
}

void Shadow::PendingChanged(cluster::PodId id, Pending& pending, api::Pod pod) {
  if (!pending.assumed.empty()) return AssumedChanged(pending, pod);
  const cluster::Pod& known = state_.GetCluster().GetPod(id);
  const std::optional<api::PodCondition> condition = ScheduledCondition(pod);
  const std::string nominated = pod.status.nominated_node_name;
  const bool newly_nominated = !nominated.empty() && nominated != known.nominated_node_name;
  const bool reported = condition != pending.scheduled;
  bool assumes = false;
  if (newly_nominated && !SaysUnschedulable(condition)) {
    assumes = true;
  } else if (newly_nominated && !reported) {  // by an earlier attempt; this one may have succeeded
    assumes = judge_->Fits(id, nominated);
  }
  if (assumes && Compares()) CompareBinding(id, pending, nominated);
  if (!assumes && Compares() && SaysUnschedulable(condition) && (reported || newly_nominated)) {
    CompareWaiting(id, pending, pod, newly_nominated || known.nominated_node_name.empty());
  }
  const bool failed = reported && condition && condition->status == "False";
  pending.scheduled = condition;
  if (!state_.TakeUpIfEqual(id, pod)) {
    if (assumes) pod.status.nominated_node_name.clear();
    TakeUp(pod, false);
  }
  if (failed) {
    pending.since = history_.End();
    pending.traced.reset();
  }
  if (assumes) {
    id = state_.GetCluster().FindPod(pod.metadata.uid);
    Assume(pending, id, nominated);
  }
}

// The pod counts on its node already. A failed attempt takes it off again.
void Shadow::AssumedChanged(Pending& pending, const api::Pod& pod) {
  std::optional<api::PodCondition> condition = ScheduledCondition(pod);
  const bool failed = condition != pending.scheduled && condition && condition->status == "False";
  pending.scheduled = std::move(condition);
  if (!failed) return;
  Forget(pending, pod);
  pending.since = history_.End();
}

void Shadow::Assume(Pending& pending, cluster::PodId id, const std::string& node) {
  api::Object like = api::Pod();
  std::get<api::Pod>(like).metadata.uid = state_.GetCluster().GetPod(id).uid;
  const ObjectPtr before = state_.Find(like);
  api::Pod placed = std::get<api::Pod>(*before);
  placed.spec.node_name = node;
  Apply(before, Shared(std::move(placed)), true);
  pending.assumed = node;
}

void Shadow::Forget(Pending& pending, const api::Pod& pod) {
  api::Pod unplaced = pod;
  unplaced.spec.node_name.clear();
  TakeUp(unplaced, false);
  pending.assumed.clear();
  pending.traced.reset();
}

// --- Other objects

void Shadow::UpsertOther(api::Object object) {
  const ObjectPtr before = state_.Find(object);
  if (before && IsOlder(object, *before)) return;
  if (comparing_) NoteTraces(before, object);
  const auto after = std::make_shared<const api::Object>(std::move(object));
  if (before && SameButForStatus(*before, *after)) {
    state_.Put(after);
  } else {
    Apply(before, after, false);
  }
}

// Volumes and devices are written before the pod is bound.
void Shadow::NoteTraces(const ObjectPtr& before, const api::Object& after) {
  if (const auto* claim = std::get_if<api::PersistentVolumeClaim>(&after)) {
    const auto* old = before ? std::get_if<api::PersistentVolumeClaim>(before.get()) : nullptr;
    const auto selected = [](const api::PersistentVolumeClaim* c) -> std::string {
      if (c == nullptr) return "";
      const auto* node = api::FindValue(c->metadata.annotations, plugins::kSelectedNodeAnnotation);
      return node == nullptr ? "" : *node;
    };
    const std::string node = selected(claim);
    if (!node.empty() && selected(old).empty()) {
      NoteClaim(claim->metadata.namespace_, claim->metadata.name, node, NumberOf(after));
    }
  } else if (const auto* volume = std::get_if<api::PersistentVolume>(&after)) {
    const auto* old = before ? std::get_if<api::PersistentVolume>(before.get()) : nullptr;
    if (old == nullptr || old->spec.claim_ref || !volume->spec.claim_ref) return;
    NoteClaim(volume->spec.claim_ref->namespace_, volume->spec.claim_ref->name, "",
              NumberOf(after));
  } else if (const auto* devices = std::get_if<api::ResourceClaim>(&after)) {
    const auto* old = before ? std::get_if<api::ResourceClaim>(before.get()) : nullptr;
    if (old == nullptr || old->status.allocation || !devices->status.allocation) return;
    for (const auto& consumer : devices->status.reserved_for) {
      const auto it = pending_.find(consumer.uid);
      if (it == pending_.end()) continue;
      if (!it->second.traced) it->second.traced = history_.End();
      it->second.own.push_back(NumberOf(after));
    }
  }
}

// A claim was given to a pending pod. `node`: where it goes; empty: not known yet.
void Shadow::NoteClaim(const std::string& namespace_, const std::string& name,
                       const std::string& node, uint64_t object) {
  std::vector<std::string> uids;
  for (auto& [uid, pending] : pending_) {
    if (!pending.assumed.empty()) continue;
    const cluster::PodId id = state_.GetCluster().FindPod(uid);
    if (id == cluster::kNoPod || !UsesClaim(state_.GetCluster().GetPod(id), namespace_, name)) {
      continue;
    }
    if (!pending.traced) pending.traced = history_.End();
    pending.own.push_back(object);
    uids.push_back(uid);
  }
  if (node.empty() || uids.size() != 1) return;  // shared: whose it is will show
  Pending& pending = pending_[uids.front()];
  const cluster::PodId id = state_.GetCluster().FindPod(uids.front());
  if (Compares()) CompareBinding(id, pending, node);
  Assume(pending, id, node);
}

// --- Comparisons

Shadow::Question Shadow::Ask(const cluster::Pod& pod, const Pending& pending) const {
  Question question;
  question.time_ns = now_ns_;
  question.at = history_.End();
  if (pending.traced && *pending.traced >= history_.Begin()) question.at = *pending.traced;
  const int64_t seen_ns = question.at < history_.End() ? history_.At(question.at).time_ns : now_ns_;
  question.first = std::max(pending.since, history_.FirstSince(seen_ns - options_.lag_ns));
  question.first = std::min(question.first, question.at);
  question.own = OwnObjects(pod);
  question.own.insert(question.own.end(), pending.own.begin(), pending.own.end());
  std::sort(question.own.begin(), question.own.end());
  Comparison& c = question.comparison;
  c.time = api::Time::FromUnixNano(now_ns_).FormatNano();
  c.namespace_ = pod.namespace_();
  c.name = pod.name;
  c.uid = pod.uid;
  c.scheduler_name = pod.shape->source.spec.scheduler_name;
  return question;
}

void Shadow::CompareBinding(cluster::PodId id, const Pending& pending, const std::string& node) {
  Question question = Ask(state_.GetCluster().GetPod(id), pending);
  question.comparison.decision = "Bound";
  question.comparison.their_node = node;
  View view(state_);
  for (uint64_t n = history_.End(); n > question.at; --n) view.Undo(history_.At(n - 1));
  Finding finding = JudgeNow(question);
  Answer(std::move(question), std::move(finding));
}

void Shadow::CompareWaiting(cluster::PodId id, const Pending& pending, const api::Pod& pod,
                            bool compare_preemption) {
  Question question = Ask(state_.GetCluster().GetPod(id), pending);
  question.at = history_.End();
  question.compare_preemption = compare_preemption;
  question.comparison.decision = "Unschedulable";
  question.comparison.their_node = pod.status.nominated_node_name;
  if (const auto condition = ScheduledCondition(pod)) {
    question.comparison.their_message = condition->message;
  }
  Finding finding = JudgeNow(question);
  Answer(std::move(question), std::move(finding));
}

// REQUIRES: the pod is pending in the state.
Finding Shadow::JudgeNow(const Question& question) {
  const cluster::PodId id = state_.GetCluster().FindPod(question.comparison.uid);
  return question.comparison.decision == "Bound"
             ? judge_->OfBinding(id, question.comparison.their_node)
             : judge_->OfWaiting(id, question.comparison.their_node, question.compare_preemption);
}

void Shadow::Answer(Question question, Finding finding) {
  const bool explained = IsExplained(finding.outcome);
  Take(std::move(finding), &question.comparison);
  if (explained) {
    Settle(std::move(question.comparison));
  } else {
    open_.push_back(std::move(question));
  }
}

// The window has passed: is there a state in it on which both decide the same?
void Shadow::Resolve(Question question) {
  Comparison& c = question.comparison;
  if (question.at < history_.Begin()) return Settle(std::move(c));
  View view(state_);
  for (uint64_t n = history_.End(); n > question.at; --n) view.Undo(history_.At(n - 1));
  const LagWindow window{
      .first = std::max(question.first, history_.Begin()),
      .at = question.at,
      .end = std::max(question.at, history_.FirstSince(question.time_ns + options_.lag_ns + 1)),
      .objects = question.own,
      .node = c.decision == "Bound" ? c.their_node : ""};
  size_t views = 0;
  LagSearch search(state_, history_, window, [&]() -> Look {
    const cluster::PodId id = state_.GetCluster().FindPod(c.uid);
    if (id == cluster::kNoPod || state_.GetCluster().GetPod(id).node != cluster::kNoNode) return {};
    judge_->set_tries_samples(++views <= kViewsWithSamples);
    Finding finding = JudgeNow(question);
    return {IsExplained(finding.outcome), std::move(finding.node)};
  });
  const std::optional<std::string> explanation = search.Run();
  judge_->set_tries_samples(true);
  if (explanation) {
    c.first_outcome = c.outcome_name;
    c.outcome = Outcome::kRace;
    c.outcome_name = NameOf(c.outcome);
    c.explanation = *explanation;
  }
  Settle(std::move(c));
}

void Shadow::Settle(Comparison comparison) {
  comparison.sequence = ++sequence_;
  settled_.push_back(std::move(comparison));
}

}  // namespace berth::shadow
