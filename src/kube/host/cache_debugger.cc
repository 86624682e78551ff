#include "kube/host/cache_debugger.h"

#include <algorithm>

#include <fmt/format.h>

#include "kube/kinds.h"
#include "kube/watch/decode.h"
#include "log/log.h"

namespace berth::kube {
namespace {

using cluster::Cluster;
using cluster::NodeIndex;
using scheduler::Engine;

void AppendPod(const Engine& engine, const cluster::Pod& pod, std::string* out) {
  fmt::format_to(std::back_inserter(*out),
                 "name: {}, namespace: {}, uid: {}, place: {}, nominated node: {}\n", pod.name,
                 pod.namespace_(), pod.uid, engine.WhereIs(pod.uid), pod.nominated_node_name);
}

// "cpu: 1500, memory: 2147483648, pods: 3": milli-CPU and bytes.
std::string Amounts(const Cluster& cluster, NodeIndex n, bool requested) {
  std::string text;
  for (cluster::ResourceId id = 0; id < cluster.Resources().Size(); ++id) {
    const cluster::ResourceColumn* column = cluster.Resource(id);
    if (column == nullptr) continue;
    const int64_t amount = requested ? column->requested[n] : column->allocatable[n];
    if (amount != 0) text += fmt::format("{}: {}, ", cluster.Resources().Name(id), amount);
  }
  const auto pods = requested ? cluster.PodCount() : cluster.AllowedPods();
  return text + fmt::format("pods: {}", pods[n]);
}

// A JSON list of strings.
std::string ListText(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const std::string& item : items) {
    if (text.size() > 1) text += ',';
    text += '"' + item + '"';  // names and uids hold nothing that needs escaping
  }
  return text + "]";
}

std::vector<std::string> NodeNames(const Cluster& cluster) {
  std::vector<std::string> names;
  cluster.Nodes().ForEach([&](NodeIndex n) { names.push_back(cluster.NodeName(n)); });
  return names;
}

std::vector<std::string> PodUids(const Cluster& cluster) {
  std::vector<std::string> uids;
  for (cluster::PodId id = 0; id < cluster.PodIdLimit(); ++id) {
    if (cluster.PodExists(id)) uids.push_back(cluster.GetPod(id).uid);
  }
  return uids;
}

void Report(const Difference& nodes, const Difference& pods) {
  if (!nodes.Empty()) {
    log::Info(0, "Cache mismatch",
              {{"missedNodes", log::Raw{ListText(nodes.missed)}},
               {"redundantNodes", log::Raw{ListText(nodes.redundant)}}});
  }
  if (!pods.Empty()) {
    log::Info(0, "Cache mismatch",
              {{"missedPods", log::Raw{ListText(pods.missed)}},
               {"redundantPods", log::Raw{ListText(pods.redundant)}}});
  }
}

}  // namespace

std::string NodesText(const Engine& engine) {
  const Cluster& cluster = engine.GetCluster();
  std::string text;
  for (NodeIndex n = 0; n < cluster.Rows(); ++n) {
    const cluster::NodeRecord& record = cluster.Record(n);
    if (!record.exists && record.pods.empty()) continue;
    if (!text.empty()) text += "\n";
    text += fmt::format(
        "Node name: {}\nDeleted: {}\nRequested Resources: {{{}}}\nAllocatable Resources:{{{}}}\n"
        "Scheduled Pods(number: {}):\n",
        cluster.NodeName(n), !record.exists, Amounts(cluster, n, true), Amounts(cluster, n, false),
        record.pods.size());
    for (const cluster::PodId id : record.pods) AppendPod(engine, cluster.GetPod(id), &text);
    const auto* nominated = cluster.Nominated().On(record.name);
    if (nominated == nullptr) continue;
    text += fmt::format("Nominated Pods(number: {}):\n", nominated->size());
    for (const cluster::PodId id : *nominated) AppendPod(engine, cluster.GetPod(id), &text);
  }
  return text;
}

std::string QueueSummary(const Engine& engine) {
  using queue::QueueName;
  return fmt::format(
      "activeQ:{}; backoffQ:{}; unschedulablePods:{}; gated:{}; in flight:{}; assumed:{}",
      engine.PendingPods(QueueName::kActive), engine.PendingPods(QueueName::kBackoff),
      engine.PendingPods(QueueName::kUnschedulable), engine.PendingPods(QueueName::kGated),
      engine.Queue().InFlightCount(), engine.AssumedPods());
}

