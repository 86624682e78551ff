// LeaderWorkerSet (leaderworkerset.x-k8s.io/v1): replicas that are a leader and its workers.
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "base/sha1.h"
#include "sim/custom/custom_workloads.h"

namespace berth::sim {
namespace {

using api::Describe;
using api::TypeInfo;

constexpr std::string_view kName = "leaderworkerset.sigs.k8s.io/name";
constexpr std::string_view kGroupIndex = "leaderworkerset.sigs.k8s.io/group-index";
constexpr std::string_view kWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";
constexpr std::string_view kSize = "leaderworkerset.sigs.k8s.io/size";
constexpr std::string_view kGroupKey = "leaderworkerset.sigs.k8s.io/group-key";
constexpr std::string_view kLeaderName = "leaderworkerset.sigs.k8s.io/leader-name";
constexpr std::string_view kExclusive = "leaderworkerset.sigs.k8s.io/exclusive-topology";
constexpr std::string_view kSubgroupIndex = "leaderworkerset.sigs.k8s.io/subgroup-index";
constexpr std::string_view kSubgroupSize = "leaderworkerset.sigs.k8s.io/subgroup-size";
constexpr std::string_view kSubgroupKey = "leaderworkerset.sigs.k8s.io/subgroup-key";
constexpr std::string_view kSubgroupPolicy = "leaderworkerset.sigs.k8s.io/subgroup-policy-type";
constexpr std::string_view kSubgroupExclusive =
    "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";
constexpr std::string_view kLeaderExcluded = "LeaderExcluded";

struct SubgroupPolicy {
  std::string type;
  std::optional<int32_t> size;

  static const TypeInfo& Type() {
    static const TypeInfo type = Describe<SubgroupPolicy>("SubGroupPolicy")
                                     .Field(1, "subGroupPolicyType", &SubgroupPolicy::type)
                                     .Field(2, "subGroupSize", &SubgroupPolicy::size)
                                     .Build();
    return type;
  }
};

struct LeaderWorkerTemplate {
  std::optional<api::PodTemplateSpec> leader;
  api::PodTemplateSpec worker;
  std::optional<int32_t> size;
  std::optional<SubgroupPolicy> subgroups;
  std::vector<api::PersistentVolumeClaim> claims;

  static const TypeInfo& Type() {
    static const TypeInfo type =
        Describe<LeaderWorkerTemplate>("LeaderWorkerTemplate")
            .Field(1, "leaderTemplate", &LeaderWorkerTemplate::leader)
            .Field(2, "workerTemplate", &LeaderWorkerTemplate::worker)
            .Field(3, "size", &LeaderWorkerTemplate::size)
            .Field(4, "subGroupPolicy", &LeaderWorkerTemplate::subgroups)
            .Field(5, "volumeClaimTemplates", &LeaderWorkerTemplate::claims)
            .Build();
    return type;
  }
};

struct LeaderWorkerSetSpec {
  std::optional<int32_t> replicas;
  LeaderWorkerTemplate template_;

  static const TypeInfo& Type() {
    static const TypeInfo type =
        Describe<LeaderWorkerSetSpec>("LeaderWorkerSetSpec")
            .Field(1, "replicas", &LeaderWorkerSetSpec::replicas)
            .Field(2, "leaderWorkerTemplate", &LeaderWorkerSetSpec::template_)
            .Build();
    return type;
  }
};

struct LeaderWorkerSet {
  api::ObjectMeta metadata;
  LeaderWorkerSetSpec spec;

