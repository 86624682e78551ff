// A small cluster written down as JSON, for tests of the volume plugins.
//
// Strings use single quotes, which read well inside C++.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/json.h"
#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"
#include "framework/points/plugin.h"

namespace berth::plugins {

template <class T>
T Parse(std::string json) {
  std::replace(json.begin(), json.end(), '\'', '"');
  Result<T> object = api::FromJson<T>(json);
  if (!object) throw std::runtime_error(json + ": " + object.error().Message());
  return std::move(*object);
}

class VolumeWorld {
 public:
  cluster::Cluster cluster;

  cluster::ObjectStore& objects() { return cluster.MutableObjects(); }

  // A node with labels, e.g. "'zone':'a'".
  cluster::NodeIndex Node(const std::string& name, const std::string& labels = "") {
    return cluster.SetNode(
        Parse<api::Node>("{'metadata':{'name':'" + name + "','labels':{" + labels + "}}}"));
  }
  void Volume(const std::string& json) {
    objects().persistent_volumes.Set(Parse<api::PersistentVolume>(json));
  }
  void Claim(const std::string& json) {
    objects().persistent_volume_claims.Set(Parse<api::PersistentVolumeClaim>(json));
  }
  void Class(const std::string& json) {
    objects().storage_classes.Set(Parse<api::StorageClass>(json));
  }
  // A pod of namespace "ns", placed if `node` is given.
  cluster::PodId Pod(const std::string& name, const std::string& volumes,
                     const std::string& node = "") {
    return cluster.AddPod(Parse<api::Pod>("{'metadata':{'name':'" + name + "','uid':'" + name +
                                          "','namespace':'ns'},'spec':{'nodeName':'" + node +
                                          "','volumes':[" + volumes + "]}}"));
  }
};

// One plugin's way through a cycle, for one pod.
class PluginRun {
 public:
  // `plugin` serves PreFilter and Filter.
  template <class P>
  PluginRun(P& plugin, const cluster::Cluster& cluster, cluster::PodId pod)
      : plugin_(plugin),
        pre_filter_(plugin),
        filter_(plugin),
        context_{cluster, cluster.GetPod(pod), *cluster.GetPod(pod).shape},
        state_(plugin.NewState()) {
    plugin.BeginCycle(context_, state_.get());
  }

  const framework::CycleContext& context() const { return context_; }
  framework::PluginState* state() const { return state_.get(); }

  // "Success", "Skip" or "Code: reasons".
  std::string PreFilter() {
    framework::PreFilterResult result;
    return Text(pre_filter_.PreFilter(context_, state_.get(), &result));
  }

  // Node name to "" or "Code: reasons".
  std::map<std::string, std::string> Filter() const {
    cluster::NodeSet nodes = context_.cluster.Nodes();
    framework::VerdictTable verdicts(context_.cluster.Rows());
    framework::FilterBatch batch(nodes, verdicts, 0, nodes.Words().size());
    filter_.Filter(context_, state_.get(), batch);
    std::map<std::string, std::string> answers;
    context_.cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
      std::string& answer = answers[context_.cluster.NodeName(n)];
      if (nodes.Contains(n)) return;
      std::vector<std::string> reasons;
      plugin_.Reasons(context_, state_.get(), verdicts[n], &reasons);
      answer = Text(framework::Status(verdicts[n].code, std::move(reasons)));
    });
    return answers;
  }

  // PreFilter, and if that succeeds the answers of Filter, node by node: "a: , b: Error: x".
  std::string Run() {
    const std::string status = PreFilter();
    if (status != "Success") return status;
    std::string all;
    for (const auto& [node, answer] : Filter()) {
      all += (all.empty() ? "" : " | ") + node + (answer.empty() ? " ok" : " " + answer);
    }
    return all;
  }

 private:
  static std::string Text(const framework::Status& status) {
    std::string text(framework::CodeName(status.code()));
    return status.reasons().empty() ? text : text + ": " + status.Message();
  }

  const framework::Plugin& plugin_;
  const framework::PreFilterPlugin& pre_filter_;
  const framework::FilterPlugin& filter_;
  framework::CycleContext context_;
  std::unique_ptr<framework::PluginState> state_;
};

}  // namespace berth::plugins
