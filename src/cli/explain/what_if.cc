#include "cli/explain/what_if.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "api/codec/manifest.h"
#include "sim/placement.h"
#include "sim/report.h"
#include "sim/world.h"

namespace berth::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxPods = 20'000;
constexpr int64_t kMaxNewNodes = 10'000;
constexpr size_t kMaxGroupNodes = 100;  // named per group
constexpr std::chrono::seconds kPatience(10);
constexpr std::string_view kHostName = "kubernetes.io/hostname";
constexpr std::string_view kUnschedulable = "node.kubernetes.io/unschedulable";

std::string_view OutcomeName(sim::PodOutcome::Kind kind) {
  switch (kind) {
    case sim::PodOutcome::Kind::kPlaced:
      return "Placed";
    case sim::PodOutcome::Kind::kUnschedulable:
      return "Unschedulable";
    case sim::PodOutcome::Kind::kGated:
      return "Gated";
    case sim::PodOutcome::Kind::kPreempted:
      return "Preempted";
    case sim::PodOutcome::Kind::kError:
      return "Error";
    case sim::PodOutcome::Kind::kForeign:
      return "Foreign";
  }
  return "";
}

void SetWeight(config::Plugins& plugins, const std::string& name, int32_t weight) {
  const auto is_it = [&](const config::Plugin& plugin) { return plugin.name == name; };
  if (weight == 0) {
    std::erase_if(plugins.score.enabled, is_it);
    plugins.score.disabled.push_back({name, 0});
    return;
  }
  bool found = false;
  for (config::PluginSet* set : {&plugins.score, &plugins.multi_point}) {
    for (config::Plugin& plugin : set->enabled) {
      if (!is_it(plugin)) continue;
      plugin.weight = weight;
      found = true;
    }
  }
  if (!found) plugins.score.enabled.push_back({name, weight});
}

class WhatIf {
 public:
  WhatIf(const explain::ClusterCopy& copy, const config::Behaviour& behaviour,
         const explain::WhatIfRequest& request,
         std::span<const berth::scheduler::ExtraPlugin> plugins)
      : copy_(copy),
        behaviour_(behaviour),
        request_(request),
        plugins_(plugins),
        world_(behaviour) {
    for (const auto& node : copy_.nodes) nodes_[node->metadata.name] = node.get();
  }

  const std::vector<explain::WhatIfGroup>& groups() const { return groups_; }

  Result<explain::WhatIfResult> Run(config::KubeSchedulerConfiguration config) {
    if (auto ok = Weigh(config); !ok) return Fail(ok.error());
    if (auto ok = ReadManifests(); !ok) return Fail(ok.error().In("manifests"));
    MeasureBefore();
    const auto inputs = berth::scheduler::InputsOf(config, behaviour_, plugins_);
    if (!inputs) return Fail(inputs.error());
    world_.GetCluster().Track(*inputs);
    world_.GetCluster().MutableObjects() = copy_.objects;
    for (const auto& [node, metrics] : copy_.metrics) {
      world_.GetCluster().SetMetrics(node, metrics);
    }
    if (auto ok = AddNodes(); !ok) return Fail(ok.error());
    if (auto ok = AddPods(); !ok) return Fail(ok.error());
    for (api::Object& object : manifest_) {
      if (auto ok = world_.Add(std::move(object)); !ok) return Fail(ok.error().In("manifests"));
    }
    if (auto ok = world_.Finish(); !ok) return Fail(ok.error().In("manifests"));
    for (const auto& [kind, count] : world_.Ignored()) {
      result_.notes.push_back(
          fmt::format("{} {} not used: scheduling does not look at them", count, kind));
    }
    if (auto ok = Place(config); !ok) return Fail(ok.error());
    MeasureAfter();
    return std::move(result_);
  }

