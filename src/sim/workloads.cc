#include "sim/workloads.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/rules/node_affinity.h"
#include "api/rules/toleration.h"

namespace berth::sim {
namespace {

struct Owner {
  std::string_view api_version;
  std::string_view kind;
  const api::ObjectMeta& metadata;
};

api::Pod PodFrom(const api::PodTemplateSpec& from, const Owner& owner, std::string name) {
  api::Pod pod;
  pod.metadata.name = std::move(name);
  pod.metadata.namespace_ = owner.metadata.namespace_;
  pod.metadata.labels = from.metadata.labels;
  pod.metadata.annotations = from.metadata.annotations;
  api::OwnerReference reference;
  reference.api_version = owner.api_version;
  reference.kind = owner.kind;
  reference.name = owner.metadata.name;
  reference.uid = owner.metadata.uid;
  reference.controller = true;
  pod.metadata.owner_references.push_back(std::move(reference));
  pod.spec = from.spec;
  return pod;
}

void AddNumbered(const api::PodTemplateSpec& from, const Owner& owner, int32_t count,
                 std::vector<api::Pod>* pods) {
  for (int32_t i = 1; i <= count; ++i) {
    pods->push_back(PodFrom(from, owner, fmt::format("{}-{}", owner.metadata.name, i)));
  }
}

// Stands for the hash of a pod template that the Deployment controller puts into names and labels.
std::string TemplateHash(const api::PodTemplateSpec& from) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : api::ToJson(from)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return fmt::format("{:010x}", hash >> 24);
}

void ExpandOne(const api::Deployment& d, int32_t replicas, Expansion* out) {
  const std::string hash = TemplateHash(d.spec.template_);
  api::ReplicaSet set;
  set.metadata.name = fmt::format("{}-{}", d.metadata.name, hash);
  set.metadata.namespace_ = d.metadata.namespace_;
  set.metadata.labels = d.spec.template_.metadata.labels;
  set.spec.replicas = replicas;
  set.spec.selector = d.spec.selector;
  set.spec.template_ = d.spec.template_;
  set.spec.template_.metadata.labels["pod-template-hash"] = hash;
  if (set.spec.selector) set.spec.selector->match_labels["pod-template-hash"] = hash;
  AddNumbered(set.spec.template_, {"apps/v1", "ReplicaSet", set.metadata}, replicas, &out->pods);
  out->replica_set = std::move(set);
}

void ExpandOne(const api::StatefulSet& s, int32_t replicas, Expansion* out) {
  const int64_t start = s.spec.ordinals ? s.spec.ordinals->start : 0;
  for (int64_t i = start; i < start + replicas; ++i) {
    const std::string name = fmt::format("{}-{}", s.metadata.name, i);
    api::Pod pod = PodFrom(s.spec.template_, {"apps/v1", "StatefulSet", s.metadata}, name);
    pod.metadata.labels["statefulset.kubernetes.io/pod-name"] = name;
    pod.metadata.labels["apps.kubernetes.io/pod-index"] = std::to_string(i);
    for (const api::PersistentVolumeClaim& claim_template : s.spec.volume_claim_templates) {
      api::PersistentVolumeClaim claim = claim_template;
      const std::string volume_name = claim_template.metadata.name;
      claim.metadata.name = fmt::format("{}-{}", volume_name, name);
      claim.metadata.namespace_ = s.metadata.namespace_;
      std::erase_if(pod.spec.volumes, [&](const auto& v) { return v.name == volume_name; });
      api::Volume volume;
      volume.name = volume_name;
      volume.persistent_volume_claim.emplace().claim_name = claim.metadata.name;
      pod.spec.volumes.push_back(std::move(volume));
      out->claims.push_back(std::move(claim));
    }
    out->pods.push_back(std::move(pod));
  }
}

// Tolerations the DaemonSet controller adds to every pod.
void AddDaemonTolerations(api::PodSpec* spec) {
  const auto add = [&](std::string_view key, std::string_view effect) {
    api::Toleration t;
    t.key = key;
    t.operator_ = "Exists";
    t.effect = effect;
    spec->tolerations.push_back(std::move(t));
  };
  add("node.kubernetes.io/not-ready", "NoExecute");
  add("node.kubernetes.io/unreachable", "NoExecute");
  add("node.kubernetes.io/disk-pressure", "NoSchedule");
  add("node.kubernetes.io/memory-pressure", "NoSchedule");
  add("node.kubernetes.io/pid-pressure", "NoSchedule");
  add("node.kubernetes.io/unschedulable", "NoSchedule");
  if (spec->host_network) add("node.kubernetes.io/network-unavailable", "NoSchedule");
}

bool DaemonRunsOn(const api::PodSpec& spec, const api::Node& node) {
  const api::NodeSelector* required = nullptr;
  if (spec.affinity && spec.affinity->node_affinity &&
      spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution) {
    required = &*spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  }
  const api::RequiredNodeAffinity affinity(spec.node_selector, required);
  if (!affinity.Match(node.metadata.name, node.metadata.labels).value_or(false)) return false;
  return api::FirstUntolerated(node.spec.taints, spec.tolerations, api::ForbidsScheduling) ==
         nullptr;
}

// The controller pins each pod to its node with a field selector beside the terms the template has.
void PinTo(const std::string& node, api::PodSpec* spec) {
  if (!spec->affinity) spec->affinity.emplace();
  auto& affinity = spec->affinity->node_affinity;
  if (!affinity) affinity.emplace();
  auto& required = affinity->required_during_scheduling_ignored_during_execution;
  if (!required) required.emplace();
  if (required->node_selector_terms.empty()) required->node_selector_terms.emplace_back();
  for (api::NodeSelectorTerm& term : required->node_selector_terms) {
    api::NodeSelectorRequirement name;
    name.key = "metadata.name";
    name.operator_ = "In";
    name.values = {node};
    term.match_fields = {std::move(name)};
  }
}

void ExpandDaemonSet(const api::DaemonSet& d, const std::vector<api::Node>& nodes, Expansion* out) {
  api::PodTemplateSpec from = d.spec.template_;
  AddDaemonTolerations(&from.spec);
  for (const api::Node& node : nodes) {
    if (!DaemonRunsOn(from.spec, node)) continue;
    const size_t number = out->pods.size() + 1;
    api::Pod pod = PodFrom(from, {"apps/v1", "DaemonSet", d.metadata},
                           fmt::format("{}-{}", d.metadata.name, number));
    PinTo(node.metadata.name, &pod.spec);
    out->pods.push_back(std::move(pod));
  }
}

void ExpandJob(const api::JobSpec& job, const api::ObjectMeta& metadata,
               std::optional<int32_t> replicas, Expansion* out) {
  if (job.suspend.value_or(false)) return;
  int32_t count = job.parallelism.value_or(1);
  if (job.completions) count = std::min(count, *job.completions);
  count = replicas.value_or(count);
  const Owner owner{"batch/v1", "Job", metadata};
  if (job.completion_mode != "Indexed") {
    AddNumbered(job.template_, owner, count, &out->pods);
    return;
  }
  constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";
  for (int32_t i = 0; i < count; ++i) {
    api::Pod& pod = out->pods.emplace_back(
        PodFrom(job.template_, owner, fmt::format("{}-{}", metadata.name, i)));
    pod.metadata.labels[std::string(kIndex)] = std::to_string(i);
    pod.metadata.annotations[std::string(kIndex)] = std::to_string(i);
  }
}

}  // namespace

