#include "sim/scenario/stage.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/rules/label_selector.h"
#include "sim/record/workload_name.h"

namespace berth::sim {
namespace {

constexpr int64_t kPodsPerNode = 110;
// More arrivals than that are a rate with a few zeros too many.
constexpr int64_t kMostArrivals = 10'000'000;
constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";

api::Node MakeNode(const NodeGroup& group, int64_t number) {
  api::Node node;
  node.metadata.name = fmt::format("{}-{}", group.name, number);
  node.metadata.labels = {{"kubernetes.io/arch", "amd64"},
                          {"kubernetes.io/hostname", node.metadata.name},
                          {"kubernetes.io/os", "linux"}};
  if (!group.zones.empty()) {
    const auto turn = static_cast<size_t>(number - 1) % group.zones.size();
    node.metadata.labels[std::string(kZoneLabel)] = group.zones[turn];
  }
  for (const auto& [key, value] : group.labels) node.metadata.labels[key] = value;
  for (const std::string& text : group.taints) node.spec.taints.push_back(*ParseTaint(text));
  api::ResourceList& capacity = node.status.capacity;
  for (const auto& [name, amount] : group.resources) capacity[name] = amount;
  capacity["cpu"] = group.cpu;
  capacity["memory"] = group.memory;
  capacity["pods"] = api::Quantity::FromInt(group.pods.value_or(kPodsPerNode));
  node.status.allocatable = capacity;
  return node;
}

bool SameTaint(const api::Taint& a, const api::Taint& b) {
  return a.key == b.key && a.effect == b.effect;
}

// As kubectl drain has it: pods of DaemonSets and static pods stay.
bool StaysOnDrain(const api::Pod& pod) {
  const api::OwnerReference* owner = ControllerOf(pod.metadata);
  return owner != nullptr && (owner->kind == "DaemonSet" || owner->kind == "Node");
}

template <class T>
bool SetReplicas(ModelApi& api, const ScaleWorkload& scale, const std::string& ns) {
  return api.Modify<T>(ns, scale.name, [&](T& workload) {
    const auto replicas = static_cast<int32_t>(scale.replicas);
    if constexpr (requires { workload.spec.parallelism; }) {
      workload.spec.parallelism = replicas;
    } else {
      workload.spec.replicas = replicas;
    }
  });
}

}  // namespace

Stage::Stage(EventLoop& loop, ModelApi& api, Clerk& clerk, const Kubelet& kubelet, Nanos end,
             uint64_t seed, Hooks hooks)
    : loop_(loop),
      api_(api),
      clerk_(clerk),
      kubelet_(kubelet),
      end_(end),
      chance_(seed),
      hooks_(std::move(hooks)) {}

Result<void> Stage::Do(const ScenarioEvent& e) {
  const std::string& path = e.path;
  const auto cordon = [&](const NodePick& pick, bool unschedulable) {
    ChangeNodes(pick, path, [=](api::Node& node) { node.spec.unschedulable = unschedulable; });
  };
  if (!e.objects.empty()) return ApplyAll(e.objects);
  if (e.delete_) Delete(*e.delete_, path);
  if (e.scale) Scale(*e.scale, path);
  if (e.cordon) cordon(*e.cordon, true);
  if (e.uncordon) cordon(*e.uncordon, false);
  if (e.drain) Drain(*e.drain, path);
  if (e.taint) Taint(*e.taint, path);
  if (e.untaint) Untaint(*e.untaint, path);
  if (e.label) {
    ChangeNodes(e.label->nodes, path, [&](api::Node& node) {
      for (const auto& [key, value] : e.label->labels) node.metadata.labels[key] = value;
      for (const std::string& key : e.label->remove) node.metadata.labels.erase(key);
    });
  }
  if (e.resize) Resize(*e.resize, path);
  if (e.add_nodes) AddNodes(*e.add_nodes);
  if (e.remove_nodes) {
    for (const std::string& name : Pick(*e.remove_nodes, path)) api_.Delete("Node", "", name);
  }
  if (e.crash_scheduler) hooks_.crash(e.crash_scheduler->down.ns);
  if (e.pods) return Arrive(*e.pods);
  return {};
}

void Stage::AddNodes(const NodeGroup& group) {
  int64_t& next = next_node_[group.name];
  for (int64_t made = 0; made < group.count;) {
    if (api_.Create(MakeNode(group, ++next)).Ok()) ++made;
  }
}

// --- Nodes

std::vector<std::string> Stage::Pick(const NodePick& pick, std::string_view path) {
  const api::Selector selector = *api::Selector::Parse(pick.selector);
  std::vector<std::string> names;
  api_.ForEach<api::Node>([&](const api::Node& node) {
    const bool named = pick.name.empty() || MatchesPattern(pick.name, node.metadata.name);
    if (named && selector.Matches(node.metadata.labels)) names.push_back(node.metadata.name);
  });
  if (names.empty()) hooks_.warn(fmt::format("{}: there is no such node", path));
  if (pick.count && names.size() > static_cast<size_t>(*pick.count)) {
    const auto count = static_cast<size_t>(*pick.count);
    for (size_t i = 0; i < count; ++i) {
      std::swap(names[i], names[i + chance_.Below(names.size() - i)]);
    }
    names.resize(count);
    std::sort(names.begin(), names.end());
  }
  return names;
}

void Stage::ChangeNodes(const NodePick& pick, std::string_view path,
                        const std::function<void(api::Node&)>& change) {
  for (const std::string& name : Pick(pick, path)) api_.Modify<api::Node>("", name, change);
}

void Stage::Drain(const NodePick& pick, std::string_view path) {
  for (const std::string& name : Pick(pick, path)) {
    api_.Modify<api::Node>("", name, [](api::Node& node) { node.spec.unschedulable = true; });
    const std::set<std::string> keys = kubelet_.PodsOn(name);
    for (const std::string& key : keys) {
      const ObjectPtr object = api_.Get("Pod", key);
      if (object == nullptr) continue;
      const auto& pod = std::get<api::Pod>(*object);
      if (StaysOnDrain(pod)) continue;
      api_.DeletePod({pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid});
    }
  }
}

void Stage::Taint(const TaintNodes& what, std::string_view path) {
  ChangeNodes(what.nodes, path, [&](api::Node& node) {
    for (const std::string& text : what.taints) {
      const api::Taint taint = *ParseTaint(text);
      auto& taints = node.spec.taints;
      std::erase_if(taints, [&](const auto& t) { return SameTaint(t, taint); });
      taints.push_back(taint);
    }
  });
}

void Stage::Untaint(const TaintNodes& what, std::string_view path) {
  ChangeNodes(what.nodes, path, [&](api::Node& node) {
    for (const std::string& text : what.taints) {
      const auto taint = ParseTaint(text);
      std::erase_if(node.spec.taints,
                    [&](const auto& t) { return taint ? SameTaint(t, *taint) : t.key == text; });
    }
  });
}

void Stage::Resize(const ResizeNodes& resize, std::string_view path) {
  ChangeNodes(resize.nodes, path, [&](api::Node& node) {
    const auto set = [&](const char* name, const api::Quantity& amount) {
      node.status.capacity[name] = amount;
      node.status.allocatable[name] = amount;
    };
    if (resize.cpu) set("cpu", *resize.cpu);
    if (resize.memory) set("memory", *resize.memory);
    if (resize.pods) set("pods", api::Quantity::FromInt(*resize.pods));
  });
}

// --- Objects

Result<void> Stage::ApplyAll(const std::vector<api::Object>& objects) {
  clerk_.Learn(objects);
  for (const api::Object& object : objects) {
    if (auto ok = clerk_.Apply(object); !ok) return ok;
  }
  return {};
}

void Stage::Delete(const DeleteObjects& what, std::string_view path) {
  const api::Selector selector = *api::Selector::Parse(what.selector);
  std::vector<std::pair<std::string, std::string>> found;
  for (const ObjectPtr& object : api_.List(what.kind)) {
    const api::ObjectMeta& metadata = *api::MetadataOf(*object);
    const bool in_namespace = what.namespace_.empty() || what.namespace_ == metadata.namespace_;
    const bool named = what.name.empty() || MatchesPattern(what.name, metadata.name);
    if (in_namespace && named && selector.Matches(metadata.labels)) {
      found.emplace_back(metadata.namespace_, metadata.name);
    }
  }
  if (found.empty()) hooks_.warn(fmt::format("{}: there is no such {}", path, what.kind));
  for (const auto& [ns, name] : found) {
    if (what.kind == "Pod") {
      deleted_.insert(ModelApi::Key(ns, name));
      api_.DeletePod({ns, name, {}});
    } else {
      api_.Delete(what.kind, ns, name);
    }
  }
}

void Stage::Scale(const ScaleWorkload& scale, std::string_view path) {
  const std::string ns = scale.namespace_.empty() ? "default" : scale.namespace_;
  bool found = false;
  if (scale.kind == "Deployment") found = SetReplicas<api::Deployment>(api_, scale, ns);
  if (scale.kind == "ReplicaSet") found = SetReplicas<api::ReplicaSet>(api_, scale, ns);
  if (scale.kind == "StatefulSet") found = SetReplicas<api::StatefulSet>(api_, scale, ns);
  if (scale.kind == "ReplicationController") {
    found = SetReplicas<api::ReplicationController>(api_, scale, ns);
  }
  if (scale.kind == "Job") found = SetReplicas<api::Job>(api_, scale, ns);
  if (!found) {
    hooks_.warn(fmt::format("{}: there is no {} {}/{}", path, scale.kind, ns, scale.name));
  }
}

// --- Arrivals

Result<void> Stage::Arrive(const PodArrivals& arrivals) {
  if (arrivals.count) {
    for (int64_t i = 0; i < *arrivals.count; ++i) {
      if (auto ok = MakePod(arrivals); !ok) return ok;
    }
    return {};
  }
  ArriveNext(arrivals, arrivals.for_ ? loop_.Now() + arrivals.for_->ns : end_);
  return {};
}

Result<void> Stage::MakePod(const PodArrivals& arrivals) {
  if (++arrived_ > kMostArrivals) {
    return Fail(fmt::format("more than {} pods have arrived", kMostArrivals));
  }
  int64_t& next = next_pod_[fmt::format("{}/{}", arrivals.namespace_, arrivals.name)];
  for (;;) {
    api::Pod pod = arrivals.pod;
    pod.metadata.name = fmt::format("{}-{}", arrivals.name, ++next);
    const auto answer = clerk_.Create(api::Object(std::move(pod)));
    if (!answer) return Fail(answer.error());
    if (answer->Ok()) return {};
  }
}

void Stage::ArriveNext(const PodArrivals& arrivals, Nanos until) {
  const Nanos mean = static_cast<Nanos>(static_cast<double>(kSecond) / *arrivals.per_second);
  const Nanos at = loop_.Now() + chance_.Exponential(mean);
  if (at > until) return;
  loop_.At(at, [this, &arrivals, until] {
    if (auto ok = MakePod(arrivals); !ok) {
      hooks_.fail(ok.error());
      return;
    }
    ArriveNext(arrivals, until);
  });
}

}  // namespace berth::sim
