// For tests only: one plugin, created as in a profile and called through a Cycle.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/profile.h"

namespace berth::plugins {

using cluster::MakeNode;
using cluster::MakePod;

class OnePlugin {
 public:
  OnePlugin(cluster::Cluster& cluster, framework::PluginFactory make, config::PluginArgs args = {},
            const config::Behaviour& behaviour = {})
      : cluster_(cluster) {
    const framework::PluginHandle handle{cluster, 0, behaviour};
    auto plugin = make(args, handle);
    EXPECT_TRUE(plugin.has_value()) << (plugin ? "" : plugin.error().Message());
    if (!plugin) return;
    const std::string name((*plugin)->Name());
    config::ResolvedProfile resolved;
    const auto serve = [&](const void* point, config::ExtensionPoint at) {
      if (point != nullptr) resolved.points[config::Index(at)].push_back({name, 1});
    };
    using Point = config::ExtensionPoint;
    serve(dynamic_cast<framework::PreFilterPlugin*>(plugin->get()), Point::kPreFilter);
    serve(dynamic_cast<framework::FilterPlugin*>(plugin->get()), Point::kFilter);
    serve(dynamic_cast<framework::PreScorePlugin*>(plugin->get()), Point::kPreScore);
    serve(dynamic_cast<framework::ScorePlugin*>(plugin->get()), Point::kScore);
    config::PluginConfig own;
    own.name = name;
    own.args = std::move(args);
    resolved.plugin_config.push_back(std::move(own));
    const framework::RegistryRow registry[] = {{name, make}};
    auto profile = framework::Profile::Make(resolved, registry, handle);
    EXPECT_TRUE(profile.has_value()) << (profile ? "" : profile.error().Message());
    profile_ = std::move(*profile);
    cycle_ = std::make_unique<framework::Cycle>(*profile_);
    cycle_->set_keep_raw(true);
  }

  framework::Cycle& cycle() { return *cycle_; }

  // "a ok | b Code: reasons" of all nodes in order of rows; "skip" when PreFilter returns Skip; a
  // PreFilter status "Code: reasons"; the names PreFilter restricts to in front: "[a b] a ok".
  std::string Filter(cluster::PodId pod) {
    cycle_->Begin(cluster_, cluster_.GetPod(pod));
    const framework::Status status = cycle_->RunPreFilter();
    if (!status.Ok()) return Text(status.code(), status.Message());
    if (cycle_->FilterSkipped(0)) return "skip";
    std::string out;
    framework::NodeSet asked = cluster_.Nodes();
    if (!cycle_->restriction().all_nodes) {
      asked.Clear();
      for (const auto n : cycle_->restriction().nodes) asked.Insert(n);
      for (const std::string& name : cycle_->restriction().node_names) {
        out += (out.empty() ? "[" : " ") + name;
      }
      out += "] ";
    }
    framework::NodeSet left = asked;
    cycle_->RunFilter(left);
    bool first = true;
    asked.ForEach([&](cluster::NodeIndex n) {
      out += (first ? "" : " | ") + cluster_.NodeName(n) + " ";
      first = false;
      if (left.Contains(n)) {
        out += "ok";
        return;
      }
      std::string reasons;
      for (const std::string& reason : cycle_->Reasons(cycle_->verdicts()[n])) {
        reasons += (reasons.empty() ? "" : ", ") + reason;
      }
      out += Text(cycle_->verdicts()[n].code, reasons);
    });
    return out;
  }

  // "a raw>normalised | …" of all nodes; "skip" or the message of a failure.
  std::string Score(cluster::PodId pod) {
    cycle_->Begin(cluster_, cluster_.GetPod(pod));
    const framework::Status status = cycle_->RunScore(cluster_.Nodes());
    if (!status.Ok()) return status.Message();
    if (cycle_->ScoreSkipped(0)) return "skip";
    std::string out;
    cluster_.Nodes().ForEach([&](cluster::NodeIndex n) {
      out += (out.empty() ? "" : " | ") + cluster_.NodeName(n) + " " +
             std::to_string(cycle_->RawScore(0, n)) + ">" +
             std::to_string(cycle_->NormalizedScore(0, n));
    });
    return out;
  }

 private:
  static std::string Text(framework::Code code, const std::string& reasons) {
    return std::string(framework::CodeName(code)) + ": " + reasons;
  }

  cluster::Cluster& cluster_;
  std::unique_ptr<framework::Profile> profile_;
  std::unique_ptr<framework::Cycle> cycle_;
};

}  // namespace berth::plugins
