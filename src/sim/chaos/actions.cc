#include "sim/chaos/actions.h"

#include <utility>

#include <fmt/format.h>

namespace berth::sim {
namespace {

bool IsRunning(const api::Pod& pod) {
  return !pod.spec.node_name.empty() && !IsFinished(pod) && !pod.metadata.deletion_timestamp;
}

bool IsPending(const api::Pod& pod) { return pod.spec.node_name.empty() && !IsFinished(pod); }

}  // namespace

Actions::Actions(const ChaosProfile& profile, EventLoop& loop, ModelApi& api,
                 Controllers& controllers, uint64_t seed)
    : profile_(profile), loop_(loop), api_(api), controllers_(controllers), dice_(seed) {
  const ActionWeights& w = profile.actions;
  weighted_ = {{w.add_node, &Actions::AddNode},
               {w.remove_node, &Actions::RemoveNode},
               {w.replace_node, &Actions::ReplaceNode},
               {w.cordon, &Actions::Cordon},
               {w.taint, &Actions::Taint},
               {w.relabel, &Actions::Relabel},
               {w.resize_node, &Actions::ResizeNode},
               {w.add_group, &Actions::AddGroup},
               {w.scale_group, &Actions::ScaleGroup},
               {w.remove_group, &Actions::RemoveGroup},
               {w.add_pod, &Actions::AddPod},
               {w.delete_pod, &Actions::DeletePod},
               {w.finish_pod, &Actions::FinishPod},
               {w.label_pod, &Actions::LabelPod},
               {w.open_gate, &Actions::OpenGate},
               {w.resize_pod, &Actions::ResizePod},
               {w.bind_elsewhere, &Actions::BindElsewhere},
               {w.budget, &Actions::Budget},
               {w.touch_claim, &Actions::TouchClaim}};
  for (const auto& [weight, action] : weighted_) total_weight_ += weight;
}

void Actions::Populate() {
  for (api::Object& object : MakeClasses()) api_.Create(std::move(object));
  const int64_t nodes = dice_.Between(profile_.nodes_low, profile_.nodes_high);
  for (int64_t i = 0; i < nodes; ++i) AddNode();
  for (int64_t i = dice_.Between(1, 6); i > 0; --i) AddGroup();
}

std::string Actions::Act() {
  int64_t roll = dice_.Between(0, int64_t{total_weight_} - 1);
  for (const auto& [weight, action] : weighted_) {
    roll -= weight;
    if (roll < 0) return (this->*action)();
  }
  return {};
}

std::string Actions::SomeNode() {
  std::vector<std::string> names;
  api_.ForEach<api::Node>([&](const api::Node& node) { names.push_back(node.metadata.name); });
  return names.empty() ? "" : dice_.Pick(names);
}

std::string Actions::SomePod(const std::function<bool(const api::Pod&)>& passes) {
  std::vector<std::string> names;
  api_.ForEach<api::Pod>([&](const api::Pod& pod) {
    if (passes(pod)) names.push_back(pod.metadata.name);
  });
  return names.empty() ? "" : dice_.Pick(names);
}

size_t Actions::PodCount() const {
  size_t count = 0;
  api_.ForEach<api::Pod>([&](const api::Pod&) { ++count; });
  return count;
}

// --- Nodes

std::string Actions::AddNode() {
  size_t nodes = 0;
  api_.ForEach<api::Node>([&](const api::Node&) { ++nodes; });
  if (nodes >= static_cast<size_t>(profile_.nodes_high)) return {};
  const std::string name = fmt::format("node-{}", next_node_++);
  controllers_.AddNode(name);
  return "add " + name;
}

std::string Actions::RemoveNode() {
  size_t nodes = 0;
  api_.ForEach<api::Node>([&](const api::Node&) { ++nodes; });
  if (nodes <= static_cast<size_t>(profile_.nodes_low)) return {};
  const std::string name = SomeNode();
  controllers_.RemoveNode(name);
  return "remove " + name;
}

std::string Actions::ReplaceNode() {
  const std::string name = SomeNode();
  if (name.empty()) return {};
  controllers_.RemoveNode(name);
  loop_.After(dice_.Between(0, 3000) * kMillisecond, [this, name] { controllers_.AddNode(name); });
  return "replace " + name;
}

std::string Actions::Cordon() {
  const std::string name = SomeNode();
  if (name.empty()) return {};
  api_.Modify<api::Node>(
      "", name, [](api::Node& node) { node.spec.unschedulable = !node.spec.unschedulable; });
  return "cordon or uncordon " + name;
}

std::string Actions::Taint() {
  const std::string name = SomeNode();
  if (name.empty()) return {};
  api_.Modify<api::Node>("", name, [&](api::Node& node) {
    if (!node.spec.taints.empty()) {
      node.spec.taints.clear();
      return;
    }
    api::Taint& taint = node.spec.taints.emplace_back();
    taint.key = dice_.PerMille(700) ? "dedicated" : "broken";
    taint.effect = dice_.PerMille(800) ? "NoSchedule" : "PreferNoSchedule";
  });
  return "taint or untaint " + name;
}

std::string Actions::Relabel() {
  const std::string name = SomeNode();
  if (name.empty()) return {};
  api_.Modify<api::Node>("", name, [&](api::Node& node) {
    auto& labels = node.metadata.labels;
    if (dice_.PerMille(500)) {
      labels["disk"] = labels["disk"] == "ssd" ? "hdd" : "ssd";
    } else {
      labels["topology.kubernetes.io/zone"] = fmt::format("zone-{}", dice_.Between(0, 2));
    }
  });
  return "relabel " + name;
}

std::string Actions::ResizeNode() {
  const std::string name = SomeNode();
  if (name.empty()) return {};
  api_.Modify<api::Node>("", name, [&](api::Node& node) {
    node.status.allocatable["cpu"] = api::Quantity::FromMilli(dice_.Between(2, 10) * 1000);
  });
  return "resize " + name;
}

// --- Pods

std::string Actions::AddGroup() {
  if (PodCount() >= static_cast<size_t>(profile_.pods_at_most)) return {};
  GroupTemplate group = MakeGroup(fmt::format("g{}", next_group_++), profile_, dice_);
  std::string text = fmt::format("add group {} of {}", group.name, group.replicas);
  if (profile_.gangs > 0 && dice_.PerMille(profile_.gangs)) {
    MakeGang(profile_, dice_, &group);
    text += fmt::format(", at least {}", group.min_count);
    loop_.After(dice_.Between(0, 2000) * kMillisecond,
                [this, object = MakePodGroup(group, dice_.PerMille(300))] { api_.Create(object); });
  }
  controllers_.SetGroup(std::move(group));
  return text;
}

std::string Actions::ScaleGroup() {
  const std::vector<std::string> groups = controllers_.Groups();
  if (groups.empty()) return {};
  const std::string& group = dice_.Pick(groups);
  const bool crowded = PodCount() >= static_cast<size_t>(profile_.pods_at_most);
  const int64_t replicas = dice_.Between(0, crowded ? 2 : 10);
  controllers_.Scale(group, replicas);
  return fmt::format("scale group {} to {}", group, replicas);
}

std::string Actions::RemoveGroup() {
  const std::vector<std::string> groups = controllers_.Groups();
  if (groups.empty()) return {};
  const std::string& group = dice_.Pick(groups);
  controllers_.RemoveGroup(group);
  if (profile_.gangs > 0) api_.Delete(api::PodGroup::kKind, kNamespace, group);
  return "remove group " + group;
}

std::string Actions::AddPod() {
  if (PodCount() >= static_cast<size_t>(profile_.pods_at_most)) return {};
  const GroupTemplate group = MakeGroup(fmt::format("p{}", next_group_++), profile_, dice_);
  controllers_.AddPod(group);
  return "add a pod of " + group.name;
}

std::string Actions::DeletePod() {
  const std::string name = SomePod([](const api::Pod& pod) { return !IsFinished(pod); });
  if (name.empty()) return {};
  const int64_t grace = dice_.PerMille(200) ? 0 : dice_.Between(1, 20) * 500 * kMillisecond;
  api_.DeletePod({kNamespace, name, {}}, grace);
  return "delete " + name;
}

std::string Actions::FinishPod() {
  const std::string name = SomePod(IsRunning);
  if (name.empty()) return {};
  api_.Modify<api::Pod>(kNamespace, name, [&](api::Pod& pod) {
    pod.status.phase = dice_.PerMille(700) ? "Succeeded" : "Failed";
  });
  const std::string uid = api_.Find<api::Pod>(kNamespace, name)->metadata.uid;
  loop_.After(dice_.Between(1, 30) * kSecond, [this, name, uid] {
    api_.DeletePod({kNamespace, name, uid});
  });
  return "finish " + name;
}

std::string Actions::LabelPod() {
  const std::string name = SomePod([](const api::Pod& pod) { return !IsFinished(pod); });
  if (name.empty()) return {};
  api_.Modify<api::Pod>(kNamespace, name, [&](api::Pod& pod) {
    pod.metadata.labels["tier"] = fmt::format("t{}", dice_.Between(0, 5));
  });
  return "label " + name;
}

std::string Actions::OpenGate() {
  const std::string name =
      SomePod([](const api::Pod& pod) { return !pod.spec.scheduling_gates.empty(); });
  if (name.empty()) return {};
  api_.Modify<api::Pod>(kNamespace, name, [](api::Pod& pod) { pod.spec.scheduling_gates.clear(); });
  return "open the gate of " + name;
}

std::string Actions::ResizePod() {
  const std::string name = SomePod(IsRunning);
  if (name.empty()) return {};
  api_.Modify<api::Pod>(kNamespace, name, [&](api::Pod& pod) {
    pod.spec.containers[0].resources.requests["cpu"] =
        api::Quantity::FromMilli(dice_.Between(1, 20) * 100);
  });
  return "resize " + name;
}

std::string Actions::BindElsewhere() {
  const bool ours_too = dice_.PerMille(300);
  const std::string name = SomePod([&](const api::Pod& pod) {
    // No host ports: two pods that share one give it back with the first that leaves
    // (HostPortTable).
    return IsPending(pod) && pod.spec.scheduling_gates.empty() &&
           pod.spec.containers[0].ports.empty() &&
           (ours_too || pod.spec.scheduler_name != kOurScheduler);
  });
  const std::string node = SomeNode();
  if (name.empty() || node.empty()) return {};
  api_.Bind({kNamespace, name, {}}, node);
  return fmt::format("another scheduler binds {} to {}", name, node);
}

std::string Actions::Budget() {
  const std::vector<std::string> groups = controllers_.Groups();
  if (groups.empty()) return {};
  const std::string& group = dice_.Pick(groups);
  if (api_.Delete("PodDisruptionBudget", kNamespace, group).Ok()) return "drop budget of " + group;
  api_.Create(MakeBudget(group, dice_));
  return "budget for " + group;
}

// Makes writes of the scheduler that were read before conflict.
std::string Actions::TouchClaim() {
  static const std::vector<std::string_view> kinds = {"PersistentVolumeClaim", "PersistentVolume",
                                                      "ResourceClaim"};
  const std::vector<ObjectPtr> objects = api_.List(dice_.Pick(kinds));
  if (objects.empty()) return {};
  api::Object object = *dice_.Pick(objects);
  api::MetadataOf(object)->labels["touched"] = std::to_string(api_.Version());
  const std::string text =
      fmt::format("touch {} {}", api::KindOf(object), api::MetadataOf(object)->name);
  api_.Update(std::move(object));
  return text;
}

}  // namespace berth::sim
