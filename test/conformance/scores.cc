// berth-conformance --scores: score and queue sort plugins of scheduler-plugins, one by one, on the
// clusters that test/oracle/scheduler-plugins recorded.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include "api/codec/json.h"
#include "cluster/cluster.h"
#include "cluster/inputs.h"
#include "cluster/objects/object_store.h"
#include "cluster/table/load_metrics.h"
#include "config/config.h"
#include "conformance/lines.h"
#include "conformance/runner.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/profile.h"
#include "plugins/registry.h"

namespace berth::conformance {
namespace {

using cluster::Cluster;
using config::ExtensionPoint;
using framework::Profile;
using simdjson::dom::element;

constexpr std::string_view kSource = "load-watcher http://load-watcher:2020";

template <class F>
void ForEach(element object, std::string_view key, F&& f) {
  simdjson::dom::array list;
  if (object.at_key(key).get(list) != simdjson::SUCCESS) return;
  for (element item : list) f(item);
}

std::string String(element object, std::string_view key) {
  std::string_view text;
  return object.at_key(key).get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

int64_t Int(element object, std::string_view key) {
  int64_t n = 0;
  return object.at_key(key).get(n) == simdjson::SUCCESS ? n : 0;
}

template <class T>
T Object(element json) {
  return *api::FromJson<T>(simdjson::minify(json));
}

// The plugin alone, with its arguments.
Result<config::ResolvedProfile> ProfileOf(const std::string& plugin, element line) {
  element args;
  const std::string own = line.at_key("args").get(args) == simdjson::SUCCESS
                              ? fmt::format(",\"args\":{}", simdjson::minify(args))
                              : std::string();
  const bool sorts = line.at_key("queue").error() == simdjson::SUCCESS;
  const auto loaded = config::Load(fmt::format(
      R"({{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",)"
      R"("profiles":[{{"plugins":{{"multiPoint":{{"enabled":[{{"name":"{}"}}]}}{}}},)"
      R"("pluginConfig":[{{"name":"{}"{}}}]}}]}})",
      plugin,
      sorts ? fmt::format(
                  R"(,"queueSort":{{"disabled":[{{"name":"*"}}],"enabled":[{{"name":"{}"}}]}})",
                  plugin)
            : "",
      plugin, own));
  if (!loaded) return Fail(loaded.error());
  const auto resolved = config::Resolve(*loaded, {});
  if (!resolved) return Fail(resolved.error());
  config::ResolvedProfile profile = resolved->profiles[0];
  for (auto& point : profile.points) {
    std::erase_if(point, [&](const auto& entry) { return entry.name != plugin; });
  }
  return profile;
}

void LoadCluster(element line, Cluster* cluster) {
  ForEach(line, "custom", [&](element object) {
    auto* store =
        cluster->MutableObjects().custom.Find(String(object, "apiVersion"), String(object, "kind"));
    if (store == nullptr) return;
    auto meta = Object<api::ObjectMeta>(object["metadata"]);
    store->Set(api::UnknownObject{String(object, "apiVersion"), String(object, "kind"),
                                  std::move(meta), simdjson::minify(object)});
  });
  ForEach(line, "nodes", [&](element node) { cluster->SetNode(Object<api::Node>(node)); });
  ForEach(line, "pods", [&](element pod) { cluster->AddPod(Object<api::Pod>(pod)); });
  ForEach(line, "nominated", [&](element json) {
    const auto pod = Object<api::Pod>(json);
    cluster->MutableNominations().Set(cluster->AddPod(pod),
                                      cluster->Strings().Intern(pod.status.nominated_node_name));
  });
  ForEach(line, "metrics", [&](element node) {
    cluster::NodeLoad load{.window_end = Int(line, "windowEnd"), .metrics = {}};
    ForEach(node, "metrics", [&](element metric) {
      double value = 0;
      if (metric["value"].get(value) != simdjson::SUCCESS) {
        value = static_cast<double>(Int(metric, "value"));
      }
      load.metrics.push_back({String(metric, "type"), String(metric, "operator"), value});
    });
    cluster::NodeMetrics metrics;
    cluster::AddLoad(kSource, load, &metrics);
    cluster->SetMetrics(String(node, "node"), std::move(metrics));
  });
}

std::string Scores(const Profile& profile, element line, Cluster* cluster) {
  framework::Cycle cycle(profile);
  cycle.set_keep_raw(true);
  const auto pod = cluster->AddPod(Object<api::Pod>(line["pod"]));
  cycle.Begin(*cluster, cluster->GetPod(pod));
  const auto status = cycle.RunScore(cluster->Nodes());
  if (!status.Ok()) return status.Message();
  std::vector<int64_t> raw;
  std::vector<int64_t> normalized;
  ForEach(line, "nodes", [&](element node) {
    const auto n = cluster->FindNode(String(node["metadata"], "name"));
    raw.push_back(cycle.RawScore(0, n));
    normalized.push_back(cycle.NormalizedScore(0, n));
  });
  return fmt::format(R"({{"raw":[{}],"normalized":[{}]}})", fmt::join(raw, ","),
                     fmt::join(normalized, ","));
}

std::string Order(const Profile& profile, element line, Cluster* cluster) {
  std::vector<cluster::PodId> pods;
  std::vector<int64_t> times;
  ForEach(line, "queue", [&](element queued) {
    pods.push_back(cluster->AddPod(Object<api::Pod>(queued["pod"])));
    times.push_back(Int(queued, "time") * 1'000'000'000);
  });
  std::string pairs;
  for (size_t i = 0; i < pods.size(); ++i) {
    for (size_t j = 0; j < pods.size(); ++j) {
      if (i == j ||
          !profile.queue_sort[0].plugin->Less(*cluster, cluster->GetPod(pods[i]), times[i],
                                              cluster->GetPod(pods[j]), times[j])) {
        continue;
      }
      pairs += fmt::format("{}[{},{}]", pairs.empty() ? "" : ",", i, j);
    }
  }
  return fmt::format(R"({{"less":[{}]}})", pairs);
}

std::string Decide(const std::string& plugin, element line) {
  const auto resolved = ProfileOf(plugin, line);
  if (!resolved) return resolved.error().Message();
  Cluster cluster;
  cluster.Track(framework::InputsOf(*resolved, plugins::InTree()));
  const auto profile = Profile::Make(*resolved, plugins::InTree(), {cluster});
  if (!profile) return profile.error().Message();
  LoadCluster(line, &cluster);
  return line.at_key("queue").error() == simdjson::SUCCESS ? Order(**profile, line, &cluster)
                                                           : Scores(**profile, line, &cluster);
}

}  // namespace

int RunScores(const std::string& file) {
  return CheckLines(file, [](element line) {
    Checked checked{.group = String(line, "plugin"), .difference = {}};
    const std::string want = simdjson::minify(line["want"]);
    const std::string ours = Decide(checked.group, line);
    if (ours != want) {
      checked.difference =
          fmt::format("seed {}\n  recorded {}\n  ours     {}", Int(line, "seed"), want, ours);
    }
    return checked;
  });
}

}  // namespace berth::conformance
