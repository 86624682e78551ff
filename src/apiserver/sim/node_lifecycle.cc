// Node lifecycle: taints that follow a node's conditions, nodes that are lost, and pods that a
// NoExecute taint drives away.
//
// A node with the annotation berth.dev/fail=true has lost its kubelet: its lease is not renewed,
// its pods neither start nor end, and after the grace period its conditions become Unknown.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/unordered/unordered_flat_map.hpp>

#include "api/codec/json.h"
#include "api/core/pod.h"
#include "api/rules/toleration.h"
#include "apiserver/registry/disruption.h"
#include "apiserver/sim/world.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;

struct ConditionTaint {
  const char* type;
  const char* status;
  const char* key;
  bool no_execute;  // beside NoSchedule
};
constexpr ConditionTaint kConditionTaints[] = {
    {"Ready", "False", "node.kubernetes.io/not-ready", true},
    {"Ready", "Unknown", "node.kubernetes.io/unreachable", true},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure", false},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure", false},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure", false},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable", false},
};
constexpr std::string_view kUnschedulable = "node.kubernetes.io/unschedulable";

bool IsManaged(const Json& taint) {
  const std::string_view key = taint["key"].Str();
  if (key == kUnschedulable) return taint["effect"].Str() == "NoSchedule";
  for (const ConditionTaint& row : kConditionTaints) {
    if (key == row.key) return row.no_execute || taint["effect"].Str() == "NoSchedule";
  }
  return false;
}

std::string_view StatusOf(const Json& node, std::string_view type) {
  for (const Json& condition : node["status"]["conditions"].Items()) {
    if (condition["type"].Str() == type) return condition["status"].Str();
  }
  return "";
}

// The taints a node should have: its own, and those of its conditions.
Json WantedTaints(const Json& node, const std::string& now) {
  const Json& had = node["spec"]["taints"];
  Json wanted = Json::MakeArray();
  for (const Json& taint : had.Items()) {
    if (!IsManaged(taint)) wanted.Append(taint);
  }
  const auto add = [&](std::string_view key, std::string_view effect) {
    for (const Json& taint : had.Items()) {
      if (taint["key"].Str() == key && taint["effect"].Str() == effect) {
        wanted.Append(taint);
        return;
      }
    }
    wanted.Append(Json::MakeObject({{"key", key}, {"effect", effect}, {"timeAdded", now}}));
  };
  for (const ConditionTaint& row : kConditionTaints) {
    if (StatusOf(node, row.type) != row.status) continue;
    add(row.key, "NoSchedule");
    if (row.no_execute) add(row.key, "NoExecute");
  }
  if (node["spec"]["unschedulable"].Bool()) add(kUnschedulable, "NoSchedule");
  return wanted;
}

bool SameTaints(const Json& a, const Json& b) {
  const auto& left = a.Items();
  const auto& right = b.Items();
  return left.size() == right.size() &&
         std::is_permutation(left.begin(), left.end(), right.begin());
}

class NodeLifecycle {
 public:
  explicit NodeLifecycle(World& world) : world_(world) {}

  void OnNode(const Change& change) {
    const std::string& name = change.object->name;
    if (change.type == ChangeType::kDeleted) {
      was_ready_.erase(name);
      return;
    }
    world_.Soon("node-taints/" + name, milliseconds(0), [this, name] { SyncTaints(name); });
    if (NodeFails(*change.object)) {
      world_.After(world_.Scaled(world_.options().node_grace_period), [this, name] { Lose(name); });
    } else if (change.object->text.find("\"NodeStatusUnknown\"") != std::string::npos) {
      world_.After(world_.Scaled(milliseconds(1000)), [this, name] { Recover(name); });
    }
  }

 private:
  ObjectPtr Node(const std::string& name) const {
    return world_.store().Get(world_.nodes().storage_id, "", name);
  }

