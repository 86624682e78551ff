#include "sim/world.h"

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "cluster/objects/load.h"
#include "cluster/objects/object_store.h"
#include "config/disabled_fields.h"
#include "sim/custom/custom_workloads.h"
#include "sim/workloads.h"

namespace berth::sim {
namespace {

constexpr std::string_view kWorkload = "Workload";  // has only pod groups in it

// A number with a few zeros too many is told from a large one before it eats the memory.
constexpr int64_t kMaxReplicas = 1'000'000;

std::string OwnerKey(std::string_view kind, std::string_view namespace_, std::string_view name) {
  return fmt::format("{}/{}/{}", kind, namespace_, name);
}

struct Named {
  std::string kind;
  const api::ObjectMeta* metadata;
};

Named NameOf(const api::Object& object) {
  return std::visit(
      []<class T>(const T& value) -> Named {
        if constexpr (std::is_same_v<T, api::UnknownObject>) {
          return {value.kind, &value.metadata};
        } else if constexpr (requires { value.metadata.labels; }) {
          return {std::string(T::kKind), &value.metadata};
        } else {
          return {std::string(T::kKind), nullptr};
        }
      },
      object);
}

std::string Describe(const api::Object& object) {
  const Named named = NameOf(object);
  if (named.metadata == nullptr) return named.kind;
  const std::string& ns = named.metadata->namespace_;
  return fmt::format("{} {}{}{}", named.kind, ns, ns.empty() ? "" : "/", named.metadata->name);
}

// A job that was begun and has no pod left to run: those it had are deleted.
bool IsOver(const api::Object& object) {
  const auto* job = std::get_if<api::Job>(&object);
  if (job == nullptr) return false;
  return job->status.completion_time.has_value() ||
         (job->status.start_time.has_value() && job->status.active == 0);
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) ==
                  std::tolower(static_cast<unsigned char>(y));
         });
}

}  // namespace

Result<void> World::Add(api::Object object) {
  const Named named = NameOf(object);
  if (named.metadata == nullptr) {
    CountIgnored(named.kind);
    return {};
  }
  if (auto* unknown = std::get_if<api::UnknownObject>(&object)) {
    if (behaviour_.pod_groups || unknown->kind != kWorkload) {
      if (IsCustomWorkload(*unknown)) {
        if (unknown->metadata.namespace_.empty()) unknown->metadata.namespace_ = "default";
        custom_.push_back(std::move(*unknown));
        return {};
      }
    }
    if (!cluster::Load(cluster_, std::move(object))) CountIgnored(named.kind);
    return {};
  }
  admission_.Learn(object);
  CountOwner(*named.metadata);
  const bool seen_by_server = api::FromApiServer(*named.metadata);
  if (const auto* node = std::get_if<api::Node>(&object)) {
    api::Node kept;
    kept.metadata.name = node->metadata.name;
    kept.metadata.labels = node->metadata.labels;
    kept.spec.taints = node->spec.taints;
    daemon_nodes_.push_back(std::move(kept));
  }
  if (!seen_by_server || IsWorkload(object)) {
    (IsWorkload(object) ? workloads_ : by_hand_).push_back(std::move(object));
    return {};
  }
  if (auto* pod = std::get_if<api::Pod>(&object)) return AddPod(std::move(*pod));
  if (std::holds_alternative<api::PriorityClass>(object) ||
      std::holds_alternative<api::LimitRange>(object)) {
    return {};
  }
  if (!cluster::Load(cluster_, std::move(object))) CountIgnored(named.kind);
  return {};
}

// What the controllers of custom resources make joins what is written by hand, unless the input
// has it.
Result<void> World::ExpandCustomWorkloads() {
  for (const api::UnknownObject& custom : custom_) {
    const std::string what =
        fmt::format("{} {}/{}", custom.kind, custom.metadata.namespace_, custom.metadata.name);
    if (owned_.contains(OwnerKey(custom.kind, custom.metadata.namespace_, custom.metadata.name))) {
      continue;
    }
    auto objects = ExpandCustom(custom);
    if (!objects) return Fail(objects.error().In(what));
    for (api::Object& object : *objects) {
      if (IsWorkload(object)) {
        workloads_.push_back(std::move(object));
      } else {
        by_hand_.push_back(std::move(object));
      }
    }
  }
  return {};
}

