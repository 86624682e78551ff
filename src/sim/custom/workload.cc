// Workload (scheduling.k8s.io): templates of pod groups.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/admission/defaults.h"
#include "api/codec/json.h"
#include "sim/custom/custom_workloads.h"

namespace berth::sim {
namespace {

using api::Describe;
using api::TypeInfo;

struct GroupTemplate {
  std::string name;
  api::PodGroupSchedulingPolicy scheduling_policy;
  api::Box<api::PodGroupSchedulingConstraints> scheduling_constraints;
  std::vector<api::PodGroupResourceClaim> resource_claims;
  api::Box<api::DisruptionMode> disruption_mode;
  std::string priority_class_name;
  std::optional<int32_t> priority;
  std::optional<std::string> preemption_policy;

  static const TypeInfo& Type() {
    static const TypeInfo type =
        Describe<GroupTemplate>("PodGroupTemplate")
            .Field(1, "name", &GroupTemplate::name)
            .Field(2, "schedulingPolicy", &GroupTemplate::scheduling_policy)
            .Field(3, "schedulingConstraints", &GroupTemplate::scheduling_constraints)
            .Field(4, "resourceClaims", &GroupTemplate::resource_claims)
            .Field(5, "disruptionMode", &GroupTemplate::disruption_mode)
            .Field(6, "priorityClassName", &GroupTemplate::priority_class_name)
            .Field(7, "priority", &GroupTemplate::priority)
            .Field(8, "preemptionPolicy", &GroupTemplate::preemption_policy)
            .Build();
    return type;
  }
};

struct WorkloadSpec {
  std::vector<GroupTemplate> templates;

  static const TypeInfo& Type() {
    static const TypeInfo type = Describe<WorkloadSpec>("WorkloadSpec")
                                     .Field(1, "podGroupTemplates", &WorkloadSpec::templates)
                                     .Build();
    return type;
  }
};

struct Workload {
  WorkloadSpec spec;

  static const TypeInfo& Type() {
    static const TypeInfo type =
        Describe<Workload>("Workload").Field(1, "spec", &Workload::spec).Build();
    return type;
  }
};

}  // namespace

Result<std::vector<api::Object>> ExpandSchedulingWorkload(const api::UnknownObject& object) {
  auto workload = api::FromJson<Workload>(object.json);
  if (!workload) return Fail(workload.error());
  std::vector<api::Object> groups;
  if (api::FromApiServer(object.metadata)) return groups;  // its controller has made them
  for (GroupTemplate& from : workload->spec.templates) {
    api::PodGroup group;
    group.metadata.namespace_ = object.metadata.namespace_;
    group.metadata.name = fmt::format("{}-{}", object.metadata.name, from.name);
    api::PodGroupSpec& spec = group.spec;
    spec.workload_ref.emplace() = {object.metadata.name, from.name};
    spec.scheduling_policy = std::move(from.scheduling_policy);
    spec.scheduling_constraints = std::move(from.scheduling_constraints);
    spec.resource_claims = std::move(from.resource_claims);
    spec.disruption_mode = std::move(from.disruption_mode);
    spec.priority_class_name = std::move(from.priority_class_name);
    spec.priority = from.priority;
    spec.preemption_policy = std::move(from.preemption_policy);
    groups.emplace_back(std::move(group));
  }
  return groups;
}

}  // namespace berth::sim
