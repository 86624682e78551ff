// Engine: where pods are, and whether all of it agrees.
#include <fmt/format.h>

#include "base/check.h"
#include "scheduler/engine/impl.h"

namespace berth::scheduler {

size_t Engine::Impl::AssumedPods() const {
  size_t assumed = 0;
  for (PodId id = 0; id < c_.pods.records.size(); ++id) {
    if (c_.pods.records[id].known && c_.cluster.GetPod(id).assumed) ++assumed;
  }
  return assumed;
}

std::string_view Engine::Impl::WhereIs(std::string_view uid) const {
  const PodId id = c_.cluster.FindPod(uid);
  if (id == cluster::kNoPod || c_.pods.Find(id) == nullptr) return "";
  const auto binding = bindings_.bindings().find(c_.cluster.GetPod(id).key());
  if (binding != bindings_.bindings().end()) {
    return binding->second->IsInFlight() ? "waiting" : "binding";
  }
  if (c_.pods.records[id].assigned) return "assigned";
  if (c_.cluster.GetPod(id).assumed) return "assumed";
  const std::string_view queued = c_.queue->WhereIs(id);
  if (queued.empty() && c_.cluster.GetPod(id).terminating) return "terminating";
  return queued;
}

bool Engine::Impl::MayChangeDecisions(const api::Object& object) const {
  const auto* pod = std::get_if<api::Pod>(&object);
  if (pod == nullptr || !pod->spec.node_name.empty()) return true;
  if (!pod->status.nominated_node_name.empty()) return true;
  const PodId id = c_.cluster.FindPod(pod->metadata.uid);
  const PodRecord* known = c_.pods.Find(id);
  if (known == nullptr || known->generation != pod->metadata.generation) return true;
  return c_.cluster.GetPod(id).shape->source.metadata.labels != pod->metadata.labels;
}

Source Engine::Impl::Explaining() {
  Source source;
  source.cluster = &c_.cluster;
  for (const ProfileRuntime& runtime : c_.runtimes) source.profiles.push_back(runtime.profile);
  source.log = &c_.log;
  source.queue = c_.queue.get();
  source.nodes = &intake_.nodes();
  source.now = c_.now;
  source.changes = c_.changes;
  source.where = [this](std::string_view uid) { return WhereIs(uid); };
  source.find_pod = [this](std::string_view namespace_, std::string_view name) {
    const auto it = c_.pods.by_name.find(fmt::format("{}/{}", namespace_, name));
    return it == c_.pods.by_name.end() ? cluster::kNoPod : it->second;
  };
  for (const auto& [key, binding] : bindings_.bindings()) {
    ++(binding->IsInFlight() ? source.waiting : source.binding);
  }
  return source;
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
  bindings_.TakePermitVerdicts();
  requests_.CarryOut();
  if (c_.options.check_inputs) CheckInput();
}

// A check is a pass over all pods: beyond kPodsPerInput pods, several inputs share one.
void Engine::Impl::CheckInput() {
  constexpr size_t kPodsPerInput = 256;
  if (!contradictions_.empty() || ++unchecked_inputs_ * kPodsPerInput < c_.pods.records.size())
    return;
  unchecked_inputs_ = 0;
  contradictions_ = Contradictions();
  if (!kDebugChecks || c_.options.planted_bug != PlantedBug::kNone) return;
  for (const std::string& found : contradictions_) fmt::print(stderr, "{}\n", found);
  BERTH_DCHECK(contradictions_.empty());
}

std::vector<std::string> Engine::Impl::Contradictions() const {
  std::vector<std::string> wrong;
  std::vector<Sum> sums(c_.cluster.Rows());
  size_t known = 0;
  for (PodId id = 0; id < c_.pods.records.size(); ++id) {
    const PodRecord& record = c_.pods.records[id];
    if (!record.known) continue;
    ++known;
    const cluster::Pod& pod = c_.cluster.GetPod(id);
    const std::string_view queued = c_.queue->WhereIs(id);
    const auto binding = bindings_.bindings().find(pod.key());
    const bool bound_soon = binding != bindings_.bindings().end();
    const bool waiting = bound_soon && binding->second->IsInFlight();
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
      if (!queued.empty() && !(waiting && queued == "in-flight")) {
        say(fmt::format("has a node and is in queue {}", queued));
      }
      continue;
    }
    const bool assumed = pod.assumed && pod.node != cluster::kNoNode;
    const bool forgotten = pod.terminating && c_.options.behaviour.forgets_terminating_assumed_pods;
    if (bound_soon && !assumed && !forgotten) say("is being bound and is on no node");
    if (bound_soon && !queued.empty() && !(waiting && queued == "in-flight")) {
      say(fmt::format("is being bound and in queue {}", queued));
    }
    if (assumed && !bound_soon && !queued.empty()) {
      say(fmt::format("is assumed and in queue {}", queued));
    }
    if (!assumed && queued.empty() && !pod.terminating) say("is nowhere");
    if (assumed && c_.cluster.Nominated().NodeOf(id) != cluster::kNoString) {
      say("is assumed and still nominated");
    }
  }
  if (known != c_.cluster.PodCountTotal()) {
    wrong.push_back(fmt::format("{} pods are recorded, {} are in the cluster", known,
                                c_.cluster.PodCountTotal()));
  }
  const auto* cpu = c_.cluster.Resource(cluster::kCpu);
  const auto* memory = c_.cluster.Resource(cluster::kMemory);
  c_.cluster.Nodes().ForEach([&](NodeIndex n) {
    if (c_.cluster.PodCount()[n] != sums[n].pods ||
        (cpu != nullptr && cpu->requested[n] != sums[n].cpu) ||
        (memory != nullptr && memory->requested[n] != sums[n].memory)) {
      wrong.push_back(
          fmt::format("node {}: its pods do not add up to what it counts", c_.cluster.NodeName(n)));
    }
  });
  return wrong;
}

}  // namespace berth::scheduler
