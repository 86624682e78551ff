#include "sim/chaos/controllers.h"

#include <utility>

#include <fmt/format.h>

namespace berth::sim {
namespace {

constexpr char kSelectedNode[] = "volume.kubernetes.io/selected-node";
constexpr char kBindCompleted[] = "pv.kubernetes.io/bind-completed";

scheduler::PodRef RefOf(const api::Pod& pod) {
  return {pod.metadata.namespace_, pod.metadata.name, pod.metadata.uid};
}

bool IsAlive(const api::Pod& pod) { return !IsFinished(pod) && !pod.metadata.deletion_timestamp; }

bool IsBound(const api::PersistentVolumeClaim& claim) {
  return !claim.spec.volume_name.empty() && claim.metadata.annotations.contains(kBindCompleted);
}

}  // namespace

Controllers::Controllers(EventLoop& loop, ModelApi& api, uint64_t seed)
    : loop_(loop), api_(api), dice_(seed) {
  api_.Subscribe([this](const ApiChange& change) { OnChange(change); });
}

void Controllers::Soon(void (Controllers::*what)(), bool* pending) {
  if (*pending) return;
  *pending = true;
  loop_.After(dice_.Between(20, 500) * kMillisecond, [this, what, pending] {
    *pending = false;
    (this->*what)();
  });
}

void Controllers::OnChange(const ApiChange& change) {
  if (const auto* pod = std::get_if<api::Pod>(change.object.get())) {
    const bool gone = change.type == ApiChange::Type::kDeleted || !IsAlive(*pod);
    if (gone) {
      Soon(&Controllers::SyncGroups, &groups_pending_);
      Soon(&Controllers::SyncClaims, &claims_pending_);
    } else if (!pod->spec.node_name.empty() && pod->status.phase == "Pending") {
      const std::string name = pod->metadata.name;
      const std::string uid = pod->metadata.uid;
      loop_.After(dice_.Between(50, 900) * kMillisecond,
                  [this, name, uid] { StartPod(name, uid); });
      const bool node_gone = api_.Find<api::Node>("", pod->spec.node_name) == nullptr;
      if (node_gone) Soon(&Controllers::CollectPods, &collect_pending_);
    }
    return;
  }
  if (change.kind == "PersistentVolumeClaim" || change.kind == "PersistentVolume") {
    Soon(&Controllers::SyncVolumes, &volumes_pending_);
  }
  if (change.kind == "Node" && change.type == ApiChange::Type::kDeleted) {
    Soon(&Controllers::CollectPods, &collect_pending_);
  }
}

// --- Workloads

void Controllers::SetGroup(GroupTemplate group) {
  groups_[group.name] = std::move(group);
  Soon(&Controllers::SyncGroups, &groups_pending_);
}

void Controllers::Scale(const std::string& group, int64_t replicas) {
  const auto it = groups_.find(group);
  if (it == groups_.end()) return;
  it->second.replicas = replicas;
  Soon(&Controllers::SyncGroups, &groups_pending_);
}

void Controllers::RemoveGroup(const std::string& group) {
  Scale(group, 0);
  SyncGroups();
  groups_.erase(group);
}

std::vector<std::string> Controllers::Groups() const {
  std::vector<std::string> names;
  for (const auto& [name, group] : groups_) names.push_back(name);
  return names;
}

void Controllers::SyncGroups() {
  std::map<std::string, std::vector<scheduler::PodRef>> pods;
  api_.ForEach<api::Pod>([&](const api::Pod& pod) {
    const std::string* group = api::FindValue(pod.metadata.labels, kGroupLabel);
    const bool owned = pod.metadata.annotations.contains("controlled");
    if (group != nullptr && owned && IsAlive(pod)) pods[*group].push_back(RefOf(pod));
  });
  for (const auto& [name, group] : groups_) {
    std::vector<scheduler::PodRef>& own = pods[name];
    for (int64_t have = static_cast<int64_t>(own.size()); have < group.replicas; ++have) {
      MakePod(group);
    }
    for (; static_cast<int64_t>(own.size()) > group.replicas; own.pop_back()) {
      api_.DeletePod(own.back(), dice_.Between(1, 20) * 500 * kMillisecond);
    }
  }
}

void Controllers::MakePod(const GroupTemplate& group) {
  GroupTemplate controlled = group;
  controlled.pod.metadata.annotations["controlled"] = "true";
  AddPod(controlled);
}

void Controllers::AddPod(const GroupTemplate& group) {
  const std::string name = fmt::format("{}-{}", group.name, next_pod_++);
  const auto make_claims = [this, name, storage_class = group.storage_class,
                            devices = group.devices] {
    if (api_.Find<api::Pod>(kNamespace, name) == nullptr) return;
    if (!storage_class.empty()) api_.Create(MakeVolumeClaim(name, storage_class));
    if (devices) api_.Create(MakeDeviceClaim(name));
  };
  api_.Create(MakePodOf(group, name));
  if (dice_.PerMille(500)) {
    make_claims();
  } else {
    loop_.After(dice_.Between(1, 3000) * kMillisecond, make_claims);
  }
}

// The claims of a pod bear its name and go with it.
void Controllers::SyncClaims() {
  const auto is_orphan = [&](const api::ObjectMeta& metadata) {
    const auto* pod = api_.Find<api::Pod>(metadata.namespace_, metadata.name);
    return pod == nullptr || IsFinished(*pod);
  };
  std::vector<std::pair<std::string_view, std::string>> gone;
  api_.ForEach<api::PersistentVolumeClaim>([&](const auto& claim) {
    if (is_orphan(claim.metadata)) gone.emplace_back("PersistentVolumeClaim", claim.metadata.name);
  });
  api_.ForEach<api::ResourceClaim>([&](const auto& claim) {
    if (is_orphan(claim.metadata)) gone.emplace_back("ResourceClaim", claim.metadata.name);
  });
  for (const auto& [kind, name] : gone) api_.Delete(kind, kNamespace, name);
}

void Controllers::StartPod(const std::string& name, const std::string& uid) {
  const auto* pod = api_.Find<api::Pod>(kNamespace, name);
  if (pod == nullptr || pod->metadata.uid != uid || !IsAlive(*pod)) return;
  api_.Modify<api::Pod>(kNamespace, name, [&](api::Pod& started) {
    started.status.phase = "Running";
    started.status.start_time = loop_.Time();
  });
}

// --- Volumes

void Controllers::SyncVolumes() {
  std::map<std::string, api::PersistentVolumeClaim> claims;  // by uid
  api_.ForEach<api::PersistentVolumeClaim>(
      [&](const auto& claim) { claims.emplace(claim.metadata.uid, claim); });
  std::map<std::string, api::PersistentVolume> by_claim;
  std::vector<api::PersistentVolume> released;
  api_.ForEach<api::PersistentVolume>([&](const api::PersistentVolume& volume) {
    if (!volume.spec.claim_ref || volume.spec.claim_ref->uid.empty()) return;
    const std::string& uid = volume.spec.claim_ref->uid;
    const auto claim = claims.find(uid);
    const bool taken = claim != claims.end() && !claim->second.spec.volume_name.empty() &&
                       claim->second.spec.volume_name != volume.metadata.name;
    if (claim == claims.end() || taken || by_claim.contains(uid)) {
      released.push_back(volume);
    } else {
      by_claim.emplace(uid, volume);
    }
  });
  for (const api::PersistentVolume& volume : released) {
    api_.Delete("PersistentVolume", "", volume.metadata.name);
    const auto& required = volume.spec.node_affinity->required;
    const std::string& node = required->node_selector_terms[0].match_expressions[0].values[0];
    if (volume.spec.storage_class_name == kLocalClass &&
        api_.Find<api::Node>("", node) != nullptr) {
      api_.Create(MakeLocalVolume(fmt::format("local-{}", next_volume_++), node));
    }
  }
  for (const auto& [uid, claim] : claims) {
    if (IsBound(claim)) continue;
    const auto volume = by_claim.find(uid);
    const std::string* node = api::FindValue(claim.metadata.annotations, kSelectedNode);
    if (volume != by_claim.end()) {
      CompleteBinding(volume->second, claim);
    } else if (node != nullptr && claim.spec.storage_class_name == kProvisionedClass) {
      Provision(claim, *node);
    }
  }
}

void Controllers::Provision(const api::PersistentVolumeClaim& claim, const std::string& node) {
  const bool node_gone = api_.Find<api::Node>("", node) == nullptr;
  if (node_gone || (!calm_ && dice_.PerMille(150))) {
    api_.Modify<api::PersistentVolumeClaim>(kNamespace, claim.metadata.name, [](auto& failed) {
      failed.metadata.annotations.erase(kSelectedNode);
    });
    return;
  }
  api::PersistentVolume volume =
      MakeLocalVolume(fmt::format("provisioned-{}", next_volume_++), node);
  volume.spec.storage_class_name = kProvisionedClass;
  auto& ref = volume.spec.claim_ref.emplace();
  ref.kind = "PersistentVolumeClaim";
  ref.namespace_ = kNamespace;
  ref.name = claim.metadata.name;
  ref.uid = claim.metadata.uid;
  api_.Create(std::move(volume));  // the claim follows when the volume is noticed
}

void Controllers::CompleteBinding(const api::PersistentVolume& volume,
                                  const api::PersistentVolumeClaim& claim) {
  api_.Modify<api::PersistentVolume>("", volume.metadata.name,
                                     [](auto& bound) { bound.status.phase = "Bound"; });
  api_.Modify<api::PersistentVolumeClaim>(kNamespace, claim.metadata.name, [&](auto& bound) {
    bound.spec.volume_name = volume.metadata.name;
    bound.metadata.annotations[kBindCompleted] = "yes";
    bound.status.phase = "Bound";
  });
}

// --- Nodes

void Controllers::AddNode(const std::string& name) {
  if (!api_.Create(MakeNode(name, dice_)).Ok()) return;
  if (HasDevices(dice_)) api_.Create(MakeSlice(name));
  if (dice_.PerMille(250)) {
    api_.Create(MakeLocalVolume(fmt::format("local-{}", next_volume_++), name));
  }
}

void Controllers::RemoveNode(const std::string& name) {
  api_.Delete("ResourceSlice", "", "slice-" + name);
  api_.Delete("Node", "", name);
}

void Controllers::CollectPods() {
  std::vector<scheduler::PodRef> lost;
  api_.ForEach<api::Pod>([&](const api::Pod& pod) {
    if (pod.spec.node_name.empty()) return;
    if (api_.Find<api::Node>("", pod.spec.node_name) == nullptr) lost.push_back(RefOf(pod));
  });
  for (const scheduler::PodRef& pod : lost) api_.DeletePod(pod, 0);
}

}  // namespace berth::sim
