#include "sim/scenario/workload_controller.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/record/workload_name.h"
#include "sim/workloads.h"

namespace berth::sim {
namespace {

constexpr Nanos kReaction = 20 * kMillisecond;

std::string WorkloadKey(std::string_view kind, std::string_view ns, std::string_view name) {
  return fmt::format("{}/{}/{}", kind, ns, name);
}

std::string KeyOfWorkload(const api::Object& object) {
  const api::ObjectMeta& metadata = *api::MetadataOf(object);
  return WorkloadKey(api::KindOf(object), metadata.namespace_, metadata.name);
}

bool IsAlive(const api::Pod& pod) { return !IsFinished(pod) && !pod.metadata.deletion_timestamp; }

// Templates are equal but for the label that tells their ReplicaSets apart.
bool SameTemplate(api::PodTemplateSpec a, api::PodTemplateSpec b) {
  a.metadata.labels.erase("pod-template-hash");
  b.metadata.labels.erase("pod-template-hash");
  return a == b;
}

// uid-17: the later the object was created, the larger.
int64_t NumberOf(const std::string& uid) {
  int64_t number = 0;
  const size_t dash = uid.rfind('-');
  if (dash != std::string::npos) {
    std::from_chars(uid.data() + dash + 1, uid.data() + uid.size(), number);
  }
  return number;
}

// The pod as its controller would create it once more.
api::Pod Afresh(const api::Pod& pod) {
  api::Pod fresh;
  fresh.metadata.namespace_ = pod.metadata.namespace_;
  fresh.metadata.name = pod.metadata.name;
  fresh.metadata.labels = pod.metadata.labels;
  fresh.metadata.annotations = pod.metadata.annotations;
  fresh.metadata.owner_references = pod.metadata.owner_references;
  fresh.spec = pod.spec;
  fresh.spec.node_name.clear();
  return fresh;
}

// A DaemonSet's pods stay away with their node, and a node's own pods are not evicted.
bool ReplacesPods(std::string_view kind) { return kind != "DaemonSet" && kind != "Node"; }

int64_t JobWants(const api::JobSpec& job, int64_t succeeded) {
  if (job.suspend.value_or(false)) return 0;
  const int64_t parallelism = job.parallelism.value_or(1);
  const int64_t completions = job.completions ? *job.completions : parallelism;
  return std::clamp<int64_t>(completions - succeeded, 0, parallelism);
}

}  // namespace

WorkloadController::WorkloadController(EventLoop& loop, ModelApi& api, Clerk& clerk,
                                       std::function<void(const std::string&)> warn)
    : loop_(loop), api_(api), clerk_(clerk), warn_(std::move(warn)) {
  api_.Subscribe([this](const ApiChange& change) { OnChange(change); });
}

void WorkloadController::OnChange(const ApiChange& change) {
  if (const auto* pod = std::get_if<api::Pod>(change.object.get())) {
    OnPod(change, *pod);
    return;
  }
  if (std::holds_alternative<api::Node>(*change.object)) {
    if (change.type != ApiChange::Type::kDeleted) {
      for (const std::string& set : daemon_sets_) Mark(set);
    }
    return;
  }
  if (!IsWorkload(*change.object)) return;
  const std::string key = KeyOfWorkload(*change.object);
  if (std::holds_alternative<api::DaemonSet>(*change.object)) {
    if (change.type == ApiChange::Type::kDeleted) {
      daemon_sets_.erase(key);
    } else {
      daemon_sets_.insert(key);
    }
  }
  Mark(key);
}

void WorkloadController::OnPod(const ApiChange& change, const api::Pod& pod) {
  const api::OwnerReference* owner = ControllerOf(pod.metadata);
  if (owner == nullptr) return;
  const std::string workload = WorkloadKey(owner->kind, pod.metadata.namespace_, owner->name);
  Owned& owned = owned_[workload];
  const std::string key = ModelApi::Key(pod.metadata.namespace_, pod.metadata.name);
  const bool deleted = change.type == ApiChange::Type::kDeleted;
  if (!deleted && IsAlive(pod)) {
    owned.alive.insert(key);
    return;
  }
  const bool was_finished =
      change.old_object != nullptr && IsFinished(std::get<api::Pod>(*change.old_object));
  if (!deleted && pod.status.phase == "Succeeded" && !was_finished) ++owned.succeeded;
  const bool was_alive = owned.alive.erase(key) > 0;
  // A StatefulSet's next pod of the name has to wait until this one is gone.
  if (was_alive || deleted) Mark(workload);
}

void WorkloadController::Mark(const std::string& workload) {
  Owned& owned = owned_[workload];
  if (owned.pending) return;
  owned.pending = true;
  loop_.After(kReaction, [this, workload] {
    owned_[workload].pending = false;
    Sync(workload);
  });
}

void WorkloadController::Sync(const std::string& workload) {
  const size_t slash = workload.find('/');
  const ObjectPtr object = api_.Get(workload.substr(0, slash), workload.substr(slash + 1));
  Owned& owned = owned_[workload];
  if (object == nullptr) {
    if (const auto it = inferred_.find(workload); it != inferred_.end()) {
      SyncInferred(workload.substr(workload.rfind('/') + 1), it->second, owned);
    } else {
      RemoveAll(workload, owned);
    }
    return;
  }
  if (const auto* d = std::get_if<api::Deployment>(object.get())) {
    SyncDeployment(*d);
  } else if (const auto* s = std::get_if<api::StatefulSet>(object.get())) {
    SyncStatefulSet(*s, owned);
  } else if (const auto* ds = std::get_if<api::DaemonSet>(object.get())) {
    SyncDaemonSet(*ds, owned);
  } else if (const auto* job = std::get_if<api::Job>(object.get())) {
    SyncNumbered(*object, JobWants(job->spec, owned.succeeded), owned);
  } else {
    SyncNumbered(*object, ReplicasAsked(*object), owned);
  }
}

void WorkloadController::SyncDeployment(const api::Deployment& deployment) {
  const api::Deployment d = deployment;
  std::optional<std::string> current;
  std::vector<std::string> others;
  api_.ForEach<api::ReplicaSet>([&](const api::ReplicaSet& set) {
    const api::OwnerReference* owner = ControllerOf(set.metadata);
    const bool own = owner != nullptr && owner->kind == "Deployment" &&
                     owner->name == d.metadata.name &&
                     set.metadata.namespace_ == d.metadata.namespace_;
    if (!own) return;
    if (!current && SameTemplate(set.spec.template_, d.spec.template_)) {
      current = set.metadata.name;
    } else {
      others.push_back(set.metadata.name);
    }
  });
  const int32_t replicas = d.spec.replicas.value_or(1);
  const bool rolls = std::any_of(others.begin(), others.end(), [&](const std::string& name) {
    const auto* set = api_.Find<api::ReplicaSet>(d.metadata.namespace_, name);
    return set != nullptr && set->spec.replicas.value_or(1) > 0;
  });
  if (rolls) {
    warn_(
        fmt::format("Deployment {}/{}: its pods were replaced at once; maxSurge and "
                    "maxUnavailable are not simulated",
                    d.metadata.namespace_, d.metadata.name));
  }
  const auto scale = [&](const std::string& set, int32_t to) {
    api_.Modify<api::ReplicaSet>(d.metadata.namespace_, set,
                                 [&](api::ReplicaSet& r) { r.spec.replicas = to; });
  };
  for (const std::string& set : others) scale(set, 0);
  if (current) {
    scale(*current, replicas);
    return;
  }
  Expansion expansion = Expand(api::Object(d), {}, 0);
  if (!expansion.replica_set) return;
  api::ReplicaSet& set = *expansion.replica_set;
  set.spec.replicas = replicas;
  api::OwnerReference& owner = set.metadata.owner_references.emplace_back();
  owner.api_version = "apps/v1";
  owner.kind = "Deployment";
  owner.name = d.metadata.name;
  owner.uid = d.metadata.uid;
  owner.controller = true;
  const std::string name = set.metadata.name;
  if (!Create(api::Object(std::move(set)))) scale(name, replicas);
}

void WorkloadController::SyncNumbered(const api::Object& object, int64_t wanted, Owned& owned) {
  const int64_t missing = wanted - static_cast<int64_t>(owned.alive.size());
  if (missing < 0) {
    Shrink(owned, wanted);
    return;
  }
  const std::string base = api::MetadataOf(object)->name;
  for (api::Pod& pod : Expand(object, {}, static_cast<int32_t>(missing)).pods) {
    for (;;) {
      pod.metadata.name = fmt::format("{}-{}", base, owned.next++);
      const std::string key = ModelApi::Key(pod.metadata.namespace_, pod.metadata.name);
      if (api_.Get("Pod", key) == nullptr) break;
    }
    if (!Create(api::Object(std::move(pod)))) return;
  }
}

void WorkloadController::SyncStatefulSet(const api::StatefulSet& set, Owned& owned) {
  Expansion expansion = Expand(api::Object(set), {});
  for (api::PersistentVolumeClaim& claim : expansion.claims) {
    if (api_.Find<api::PersistentVolumeClaim>(claim.metadata.namespace_, claim.metadata.name) ==
        nullptr) {
      Create(api::Object(std::move(claim)));
    }
  }
  std::set<std::string> wanted;
  for (api::Pod& pod : expansion.pods) {
    const std::string key = ModelApi::Key(pod.metadata.namespace_, pod.metadata.name);
    wanted.insert(key);
    if (api_.Get("Pod", key) == nullptr) Create(api::Object(std::move(pod)));
  }
  const std::set<std::string> alive = owned.alive;
  for (const std::string& key : alive) {
    if (!wanted.contains(key)) DeletePod(key);
  }
}

void WorkloadController::SyncDaemonSet(const api::DaemonSet& set, Owned& owned) {
  const std::string ns = set.metadata.namespace_;
  const std::string base = set.metadata.name;
  std::vector<api::Pod> missing;
  const api::Object object(set);
  api_.ForEach<api::Node>([&](const api::Node& node) {
    const std::string name = fmt::format("{}-{}", base, node.metadata.name);
    if (owned.alive.contains(ModelApi::Key(ns, name))) return;
    for (api::Pod& pod : Expand(object, {node}).pods) {
      pod.metadata.name = name;
      missing.push_back(std::move(pod));
    }
  });
  for (api::Pod& pod : missing) {
    const bool leaving = api_.Find<api::Pod>(ns, pod.metadata.name) != nullptr;
    if (!leaving) Create(api::Object(std::move(pod)));
  }
}

std::vector<std::string> WorkloadController::InferMissing() {
  const auto exists = [this](const std::string& workload) {
    const size_t slash = workload.find('/');
    return api_.Get(workload.substr(0, slash), workload.substr(slash + 1)) != nullptr;
  };
  api_.ForEach<api::Pod>([&](const api::Pod& pod) {
    const api::OwnerReference* owner = ControllerOf(pod.metadata);
    if (owner == nullptr || !ReplacesPods(owner->kind)) return;
    const std::string key = WorkloadKey(owner->kind, pod.metadata.namespace_, owner->name);
    // A Deployment of the input creates the ReplicaSet itself.
    std::string workload = WorkloadName(pod);
    workload[workload.find(' ')] = '/';
    if (exists(key) || exists(workload)) return;
    Inferred& inferred = inferred_[key];
    inferred.pods.push_back(Afresh(pod));
    inferred.same_names = owner->kind == "StatefulSet";
  });
  std::vector<std::string> names;
  for (const auto& [key, inferred] : inferred_) {
    std::string name = key;
    name[name.find('/')] = ' ';
    names.push_back(std::move(name));
  }
  return names;
}

void WorkloadController::SyncInferred(const std::string& name, const Inferred& inferred,
                                      Owned& owned) {
  if (inferred.same_names) {
    for (const api::Pod& pod : inferred.pods) {
      const std::string key = ModelApi::Key(pod.metadata.namespace_, pod.metadata.name);
      if (api_.Get("Pod", key) == nullptr) Create(api::Object(pod));
    }
    return;
  }
  const auto done = static_cast<size_t>(owned.succeeded);
  const size_t wanted = inferred.pods.size() - std::min(inferred.pods.size(), done);
  for (size_t i = owned.alive.size(); i < wanted; ++i) {
    api::Pod pod = inferred.pods.front();
    for (;;) {
      pod.metadata.name = fmt::format("{}-{}", name, owned.next++);
      const std::string key = ModelApi::Key(pod.metadata.namespace_, pod.metadata.name);
      if (api_.Get("Pod", key) == nullptr) break;
    }
    if (!Create(api::Object(std::move(pod)))) return;
  }
}

// Pods without a node go first, then the youngest.
void WorkloadController::Shrink(Owned& owned, int64_t wanted) {
  std::vector<std::pair<std::pair<bool, int64_t>, std::string>> order;
  for (const std::string& key : owned.alive) {
    const ObjectPtr object = api_.Get("Pod", key);
    if (object == nullptr) continue;
    const auto& pod = std::get<api::Pod>(*object);
    order.push_back({{!pod.spec.node_name.empty(), -NumberOf(pod.metadata.uid)}, key});
  }
  std::sort(order.begin(), order.end());
  const size_t surplus = order.size() - std::min(order.size(), static_cast<size_t>(wanted));
  for (size_t i = 0; i < surplus; ++i) DeletePod(order[i].second);
}

void WorkloadController::RemoveAll(const std::string& workload, Owned& owned) {
  const std::set<std::string> alive = owned.alive;
  for (const std::string& key : alive) DeletePod(key);
  if (!workload.starts_with("Deployment/")) return;
  std::vector<std::pair<std::string, std::string>> sets;
  api_.ForEach<api::ReplicaSet>([&](const api::ReplicaSet& set) {
    const api::OwnerReference* owner = ControllerOf(set.metadata);
    if (owner == nullptr || owner->kind != "Deployment") return;
    if (WorkloadKey("Deployment", set.metadata.namespace_, owner->name) == workload) {
      sets.emplace_back(set.metadata.namespace_, set.metadata.name);
    }
  });
  for (const auto& [ns, name] : sets) api_.Delete("ReplicaSet", ns, name);
}

bool WorkloadController::Create(api::Object object) {
  const auto answer = clerk_.Create(std::move(object));
  if (!answer) {
    warn_(answer.error().Message());
    return true;
  }
  return answer->Ok();
}

void WorkloadController::DeletePod(const std::string& key) {
  const size_t slash = key.find('/');
  api_.DeletePod({key.substr(0, slash), key.substr(slash + 1), {}});
}

}  // namespace berth::sim
