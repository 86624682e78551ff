// DaemonSets: one pod for every node that fits; the scheduler puts it there.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/sim/owner_controller.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;

// What every daemon tolerates.
constexpr std::pair<std::string_view, std::string_view> kTolerated[] = {
    {"node.kubernetes.io/not-ready", "NoExecute"},
    {"node.kubernetes.io/unreachable", "NoExecute"},
    {"node.kubernetes.io/disk-pressure", "NoSchedule"},
    {"node.kubernetes.io/memory-pressure", "NoSchedule"},
    {"node.kubernetes.io/pid-pressure", "NoSchedule"},
    {"node.kubernetes.io/unschedulable", "NoSchedule"},
};

bool Tolerates(const Json& tolerations, const Json& taint) {
  for (const Json& toleration : tolerations.Items()) {
    const std::string_view effect = toleration["effect"].Str();
    if (!effect.empty() && effect != taint["effect"].Str()) continue;
    const std::string_view key = toleration["key"].Str();
    if (key.empty() && toleration["operator"].Str() == "Exists") return true;
    if (key != taint["key"].Str()) continue;
    if (toleration["operator"].Str() == "Exists" ||
        toleration["value"].Str() == taint["value"].Str()) {
      return true;
    }
  }
  return false;
}

class DaemonSets final : public OwnerController {
 public:
  explicit DaemonSets(World& world)
      : OwnerController(world, world.catalog().Named("apps", "daemonsets"), milliseconds(20)) {}

  void OnNode(const Change&) { EnqueueAll(milliseconds(50)); }

 private:
  static bool Fits(const Json& template_, const Json& tolerations, const StoredObject& object,
                   const Json& node) {
    const Json& selector = template_["spec"]["nodeSelector"];
    for (const auto& [key, value] : selector.Members()) {
      const std::string* label = api::FindValue(object.labels, key);
      if (!label || *label != value.Str()) return false;
    }
    for (const Json& taint : node["spec"]["taints"].Items()) {
      if (taint["effect"].Str() != "PreferNoSchedule" && !Tolerates(tolerations, taint)) {
        return false;
      }
    }
    return true;
  }

  // The node a daemon's pod is meant for.
  static std::string Target(const Json& pod) {
    const Json& terms = pod["spec"]["affinity"]["nodeAffinity"]
                           ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
    for (const Json& term : terms.Items()) {
      for (const Json& field : term["matchFields"].Items()) {
        for (const Json& value : field["values"].Items()) return std::string(value.Str());
      }
    }
    return std::string(pod["spec"]["nodeName"].Str());
  }

  void Sync(const std::string& namespace_, const std::string& name) override {
    const ObjectPtr object = world_.store().Get(owners_.storage_id, namespace_, name);
    if (!object || object->deleting) return;
    const Json set = object->Value();
    Json template_ = set["spec"]["template"];
    Json& tolerations = template_.At("spec").At("tolerations");
    for (const auto& [key, effect] : kTolerated) {
      tolerations.Append(
          Json::MakeObject({{"key", key}, {"operator", "Exists"}, {"effect", effect}}));
    }
    std::map<std::string, ObjectPtr> pods;  // by the node they are meant for
    for (const ObjectPtr& pod : world_.index().OwnedBy(object->uid, world_.pods().storage_id)) {
      if (!world_.index().Active(*pod)) {
        if (!pod->deleting) world_.Delete(world_.pods(), *pod);
        continue;
      }
      const std::string node = Target(pod->Value());
      if (!pods.emplace(node, pod).second) world_.Delete(world_.pods(), *pod);
    }
    int64_t desired = 0;
    int64_t current = 0;
    int64_t ready = 0;
    size_t created = 0;
    const Store::Objects nodes = world_.store().All(world_.nodes().storage_id);
    for (const auto& [node_name, node] : nodes) {
      const auto pod = pods.find(node_name);
      if (!Fits(template_, tolerations, *node, node->Value())) continue;
      ++desired;
      if (pod != pods.end()) {
        current += 1;
        ready += pod->second->ready;
        pods.erase(pod);
      } else if (created < world_.options().batch) {
        ++created;
        Create(set, template_, *object, node_name);
      } else {
        Enqueue(namespace_, name, milliseconds(1));
      }
    }
    for (const auto& [node_name, pod] : pods) world_.Delete(world_.pods(), *pod);
    Json status = Json::MakeObject({{"desiredNumberScheduled", desired},
                                    {"currentNumberScheduled", current},
                                    {"numberReady", ready},
                                    {"numberAvailable", ready},
                                    {"numberMisscheduled", 0},
                                    {"updatedNumberScheduled", current}});
    if (desired > ready) status.Set("numberUnavailable", desired - ready);
    status.Set("observedGeneration", set["metadata"]["generation"].Int());
    world_.SetStatus(owners_, *object, status);
  }

  void Create(const Json& set, const Json& template_, const StoredObject& object,
              const std::string& node) {
    Json pod = world_.PodFromTemplate(set, template_);
    pod.At("metadata").Set("generateName", object.name + "-");
    const Json field = Json::MakeObject(
        {{"key", "metadata.name"}, {"operator", "In"}, {"values", Json::MakeArray({node})}});
    Json& required = pod.At("spec")
                         .At("affinity")
                         .At("nodeAffinity")
                         .At("requiredDuringSchedulingIgnoredDuringExecution");
    Json& terms = required.At("nodeSelectorTerms");
    if (terms.Empty()) terms.Append(Json::MakeObject());
    for (Json& term : terms.MutableItems()) term.Set("matchFields", Json::MakeArray({field}));
    (void)world_.registry().Create(world_.pods(), object.namespace_, std::move(pod),
                                   kControllerManager);
  }
};

}  // namespace

void AddDaemonSets(World& world) {
  const auto sets = AddOwnerController<DaemonSets>(world);
  world.React(world.nodes(), [sets](const Change& change) {
    if (change.type != ChangeType::kModified || change.object->labels != change.previous->labels) {
      sets->OnNode(change);
    }
  });
}

}  // namespace berth::apiserver
