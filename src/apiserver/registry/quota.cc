#include "apiserver/registry/quota.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/core/pod.h"
#include "api/rules/pod_requests.h"
#include "api/rules/resource_name.h"
#include "apiserver/registry/defaults.h"

namespace berth::apiserver {
namespace {

using api::Quantity;
using api::ResourceList;

constexpr size_t kMostKnown = 200'000;

// Kinds that quotas also know by a short name.
constexpr std::string_view kShortNames[] = {"configmaps",     "persistentvolumeclaims",
                                            "pods",           "replicationcontrollers",
                                            "resourcequotas", "secrets",
                                            "services"};

// Amounts of cpu, memory and so on for which every container must say something, if a quota limits
// them.
constexpr std::string_view kNeedValues[] = {
    "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"};

void AddTo(ResourceList& sum, std::string_view name, const Quantity& amount) {
  sum[std::string(name)].Add(amount);
}

std::string Print(const ResourceList& amounts, const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    const auto it = amounts.find(name);
    if (!out.empty()) out += ",";
    out += fmt::format("{}={}", name, it == amounts.end() ? "0" : it->second.String());
  }
  return out;
}

ResourceList Amounts(const Json& list) {
  ResourceList amounts;
  for (const auto& [name, value] : list.Members()) {
    if (auto amount = Quantity::ParseJson(value.Dump())) amounts[name] = std::move(*amount);
  }
  return amounts;
}

void AddPodResources(const api::Pod& pod, ResourceList& amounts) {
  for (const auto& [name, amount] : api::PodRequests(pod)) {
    const bool basic = name == "cpu" || name == "memory" || name == "ephemeral-storage";
    if (basic || name.starts_with("hugepages-")) AddTo(amounts, name, amount);
    AddTo(amounts, "requests." + name, amount);
  }
  for (const auto& [name, amount] : api::PodLimits(pod)) AddTo(amounts, "limits." + name, amount);
}

void AddClaim(const Json& claim, ResourceList& amounts) {
  const auto storage =
      Quantity::ParseJson(claim["spec"]["resources"]["requests"]["storage"].Dump());
  if (storage) AddTo(amounts, "requests.storage", *storage);
  const std::string class_(claim["spec"]["storageClassName"].Str());
  if (class_.empty()) return;
  const std::string prefix = class_ + ".storageclass.storage.k8s.io/";
  if (storage) AddTo(amounts, prefix + "requests.storage", *storage);
  AddTo(amounts, prefix + "persistentvolumeclaims", Quantity::FromInt(1));
}

void AddService(const Json& service, ResourceList& amounts) {
  const std::string_view type = service["spec"]["type"].Str();
  const int64_t ports = static_cast<int64_t>(service["spec"]["ports"].Items().size());
  if (type == "LoadBalancer") AddTo(amounts, "services.loadbalancers", Quantity::FromInt(1));
  if (type == "NodePort" || type == "LoadBalancer") {
    AddTo(amounts, "services.nodeports", Quantity::FromInt(ports));
  }
}

// Whether objects of the resource can count for one of the limits.
bool Counts(const Resource& resource, const ResourceList& hard) {
  if (resource.kind == "Pod" && resource.group.empty()) return true;
  if (hard.find("count/" + resource.GroupResource()) != hard.end()) return true;
  if (!resource.group.empty()) return false;
  const bool claims = resource.kind == "PersistentVolumeClaim";
  return std::any_of(hard.begin(), hard.end(), [&](const auto& limit) {
    const std::string& name = limit.first;
    return name.starts_with(resource.plural) ||
           (claims && (name == "requests.storage" || name.find(".storageclass.") != name.npos));
  });
}

bool HasForeignTerms(const Json& terms) {
  for (const Json& item : terms.Items()) {
    const Json& term = item.Has("podAffinityTerm") ? item["podAffinityTerm"] : item;
    if (!term["namespaces"].Empty() || !term["namespaceSelector"].IsNull()) return true;
  }
  return false;
}

// "limits.cpu for: a,b; memory for: a": containers that say nothing about what the quota limits.
std::string MissingValues(const Json& pod, const ResourceList& hard) {
  if (!pod["spec"]["resources"]["requests"].Empty() ||
      !pod["spec"]["resources"]["limits"].Empty()) {
    return "";
  }
  std::string out;
  for (const std::string_view needed : kNeedValues) {
    if (hard.find(needed) == hard.end()) continue;
    const bool limit = needed.starts_with("limits.");
    const size_t dot = needed.find('.');
    const std::string_view name = dot == std::string_view::npos ? needed : needed.substr(dot + 1);
    std::set<std::string> missing;
    for (std::string_view list : {"containers", "initContainers"}) {
      for (const Json& container : pod["spec"][list].Items()) {
        if (!container["resources"][limit ? "limits" : "requests"].Has(name)) {
          missing.insert(std::string(container["name"].Str()));
        }
      }
    }
    if (missing.empty()) continue;
    if (!out.empty()) out += "; ";
    out += fmt::format("{} for: {}", needed, fmt::join(missing, ","));
  }
  return out;
}

bool InScope(std::string_view scope, std::string_view op, const Json& values,
             const std::string& priority_class, bool terminating, bool best_effort, bool foreign) {
  if (scope == "Terminating") return terminating;
  if (scope == "NotTerminating") return !terminating;
  if (scope == "BestEffort") return best_effort;
  if (scope == "NotBestEffort") return !best_effort;
  if (scope == "CrossNamespacePodAffinity") return foreign;
  if (scope != "PriorityClass") return false;
  if (op == "Exists" || op.empty()) return !priority_class.empty();
  if (op == "DoesNotExist") return priority_class.empty();
  const bool in = std::any_of(values.Items().begin(), values.Items().end(),
                              [&](const Json& value) { return value.Str() == priority_class; });
  return op == "NotIn" ? !in : in;
}

}  // namespace