 private:
  Result<void> Weigh(config::KubeSchedulerConfiguration& config) const {
    bool known = request_.profile.empty();
    for (config::KubeSchedulerProfile& profile : config.profiles) {
      if (!request_.profile.empty() && profile.scheduler_name != request_.profile) continue;
      known = true;
      for (const auto& [plugin, weight] : request_.weights) {
        if (weight < 0 || weight > 100) {
          return Fail(fmt::format("weights: {} is not from 0 to 100, for {}", weight, plugin));
        }
        SetWeight(profile.plugins, plugin, static_cast<int32_t>(weight));
      }
    }
    if (!known) return Fail(fmt::format("profile: there is no {}", request_.profile));
    return {};
  }

  Result<void> ReadManifests() {
    return api::ForEachObject(request_.manifests, [&](api::Object object) -> Result<void> {
      if (const auto* node = std::get_if<api::Node>(&object)) {
        replaced_nodes_.insert(node->metadata.name);
      } else if (const auto* pod = std::get_if<api::Pod>(&object)) {
        const std::string& ns = pod->metadata.namespace_;
        replaced_pods_.insert((ns.empty() ? "default" : ns) + "/" + pod->metadata.name);
      }
      manifest_.push_back(std::move(object));
      return {};
    });
  }

  void MeasureBefore() {
    cluster::Cluster cluster;
    explain::LoadCopy(copy_, &cluster);
    before_ = sim::MeasureUsage(cluster);
    result_.before.nodes = static_cast<int64_t>(copy_.nodes.size());
    for (const explain::ClusterCopy::Pod& pod : copy_.pods) {
      ++(pod.node_name.empty() ? result_.before.pending : result_.before.pods);
    }
  }

  void MeasureAfter() {
    const cluster::Cluster& cluster = world_.GetCluster();
    const sim::Usage after = sim::MeasureUsage(cluster);
    std::map<std::string, explain::WhatIfUse> use;
    std::vector<std::string> order;
    const auto entry = [&](const std::string& resource) -> explain::WhatIfUse& {
      const auto [it, inserted] = use.try_emplace(resource);
      if (inserted) order.push_back(resource);
      return it->second;
    };
    for (const auto& line : before_.lines) {
      explain::WhatIfUse& u = entry(line.resource);
      u.allocatable_before = line.allocatable;
      u.requested_before = line.requested;
    }
    for (const auto& line : after.lines) {
      explain::WhatIfUse& u = entry(line.resource);
      u.allocatable_after = line.allocatable;
      u.requested_after = line.requested;
    }
    for (const std::string& resource : order) {
      use[resource].resource = resource;
      result_.use.push_back(std::move(use[resource]));
    }
    result_.after.nodes = static_cast<int64_t>(cluster.NodeCount());
    for (cluster::PodId id = 0; id < cluster.PodIdLimit(); ++id) {
      if (!cluster.PodExists(id)) continue;
      ++(cluster.GetPod(id).node == cluster::kNoNode ? result_.after.pending : result_.after.pods);
    }
  }

  // --- Nodes

  const api::Node* Find(const std::string& name) const {
    const auto it = nodes_.find(name);
    return it == nodes_.end() ? nullptr : it->second;
  }

  const api::Node* Largest() const {
    const api::Node* best = nullptr;
    int64_t most = -1;
    for (const auto& node : copy_.nodes) {
      const auto cpu = node->status.allocatable.find("cpu");
      const int64_t amount = cpu == node->status.allocatable.end() ? 0 : cpu->second.MilliValue();
      if (amount <= most) continue;
      most = amount;
      best = node.get();
    }
    return best;
  }

  Result<void> CheckNames(const std::vector<std::string>& names, std::string_view field) const {
    for (const std::string& name : names) {
      if (Find(name) == nullptr) return Fail(fmt::format("{}: no node {}", field, name));
    }
    return {};
  }

  static void Cordon(api::Node& node, bool cordoned) {
    node.spec.unschedulable = cordoned;
    std::erase_if(node.spec.taints,
                  [](const api::Taint& taint) { return taint.key == kUnschedulable; });
    if (cordoned) node.spec.taints.push_back({std::string(kUnschedulable), "", "NoSchedule", {}});
  }