std::string QueuedPodsText(const Engine& engine) {
  std::string text;
  engine.Queue().ForEach([&](const queue::QueuedPod& queued, std::string_view) {
    AppendPod(engine, engine.GetCluster().GetPod(queued.pod), &text);
  });
  return text;
}

Difference Compare(std::vector<std::string> actual, std::vector<std::string> cached) {
  std::sort(actual.begin(), actual.end());
  std::sort(cached.begin(), cached.end());
  Difference difference;
  std::set_difference(actual.begin(), actual.end(), cached.begin(), cached.end(),
                      std::back_inserter(difference.missed));
  std::set_difference(cached.begin(), cached.end(), actual.begin(), actual.end(),
                      std::back_inserter(difference.redundant));
  return difference;
}

// What the API server has.
struct CacheDebugger::Listing {
  struct ListedPod {
    std::string uid;
    std::string scheduler_name;  // of a pod without a node
  };
  std::vector<std::string> nodes;
  std::vector<ListedPod> pods;
};

void CacheDebugger::Run() {
  loop_.Post([this] {
    if (std::exchange(running_, true)) return;
    log::Info(3, "Cache comparer started");
    List(std::make_shared<Listing>(), api::Node::kKind, "");
  });
}

void CacheDebugger::List(const std::shared_ptr<Listing>& listing, std::string_view kind,
                         const std::string& continue_) {
  const Kind& what = *FindKind(kind);
  ApiRequest request;
  request.path = CollectionPath(what);
  if (!continue_.empty()) request.query = "continue=" + QueryEscape(continue_) + "&";
  if (!what.field_selector.empty()) {
    request.query += fmt::format("fieldSelector={}&", what.field_selector);
  }
  request.query += "limit=500";
  client_.Send(std::move(request), [this, listing, kind](const ApiResponse& response) {
    OnPage(listing, kind, response);
  });
}

void CacheDebugger::OnPage(const std::shared_ptr<Listing>& listing, std::string_view kind,
                           const ApiResponse& response) {
  const auto take = [&](const api::Object& object, std::string_view) {
    if (const auto* node = std::get_if<api::Node>(&object)) {
      listing->nodes.push_back(node->metadata.name);
    } else if (const auto* pod = std::get_if<api::Pod>(&object)) {
      const bool pending = pod->spec.node_name.empty();
      listing->pods.push_back({pod->metadata.uid, pending ? pod->spec.scheduler_name : ""});
    }
  };
  Result<api::ListMeta> meta = Fail(response.message);
  if (response.Ok()) {
    meta = DecodeList(*FindKind(kind), response.content_type, response.body, take,
                      [](const ItemName&, const Error&) {});
  }
  if (!meta) {
    log::Error(meta.error().Message(), "Failed to list what the cache is compared with",
               {{"kind", kind}});
    CompareAll(nullptr);
  } else if (!meta->continue_.empty()) {
    List(listing, kind, meta->continue_);
  } else if (kind == api::Node::kKind) {
    List(listing, api::Pod::kKind, "");
  } else {
    CompareAll(listing);
  }
}

// `listing` null: there is nothing to compare with.
void CacheDebugger::CompareAll(const std::shared_ptr<Listing>& listing) {
  running_ = false;
  host_.Do([listing](Engine& engine) {
    if (listing) {
      std::vector<std::string> pods;
      for (const Listing::ListedPod& pod : listing->pods) {
        bool ours = pod.scheduler_name.empty();
        for (size_t p = 0; p < engine.ProfileCount() && !ours; ++p) {
          ours = engine.CycleOf(p).profile().Name() == pod.scheduler_name;
        }
        if (ours) pods.push_back(pod.uid);
      }
      Report(Compare(listing->nodes, NodeNames(engine.GetCluster())),
             Compare(std::move(pods), PodUids(engine.GetCluster())));
    }
    log::Info(3, "Cache comparer finished");
    log::Info(0, "Dump of cached NodeInfo", {{"nodes", NodesText(engine)}});
    log::Info(0, "Dump of scheduling queue",
              {{"summary", QueueSummary(engine)}, {"pods", QueuedPodsText(engine)}});
  });
}

}  // namespace berth::kube
