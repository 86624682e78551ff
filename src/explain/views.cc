#include "explain/views.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "explain/workload.h"

namespace berth::explain {
namespace {

using cluster::NodeIndex;
using cluster::PodId;

constexpr size_t kPendingShown = 1000;
constexpr size_t kExamples = 5;
constexpr std::string_view kZone = "topology.kubernetes.io/zone";

std::optional<api::MicroTime> Micro(const api::Time& time) {
  if (time.IsZero()) return std::nullopt;
  return api::MicroTime::FromUnixNano(time.UnixNano());
}

bool Contains(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

bool MatchesNames(const DecisionQuery& query, const scheduler::Source& source,
                  const scheduler::AttemptRecord& attempt) {
  const scheduler::AttemptNames names = source.log->NamesOf(attempt);
  if (!query.namespace_.empty() && names.namespace_ != query.namespace_) return false;
  if (!query.workload.empty()) {
    if (!names.name.starts_with(query.workload)) return false;
    const std::string_view rest = names.name.substr(query.workload.size());
    if (!rest.empty() && rest.front() != '-') return false;
  }
  if (query.search.empty()) return true;
  if (Contains(fmt::format("{}/{}", names.namespace_, names.name), query.search)) return true;
  return attempt.node != cluster::kNoString &&
         Contains(source.cluster->Strings().Text(attempt.node), query.search);
}

bool Matches(const DecisionQuery& query, const scheduler::Source& source,
             const scheduler::AttemptRecord& attempt) {
  if (!query.outcome.empty() && query.outcome != OutcomeName(attempt.outcome)) return false;
  if (!MatchesNames(query, source, attempt)) return false;
  if (!query.node.empty()) {
    const bool chosen = attempt.node != cluster::kNoString &&
                        source.cluster->Strings().Text(attempt.node) == query.node;
    const bool nominated = attempt.failed && attempt.failed->nominated_node == query.node;
    if (!chosen && !nominated) return false;
  }
  if (query.plugin.empty()) return true;
  if (!attempt.failed) return false;
  const auto& reasons = attempt.failed->reasons;
  return std::any_of(reasons.begin(), reasons.end(),
                     [&](const auto& count) { return count.plugin == query.plugin; });
}

// Resources that some node has or some pod asks for: the known ones first.
std::vector<std::pair<std::string, cluster::ResourceId>> ResourcesOf(
    const cluster::Cluster& cluster) {
  std::vector<std::pair<std::string, cluster::ResourceId>> resources;
  for (cluster::ResourceId id = 0; id < cluster.Resources().Size(); ++id) {
    resources.emplace_back(cluster.Resources().Name(id), id);
  }
  const auto fixed = std::min<size_t>(3, resources.size());
  std::sort(resources.begin() + static_cast<std::ptrdiff_t>(fixed), resources.end());
  return resources;
}

int64_t Allocatable(const cluster::Cluster& cluster, cluster::ResourceId id, NodeIndex n) {
  if (const cluster::ResourceColumn* column = cluster.Resource(id)) return column->allocatable[n];
  for (const auto& [scalar, amount] : cluster.Record(n).scalar_allocatable) {
    if (scalar == id) return amount;
  }
  return 0;
}

int64_t Requested(const cluster::Cluster& cluster, cluster::ResourceId id, NodeIndex n) {
  const cluster::ResourceColumn* column = cluster.Resource(id);
  return column == nullptr ? 0 : column->requested[n];
}

bool KeepsAway(const api::Taint& taint) { return taint.effect != "PreferNoSchedule"; }

std::string ZoneOf(const cluster::Cluster& cluster, NodeIndex n) {
  const cluster::StringId key = cluster.Strings().Find(kZone);
  const cluster::StringId value =
      key == cluster::kNoString ? key : cluster::LabelValue(cluster.Record(n).labels, key);
  return value == cluster::kNoString ? "" : cluster.Strings().Text(value);
}

// Labels that name the pool of a node, the first that a node has: what people and the large
// providers use.
constexpr std::array<std::string_view, 7> kPoolLabels{"pool",
                                                      "node-pool",
                                                      "nodepool",
                                                      "cloud.google.com/gke-nodepool",
                                                      "eks.amazonaws.com/nodegroup",
                                                      "kubernetes.azure.com/agentpool",
                                                      "karpenter.sh/nodepool"};

std::string PoolOf(const cluster::Cluster& cluster, NodeIndex n) {
  for (const std::string_view label : kPoolLabels) {
    const cluster::StringId key = cluster.Strings().Find(label);
    if (key == cluster::kNoString) continue;
    const cluster::StringId value = cluster::LabelValue(cluster.Record(n).labels, key);
    if (value != cluster::kNoString) return cluster.Strings().Text(value);
  }
  return "";
}

std::string TaintText(const api::Taint& taint) {
  return taint.value.empty() ? fmt::format("{}:{}", taint.key, taint.effect)
                             : fmt::format("{}={}:{}", taint.key, taint.value, taint.effect);
}

// Kubernetes' own taints say what state a node is in; the others are somebody's choice.
bool IsState(const api::Taint& taint) { return taint.key.starts_with("node.kubernetes.io/"); }

std::string ChosenTaints(const cluster::Cluster& cluster, NodeIndex n) {
  std::vector<std::string> texts;
  for (const api::Taint& taint : cluster.Taints().Get(cluster.TaintSetOf()[n])) {
    if (!IsState(taint)) texts.push_back(TaintText(taint));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

bool IsReady(const cluster::Cluster& cluster, NodeIndex n) {
  const auto& taints = cluster.Taints().Get(cluster.TaintSetOf()[n]);
  return std::none_of(taints.begin(), taints.end(), [](const api::Taint& taint) {
    return taint.key == "node.kubernetes.io/not-ready" ||
           taint.key == "node.kubernetes.io/unreachable";
  });
}

// Distinct strings by name, and the place of each node's among them.
void AddGroups(const std::vector<std::string>& values, std::vector<std::string>* names,
               std::vector<int64_t>* column) {
  std::map<std::string, int64_t> places;
  for (const std::string& value : values) places.emplace(value, 0);
  for (auto& [name, place] : places) {
    place = static_cast<int64_t>(names->size());
    names->push_back(name);
  }
  for (const std::string& value : values) column->push_back(places[value]);
}

PodOnNode ViewPod(const cluster::Cluster& cluster, const cluster::Pod& pod) {
  PodOnNode view{pod.namespace_(), pod.name,   pod.shape->priority, 0, 0, {},
                 pod.terminating,  pod.assumed};
  view.cpu = pod.shape->on_node.cpu;
  view.memory = pod.shape->on_node.memory;
  if (pod.shape->on_node.ephemeral_storage > 0) {
    view.extended["ephemeral-storage"] = pod.shape->on_node.ephemeral_storage;
  }
  for (const auto& [id, amount] : pod.shape->on_node.scalars) {
    if (amount != 0) view.extended[cluster.Resources().Name(id)] = amount;
  }
  return view;
}

PendingPod ViewPending(const scheduler::Source& source, PodId id) {
  const cluster::Pod& pod = source.cluster->GetPod(id);
  PendingPod view;
  view.namespace_ = pod.namespace_();
  view.name = pod.name;
  view.workload = ControllerOf(pod);
  view.uid = pod.uid;
  view.priority = pod.shape->priority;
  view.profile = pod.shape->source.spec.scheduler_name;
  view.created_at = Micro(pod.creation_timestamp);
  view.nominated_node = pod.nominated_node_name;
  view.where = source.where ? std::string(source.where(pod.uid)) : "pending";
  if (source.queue != nullptr) {
    if (const queue::QueuedPod* info = source.queue->Find(id)) {
      view.attempts = info->attempts;
      view.queued_at = Micro(info->timestamp);
    }
    if (const auto until = source.queue->BackoffUntil(id)) view.backoff_until = Micro(*until);
  }
  const framework::Profile* profile = source.ProfileFor(view.profile);
  if (profile != nullptr && view.where == "gated") {
    const framework::Status gate = GateOf(source, *profile, id);
    view.message = gate.Message();
    view.rejections.push_back({std::string(gate.plugin()),
                               gate.Message(),
                               std::string(framework::CodeName(gate.code())),
                               0,
                               {}});
    return view;
  }
  const scheduler::AttemptRecord* last =
      source.log == nullptr || view.attempts == 0 ? nullptr : source.log->FindLast(id, pod.uid);
  if (last != nullptr && last->failed) {
    view.message = last->failed->message;
    view.rejections = ToRejections(last->failed->reasons);
    if (view.nominated_node.empty()) view.nominated_node = last->failed->nominated_node;
  }
  return view;
}

std::vector<PendingGroup> Group(const std::vector<PendingPod>& pods) {
  std::map<std::pair<std::string, std::string>, PendingGroup> groups;
  for (const PendingPod& pod : pods) {
    for (const Rejection& rejection : pod.rejections) {
      PendingGroup& group = groups[{rejection.plugin, rejection.reason}];
      ++group.pods;
      group.nodes += rejection.nodes;
      if (group.examples.size() < kExamples) {
        group.examples.push_back(pod.namespace_ + "/" + pod.name);
      }
    }
  }
  std::vector<PendingGroup> list;
  for (auto& [key, group] : groups) {
    group.plugin = key.first;
    group.reason = key.second;
    list.push_back(std::move(group));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.pods > b.pods; });
  return list;
}

// The plugins at one extension point, in order.
template <class Served>
PluginSet PointOf(std::string_view point, const std::vector<Served>& served) {
  PluginSet set;
  set.point = point;
  for (const auto& entry : served) {
    PluginRef plugin{std::string(entry.plugin->Name()), 0};
    if constexpr (requires { entry.weight; }) plugin.weight = entry.weight;
    set.plugins.push_back(std::move(plugin));
  }
  return set;
}

}  // namespace

PodId FindPod(const scheduler::Source& source, std::string_view namespace_, std::string_view name) {
  if (source.find_pod) return source.find_pod(namespace_, name);
  const cluster::Cluster& cluster = *source.cluster;
  for (PodId id = 0; id < cluster.PodIdLimit(); ++id) {
    if (!cluster.PodExists(id)) continue;
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.name == name && pod.namespace_() == namespace_) return id;
  }
  return cluster::kNoPod;
}

DecisionList ListDecisions(const scheduler::Source& source, const DecisionQuery& query) {
  DecisionList list;
  const scheduler::DecisionLog& log = *source.log;
  uint64_t last = 0;
  for (uint64_t id = log.Newest(); id > log.Newest() - log.Kept(); --id) {
    const scheduler::AttemptRecord& attempt = *log.Find(id);
    if (!Matches(query, source, attempt)) continue;
    ++list.total;
    if (query.before != 0 && id >= query.before) continue;
    if (list.items.size() < query.limit) {
      list.items.push_back(Summarize(source, attempt));
      last = id;
    } else {
      list.continue_ = std::to_string(last);
    }
  }
  return list;
}

PendingList ListPending(const scheduler::Source& source, std::string_view namespace_) {
  const cluster::Cluster& cluster = *source.cluster;
  std::vector<PodId> ids;
  for (PodId id = 0; id < cluster.PodIdLimit(); ++id) {
    if (!cluster.PodExists(id)) continue;
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.node != cluster::kNoNode || !pod.node_name.empty() || pod.terminating) continue;
    if (!namespace_.empty() && pod.namespace_() != namespace_) continue;
    if (source.ProfileFor(pod.shape->source.spec.scheduler_name) == nullptr) continue;
    ids.push_back(id);
  }
  std::stable_sort(ids.begin(), ids.end(), [&](PodId a, PodId b) {
    return cluster.GetPod(a).creation_timestamp < cluster.GetPod(b).creation_timestamp;
  });
  PendingList list;
  list.total = static_cast<int64_t>(ids.size());
  for (const PodId id : ids) {
    if (list.items.size() == kPendingShown) break;
    list.items.push_back(ViewPending(source, id));
  }
  list.groups = Group(list.items);
  return list;
}

NodeTable ViewNodes(const scheduler::Source& source) {
  const cluster::Cluster& cluster = *source.cluster;
  NodeTable table;
  table.count = static_cast<int64_t>(cluster.NodeCount());
  std::vector<NodeIndex> nodes;
  cluster.Nodes().ForEach([&](NodeIndex n) { nodes.push_back(n); });
  std::sort(nodes.begin(), nodes.end(),
            [&](NodeIndex a, NodeIndex b) { return cluster.NodeName(a) < cluster.NodeName(b); });
  std::map<std::string, int64_t> zones;
  for (const NodeIndex n : nodes) zones.emplace(ZoneOf(cluster, n), 0);
  for (auto& [zone, index] : zones) {
    index = static_cast<int64_t>(table.zones.size());
    table.zones.push_back(zone);
  }
  std::vector<std::string> pools;
  std::vector<std::string> chosen_taints;
  for (const NodeIndex n : nodes) {
    table.name.push_back(cluster.NodeName(n));
    table.zone.push_back(zones[ZoneOf(cluster, n)]);
    table.schedulable.push_back(cluster.Unschedulable().Contains(n) ? 0 : 1);
    const auto& taints = cluster.Taints().Get(cluster.TaintSetOf()[n]);
    table.tainted.push_back(std::count_if(taints.begin(), taints.end(), KeepsAway));
    table.ready.push_back(IsReady(cluster, n) ? 1 : 0);
    pools.push_back(PoolOf(cluster, n));
    chosen_taints.push_back(ChosenTaints(cluster, n));
  }
  AddGroups(pools, &table.pools, &table.pool);
  AddGroups(chosen_taints, &table.taints, &table.taint);
  const auto add = [&](const std::string& name, auto allocatable, auto requested) {
    std::vector<int64_t> have;
    std::vector<int64_t> taken;
    bool any = false;
    for (const NodeIndex n : nodes) {
      have.push_back(allocatable(n));
      taken.push_back(requested(n));
      any = any || have.back() != 0 || taken.back() != 0;
    }
    if (!any && name != "cpu" && name != "memory" && name != "pods") return;
    table.resources.push_back(name);
    table.allocatable[name] = std::move(have);
    table.requested[name] = std::move(taken);
  };
  for (const auto& [name, id] : ResourcesOf(cluster)) {
    add(
        name, [&, r = id](NodeIndex n) { return Allocatable(cluster, r, n); },
        [&, r = id](NodeIndex n) { return Requested(cluster, r, n); });
    if (id == cluster::kMemory) {
      add(
          "pods", [&](NodeIndex n) { return cluster.AllowedPods()[n]; },
          [&](NodeIndex n) { return cluster.PodCount()[n]; });
    }
  }
  return table;
}

Result<NodeDetail> ViewNode(const scheduler::Source& source, std::string_view name) {
  const cluster::Cluster& cluster = *source.cluster;
  const NodeIndex n = cluster.FindNode(name);
  if (n == cluster::kNoNode) return Fail(fmt::format("no node {}", name));
  NodeDetail detail;
  detail.name = name;
  detail.zone = ZoneOf(cluster, n);
  detail.schedulable = !cluster.Unschedulable().Contains(n);
  for (const auto& [key, value] : cluster.Record(n).labels) {
    detail.labels[cluster.Strings().Text(key)] = cluster.Strings().Text(value);
  }
  for (const api::Taint& taint : cluster.Taints().Get(cluster.TaintSetOf()[n])) {
    detail.taints.push_back(TaintText(taint));
  }
  const auto add = [&](const std::string& resource, int64_t allocatable, int64_t requested) {
    if (allocatable == 0 && requested == 0) return;
    detail.amounts.push_back({resource, allocatable, requested, allocatable - requested});
  };
  for (const auto& [resource, id] : ResourcesOf(cluster)) {
    add(resource, Allocatable(cluster, id, n), Requested(cluster, id, n));
    if (id == cluster::kMemory) add("pods", cluster.AllowedPods()[n], cluster.PodCount()[n]);
  }
  for (const PodId id : cluster.Record(n).pods) {
    detail.pods.push_back(ViewPod(cluster, cluster.GetPod(id)));
  }
  std::stable_sort(detail.pods.begin(), detail.pods.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.priority, a.namespace_, a.name) <
           std::tuple(-b.priority, b.namespace_, b.name);
  });
  if (const auto* nominated = cluster.Nominated().On(cluster.Strings().Find(name))) {
    for (const PodId id : *nominated) detail.nominated.push_back(cluster.GetPod(id).Key());
  }
  return detail;
}