  Result<void> AddNodes() {
    for (const auto& [names, field] :
         {std::pair(&request_.cordon, "cordon"), std::pair(&request_.uncordon, "uncordon"),
          std::pair(&request_.remove_nodes, "removeNodes")}) {
      if (auto ok = CheckNames(*names, field); !ok) return ok;
    }
    removed_.insert(request_.remove_nodes.begin(), request_.remove_nodes.end());
    const std::set<std::string> cordon(request_.cordon.begin(), request_.cordon.end());
    const std::set<std::string> uncordon(request_.uncordon.begin(), request_.uncordon.end());
    for (const auto& node : copy_.nodes) {
      const std::string& name = node->metadata.name;
      if (removed_.contains(name) || replaced_nodes_.contains(name)) continue;
      api::Node changed = *node;
      if (cordon.contains(name)) Cordon(changed, true);
      if (uncordon.contains(name)) Cordon(changed, false);
      if (auto ok = AddNode(std::move(changed)); !ok) return ok;
    }
    int64_t added = 0;
    for (const explain::AddNodes& more : request_.add_nodes) {
      const api::Node* like = more.like.empty() ? Largest() : Find(more.like);
      if (like == nullptr) return Fail(fmt::format("addNodes: no node {} to copy", more.like));
      if (more.count < 1 || more.count > 1000 || added + more.count > kMaxNewNodes) {
        return Fail("addNodes: count is from 1 to 1000, and at most 10,000 in all");
      }
      for (int64_t i = 0; i < more.count; ++i) {
        if (auto ok = AddNode(NewNode(*like, ++added)); !ok) return ok;
      }
    }
    return {};
  }

  api::Node NewNode(const api::Node& like, int64_t number) const {
    api::Node node = like;
    do {
      node.metadata.name = fmt::format("new-{}", number);
      number += kMaxNewNodes;  // the name is taken
    } while (Find(node.metadata.name) != nullptr);
    node.metadata.uid = "what-if-" + node.metadata.name;
    if (const auto it = node.metadata.labels.find(kHostName); it != node.metadata.labels.end()) {
      it->second = node.metadata.name;
    }
    Cordon(node, false);
    node.status.images.clear();
    return node;
  }

  Result<void> AddNode(api::Node node) {
    if (node.metadata.uid.empty()) node.metadata.uid = "what-if-" + node.metadata.name;
    return world_.Add(std::move(node));
  }

  // --- Pods

  Result<void> AddPods() {
    for (const explain::ClusterCopy::Pod& pod : copy_.pods) {
      api::Pod object = explain::ToObject(copy_, pod);
      const std::string key = object.metadata.namespace_ + "/" + pod.name;
      if (replaced_pods_.contains(key)) continue;
      if (!pod.node_name.empty() && removed_.contains(pod.node_name)) {
        if (pod.terminating) continue;
        object.spec.node_name.clear();
        moved_[key] = pod.node_name;
      } else if (pod.node_name.empty()) {
        waited_.insert(key);
      }
      if (object.metadata.uid.empty()) object.metadata.uid = "what-if-" + key;
      if (auto ok = world_.Add(std::move(object)); !ok) return ok;
    }
    return {};
  }

