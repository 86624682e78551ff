// For tests only: a PostFilter plugin in a profile with a filter that counts pods, called for a pod
// that fits nowhere.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "framework/runtime/cycle.h"
#include "framework/runtime/diagnosis.h"
#include "framework/runtime/post_filter.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::default_preemption {

// A node takes at most as many pods as its allocatable "pods".
class PodsFilter final : public framework::FilterPlugin {
 public:
  std::string_view Name() const override { return "Pods"; }
  void Filter(const framework::CycleContext& c, const framework::PluginState*,
              framework::FilterBatch& batch) const override {
    batch.ForEach([&](cluster::NodeIndex n) {
      if (c.cluster.PodCount()[n] >= c.cluster.AllowedPods()[n]) {
        batch.Reject(n, framework::Code::kUnschedulable);
      }
    });
  }
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override {
    out->emplace_back("too many pods");
  }
  static Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                         const framework::PluginHandle&) {
    return std::make_unique<PodsFilter>();
  }
};

class PostFilterRun {
 public:
  PostFilterRun(cluster::Cluster& cluster, std::string_view name, framework::PluginFactory make,
                config::PluginArgs args = {})
      : cluster_(cluster) {
    config::ResolvedProfile resolved;
    using Point = config::ExtensionPoint;
    const framework::PluginHandle handle{cluster};
    const auto plugin = make(args, handle);
    EXPECT_TRUE(plugin.has_value());
    resolved.points[config::Index(Point::kFilter)] = {{"Pods", 0}};
    resolved.points[config::Index(Point::kPostFilter)] = {{std::string(name), 0}};
    if (dynamic_cast<framework::PreFilterPlugin*>(plugin->get()) != nullptr) {
      resolved.points[config::Index(Point::kPreFilter)] = {{std::string(name), 0}};
    }
    resolved.plugin_config.push_back({std::string(name), {}, std::move(args)});
    const framework::RegistryRow registry[] = {{"Pods", &PodsFilter::Make}, {name, make}};
    auto profile = framework::Profile::Make(resolved, registry, handle);
    EXPECT_TRUE(profile.has_value()) << (profile ? "" : profile.error().Message());
    profile_ = std::move(*profile);
    cycle_ = std::make_unique<framework::Cycle>(*profile_);
  }

  framework::Plugin& plugin() { return *profile_->post_filter.front().plugin; }
  // The status of PreFilter: "Success", or "Code: message".
  std::string PreFilter(cluster::PodId pod) {
    cycle_->Begin(cluster_, cluster_.GetPod(pod));
    return Text(cycle_->RunPreFilter());
  }

  // "node: victim victim", or "Code: message". As in a cycle, filters run only if PreFilter passed.
  std::string Run(cluster::PodId pod) {
    cycle_->Begin(cluster_, cluster_.GetPod(pod));
    framework::Diagnosis diagnosis;
    diagnosis.num_all_nodes = cluster_.NodeCount();
    diagnosis.rejected.Resize(cluster_.Rows());
    const framework::Status status = cycle_->RunPreFilter();
    if (status.Ok()) {
      framework::NodeSet nodes = cluster_.Nodes();
      cycle_->RunFilter(nodes);
      cluster_.Nodes().ForEach([&](cluster::NodeIndex n) {
        if (!nodes.Contains(n)) diagnosis.rejected.Insert(n);
      });
    } else {
      diagnosis.absent = status;
    }
    framework::PostFilterResult result;
    const framework::Status found = framework::RunPostFilter(*cycle_, cluster_, diagnosis, &result);
    if (!found.Ok()) return Text(found);
    std::string text = result.nominated_node + ":";
    for (const cluster::PodId id : result.victims) text += " " + cluster_.GetPod(id).name;
    return text;
  }

 private:
  static std::string Text(const framework::Status& status) {
    const std::string code(framework::CodeName(status.code()));
    return status.Message().empty() ? code : code + ": " + status.Message();
  }

  cluster::Cluster& cluster_;
  std::unique_ptr<framework::Profile> profile_;
  std::unique_ptr<framework::Cycle> cycle_;
};

}  // namespace berth::plugins::default_preemption