Result<void> World::Finish() {
  if (auto ok = ExpandCustomWorkloads(); !ok) return ok;
  for (api::Object& object : by_hand_) {
    const std::string what = Describe(object);
    if (auto ok = admission_.Apply(object); !ok) return Fail(ok.error().In(what));
    const bool admission_uses_it = std::holds_alternative<api::PriorityClass>(object) ||
                                   std::holds_alternative<api::LimitRange>(object);
    if (auto* pod = std::get_if<api::Pod>(&object)) {
      if (auto ok = AddPod(std::move(*pod)); !ok) return Fail(ok.error().In(what));
    } else if (!cluster::Load(cluster_, std::move(object)) && !admission_uses_it) {
      CountIgnored(what.substr(0, what.find(' ')));
    }
  }
  by_hand_.clear();
  for (api::Object& workload : workloads_) {
    if (auto ok = admission_.Apply(workload); !ok) return Fail(ok.error().In(Describe(workload)));
    api::Object copy = workload;
    cluster::Load(cluster_, std::move(copy));
  }
  for (const api::Object& workload : workloads_) {
    if (auto ok = ExpandWorkload(workload); !ok) return Fail(ok.error().In(Describe(workload)));
  }
  // Those without a creation time come into being now, after all that wait already.
  const auto order = [&](cluster::PodId id) {
    const cluster::Pod& pod = cluster_.GetPod(id);
    const bool is_new = pod.creation_timestamp.IsZero();
    return std::tuple(-int64_t{pod.shape->priority}, is_new,
                      is_new ? 0 : pod.creation_timestamp.UnixNano());
  };
  std::stable_sort(pending_.begin(), pending_.end(),
                   [&](cluster::PodId a, cluster::PodId b) { return order(a) < order(b); });
  return {};
}

Result<void> World::AddPod(api::Pod pod) {
  if (pod.status.phase == "Succeeded" || pod.status.phase == "Failed") return {};
  if (pod.metadata.uid.empty()) pod.metadata.uid = fmt::format("sim-{}", next_uid_++);
  const bool waits = pod.spec.node_name.empty() && !pod.metadata.deletion_timestamp;
  config::HideDisabledFields(behaviour_, pod);
  const cluster::PodId id = cluster_.AddPod(pod);
  if (waits) pending_.push_back(id);
  if (waits && !pod.status.nominated_node_name.empty()) {
    cluster_.MutableNominations().Set(id,
                                      cluster_.Strings().Intern(pod.status.nominated_node_name));
  }
  return {};
}

Result<void> World::ExpandWorkload(const api::Object& workload) {
  const int32_t missing = Missing(workload);
  if (missing == 0) return {};
  if (const int64_t asked = ReplicasAsked(workload); asked > kMaxReplicas) {
    return Fail(fmt::format("asks for {} pods; more than {} per workload are not simulated", asked,
                            kMaxReplicas));
  }
  Expansion expansion =
      Expand(workload, daemon_nodes_, missing > 0 ? std::optional<int32_t>(missing) : std::nullopt);
  if (expansion.replica_set) {
    cluster_.MutableObjects().replica_sets.Set(std::move(*expansion.replica_set));
  }
  for (api::PersistentVolumeClaim& claim : expansion.claims) {
    auto& claims = cluster_.MutableObjects().persistent_volume_claims;
    if (claims.Find(claim.metadata.namespace_, claim.metadata.name) != nullptr) continue;
    api::Object object(std::move(claim));
    if (auto ok = admission_.Apply(object); !ok) return ok;
    claims.Set(std::move(std::get<api::PersistentVolumeClaim>(object)));
  }
  for (api::Pod& pod : expansion.pods) {
    AdmitLeaderWorkerPod(pod);
    api::Object object(std::move(pod));
    if (auto ok = admission_.Apply(object); !ok) return ok;
    if (auto ok = AddPod(std::move(std::get<api::Pod>(object))); !ok) return ok;
  }
  return {};
}