  Result<void> Place(const config::KubeSchedulerConfiguration& config) {
    auto profiles = berth::scheduler::ProfileSet::Make(config, behaviour_, world_.GetCluster(),
                                                       nullptr, 0, plugins_);
    if (!profiles) return Fail(profiles.error());
    for (const auto& profile : profiles->Profiles()) KeepFromReserving(*profile);
    sim::PlacementOptions options;
    options.keep_scores = true;
    sim::Placement placement(world_, *profiles, options);
    std::map<std::string, int64_t> weights;
    for (const auto& profile : profiles->Profiles()) {
      for (const auto& score : profile->score) {
        weights[fmt::format("{}/{}", profile->Name(), score.plugin->Name())] = score.weight;
      }
    }
    const bool pending_too = request_.reschedule_pending.value_or(true);
    std::vector<cluster::PodId> pods;
    for (const cluster::PodId id : world_.Pending()) {
      if (pending_too || !waited_.contains(world_.GetCluster().GetPod(id).Key())) {
        pods.push_back(id);
        const cluster::Pod& pod = world_.GetCluster().GetPod(id);
        schedulers_[pod.Key()] = pod.shape->source.spec.scheduler_name;
      }
    }
    if (pods.size() > kMaxPods) {
      return Fail(
          fmt::format("{} pods would have to be placed; at most {} are", pods.size(), kMaxPods));
    }
    const auto deadline = Clock::now() + kPatience;
    std::vector<sim::PodOutcome> outcomes;
    for (const sim::Entity& entity :
         sim::EntitiesOf(world_.GetCluster(), world_.GetBehaviour(), pods)) {
      if (Clock::now() > deadline) {
        result_.notes.push_back(fmt::format("given up after {} s: {} of {} pods were looked at",
                                            kPatience.count(), outcomes.size(), pods.size()));
        break;
      }
      placement.Schedule(entity, &outcomes);
    }
    for (const sim::PodOutcome& outcome : outcomes) Report(outcome, weights);
    ReportGroups(outcomes, placement.groups());
    Count();
    return {};
  }

  // What a plugin of somebody else's reserves may be something outside.
  void KeepFromReserving(framework::Profile& profile) const {
    std::erase_if(profile.reserve, [this](const auto& served) {
      return std::any_of(plugins_.begin(), plugins_.end(), [&](const auto& plugin) {
        return plugin.row.name == served.plugin->Name();
      });
    });
  }

  void Report(const sim::PodOutcome& outcome, const std::map<std::string, int64_t>& weights) {
    const std::string key = outcome.namespace_ + "/" + outcome.name;
    const std::string& profile = schedulers_.find(key)->second;
    explain::WhatIfPlacement placed;
    placed.namespace_ = outcome.namespace_;
    placed.name = outcome.name;
    placed.outcome = OutcomeName(outcome.kind);
    if (outcome.node != cluster::kNoNode) {
      placed.node = world_.GetCluster().NodeName(outcome.node);
    }
    placed.message = outcome.message;
    placed.score = outcome.total;
    placed.feasible = static_cast<int64_t>(outcome.feasible_nodes);
    placed.equal = static_cast<int64_t>(outcome.equal_nodes);
    placed.victims = outcome.victims;
    for (const sim::PluginScore& score : outcome.scores) {
      const auto weight = weights.find(profile + "/" + score.plugin);
      placed.scores.push_back({score.plugin, score.raw, score.normalized,
                               weight == weights.end() ? 1 : weight->second, score.weighted});
    }
    const auto moved = moved_.find(key);
    if (moved != moved_.end()) placed.before = moved->second;
    placed.source = moved != moved_.end()   ? "removedNode"
                    : waited_.contains(key) ? "pending"
                                            : "manifest";
    result_.placements.push_back(std::move(placed));
  }

