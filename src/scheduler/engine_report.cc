// Engine: where pods are, and whether all of it agrees.
#include <fmt/format.h>

#include "base/check.h"
#include "scheduler/engine_impl.h"

namespace berth::scheduler {

size_t Engine::Impl::AssumedPods() const {
  size_t assumed = 0;
  for (PodId id = 0; id < records_.size(); ++id) {
    if (records_[id].known && cluster_.GetPod(id).assumed) ++assumed;
  }
  return assumed;
}

std::string_view Engine::Impl::WhereIs(std::string_view uid) const {
  const PodId id = cluster_.FindPod(uid);
  if (id == cluster::kNoPod || FindRecord(id) == nullptr) return "";
  const auto binding = bindings_.find(cluster_.GetPod(id).key());
  if (binding != bindings_.end()) {
    return binding->second->stage == Binding::Stage::kWaiting ? "waiting" : "binding";
  }
  if (records_[id].assigned) return "assigned";
  if (cluster_.GetPod(id).assumed) return "assumed";
  const std::string_view queued = queue_->WhereIs(id);
  if (queued.empty() && cluster_.GetPod(id).terminating) return "terminating";
  return queued;
}

bool Engine::Impl::MayChangeDecisions(const api::Object& object) const {
  const auto* pod = std::get_if<api::Pod>(&object);
  if (pod == nullptr || !pod->spec.node_name.empty()) return true;
  if (!pod->status.nominated_node_name.empty()) return true;
  const PodId id = cluster_.FindPod(pod->metadata.uid);
  const PodRecord* known = FindRecord(id);
  if (known == nullptr || known->generation != pod->metadata.generation) return true;
  return cluster_.GetPod(id).shape->source.metadata.labels != pod->metadata.labels;
}

Source Engine::Impl::Explaining() {
  Source source;
  source.cluster = &cluster_;
  for (const ProfileRuntime& runtime : runtimes_) source.profiles.push_back(runtime.profile);
  source.log = &log_;
  source.queue = queue_.get();
  source.nodes = &nodes_;
  source.now = now_;
  source.changes = changes_;
  source.where = [this](std::string_view uid) { return WhereIs(uid); };
  source.find_pod = [this](std::string_view namespace_, std::string_view name) {
    const auto it = pod_of_name_.find(fmt::format("{}/{}", namespace_, name));
    return it == pod_of_name_.end() ? cluster::kNoPod : it->second;
  };
  for (const auto& [key, binding] : bindings_) {
    ++(binding->stage == Binding::Stage::kWaiting ? source.waiting : source.binding);
  }
  return source;
}

void Engine::Impl::LogFailure(const cluster::Pod& pod, int32_t attempts, const Failure& failure) {
  // An error of the cycle, or after it, has no reasons by node.
  const auto explained = failure.explained ? failure.explained : std::make_shared<FailedAttempt>();
  explained->message = failure.message;
  explained->nominated_node = failure.nominated_node;
  const bool of_cycle = !failure.info;
  log_.Failed(pod, RecordOf(pod.id).profile, attempts, of_cycle ? &attempt_.decision() : nullptr,
              failure.rejected ? Outcome::kUnschedulable : Outcome::kError, explained,
              now_.UnixNano(), changes_);
  if (of_cycle) {
    LogCycleTimes();
  } else {
    LogBindingTimes(RefOf(pod), log_.Newest());
  }
}

void Engine::Impl::LogCycleTimes() {
  if (!interest_.points) return;
  if (const PointTimes* times = observer_->CycleTimes()) log_.Timed(log_.Newest(), *times);
}

void Engine::Impl::LogBindingTimes(const PodRef& pod, uint64_t record) {
  if (observer_ == nullptr) return;
  if (const PointTimes* times = observer_->BindingTimes(pod)) log_.Timed(record, *times);
}

namespace {

// What the pods on a node add up to, counted anew.
struct Sum {
  int64_t cpu = 0;
  int64_t memory = 0;
  int64_t pods = 0;
};

}  // namespace

void Engine::Impl::InputTaken() {
  TakePermitVerdicts();
  if (options_.check_inputs) CheckInput();
}

// A check is a pass over all pods: beyond kPodsPerInput pods, several inputs share one.
void Engine::Impl::CheckInput() {
  constexpr size_t kPodsPerInput = 256;
  if (!contradictions_.empty() || ++unchecked_inputs_ * kPodsPerInput < records_.size()) return;
  unchecked_inputs_ = 0;
  contradictions_ = Contradictions();
  if (!kDebugChecks || options_.planted_bug != PlantedBug::kNone) return;
  for (const std::string& found : contradictions_) fmt::print(stderr, "{}\n", found);
  BERTH_DCHECK(contradictions_.empty());
}

std::vector<std::string> Engine::Impl::Contradictions() const {
  std::vector<std::string> wrong;
  std::vector<Sum> sums(cluster_.Rows());
  size_t known = 0;
  for (PodId id = 0; id < records_.size(); ++id) {
    const PodRecord& record = records_[id];
    if (!record.known) continue;
    ++known;
    const cluster::Pod& pod = cluster_.GetPod(id);
    const std::string_view queued = queue_->WhereIs(id);
    const auto binding = bindings_.find(pod.key());
    const bool bound_soon = binding != bindings_.end();
    const bool waiting = bound_soon && binding->second->stage == Binding::Stage::kWaiting;
    const auto say = [&](std::string_view what) {
      wrong.push_back(fmt::format("pod {}: {}", pod.Key(), what));
    };
    if (pod.node != cluster::kNoNode) {
      Sum& sum = sums[pod.node];
      sum.cpu += pod.shape->on_node.cpu;
      sum.memory += pod.shape->on_node.memory;
      ++sum.pods;
    }
    if (record.assigned) {
      if (pod.node == cluster::kNoNode) say("has a node and is on none");
      if (pod.assumed) say("has a node and is still assumed");
      if (!queued.empty()) say(fmt::format("has a node and is in queue {}", queued));
      continue;
    }
    const bool assumed = pod.assumed && pod.node != cluster::kNoNode;
    if (bound_soon && !assumed) say("is being bound and is on no node");
    if (bound_soon && !queued.empty() && !(waiting && queued == "in-flight")) {
      say(fmt::format("is being bound and in queue {}", queued));
    }
    if (assumed && !bound_soon && !queued.empty()) {
      say(fmt::format("is assumed and in queue {}", queued));
    }
    if (!assumed && queued.empty() && !pod.terminating) say("is nowhere");
    if (assumed && cluster_.Nominated().NodeOf(id) != cluster::kNoString) {
      say("is assumed and still nominated");
    }
  }
  if (known != cluster_.PodCountTotal()) {
    wrong.push_back(fmt::format("{} pods are recorded, {} are in the cluster", known,
                                cluster_.PodCountTotal()));
  }
  const auto* cpu = cluster_.Resource(cluster::kCpu);
  const auto* memory = cluster_.Resource(cluster::kMemory);
  cluster_.Nodes().ForEach([&](NodeIndex n) {
    if (cluster_.PodCount()[n] != sums[n].pods ||
        (cpu != nullptr && cpu->requested[n] != sums[n].cpu) ||
        (memory != nullptr && memory->requested[n] != sums[n].memory)) {
      wrong.push_back(
          fmt::format("node {}: its pods do not add up to what it counts", cluster_.NodeName(n)));
    }
  });
  return wrong;
}

}  // namespace berth::scheduler