// How many pods of `workload` the input does not hold already; -1: all, however many it asks for.
int32_t World::Missing(const api::Object& workload) const {
  const Named named = NameOf(workload);
  const auto it =
      owned_.find(OwnerKey(named.kind, named.metadata->namespace_, named.metadata->name));
  if (it == owned_.end()) return IsOver(workload) || HasPodsOfReplicaSet(workload) ? 0 : -1;
  // Its replica set or job is in the input and speaks for itself; a StatefulSet's missing ordinals
  // are not guessed.
  const auto* set = std::get_if<api::ReplicaSet>(&workload);
  if (set == nullptr) return 0;
  const int64_t missing = int64_t{set->spec.replicas.value_or(1)} - it->second;
  return static_cast<int32_t>(std::max<int64_t>(0, missing));
}

// Whether pods of a Deployment are in the input though its replica set is not: the name of the set
// is that of the Deployment and a hash.
bool World::HasPodsOfReplicaSet(const api::Object& workload) const {
  const auto* deployment = std::get_if<api::Deployment>(&workload);
  if (deployment == nullptr) return false;
  const api::ObjectMeta& metadata = deployment->metadata;
  const std::string prefix =
      OwnerKey(api::ReplicaSet::kKind, metadata.namespace_, metadata.name) + "-";
  return std::any_of(owned_.begin(), owned_.end(), [&](const auto& entry) {
    const std::string& owner = entry.first;
    return owner.starts_with(prefix) && owner.find('-', prefix.size()) == std::string::npos;
  });
}

void World::CountOwner(const api::ObjectMeta& metadata) {
  for (const api::OwnerReference& owner : metadata.owner_references) {
    if (owner.controller.value_or(false)) {
      ++owned_[OwnerKey(owner.kind, metadata.namespace_, owner.name)];
    }
  }
}

void World::CountIgnored(const std::string& kind) {
  for (auto& [known, count] : ignored_) {
    if (known == kind) {
      ++count;
      return;
    }
  }
  ignored_.emplace_back(kind, 1);
}

const api::Object* World::FindWorkload(std::string_view name, std::string* why) const {
  std::vector<std::string_view> parts;
  for (std::string_view rest = name;;) {
    const size_t slash = rest.find('/');
    parts.push_back(rest.substr(0, slash));
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  const api::Object* found = nullptr;
  for (const api::Object& workload : workloads_) {
    const Named named = NameOf(workload);
    if (named.metadata->name != parts.back()) continue;
    const bool all_match = std::all_of(parts.begin(), parts.end() - 1, [&](std::string_view part) {
      return part == named.metadata->namespace_ || EqualsIgnoringCase(part, named.kind);
    });
    if (!all_match) continue;
    if (found != nullptr) {
      *why = fmt::format("more than one workload is called {}: say KIND/{} or NAMESPACE/{}", name,
                         parts.back(), parts.back());
      return nullptr;
    }
    found = &workload;
  }
  if (found == nullptr) *why = fmt::format("no workload called {} in the input", name);
  return found;
}

Result<cluster::PodId> World::AddPodOf(const api::Object& workload, const std::string& name) {
  Expansion one = Expand(workload, daemon_nodes_, 1);
  if (one.pods.empty()) return Fail("creates no pods");
  if (!one.pods.front().spec.node_name.empty()) {
    return Fail("its pods name their node, so nothing is left to decide");
  }
  one.pods.front().metadata.name = name;
  api::Object object(std::move(one.pods.front()));
  if (auto ok = admission_.Apply(object); !ok) return Fail(ok.error());
  auto& pod = std::get<api::Pod>(object);
  pod.metadata.uid = fmt::format("sim-{}", next_uid_++);
  config::HideDisabledFields(behaviour_, pod);
  return cluster_.AddPod(pod);
}

}  // namespace berth::sim
