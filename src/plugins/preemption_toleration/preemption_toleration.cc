#include "plugins/preemption_toleration/preemption_toleration.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "cluster/objects/object_store.h"

namespace berth::plugins::preemption_toleration {
namespace {

using cluster::Cluster;
using default_preemption::Evaluator;
using framework::Status;

// Why the pod may not preempt at all; empty when it may.
std::string NotEligible(const framework::Cycle& cycle, const Cluster& cluster,
                        const framework::Diagnosis& diagnosis) {
  const cluster::Pod& pod = cycle.context().pod;
  if (pod.shape->never_preempts) return "not eligible due to preemptionPolicy=Never.";
  if (pod.nominated_node_name.empty()) return "";
  if (default_preemption::CodeOfNominated(cycle, cluster, diagnosis) ==
      framework::Code::kUnschedulableAndUnresolvable) {
    return "";
  }
  const cluster::NodeIndex n = cluster.FindNode(pod.nominated_node_name);
  if (n == cluster::kNoNode) return "";
  for (const cluster::PodId id : cluster.Record(n).pods) {
    const cluster::Pod& other = cluster.GetPod(id);
    if (other.terminating && other.shape->priority < pod.shape->priority) {
      return "not eligible due to a terminating pod on the nominated node.";
    }
  }
  return "";
}

size_t Draw(void* random, size_t n) { return static_cast<Random*>(random)->Below(n); }

// At most all of the nodes.
size_t Wanted(const config::PreemptionTolerationArgs& args, size_t nodes) {
  const auto share = nodes * static_cast<size_t>(args.min_candidate_nodes_percentage) / 100;
  return std::min(nodes, std::max(share, static_cast<size_t>(args.min_candidate_nodes_absolute)));
}

}  // namespace

Status PreemptionToleration::PostFilter(framework::Cycle& cycle, Cluster& cluster,
                                        const framework::Diagnosis& diagnosis,
                                        framework::PostFilterResult* result) {
  std::vector<framework::PreemptionCandidate> candidates;
  Status status = FindCandidates(cycle, cluster, diagnosis, &candidates, result);
  return status.Ok() ? PickCandidate(cluster, candidates, result) : status;
}

Status PreemptionToleration::FindCandidates(framework::Cycle& cycle, Cluster& cluster,
                                            const framework::Diagnosis& diagnosis,
                                            std::vector<framework::PreemptionCandidate>* candidates,
                                            framework::PostFilterResult* result) {
  if (std::string why = NotEligible(cycle, cluster, diagnosis); !why.empty()) {
    return Status::Unschedulable(std::move(why));
  }
  const auto nodes = Evaluator::PotentialNodes(cycle, cluster, diagnosis);
  Evaluator::Range range;
  if (!nodes.empty()) {
    range.wanted = Wanted(args_, nodes.size());
    range.offset = random_.Below(nodes.size());
  }
  return evaluator_.Find(cycle, cluster, diagnosis, nodes, range, *this, candidates, result);
}

Status PreemptionToleration::PickCandidate(
    const Cluster& cluster, const std::vector<framework::PreemptionCandidate>& candidates,
    framework::PostFilterResult* result) {
  return default_preemption::Pick(cluster, candidates, &Draw, &random_, result);
}

Status PreemptionToleration::ReviewFailed(std::string_view why) const {
  return Status::Error(std::string(why));
}

Status PreemptionToleration::PotentialVictims(const framework::Cycle& cycle, const Cluster& cluster,
                                              cluster::NodeIndex node,
                                              std::vector<cluster::PodId>* pods) {
  const int32_t priority = cycle.context().shape.priority;
  for (const cluster::PodId id : cluster.Record(node).pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.shape->priority >= priority) continue;
    const std::string& name = pod.shape->source.spec.priority_class_name;
    if (!name.empty()) {
      const KnownClass& known = ClassOf(cluster, name);
      if (!known.exists) {
        return Status::Error(fmt::format("priorityclass.scheduling.k8s.io \"{}\" not found", name));
      }
      if (known.policy && Spares(*known.policy, pod, priority)) continue;
    }
    pods->push_back(id);
  }
  return {};
}

bool PreemptionToleration::Spares(const TolerationPolicy& policy, const cluster::Pod& victim,
                                  int32_t priority) const {
  if (priority >= policy.minimum_priority) return false;
  if (policy.toleration_seconds < 0 || !victim.scheduled_at) return true;
  // As Go counts: the duration wraps around, the point in time does not.
  const int64_t duration_ns = static_cast<int64_t>(
      static_cast<uint64_t>(policy.toleration_seconds) * uint64_t{1'000'000'000});
  // Seconds and nanoseconds apart, as nanoseconds alone reach from 1678 to 2262 only.
  constexpr int64_t kSecond = 1'000'000'000;
  api::Time end = *victim.scheduled_at;
  end.seconds += duration_ns / kSecond;
  end.nanos += static_cast<int32_t>(duration_ns % kSecond);
  if (end.nanos >= kSecond || end.nanos < 0) {
    end.seconds += end.nanos < 0 ? -1 : 1;
    end.nanos += static_cast<int32_t>(end.nanos < 0 ? kSecond : -kSecond);
  }
  return end > now_;
}

const PreemptionToleration::KnownClass& PreemptionToleration::ClassOf(const Cluster& cluster,
                                                                      const std::string& name) {
  static const KnownClass kNone;
  const auto* store =
      cluster.Objects().custom.Find(api::PriorityClass::kApiVersion, api::PriorityClass::kKind);
  if (store == nullptr) return kNone;
  if (store->Generation() != classes_generation_) {
    classes_.clear();
    classes_generation_ = store->Generation();
  }
  const auto [it, inserted] = classes_.try_emplace(name);
  if (!inserted) return it->second;
  if (const auto* object = store->Find(name)) {
    if (const auto priority_class = api::FromJson<api::PriorityClass>(object->json)) {
      it->second = {true, TolerationPolicy::Of(*priority_class)};
    }
  }
  return it->second;
}

cluster::PluginInputs Inputs(const config::PluginArgs&) {
  return {.kinds = {{"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", false}},
          .node_annotations = {},
          .pod_annotations = {}};
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  const auto* own = config::OwnArgsAs<config::PreemptionTolerationArgs>(args);
  return std::make_unique<PreemptionToleration>(
      own != nullptr ? *own : config::PreemptionTolerationArgs(), handle.seed);
}

}  // namespace berth::plugins::preemption_toleration