Quotas::Quotas(const Catalog& catalog, const Store& store)
    : catalog_(catalog), store_(store), quotas_(catalog.Core("resourcequotas")) {}

bool Quotas::Limits(std::string_view namespace_) const {
  const auto [at, end] = store_.Range(quotas_.storage_id, namespace_);
  return !namespace_.empty() && at != end;
}

Quotas::Usage Quotas::UsageOfPod(const Json& pod) {
  Usage usage{.pod = true};
  const std::string_view phase = pod["status"]["phase"].Str();
  if (phase == "Succeeded" || phase == "Failed") return usage;
  const Json& spec = pod["spec"];
  AddTo(usage.amounts, "pods", Quantity::FromInt(1));
  AddTo(usage.amounts, "count/pods", Quantity::FromInt(1));
  usage.terminating = !spec["activeDeadlineSeconds"].IsNull();
  usage.best_effort = QosClass(spec) == "BestEffort";
  usage.priority_class = spec["priorityClassName"].Str();
  for (std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    for (std::string_view list : {"requiredDuringSchedulingIgnoredDuringExecution",
                                  "preferredDuringSchedulingIgnoredDuringExecution"}) {
      usage.cross_namespace_affinity |= HasForeignTerms(spec["affinity"][kind][list]);
    }
  }
  if (const auto typed = api::FromJson<api::Pod>(pod.Dump())) {
    AddPodResources(*typed, usage.amounts);
  }
  return usage;
}

Quotas::Usage Quotas::UsageOf(const Resource& resource, const Json& object) {
  if (resource.kind == "Pod" && resource.group.empty()) return UsageOfPod(object);
  Usage usage;
  const Quantity one = Quantity::FromInt(1);
  AddTo(usage.amounts, "count/" + resource.GroupResource(), one);
  if (!resource.group.empty()) return usage;
  if (std::find(std::begin(kShortNames), std::end(kShortNames), resource.plural) !=
      std::end(kShortNames)) {
    AddTo(usage.amounts, resource.plural, one);
  }
  if (resource.kind == "PersistentVolumeClaim") AddClaim(object, usage.amounts);
  if (resource.kind == "Service") AddService(object, usage.amounts);
  return usage;
}