bool IsWorkload(const api::Object& object) {
  return std::visit(
      []<class T>(const T&) {
        return std::is_same_v<T, api::Deployment> || std::is_same_v<T, api::ReplicaSet> ||
               std::is_same_v<T, api::ReplicationController> ||
               std::is_same_v<T, api::StatefulSet> || std::is_same_v<T, api::DaemonSet> ||
               std::is_same_v<T, api::Job> || std::is_same_v<T, api::CronJob>;
      },
      object);
}

int64_t ReplicasAsked(const api::Object& object) {
  return std::visit(
      []<class T>(const T& workload) -> int64_t {
        if constexpr (requires { workload.spec.job_template; }) {
          return workload.spec.job_template.spec.parallelism.value_or(1);
        } else if constexpr (requires { workload.spec.parallelism; }) {
          return workload.spec.parallelism.value_or(1);
        } else if constexpr (requires { workload.spec.replicas; }) {
          return workload.spec.replicas.value_or(1);
        } else {
          return 0;
        }
      },
      object);
}

Expansion Expand(const api::Object& object, const std::vector<api::Node>& nodes,
                 std::optional<int32_t> replicas) {
  Expansion out;
  const auto count = [&](const std::optional<int32_t>& own) {
    return std::max(0, replicas.value_or(own.value_or(1)));
  };
  if (const auto* d = std::get_if<api::Deployment>(&object)) {
    ExpandOne(*d, count(d->spec.replicas), &out);
  } else if (const auto* r = std::get_if<api::ReplicaSet>(&object)) {
    AddNumbered(r->spec.template_, {"apps/v1", "ReplicaSet", r->metadata}, count(r->spec.replicas),
                &out.pods);
  } else if (const auto* rc = std::get_if<api::ReplicationController>(&object)) {
    if (rc->spec.template_) {
      AddNumbered(*rc->spec.template_, {"v1", "ReplicationController", rc->metadata},
                  count(rc->spec.replicas), &out.pods);
    }
  } else if (const auto* s = std::get_if<api::StatefulSet>(&object)) {
    ExpandOne(*s, count(s->spec.replicas), &out);
  } else if (const auto* ds = std::get_if<api::DaemonSet>(&object)) {
    ExpandDaemonSet(*ds, nodes, &out);
  } else if (const auto* job = std::get_if<api::Job>(&object)) {
    ExpandJob(job->spec, job->metadata, replicas, &out);
  } else if (const auto* cron = std::get_if<api::CronJob>(&object)) {
    if (!cron->spec.suspend.value_or(false)) {
      ExpandJob(cron->spec.job_template.spec, cron->metadata, replicas, &out);
    }
  }
  return out;
}

}  // namespace berth::sim
