// For tests of plugins that read other pods: a cluster in compact notation, and a plugin run on it
// by hand, point by point.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/codec/json.h"
#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"
#include "framework/points/plugin.h"

namespace berth::plugins {

// JSON with ' for ".
template <class T>
T FromText(std::string text) {
  for (char& c : text) c = c == '\'' ? '"' : c;
  auto object = api::FromJson<T>(text);
  EXPECT_TRUE(object.has_value()) << text;
  return object ? std::move(*object) : T{};
}

struct TopologyWorld {
  cluster::Cluster cluster;

  // `labels` and `rest` (more fields of spec) are JSON without the braces.
  cluster::NodeIndex Node(const std::string& name, const std::string& labels,
                          const std::string& spec = "") {
    return cluster.SetNode(FromText<api::Node>("{'metadata':{'name':'" + name + "','labels':{" +
                                               labels + "}},'spec':{" + spec + "}}"));
  }
  static api::Pod MakePod(const std::string& name, const std::string& labels,
                          const std::string& spec, const std::string& node = "",
                          const std::string& ns = "ns", bool terminating = false) {
    const std::string deletion =
        terminating ? ",'deletionTimestamp':'2025-01-01T00:00:00Z'" : std::string();
    auto pod = FromText<api::Pod>("{'metadata':{'name':'" + name + "','uid':'" + ns + "/" + name +
                                  "','namespace':'" + ns + "','labels':{" + labels + "}" +
                                  deletion + "},'spec':{" + spec + "}}");
    pod.spec.node_name = node;
    return pod;
  }
  cluster::PodId Pod(const std::string& name, const std::string& labels,
                     const std::string& spec = "", const std::string& node = "",
                     const std::string& ns = "ns", bool terminating = false) {
    return cluster.AddPod(MakePod(name, labels, spec, node, ns, terminating));
  }
  void Namespace(const std::string& name, const std::string& labels) {
    cluster.MutableObjects().namespaces.Set(
        FromText<api::Namespace>("{'metadata':{'name':'" + name + "','labels':{" + labels + "}}}"));
  }
};

// One plugin and one pod.
template <class P>
class TopologyRun {
 public:
  TopologyRun(const P& plugin, const cluster::Cluster& cluster, cluster::PodId pod)
      : plugin_(plugin),
        context_{cluster, cluster.GetPod(pod), *cluster.GetPod(pod).shape},
        state_(plugin.NewState()) {
    plugin_.BeginCycle(context_, state_.get());
  }

  framework::Status PreFilter() {
    framework::PreFilterResult result;
    return plugin_.PreFilter(context_, state_.get(), &result);
  }
  // Verdicts of all nodes, in order of rows; only those of `nodes` if given.
  std::string Filter(const framework::NodeSet* nodes = nullptr) {
    framework::NodeSet left = nodes != nullptr ? *nodes : context_.cluster.Nodes();
    const framework::NodeSet asked = left;
    framework::VerdictTable verdicts(context_.cluster.Rows());
    framework::FilterBatch batch(left, verdicts, 0, left.Words().size());
    plugin_.Filter(context_, state_.get(), batch);
    std::string out;
    asked.ForEach([&](framework::NodeIndex n) {
      out += (out.empty() ? "" : " | ") + context_.cluster.NodeName(n) + " ";
      if (left.Contains(n)) {
        out += "ok";
        return;
      }
      std::vector<std::string> reasons;
      plugin_.Reasons(context_, state_.get(), verdicts[n], &reasons);
      out += std::string(framework::CodeName(verdicts[n].code)) + ": " + reasons.at(0);
    });
    return out;
  }
  std::string PreFilterAndFilter() {
    const framework::Status status = PreFilter();
    return status.Ok() ? Filter() : Text(status);
  }
  // "node raw>normalised" of all nodes.
  std::string Score() {
    const framework::NodeSet& feasible = context_.cluster.Nodes();
    const framework::Status status = plugin_.PreScore(context_, state_.get(), feasible);
    if (!status.Ok()) return Text(status);
    framework::ScoreColumn column;
    const size_t words = feasible.Words().size();
    int64_t* scores = column.MakeDense(words * framework::NodeSet::kWordBits);
    framework::ScoreBatch batch(feasible, scores, 0, words);
    plugin_.Score(context_, state_.get(), batch);
    framework::ScoreColumn normalized = column;
    plugin_.Normalize(context_, state_.get(), feasible, normalized);
    std::string out;
    feasible.ForEach([&](framework::NodeIndex n) {
      out += (out.empty() ? "" : " | ") + context_.cluster.NodeName(n) + " " +
             std::to_string(column.Get(n)) + ">" + std::to_string(normalized.Get(n));
    });
    return out;
  }
  void AddPod(cluster::PodId pod, framework::NodeIndex node) {
    EXPECT_TRUE(plugin_.AddPod(context_, state_.get(), context_.cluster.GetPod(pod), node).Ok());
  }
  void RemovePod(cluster::PodId pod, framework::NodeIndex node) {
    EXPECT_TRUE(plugin_.RemovePod(context_, state_.get(), context_.cluster.GetPod(pod), node).Ok());
  }

 private:
  static std::string Text(const framework::Status& status) {
    return status.IsSkip()
               ? "skip"
               : std::string(framework::CodeName(status.code())) + ": " + status.Message();
  }

  const P& plugin_;
  framework::CycleContext context_;
  std::unique_ptr<framework::PluginState> state_;
};

}  // namespace berth::plugins