  void SyncTaints(const std::string& name) {
    const ObjectPtr object = Node(name);
    if (!object) return;
    const Json node = object->Value();
    NoteReadiness(*object, StatusOf(node, "Ready"));
    const Json wanted = WantedTaints(node, world_.Now().Format());
    if (SameTaints(node["spec"]["taints"], wanted)) return;
    (void)world_.registry().Modify(
        world_.nodes(), "", name,
        [&](Json& value) -> Answer<void> {
          if (wanted.Empty()) {
            value.At("spec").Erase("taints");
          } else {
            value.At("spec").Set("taints", wanted);
          }
          return {};
        },
        "", kControllerManager);
  }

  // Pods of a node that stops being ready are not ready either.
  void NoteReadiness(const StoredObject& node, std::string_view status) {
    if (status.empty()) return;
    const bool ready = status == "True";
    const auto [it, added] = was_ready_.try_emplace(node.name, ready);
    if (it->second == ready) return;
    it->second = ready;
    const std::string_view reason = ready ? "NodeReady" : "NodeNotReady";
    world_.Record({world_.nodes(), node, "node-controller", reason,
                   fmt::format("Node {} status is now: {}", node.name, reason)});
    for (const ObjectPtr& pod : world_.index().PodsOn(node.name)) {
      if (world_.index().PhaseOf(*pod) != "Running" || pod->ready == ready) continue;
      Json condition = Json::MakeObject({{"type", "Ready"}, {"status", ready ? "True" : "False"}});
      Json conditions = FindValue(pod->text, "status");
      SetCondition(conditions, std::move(condition), world_.Now());
      std::vector<Edit> edits;
      edits.push_back({"status", std::move(conditions)});
      (void)world_.registry().Touch(world_.pods(), pod->namespace_, pod->name, std::move(edits),
                                    kControllerManager);
      if (!ready) {
        world_.Record(
            {world_.pods(), *pod, "node-controller", "NodeNotReady", "Node is not ready", true});
      }
    }
  }

