// JobSet (jobset.x-k8s.io/v1alpha2): Jobs of several templates that belong together.
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

struct DependsOn {
  std::string name;
  std::string status;

  static const TypeInfo& Type() {
    static const TypeInfo type = Describe<DependsOn>("DependsOn")
                                     .Field(1, "name", &DependsOn::name)
                                     .Field(2, "status", &DependsOn::status)
                                     .Build();
    return type;
  }
};

struct ReplicatedJob {
  std::string name;
  std::string group_name;
  std::optional<int32_t> replicas;
  api::JobTemplateSpec template_;
  std::vector<DependsOn> depends_on;

  static const TypeInfo& Type() {
    static const TypeInfo type = Describe<ReplicatedJob>("ReplicatedJob")
                                     .Field(1, "name", &ReplicatedJob::name)
                                     .Field(2, "groupName", &ReplicatedJob::group_name)
                                     .Field(3, "replicas", &ReplicatedJob::replicas)
                                     .Field(4, "template", &ReplicatedJob::template_)
                                     .Field(5, "dependsOn", &ReplicatedJob::depends_on)
                                     .Build();
    return type;
  }
};

struct Network {
  std::optional<bool> enable_dns_hostnames;
  std::string subdomain;

  static const TypeInfo& Type() {
    static const TypeInfo type = Describe<Network>("Network")
                                     .Field(1, "enableDNSHostnames", &Network::enable_dns_hostnames)
                                     .Field(2, "subdomain", &Network::subdomain)
                                     .Build();
    return type;
  }
};

struct JobSetSpec {
  std::vector<ReplicatedJob> replicated_jobs;
  Network network;
  std::optional<bool> suspend;

  static const TypeInfo& Type() {
    static const TypeInfo type = Describe<JobSetSpec>("JobSetSpec")
                                     .Field(1, "replicatedJobs", &JobSetSpec::replicated_jobs)
                                     .Field(2, "network", &JobSetSpec::network)
                                     .Field(3, "suspend", &JobSetSpec::suspend)
                                     .Build();
    return type;
  }
};

struct JobSet {
  api::ObjectMeta metadata;
  JobSetSpec spec;

  static const TypeInfo& Type() {
    static const TypeInfo type = Describe<JobSet>("JobSet")
                                     .Field(1, "metadata", &JobSet::metadata)
                                     .Field(2, "spec", &JobSet::spec)
                                     .Build();
    return type;
  }
};

// Where a Job is among all Jobs of the set, and among those of its group.
struct Position {
  int64_t index = 0;  // in its replicated job
  int64_t global = 0;
  int64_t in_group = 0;
};

struct Totals {
  int64_t all = 0;
  int64_t group = 0;
};

// The controller writes the same into labels and annotations.
void AddLabels(const JobSet& set, const ReplicatedJob& from, const std::string& job,
               const Position& at, const Totals& totals, api::ObjectMeta* metadata) {
  for (api::StringMap* map : {&metadata->labels, &metadata->annotations}) {
    const auto add = [&](std::string_view key, const std::string& value) {
      (*map)[fmt::format("jobset.sigs.k8s.io/{}", key)] = value;
    };
    add("jobset-name", set.metadata.name);
    add("jobset-uid", set.metadata.uid);
    add("replicatedjob-name", from.name);
    add("restart-attempt", "0");
    add("replicatedjob-replicas", std::to_string(from.replicas.value_or(1)));
    add("global-replicas", std::to_string(totals.all));
    add("job-index", std::to_string(at.index));
    add("job-key", Sha1Hex(set.metadata.namespace_ + "/" + job));
    add("job-global-index", std::to_string(at.global));
    add("group-name", from.group_name);
    add("group-replicas", std::to_string(totals.group));
    add("job-group-index", std::to_string(at.in_group));
  }
}

api::Job MakeJob(const JobSet& set, const ReplicatedJob& from, const Position& at,
                 const Totals& totals) {
  api::Job job;
  job.metadata.labels = from.template_.metadata.labels;
  job.metadata.annotations = from.template_.metadata.annotations;
  job.metadata.name = fmt::format("{}-{}-{}", set.metadata.name, from.name, at.index);
  job.metadata.namespace_ = set.metadata.namespace_;
  job.spec = from.template_.spec;
  api::PodTemplateSpec& pods = job.spec.template_;
  AddLabels(set, from, job.metadata.name, at, totals, &job.metadata);
  AddLabels(set, from, job.metadata.name, at, totals, &pods.metadata);
  if (!job.spec.completion_mode) job.spec.completion_mode = "Indexed";
  if (pods.spec.restart_policy.empty()) pods.spec.restart_policy = "OnFailure";
  job.spec.suspend = false;
  api::OwnerReference owner;
  owner.api_version = "jobset.x-k8s.io/v1alpha2";
  owner.kind = "JobSet";
  owner.name = set.metadata.name;
  owner.uid = set.metadata.uid;
  owner.controller = true;
  job.metadata.owner_references.push_back(std::move(owner));
  return job;
}

// Jobs that wait for the end of others are not there at the same time.
bool WaitsForTheEnd(const ReplicatedJob& job) {
  for (const DependsOn& dependency : job.depends_on) {
    if (dependency.status == "Complete") return true;
  }
  return false;
}

}  // namespace

Result<std::vector<api::Object>> ExpandJobSet(const api::UnknownObject& object) {
  auto set = api::FromJson<JobSet>(object.json);
  if (!set) return Fail(set.error());
  set->metadata.namespace_ = object.metadata.namespace_;
  std::vector<api::Object> jobs;
  if (set->spec.suspend.value_or(false)) return jobs;
  int64_t all = 0;
  for (ReplicatedJob& job : set->spec.replicated_jobs) {
    if (job.group_name.empty()) job.group_name = "default";
    if (job.replicas.value_or(1) < 0) {
      return Fail(fmt::format("spec.replicatedJobs: {}: replicas: {} is negative", job.name,
                              *job.replicas));
    }
    all += job.replicas.value_or(1);
  }
  if (all > kMaxParts) {
    return Fail(fmt::format("asks for {} Jobs; more than {} are not simulated", all, kMaxParts));
  }
  int64_t before = 0;
  for (const ReplicatedJob& job : set->spec.replicated_jobs) {
    Totals totals{all, 0};
    int64_t group_before = 0;
    for (const ReplicatedJob& other : set->spec.replicated_jobs) {
      if (other.group_name != job.group_name) continue;
      if (&other < &job) group_before += other.replicas.value_or(1);
      totals.group += other.replicas.value_or(1);
    }
    const int64_t count = job.replicas.value_or(1);
    for (int64_t i = 0; i < count && !WaitsForTheEnd(job); ++i) {
      jobs.emplace_back(MakeJob(*set, job, {i, before + i, group_before + i}, totals));
    }
    before += count;
  }
  return jobs;
}

}  // namespace berth::sim
