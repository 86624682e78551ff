#include "plugins/sy_sched/sy_sched.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "api/rules/seccomp.h"
#include "framework/runtime/normalize.h"

namespace berth::plugins::sy_sched {
namespace {

using cluster::Cluster;
using cluster::NodeIndex;
using cluster::PodId;
using framework::CycleContext;
using framework::PluginState;

constexpr std::string_view kAnnotation = "seccomp.security.alpha.kubernetes.io";

class State final : public PluginState {
 public:
  const SyscallSet* calls = nullptr;
  int64_t size = 0;
};

// Pods of one name on a node, which are of different namespaces, count once: the first that came.
void DropNamesakes(const Cluster& cluster, std::vector<PodId>* pods) {
  const auto same_namespace = [&](PodId id) {
    return cluster.GetPod(id).namespace_() == cluster.GetPod(pods->front()).namespace_();
  };
  if (std::all_of(pods->begin(), pods->end(), same_namespace)) return;
  std::sort(pods->begin(), pods->end(), [&](PodId a, PodId b) {
    const int order = cluster.GetPod(a).name.compare(cluster.GetPod(b).name);
    return order != 0 ? order < 0 : cluster.GetPod(a).serial < cluster.GetPod(b).serial;
  });
  const auto last = std::unique(pods->begin(), pods->end(), [&](PodId a, PodId b) {
    return cluster.GetPod(a).name == cluster.GetPod(b).name;
  });
  pods->erase(last, pods->end());
}

}  // namespace

// Of several annotations the original takes a random one; here it is the first by key.
SyscallSet SySched::ReadCalls(const cluster::PodShape& shape) const {
  SyscallSet calls = profiles_.EmptySet();
  // False: there is no such profile.
  const auto add = [&](std::string_view path) {
    const auto [namespace_, name] = ProfileOfPath(path);
    if (namespace_.empty() || name.empty()) return true;
    const SyscallSet* set = profiles_.Find(namespace_, name);
    if (set == nullptr) return false;
    AddTo(&calls, *set);
    return true;
  };
  const api::PodSpec& spec = shape.source.spec;
  if (const std::string* path = api::LocalhostProfile(spec.security_context)) add(*path);
  for (const api::Container& container : spec.containers) {
    if (const std::string* path = api::LocalhostProfile(container.security_context)) add(*path);
  }
  for (const auto& [key, value] : shape.source.metadata.annotations) {
    if (key.find(kAnnotation) != std::string::npos && add(value)) break;
  }
  if (SizeOf(calls) == 0 && !args_.default_profile_name.empty() &&
      !args_.default_profile_namespace.empty()) {
    const SyscallSet* set =
        profiles_.Find(args_.default_profile_namespace, args_.default_profile_name);
    if (set != nullptr) AddTo(&calls, *set);
  }
  return calls;
}

const SySched::PodCalls& SySched::CallsOf(const cluster::PodShape& shape) const {
  PodCalls& calls = calls_.Get(shape, [](const cluster::PodShape&) { return PodCalls(); });
  if (calls.version != profiles_.Version()) {
    calls.version = profiles_.Version();
    calls.set = ReadCalls(shape);
    calls.size = static_cast<int64_t>(SizeOf(calls.set));
  }
  return calls;
}

void SySched::UpdateRow(const Cluster& cluster, NodeIndex n) const {
  counted_.clear();
  for (const PodId id : cluster.Record(n).pods) {
    if (!cluster.GetPod(id).start_time.IsZero()) counted_.push_back(id);
  }
  if (counted_.size() > 1) DropNamesakes(cluster, &counted_);
  Host host;
  uint64_t* all = CallsOn(n);
  std::fill_n(all, words_, 0);
  for (const PodId id : counted_) {
    const PodCalls& calls = CallsOf(*cluster.GetPod(id).shape);
    ++host.pods;
    host.sizes += calls.size;
    for (size_t w = 0; w < words_; ++w) all[w] |= calls.set[w];
  }
  for (size_t w = 0; w < words_; ++w) host.size += std::popcount(all[w]);
  hosts_[n] = host;
}

std::unique_ptr<PluginState> SySched::NewState() const { return std::make_unique<State>(); }

void SySched::BeginCycle(const CycleContext& c, PluginState* state) const {
  const Cluster& cluster = c.cluster;
  const auto update = [&](NodeIndex n) { UpdateRow(cluster, n); };
  const bool all = profiles_.Update(cluster) || hosts_.size() < cluster.Rows();
  if (all) {
    words_ = profiles_.Words();
    hosts_.assign(cluster.Rows(), {});
    host_calls_.assign(cluster.Rows() * words_, 0);
  }
  if (all || !cluster.Changes().ForEachSince(read_, update)) {
    for (NodeIndex n = 0; n < cluster.Rows(); ++n) update(n);
  }
  read_ = cluster.Changes().Read();
  const PodCalls& calls = CallsOf(c.shape);
  static_cast<State*>(state)->calls = &calls.set;
  static_cast<State*>(state)->size = calls.size;
}

void SySched::Score(const CycleContext&, const PluginState* state,
                    framework::ScoreBatch& batch) const {
  const SyscallSet& calls = *static_cast<const State*>(state)->calls;
  const int64_t size = static_cast<const State*>(state)->size;
  int64_t* scores = batch.Scores();
  batch.ForEach([&](NodeIndex n) {
    if (size == 0) {
      scores[n] = std::numeric_limits<int64_t>::max();
      return;
    }
    const Host& host = hosts_[n];
    const uint64_t* there = CallsOn(n);
    int64_t common = 0;
    for (size_t w = 0; w < words_; ++w) common += std::popcount(there[w] & calls[w]);
    const int64_t together = host.size + size - common;
    scores[n] = host.size - common + host.pods * together - host.sizes;
  });
}

void SySched::Normalize(const CycleContext&, const PluginState*, const framework::NodeSet& feasible,
                        framework::ScoreColumn& column) const {
  framework::DefaultNormalize(feasible, /*reverse=*/true, column);
}

bool SySched::AppendPremises(const CycleContext&, PluginState*, std::vector<int64_t>* out) const {
  out->push_back(static_cast<int64_t>(profiles_.Version()));
  return true;
}

cluster::PluginInputs Inputs(const config::PluginArgs&) {
  return {.kinds = {SeccompProfileKind()},
          .node_annotations = {},
          .pod_annotations = {"*" + std::string(kAnnotation) + "*"}};
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle&) {
  config::SySchedArgs own;
  if (const auto* given = config::OwnArgsAs<config::SySchedArgs>(args)) own = *given;
  own.SetDefaults();
  return std::make_unique<SySched>(own);
}

}  // namespace berth::plugins::sy_sched