  void SetConditions(const std::string& name, std::string_view status, std::string_view reason,
                     std::string_view message) {
    (void)world_.registry().Modify(
        world_.nodes(), "", name,
        [&](Json& node) -> Answer<void> {
          Json& to = node.At("status");
          for (std::string_view type : {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"}) {
            if (StatusOf(node, type).empty() && type != "Ready") continue;
            const bool pressure = type != "Ready" && status == "True";
            SetCondition(to,
                         Json::MakeObject({{"type", type},
                                           {"status", pressure ? "False" : status},
                                           {"reason", reason},
                                           {"message", message},
                                           {"lastHeartbeatTime", world_.Now().Format()}}),
                         world_.Now());
          }
          return {};
        },
        "status", kControllerManager);
  }

  void Lose(const std::string& name) {
    const ObjectPtr node = Node(name);
    if (!node || !NodeFails(*node) || StatusOf(node->Value(), "Ready") == "Unknown") return;
    SetConditions(name, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.");
  }

  void Recover(const std::string& name) {
    const ObjectPtr node = Node(name);
    if (!node || NodeFails(*node) || StatusOf(node->Value(), "Ready") != "Unknown") return;
    SetConditions(name, "True", "KubeletReady", "kubelet is posting ready status");
  }

  World& world_;
  boost::unordered_flat_map<std::string, bool> was_ready_;  // by node
};

// Deletes the pods that do not tolerate the NoExecute taints of their node, when their time is up.
class TaintEvictions {
 public:
  explicit TaintEvictions(World& world) : world_(world) {}

  void OnNode(const Change& change) {
    const std::string& name = change.object->name;
    std::vector<api::Taint> taints;
    if (change.type != ChangeType::kDeleted &&
        change.object->text.find("\"NoExecute\"") != std::string::npos) {
      if (const auto node = api::FromJson<api::Node>(change.object->text)) {
        for (const api::Taint& taint : node->spec.taints) {
          if (taint.effect == "NoExecute") taints.push_back(taint);
        }
      }
    }
    const auto known = taints_.find(name);
    if (known == taints_.end() ? taints.empty() : known->second == taints) return;
    if (taints.empty()) {
      taints_.erase(name);
    } else {
      taints_[name] = std::move(taints);
    }
    for (const ObjectPtr& pod : world_.index().PodsOn(name)) Consider(*pod);
  }

  void OnPod(const Change& change) {
    const StoredObject& pod = *change.object;
    if (change.type == ChangeType::kDeleted || pod.deleting) {
      pending_.erase(pod.uid);
    } else if (taints_.contains(world_.index().NodeOf(pod))) {
      Consider(pod);
    }
  }

 private:
  struct Pending {
    int64_t seconds;
    uint64_t number;  // of the timer that counts
  };

  // The seconds until the pod goes; below zero: it stays.
  static int64_t Patience(const std::vector<api::Taint>& taints,
                          const std::vector<api::Toleration>& tolerations) {
    int64_t least = -1;
    for (const api::Taint& taint : taints) {
      const auto it = std::find_if(tolerations.begin(), tolerations.end(),
                                   [&](const auto& one) { return api::Tolerates(one, taint); });
      if (it == tolerations.end()) return 0;
      if (!it->toleration_seconds) continue;
      const int64_t seconds = std::max<int64_t>(0, *it->toleration_seconds);
      least = least < 0 ? seconds : std::min(least, seconds);
    }
    return least;
  }

  void Consider(const StoredObject& pod) {
    const auto taints = taints_.find(world_.index().NodeOf(pod));
    if (taints == taints_.end() || !world_.index().Active(pod)) {
      if (pending_.erase(pod.uid) > 0) Note(pod, "Cancelling deletion of Pod");
      return;
    }
    const auto typed = api::FromJson<api::Pod>(pod.text);
    if (!typed) return;
    const int64_t seconds = Patience(taints->second, typed->spec.tolerations);
    if (seconds < 0) {
      if (pending_.erase(pod.uid) > 0) Note(pod, "Cancelling deletion of Pod");
      return;
    }
    const auto [it, added] = pending_.try_emplace(pod.uid, Pending{seconds, 0});
    if (!added && it->second.seconds == seconds) return;
    it->second = {seconds, ++numbers_};
    world_.After(world_.Scaled(std::chrono::seconds(seconds)),
                 [this, namespace_ = pod.namespace_, name = pod.name, uid = pod.uid,
                  number = numbers_] { Evict(namespace_, name, uid, number); });
  }

  void Evict(const std::string& namespace_, const std::string& name, const std::string& uid,
             uint64_t number) {
    const auto it = pending_.find(uid);
    if (it == pending_.end() || it->second.number != number) return;
    pending_.erase(it);
    const ObjectPtr pod = world_.store().Get(world_.pods().storage_id, namespace_, name);
    if (!pod || pod->uid != uid || !world_.index().Active(*pod)) return;
    Note(*pod, "Marking for deletion Pod");
    Json status = FindValue(pod->text, "status");
    SetCondition(status,
                 Condition("DisruptionTarget", true, "DeletionByTaintManager",
                           "Taint manager: deleting due to NoExecute taint"),
                 world_.Now());
    // The deletion follows at once: the change must not be taken for a reason to look again.
    world_.SetStatus(world_.pods(), *pod, status);
    world_.Delete(world_.pods(), *pod);
  }

  void Note(const StoredObject& pod, std::string_view what) {
    world_.Record({world_.pods(), pod, "taint-eviction-controller", "TaintManagerEviction",
                   fmt::format("{} {}/{}", what, pod.namespace_, pod.name)});
  }

  World& world_;
  boost::unordered_flat_map<std::string, std::vector<api::Taint>> taints_;  // by node
  boost::unordered_flat_map<std::string, Pending> pending_;                 // by the pod's uid
  uint64_t numbers_ = 0;
};

}  // namespace

bool NodeFails(const StoredObject& node) {
  if (node.text.find(kFailAnnotation) == std::string::npos) return false;
  return FindValue(node.text, "metadata.annotations")[kFailAnnotation].Str() == "true";
}

void AddNodeLifecycle(World& world) {
  const auto lifecycle = std::make_shared<NodeLifecycle>(world);
  world.React(world.nodes(), [lifecycle](const Change& change) { lifecycle->OnNode(change); });
  const auto evictions = std::make_shared<TaintEvictions>(world);
  world.React(world.nodes(), [evictions](const Change& change) { evictions->OnNode(change); });
  world.React(world.pods(), [evictions](const Change& change) { evictions->OnPod(change); });
}

}  // namespace berth::apiserver