QueueCounts CountQueues(const scheduler::Source& source) {
  QueueCounts counts;
  counts.waiting = static_cast<int64_t>(source.waiting);
  counts.binding = static_cast<int64_t>(source.binding);
  if (source.queue == nullptr) return counts;
  const auto count = [&](queue::QueueName name) {
    return static_cast<int64_t>(source.queue->Count(name));
  };
  counts.active = count(queue::QueueName::kActive);
  counts.backoff = count(queue::QueueName::kBackoff);
  counts.unschedulable = count(queue::QueueName::kUnschedulable);
  counts.gated = count(queue::QueueName::kGated);
  counts.in_flight = static_cast<int64_t>(source.queue->InFlightCount());
  return counts;
}

ConfigView ViewConfig(const scheduler::Source& source) {
  ConfigView config;
  for (const framework::Profile* profile : source.profiles) {
    ProfileView view;
    view.scheduler_name = profile->Name();
    view.percentage_of_nodes_to_score = profile->PercentageOfNodesToScore();
    view.points = {PointOf("PreEnqueue", profile->pre_enqueue),
                   PointOf("QueueSort", profile->queue_sort),
                   PointOf("PreFilter", profile->pre_filter),
                   PointOf("Filter", profile->filter),
                   PointOf("PostFilter", profile->post_filter),
                   PointOf("PreScore", profile->pre_score),
                   PointOf("Score", profile->score),
                   PointOf("Reserve", profile->reserve),
                   PointOf("Permit", profile->permit),
                   PointOf("PreBind", profile->pre_bind),
                   PointOf("Bind", profile->bind),
                   PointOf("PostBind", profile->post_bind)};
    config.profiles.push_back(std::move(view));
  }
  return config;
}

}  // namespace berth::explain