  static const TypeInfo& Type() {
    static const TypeInfo type = Describe<LeaderWorkerSet>("LeaderWorkerSet")
                                     .Field(1, "metadata", &LeaderWorkerSet::metadata)
                                     .Field(2, "spec", &LeaderWorkerSet::spec)
                                     .Build();
    return type;
  }
};

const std::string* Find(const api::StringMap& map, std::string_view key) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

int64_t NumberOf(const std::string* text, int64_t fallback) {
  int64_t number = fallback;
  if (text != nullptr) (void)std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

std::string GroupKey(const std::string& namespace_, const std::string& pod) {
  return Sha1Hex(namespace_ + "/" + pod);
}

// Annotations of leaders and workers alike.
void Annotate(const LeaderWorkerSet& set, int32_t size, api::StringMap* annotations) {
  (*annotations)[std::string(kSize)] = std::to_string(size);
  const auto copy = [&](std::string_view key) {
    const std::string* value = Find(set.metadata.annotations, key);
    if (value != nullptr && !value->empty()) (*annotations)[std::string(key)] = *value;
  };
  copy(kExclusive);
  const auto& subgroups = set.spec.template_.subgroups;
  if (!subgroups || !subgroups->size) return;
  (*annotations)[std::string(kSubgroupPolicy)] =
      subgroups->type.empty() ? "LeaderWorker" : subgroups->type;
  (*annotations)[std::string(kSubgroupSize)] = std::to_string(*subgroups->size);
  copy(kSubgroupExclusive);
}

api::StatefulSet MakeSet(const LeaderWorkerSet& set, std::string name, int32_t replicas,
                         api::PodTemplateSpec from) {
  api::StatefulSet made;
  made.metadata.name = std::move(name);
  made.metadata.namespace_ = set.metadata.namespace_;
  made.metadata.labels[std::string(kName)] = set.metadata.name;
  made.spec.replicas = replicas;
  from.metadata.labels[std::string(kName)] = set.metadata.name;
  made.spec.template_ = std::move(from);
  made.spec.selector.emplace().match_labels[std::string(kName)] = set.metadata.name;
  made.spec.volume_claim_templates = set.spec.template_.claims;
  return made;
}

// All pods of the group on nodes of one domain, without those of other groups.
void AddExclusiveAffinity(const std::string& topology, std::string_view key,
                          const std::string& value, api::Pod* pod) {
  if (!pod->spec.affinity) pod->spec.affinity.emplace();
  auto& affinity = *pod->spec.affinity;
  if (!affinity.pod_affinity) affinity.pod_affinity.emplace();
  if (!affinity.pod_anti_affinity) affinity.pod_anti_affinity.emplace();
  const auto requirement = [&](std::string_view how, std::vector<std::string> values) {
    api::LabelSelectorRequirement r;
    r.key = key;
    r.operator_ = how;
    r.values = std::move(values);
    return r;
  };
  api::PodAffinityTerm together;
  together.label_selector.emplace().match_expressions.push_back(requirement("In", {value}));
  together.topology_key = topology;
  api::PodAffinityTerm apart;
  apart.label_selector.emplace().match_expressions = {requirement("Exists", {}),
                                                      requirement("NotIn", {value})};
  apart.topology_key = topology;
  affinity.pod_affinity->required_during_scheduling_ignored_during_execution.push_back(together);
  affinity.pod_anti_affinity->required_during_scheduling_ignored_during_execution.push_back(apart);
}

// The leader is an extra pod of the first subgroup where the size says so.
int64_t SubgroupOf(int64_t pods, int64_t subgroup, int64_t worker) {
  const bool extra = (pods - 1) % subgroup == 0 && pods % subgroup != 0;
  return (extra ? worker - 1 : worker) / subgroup;
}

void JoinSubgroup(const std::string& leader, int64_t index, api::Pod* pod) {
  const std::string key = GroupKey(leader, std::to_string(index));
  pod->metadata.labels[std::string(kSubgroupIndex)] = std::to_string(index);
  pod->metadata.labels[std::string(kSubgroupKey)] = key;
  if (const auto* topology = Find(pod->metadata.annotations, kSubgroupExclusive)) {
    AddExclusiveAffinity(*topology, kSubgroupKey, key, pod);
  }
}

}  // namespace

Result<std::vector<api::Object>> ExpandLeaderWorkerSet(const api::UnknownObject& object) {
  auto set = api::FromJson<LeaderWorkerSet>(object.json);
  if (!set) return Fail(set.error());
  set->metadata.namespace_ = object.metadata.namespace_;
  const int32_t replicas = set->spec.replicas.value_or(1);
  const int32_t size = set->spec.template_.size.value_or(1);
  if (replicas < 0) return Fail(fmt::format("spec.replicas: {} is negative", replicas));
  if (size < 1)
    return Fail(fmt::format("spec.leaderWorkerTemplate.size: {} is not positive", size));
  if (int64_t{replicas} > kMaxParts) {
    return Fail(fmt::format("asks for {} groups of pods; more than {} are not simulated", replicas,
                            kMaxParts));
  }
  const auto& subgroups = set->spec.template_.subgroups;
  if (subgroups && subgroups->size && *subgroups->size < 1) {
    return Fail(
        fmt::format("spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: {} is not positive",
                    *subgroups->size));
  }
  std::vector<api::Object> objects;
  api::PodTemplateSpec leader = set->spec.template_.leader.value_or(set->spec.template_.worker);
  leader.metadata.labels[std::string(kWorkerIndex)] = "0";
  Annotate(*set, size, &leader.metadata.annotations);
  api::StatefulSet leaders = MakeSet(*set, set->metadata.name, replicas, std::move(leader));
  api::OwnerReference owner;
  owner.api_version = "leaderworkerset.x-k8s.io/v1";
  owner.kind = "LeaderWorkerSet";
  owner.name = set->metadata.name;
  owner.uid = set->metadata.uid;
  owner.controller = true;
  leaders.metadata.owner_references.push_back(owner);
  objects.emplace_back(std::move(leaders));
  for (int32_t group = 0; group < replicas && size > 1; ++group) {
    const std::string leader_name = fmt::format("{}-{}", set->metadata.name, group);
    api::PodTemplateSpec worker = set->spec.template_.worker;
    worker.metadata.labels[std::string(kGroupIndex)] = std::to_string(group);
    worker.metadata.labels[std::string(kGroupKey)] =
        GroupKey(set->metadata.namespace_, leader_name);
    worker.metadata.annotations[std::string(kLeaderName)] = leader_name;
    Annotate(*set, size, &worker.metadata.annotations);
    api::StatefulSet workers = MakeSet(*set, leader_name, size - 1, std::move(worker));
    workers.spec.ordinals.emplace().start = 1;
    objects.emplace_back(std::move(workers));
  }
  return objects;
}

void AdmitLeaderWorkerPod(api::Pod& pod) {
  api::StringMap& labels = pod.metadata.labels;
  const api::StringMap& annotations = pod.metadata.annotations;
  if (Find(labels, kName) == nullptr) return;
  const size_t dash = pod.metadata.name.rfind('-');
  if (dash == std::string::npos) return;
  const std::string ordinal = pod.metadata.name.substr(dash + 1);
  const std::string* subgroup_size = Find(annotations, kSubgroupSize);
  const int64_t subgroup = NumberOf(subgroup_size, 1);
  const std::string* worker_index = Find(labels, kWorkerIndex);
  if (worker_index == nullptr || *worker_index != "0") {
    labels[std::string(kWorkerIndex)] = ordinal;
    const std::string* leader = Find(annotations, kLeaderName);
    if (subgroup_size == nullptr || leader == nullptr || subgroup < 1) return;
    const int64_t index =
        SubgroupOf(NumberOf(Find(annotations, kSize), 1), subgroup, NumberOf(&ordinal, 0));
    return JoinSubgroup(*leader, index, &pod);
  }
  labels.try_emplace(std::string(kGroupIndex), ordinal);
  labels.try_emplace(std::string(kGroupKey), GroupKey(pod.metadata.namespace_, pod.metadata.name));
  if (const std::string* topology = Find(annotations, kExclusive)) {
    AddExclusiveAffinity(*topology, kGroupKey, labels.find(kGroupKey)->second, &pod);
  }
  const std::string* policy = Find(annotations, kSubgroupPolicy);
  if (subgroup_size == nullptr || (policy != nullptr && *policy == kLeaderExcluded)) return;
  JoinSubgroup(pod.metadata.name, 0, &pod);
}

}  // namespace berth::sim