  // REQUIRES: result_.placements has an entry per outcome.
  void ReportGroups(const std::vector<sim::PodOutcome>& outcomes,
                    const std::vector<sim::GroupOutcome>& groups) {
    for (sim::GroupReport& report : sim::ReportGroups(outcomes, groups)) {
      explain::WhatIfGroup& group = groups_.emplace_back();
      group.outcome = report.outcome;
      group.fits = report.outcome == "Placed";
      group.min_count = report.min_count;
      group.pods = report.pods;
      group.running = report.running;
      group.placed = report.placed;
      group.best = report.best;
      group.best_domain = report.best_placement;
      group.domain = report.placement;
      group.domains = report.placements;
      group.victims = report.preempted;
      group.message = report.message;
      for (sim::BlockerReport& blocker : report.blockers) {
        group.blockers.push_back(
            {std::move(blocker.pod), blocker.pods, std::move(blocker.message)});
      }
      std::map<std::string, int64_t> nodes;
      for (size_t i = 0; i < outcomes.size(); ++i) {
        const explain::WhatIfPlacement& placed = result_.placements[i];
        if (placed.namespace_ != report.namespace_ || outcomes[i].group != report.name) continue;
        if (group.source.empty()) group.source = placed.source;
        if (placed.outcome == "Placed") ++nodes[placed.node];
      }
      for (const auto& [node, pods] : nodes) group.nodes.push_back({node, pods});
      std::ranges::stable_sort(group.nodes, std::ranges::greater(), &explain::NodePods::pods);
      if (group.nodes.size() > kMaxGroupNodes) group.nodes.resize(kMaxGroupNodes);
      group.namespace_ = std::move(report.namespace_);
      group.name = std::move(report.name);
    }
  }

  void Count() {
    for (const explain::WhatIfPlacement& placed : result_.placements) {
      if (placed.outcome == "Placed") ++result_.placed;
      if (placed.outcome == "Unschedulable") ++result_.unschedulable;
      if (placed.outcome == "Gated") ++result_.gated;
      if (placed.outcome == "Preempted") ++result_.preempted;
      if (placed.outcome == "Error") ++result_.errors;
    }
  }

  const explain::ClusterCopy& copy_;
  const config::Behaviour& behaviour_;
  const explain::WhatIfRequest& request_;
  std::span<const berth::scheduler::ExtraPlugin> plugins_;
  std::map<std::string_view, const api::Node*> nodes_;
  sim::World world_;
  std::vector<api::Object> manifest_;
  std::set<std::string> replaced_nodes_;
  std::set<std::string> replaced_pods_;            // "namespace/name", like the next ones
  std::set<std::string> removed_;                  // nodes
  std::map<std::string, std::string> moved_;       // pods of removed nodes, and which
  std::set<std::string> waited_;                   // pods that wait in the cluster
  std::map<std::string, std::string> schedulers_;  // spec.schedulerName of the pods to place
  sim::Usage before_;
  explain::WhatIfResult result_;
  std::vector<explain::WhatIfGroup> groups_;
};

}  // namespace

Result<explain::WhatIfResult> AnswerWhatIf(const explain::ClusterCopy& copy,
                                           const config::KubeSchedulerConfiguration& config,
                                           const config::Behaviour& behaviour,
                                           const explain::WhatIfRequest& request,
                                           std::span<const berth::scheduler::ExtraPlugin> plugins) {
  const auto start = Clock::now();
  auto result = WhatIf(copy, behaviour, request, plugins).Run(config);
  if (result) {
    result->took_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }
  return result;
}

Result<explain::WhatIfGroups> AnswerGroupWhatIf(
    const explain::ClusterCopy& copy, const config::KubeSchedulerConfiguration& config,
    const config::Behaviour& behaviour, const explain::WhatIfRequest& request,
    std::span<const berth::scheduler::ExtraPlugin> plugins) {
  const auto start = Clock::now();
  if (!behaviour.pod_groups) {
    return Fail(
        "this scheduler does not schedule pod groups: the feature gate GenericWorkload is off");
  }
  WhatIf what_if(copy, behaviour, request, plugins);
  auto result = what_if.Run(config);
  if (!result) return Fail(result.error());
  explain::WhatIfGroups answer;
  answer.groups = what_if.groups();
  answer.notes = std::move(result->notes);
  const auto asked = [](const explain::WhatIfGroup& group) { return group.source == "manifest"; };
  const bool any = std::ranges::any_of(answer.groups, asked);
  if (!any) answer.notes.push_back("no pod of the manifests belongs to a pod group");
  answer.fits = any && std::ranges::all_of(answer.groups, [&](const explain::WhatIfGroup& group) {
                  return group.fits || !asked(group);
                });
  answer.took_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return answer;
}

}  // namespace berth::cli