bool Quotas::Matches(const Json& quota, const Usage& usage) {
  const auto in = [&](std::string_view scope, std::string_view op, const Json& values) {
    return usage.pod && InScope(scope, op, values, usage.priority_class, usage.terminating,
                                usage.best_effort, usage.cross_namespace_affinity);
  };
  for (const Json& scope : quota["spec"]["scopes"].Items()) {
    if (!in(scope.Str(), "Exists", Json())) return false;
  }
  for (const Json& one : quota["spec"]["scopeSelector"]["matchExpressions"].Items()) {
    if (!in(one["scopeName"].Str(), one["operator"].Str(), one["values"])) return false;
  }
  return true;
}

ResourceList Quotas::Sum(const Json& quota) {
  const ResourceList hard = Amounts(quota["spec"]["hard"]);
  ResourceList sum;
  for (const auto& [name, amount] : hard) {
    sum[name] = Quantity::FromInt(0, amount.format());
  }
  if (known_.size() > kMostKnown) known_.clear();
  const std::string_view namespace_ = quota["metadata"]["namespace"].Str();
  for (uint32_t id = 0; id < catalog_.Size(); ++id) {
    const Resource& resource = catalog_.At(id);
    if (!resource.namespaced || resource.storage_id != id || resource.create_only) continue;
    if (!Counts(resource, hard)) continue;
    for (auto [at, end] = store_.Range(id, namespace_); at != end; ++at) {
      Usage& usage = known_[at->second->uid];
      if (usage.version != at->second->version) {
        usage = UsageOf(resource, at->second->Value());
        usage.version = at->second->version;
      }
      if (!Matches(quota, usage)) continue;
      for (const auto& [name, amount] : usage.amounts) {
        if (const auto it = sum.find(name); it != sum.end()) it->second.Add(amount);
      }
    }
  }
  return sum;
}

Answer<void> Quotas::Admit(const Resource& resource, const Json& object) {
  const std::string namespace_(object["metadata"]["namespace"].Str());
  if (!resource.namespaced || !Limits(namespace_)) return {};
  const Usage usage = UsageOf(resource, object);
  const std::string_view name = object["metadata"]["name"].Str();
  for (auto [at, end] = store_.Range(quotas_.storage_id, namespace_); at != end; ++at) {
    const Json quota = at->second->Value();
    if (!Matches(quota, usage)) continue;
    const ResourceList hard = Amounts(quota["spec"]["hard"]);
    if (usage.pod) {
      if (const std::string missing = MissingValues(object, hard); !missing.empty()) {
        return Refuse(
            Forbidden(resource, name,
                      fmt::format("failed quota: {}: must specify {}", at->second->name, missing)));
      }
    }
    const bool counts = std::any_of(hard.begin(), hard.end(), [&](const auto& limit) {
      return usage.amounts.find(limit.first) != usage.amounts.end();
    });
    if (!counts) continue;
    const ResourceList used = Sum(quota);
    std::vector<std::string> exceeded;
    for (const auto& [limited, limit] : hard) {
      const auto wanted = usage.amounts.find(limited);
      if (wanted == usage.amounts.end() || wanted->second.IsZero()) continue;
      Quantity after = used.find(limited)->second;
      after.Add(wanted->second);
      if (after > limit) exceeded.push_back(limited);
    }
    if (exceeded.empty()) continue;
    return Refuse(Forbidden(
        resource, name,
        fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}", at->second->name,
                    Print(usage.amounts, exceeded), Print(used, exceeded), Print(hard, exceeded))));
  }
  return {};
}

Json Quotas::Used(const Json& quota) {
  Json used = Json::MakeObject();
  for (const auto& [name, amount] : Sum(quota)) used.Set(name, amount.String());
  return used;
}

}  // namespace berth::apiserver
