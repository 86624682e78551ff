#include "sim/scenario/kubelet.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "api/rules/toleration.h"
#include "sim/scenario/scenario.h"

namespace berth::sim {
namespace {

constexpr Nanos kCollectAfter = kSecond;
constexpr Nanos kForEver = std::numeric_limits<Nanos>::max();

bool DrivesAway(const api::Taint& taint) { return taint.effect == "NoExecute"; }

bool AnyDrivesAway(const api::Node& node) {
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(), DrivesAway);
}

// How long a pod may stay on a node with such taints; 0: it must go now.
Nanos MayStay(const api::Pod& pod, const std::vector<api::Taint>& taints) {
  Nanos stay = kForEver;
  for (const api::Taint& taint : taints) {
    if (!DrivesAway(taint)) continue;
    bool tolerated = false;
    for (const api::Toleration& toleration : pod.spec.tolerations) {
      if (!api::Tolerates(toleration, taint)) continue;
      tolerated = true;
      if (toleration.toleration_seconds) {
        const int64_t seconds = std::clamp<int64_t>(*toleration.toleration_seconds, 0, 1 << 30);
        stay = std::min(stay, seconds * kSecond);
      }
    }
    if (!tolerated) return 0;
  }
  return stay;
}

}  // namespace

Kubelet::Kubelet(EventLoop& loop, ModelApi& api, const Spread& startup, uint64_t seed)
    : loop_(loop), api_(api), startup_(startup), chance_(seed) {
  api_.Subscribe([this](const ApiChange& change) { OnChange(change); });
}

const std::set<std::string>& Kubelet::PodsOn(const std::string& node) const {
  static const std::set<std::string> none;
  const auto it = pods_on_.find(node);
  return it == pods_on_.end() ? none : it->second;
}

void Kubelet::OnChange(const ApiChange& change) {
  if (const auto* pod = std::get_if<api::Pod>(change.object.get())) {
    OnPod(change, *pod);
  } else if (const auto* node = std::get_if<api::Node>(change.object.get())) {
    OnNode(change, *node);
  }
}

void Kubelet::OnPod(const ApiChange& change, const api::Pod& pod) {
  const std::string& node = pod.spec.node_name;
  if (node.empty()) return;
  const std::string key = ModelApi::Key(pod.metadata.namespace_, pod.metadata.name);
  if (change.type == ApiChange::Type::kDeleted || IsFinished(pod)) {
    const auto it = pods_on_.find(node);
    if (it != pods_on_.end() && it->second.erase(key) > 0 && it->second.empty()) pods_on_.erase(it);
    return;
  }
  const bool has_got_it =
      change.old_object == nullptr || std::get<api::Pod>(*change.old_object).spec.node_name.empty();
  if (!has_got_it) return;
  pods_on_[node].insert(key);
  if (pod.status.phase == "Running") {
    Run(pod);
  } else {
    loop_.After(startup_.Draw(chance_), [this, key, uid = pod.metadata.uid] { Start(key, uid); });
  }
  const auto* where = api_.Find<api::Node>("", node);
  if (where == nullptr) {
    loop_.After(kCollectAfter, [this, node] { Collect(node); });
  } else if (AnyDrivesAway(*where)) {
    loop_.After(0, [this, node, key] { Evict(node, key); });
  }
}

void Kubelet::OnNode(const ApiChange& change, const api::Node& node) {
  const std::string name = node.metadata.name;
  if (change.type == ApiChange::Type::kDeleted) {
    loop_.After(kCollectAfter, [this, name] { Collect(name); });
    return;
  }
  const bool same = change.old_object != nullptr &&
                    std::get<api::Node>(*change.old_object).spec.taints == node.spec.taints;
  if (!same && AnyDrivesAway(node)) loop_.After(0, [this, name] { Evict(name); });
}

const api::Pod* Kubelet::Alive(const std::string& key, const std::string& uid) const {
  const ObjectPtr object = api_.Get("Pod", key);
  const auto* pod = object == nullptr ? nullptr : std::get_if<api::Pod>(object.get());
  if (pod == nullptr || pod->metadata.uid != uid || IsFinished(*pod)) return nullptr;
  return pod->metadata.deletion_timestamp ? nullptr : pod;
}

void Kubelet::Start(const std::string& key, const std::string& uid) {
  const api::Pod* pod = Alive(key, uid);
  if (pod == nullptr) return;
  const std::string ns = pod->metadata.namespace_;
  const std::string name = pod->metadata.name;
  api_.Modify<api::Pod>(ns, name, [&](api::Pod& started) {
    started.status.phase = "Running";
    started.status.start_time = loop_.Time();
  });
  if (const api::Pod* running = Alive(key, uid)) Run(*running);
}

void Kubelet::Run(const api::Pod& pod) {
  const std::string* text = api::FindValue(pod.metadata.annotations, kLifetimeAnnotation);
  if (text == nullptr) return;
  const auto lifetime = Spread::Parse(*text);
  if (!lifetime) return;
  const std::string key = ModelApi::Key(pod.metadata.namespace_, pod.metadata.name);
  loop_.After(lifetime->Draw(chance_), [this, key, uid = pod.metadata.uid] { Finish(key, uid); });
}

void Kubelet::Finish(const std::string& key, const std::string& uid) {
  const api::Pod* pod = Alive(key, uid);
  if (pod == nullptr) return;
  const scheduler::PodRef ref{pod->metadata.namespace_, pod->metadata.name, uid};
  ++finished_;
  api_.Modify<api::Pod>(ref.namespace_, ref.name,
                        [](api::Pod& done) { done.status.phase = "Succeeded"; });
  loop_.After(kCollectAfter, [this, ref] { api_.DeletePod(ref); });
}

void Kubelet::Delete(const std::string& key, const std::string& uid) {
  const size_t slash = key.find('/');
  api_.DeletePod({key.substr(0, slash), key.substr(slash + 1), uid});
}

void Kubelet::Evict(const std::string& node, const std::string& only) {
  const auto* where = api_.Find<api::Node>("", node);
  if (where == nullptr) return;
  const std::vector<api::Taint> taints = where->spec.taints;
  const std::set<std::string> keys = only.empty() ? PodsOn(node) : std::set<std::string>{only};
  for (const std::string& key : keys) {
    const ObjectPtr object = api_.Get("Pod", key);
    if (object == nullptr) continue;
    const auto& pod = std::get<api::Pod>(*object);
    const std::string uid = pod.metadata.uid;
    const Nanos stay = MayStay(pod, taints);
    if (stay == 0) {
      Delete(key, uid);
    } else if (stay != kForEver) {
      loop_.After(stay, [this, node, key, uid, taints] {
        const auto* later = api_.Find<api::Node>("", node);
        if (later != nullptr && later->spec.taints == taints && Alive(key, uid)) Delete(key, uid);
      });
    }
  }
}

void Kubelet::Collect(const std::string& node) {
  if (api_.Find<api::Node>("", node) != nullptr) return;
  const std::set<std::string> keys = PodsOn(node);
  for (const std::string& key : keys) {
    const size_t slash = key.find('/');
    api_.DeletePod({key.substr(0, slash), key.substr(slash + 1), {}}, 0);
  }
}

}  // namespace berth::sim
