#include "apiserver/registry/validation.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/go/go_text.h"
#include "api/rules/label_selector.h"
#include "api/rules/qualified_name.h"
#include "api/rules/quantity.h"
#include "apiserver/registry/cron.h"
#include "apiserver/store/object.h"

namespace berth::apiserver {
namespace {

using Errors = std::vector<FieldError>;

bool IsLowerAlnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool IsLabel(std::string_view text) {
  if (text.empty() || !IsLowerAlnum(text.front()) || !IsLowerAlnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return IsLowerAlnum(c) || c == '-'; });
}

bool IsSubdomain(std::string_view text) {
  for (size_t pos = 0; pos <= text.size();) {
    size_t end = text.find('.', pos);
    if (end == std::string_view::npos) end = text.size();
    if (!IsLabel(text.substr(pos, end - pos))) return false;
    pos = end + 1;
  }
  return true;
}

// Kinds whose names go into host names or commands are held to stricter rules; RBAC to laxer ones.
std::string NameError(const Resource& resource, std::string_view name) {
  if (resource.group == "rbac.authorization.k8s.io") {
    if (name == "." || name == "..") return fmt::format("may not be '{}'", name);
    if (name.find('/') != std::string_view::npos) return "may not contain '/'";
    if (name.find('%') != std::string_view::npos) return "may not contain '%'";
    return "";
  }
  if (resource.kind == "Namespace" || resource.kind == "Service") return DnsLabelError(name);
  return SubdomainError(name);
}

void CheckMetadata(const Resource& resource, const Json& object, Errors& errors) {
  const Json& metadata = object["metadata"];
  const std::string_view name = metadata["name"].Str();
  if (name.empty()) {
    errors.push_back(RequiredField("metadata.name", "name or generateName is required"));
  } else if (std::string why = NameError(resource, name); !why.empty()) {
    errors.push_back(InvalidField("metadata.name", api::GoQuote(name), why));
  }
  for (const auto& [key, value] : metadata["labels"].Members()) {
    for (const std::string& why : api::QualifiedNameErrors(key)) {
      errors.push_back(InvalidField("metadata.labels", api::GoQuote(key), why));
    }
    for (const std::string& why : api::LabelValueErrors(value.Str())) {
      errors.push_back(InvalidField("metadata.labels", api::GoQuote(value.Str()), why));
    }
  }
  size_t total = 0;
  for (const auto& [key, value] : metadata["annotations"].Members()) {
    std::string lower = key;
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    for (const std::string& why : api::QualifiedNameErrors(lower)) {
      errors.push_back(InvalidField("metadata.annotations", api::GoQuote(key), why));
    }
    total += key.size() + value.Str().size();
  }
  constexpr size_t kMaxAnnotations = 256 * 1024;
  if (total > kMaxAnnotations) {
    errors.push_back({"FieldValueTooLong", "metadata.annotations",
                      fmt::format("Too long: may not be more than {} bytes", kMaxAnnotations)});
  }
}

void CheckQuantities(const Json& amounts, const std::string& path, Errors& errors) {
  for (const auto& [name, value] : amounts.Members()) {
    const auto quantity = api::Quantity::ParseJson(value.Dump());
    if (quantity && quantity->Sign() < 0) {
      errors.push_back(InvalidField(fmt::format("{}[{}]", path, name),
                                    api::GoQuote(quantity->String()),
                                    "must be greater than or equal to 0"));
    }
  }
}

void CheckContainer(const Json& container, const std::string& path, std::set<std::string>& names,
                    Errors& errors) {
  const std::string name(container["name"].Str());
  if (name.empty()) {
    errors.push_back(RequiredField(path + ".name"));
  } else if (std::string why = DnsLabelError(name); !why.empty()) {
    errors.push_back(InvalidField(path + ".name", api::GoQuote(name), why));
  } else if (!names.insert(name).second) {
    errors.push_back(DuplicateField(path + ".name", api::GoQuote(name)));
  }
  if (container["image"].Str().empty()) errors.push_back(RequiredField(path + ".image"));
  const Json& resources = container["resources"];
  CheckQuantities(resources["limits"], path + ".resources.limits", errors);
  CheckQuantities(resources["requests"], path + ".resources.requests", errors);
  for (const auto& [resource, value] : resources["requests"].Members()) {
    const Json* limit = resources["limits"].Find(resource);
    if (!limit) continue;
    const auto request_amount = api::Quantity::ParseJson(value.Dump());
    const auto limit_amount = api::Quantity::ParseJson(limit->Dump());
    if (request_amount && limit_amount && *request_amount > *limit_amount) {
      errors.push_back(InvalidField(path + ".resources.requests",
                                    api::GoQuote(request_amount->String()),
                                    fmt::format("must be less than or equal to {} limit of {}",
                                                resource, limit_amount->String())));
    }
  }
  const auto& ports = container["ports"].Items();
  for (size_t i = 0; i < ports.size(); ++i) {
    const int64_t port = ports[i]["containerPort"].Int();
    const std::string at = fmt::format("{}.ports[{}].containerPort", path, i);
    if (port == 0) {
      errors.push_back(RequiredField(at));
    } else if (port < 1 || port > 65535) {
      errors.push_back(
          InvalidField(at, std::to_string(port), "must be between 1 and 65535, inclusive"));
    }
  }
}

void CheckSelector(const Json& selector, const std::string& path, Errors& errors) {
  const auto typed = api::FromJson<api::LabelSelector>(selector.Dump());
  if (!typed) return;
  const auto& expressions = typed->match_expressions;
  for (size_t i = 0; i < expressions.size(); ++i) {
    const std::string at = fmt::format("{}.matchExpressions[{}]", path, i);
    const std::string& op = expressions[i].operator_;
    if (op != "In" && op != "NotIn" && op != "Exists" && op != "DoesNotExist") {
      errors.push_back(
          InvalidField(at + ".operator", api::GoQuote(op), "not a valid selector operator"));
    } else if ((op == "In" || op == "NotIn") && expressions[i].values.empty()) {
      errors.push_back(
          RequiredField(at + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
    }
    for (const std::string& why : api::QualifiedNameErrors(expressions[i].key)) {
      errors.push_back(InvalidField(at + ".key", api::GoQuote(expressions[i].key), why));
    }
  }
  for (const auto& [key, value] : typed->match_labels) {
    for (const std::string& why : api::QualifiedNameErrors(key)) {
      errors.push_back(InvalidField(path + ".matchLabels", api::GoQuote(key), why));
    }
    for (const std::string& why : api::LabelValueErrors(value)) {
      errors.push_back(InvalidField(path + ".matchLabels", api::GoQuote(value), why));
    }
  }
}

void CheckPodSpec(const Json& spec, const std::string& path, Errors& errors) {
  std::set<std::string> names;
  const auto& containers = spec["containers"].Items();
  if (containers.empty()) errors.push_back(RequiredField(path + ".containers"));
  for (std::string_view list : {"containers", "initContainers"}) {
    const auto& items = spec[list].Items();
    for (size_t i = 0; i < items.size(); ++i) {
      CheckContainer(items[i], fmt::format("{}.{}[{}]", path, list, i), names, errors);
    }
  }
  const std::string_view restart = spec["restartPolicy"].Str();
  if (restart != "Always" && restart != "OnFailure" && restart != "Never") {
    errors.push_back(UnsupportedField(path + ".restartPolicy", api::GoQuote(restart),
                                      {"Always", "OnFailure", "Never"}));
  }
  for (const auto& [key, value] : spec["nodeSelector"].Members()) {
    for (const std::string& why : api::QualifiedNameErrors(key)) {
      errors.push_back(InvalidField(path + ".nodeSelector", api::GoQuote(key), why));
    }
    for (const std::string& why : api::LabelValueErrors(value.Str())) {
      errors.push_back(InvalidField(path + ".nodeSelector", api::GoQuote(value.Str()), why));
    }
  }
  const auto& constraints = spec["topologySpreadConstraints"].Items();
  for (size_t i = 0; i < constraints.size(); ++i) {
    const std::string at = fmt::format("{}.topologySpreadConstraints[{}]", path, i);
    const int64_t skew = constraints[i]["maxSkew"].Int();
    if (skew <= 0) {
      errors.push_back(
          InvalidField(at + ".maxSkew", std::to_string(skew), "must be greater than zero"));
    }
    if (constraints[i]["topologyKey"].Str().empty()) {
      errors.push_back(RequiredField(at + ".topologyKey", "can not be empty"));
    }
    const std::string_view when = constraints[i]["whenUnsatisfiable"].Str();
    if (when != "DoNotSchedule" && when != "ScheduleAnyway") {
      errors.push_back(UnsupportedField(at + ".whenUnsatisfiable", api::GoQuote(when),
                                        {"DoNotSchedule", "ScheduleAnyway"}));
    }
    CheckSelector(constraints[i]["labelSelector"], at + ".labelSelector", errors);
  }
}

void CheckWorkload(const Json& object, std::string_view workload, Errors& errors) {
  const Json& spec = object["spec"];
  if (spec["replicas"].Int() < 0) {
    errors.push_back(InvalidField("spec.replicas", spec["replicas"].Dump(),
                                  "must be greater than or equal to 0"));
  }
  if (spec["selector"].IsNull()) {
    errors.push_back(RequiredField("spec.selector"));
  } else if (spec["selector"].Empty()) {
    errors.push_back(InvalidField("spec.selector", "{}",
                                  fmt::format("empty selector is invalid for {}", workload)));
  }
  CheckSelector(spec["selector"], "spec.selector", errors);
  const auto typed = api::FromJson<api::LabelSelector>(spec["selector"].Dump());
  if (typed && !spec["selector"].IsNull()) {
    const auto selector = api::Selector::From(*typed);
    const Json& labels = spec["template"]["metadata"]["labels"];
    if (selector && !selector->Matches(ToStringMap(labels))) {
      errors.push_back(InvalidField("spec.template.metadata.labels", labels.Dump(),
                                    "`selector` does not match template `labels`"));
    }
  }
  CheckPodSpec(spec["template"]["spec"], "spec.template.spec", errors);
  const std::string_view restart = spec["template"]["spec"]["restartPolicy"].Str();
  if (restart != "Always") {
    errors.push_back(
        UnsupportedField("spec.template.spec.restartPolicy", api::GoQuote(restart), {"Always"}));
  }
}

void CheckJob(const Json& object, Errors& errors) {
  const Json& spec = object["spec"]["template"]["spec"];
  CheckPodSpec(spec, "spec.template.spec", errors);
  const std::string_view restart = spec["restartPolicy"].Str();
  if (restart == "Always") {
    errors.push_back(RequiredField("spec.template.spec.restartPolicy",
                                   "valid values: \"OnFailure\", \"Never\""));
  }
}

void CheckCronJob(const Json& spec, Errors& errors) {
  const std::string_view schedule = spec["schedule"].Str();
  if (schedule.empty()) {
    errors.push_back(RequiredField("spec.schedule"));
  } else {
    std::string_view fields = schedule;
    if (fields.starts_with("TZ=") || fields.starts_with("CRON_TZ=")) {
      fields.remove_prefix(std::min(fields.find(' ') + 1, fields.size()));
    }
    if (const auto parsed = CronSchedule::Parse(fields); !parsed) {
      errors.push_back(
          InvalidField("spec.schedule", api::GoQuote(schedule), parsed.error().Message()));
    }
    if (schedule.find("TZ") != std::string_view::npos) {
      errors.push_back(
          InvalidField("spec.schedule", api::GoQuote(schedule),
                       "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
    }
  }
  const Json* given = spec.Find("timeZone");
  if (!given) return;
  const std::string zone(given->Str());
  const auto refuse = [&](std::string_view why) {
    errors.push_back(InvalidField("spec.timeZone", api::GoQuote(zone), why));
  };
  if (zone.empty()) return refuse("timeZone must be nil or non-empty string");
  std::string lower = zone;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (lower == "local") {
    return refuse(
        "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  }
  if (const auto known = TimeZone::Load(zone); !known) refuse(known.error().Message());
}

// The spec with everything a running pod may change set to what it was.
Json FrozenPodSpec(const Json& spec, const Json& old) {
  Json frozen = spec;
  for (std::string_view list : {"containers", "initContainers"}) {
    Json* items = frozen.Find(list);
    const auto& before = old[list].Items();
    if (!items || items->Items().size() != before.size()) continue;
    for (size_t i = 0; i < before.size(); ++i) {
      items->MutableItems()[i].Set("image", before[i]["image"]);
    }
  }
  for (std::string_view field : {"activeDeadlineSeconds", "tolerations", "schedulingGates",
                                 "terminationGracePeriodSeconds"}) {
    frozen.Set(field, old[field]);
  }
  // A gated pod may still be told where to go.
  if (!old["schedulingGates"].Empty()) {
    for (std::string_view field : {"nodeSelector", "affinity"}) frozen.Set(field, old[field]);
  }
  return frozen;
}

void CheckPodUpdate(const Json& object, const Json& old, Errors& errors) {
  Json before = old["spec"];
  for (std::string_view field : {"activeDeadlineSeconds", "tolerations", "schedulingGates",
                                 "terminationGracePeriodSeconds"}) {
    before.Set(field, before[field]);
  }
  if (!before["schedulingGates"].Empty()) {
    for (std::string_view field : {"nodeSelector", "affinity"}) before.Set(field, before[field]);
  }
  if (!(FrozenPodSpec(object["spec"], old["spec"]) == before)) {
    errors.push_back(ForbiddenField(
        "spec",
        "pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
        "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
        "set to 1 if it was previously negative)"));
  }
  std::set<std::string> gates;
  for (const Json& gate : old["spec"]["schedulingGates"].Items()) gates.insert(gate.Dump());
  for (const Json& gate : object["spec"]["schedulingGates"].Items()) {
    if (gates.contains(gate.Dump())) continue;
    errors.push_back(ForbiddenField(fmt::format("spec.schedulingGates[{}]", 0),
                                    "only deletion is allowed, but found new scheduling gate '" +
                                        std::string(gate["name"].Str()) + "'"));
    break;
  }
}

}  // namespace

std::string SubdomainError(std::string_view name) {
  if (name.size() > 253) return "must be no more than 253 bytes";
  if (IsSubdomain(name)) return "";
  return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
         "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
         "regex used for validation is "
         "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
}

std::string DnsLabelError(std::string_view name) {
  if (name.size() > 63) return "must be no more than 63 bytes";
  if (IsLabel(name)) return "";
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
         "and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
         "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

Errors Validate(const Resource& resource, const Json& object) {
  Errors errors;
  CheckMetadata(resource, object, errors);
  const std::string& kind = resource.kind;
  if (resource.group.empty() && kind == "Pod") {
    CheckPodSpec(object["spec"], "spec", errors);
  } else if (resource.group.empty() && kind == "Node") {
    CheckQuantities(object["status"]["capacity"], "status.capacity", errors);
    CheckQuantities(object["status"]["allocatable"], "status.allocatable", errors);
  } else if (resource.group == "apps" && kind != "ControllerRevision") {
    CheckWorkload(object, resource.singular, errors);
  } else if (resource.group == "batch" && kind == "Job") {
    CheckJob(object, errors);
  } else if (resource.group == "batch" && kind == "CronJob") {
    CheckCronJob(object["spec"], errors);
  } else if (kind == "PersistentVolumeClaim" && resource.group.empty()) {
    if (object["spec"]["accessModes"].Empty()) {
      errors.push_back(RequiredField("spec.accessModes", "at least 1 access mode is required"));
    }
    if (object["spec"]["resources"]["requests"]["storage"].IsNull()) {
      errors.push_back(RequiredField("spec.resources[storage]"));
    }
  }
  return errors;
}

Errors ValidateUpdate(const Resource& resource, const Json& object, const Json& old) {
  Errors errors;
  if (resource.group.empty() && resource.kind == "Pod") CheckPodUpdate(object, old, errors);
  if (resource.group == "apps" && resource.kind != "ControllerRevision" &&
      !(object["spec"]["selector"] == old["spec"]["selector"])) {
    errors.push_back(
        InvalidField("spec.selector", object["spec"]["selector"].Dump(), "field is immutable"));
  }
  if (resource.group == "batch" && resource.kind == "Job" &&
      !(object["spec"]["selector"] == old["spec"]["selector"])) {
    errors.push_back(
        InvalidField("spec.selector", object["spec"]["selector"].Dump(), "field is immutable"));
  }
  if (resource.kind == "PriorityClass" && !(object["value"] == old["value"])) {
    errors.push_back(ForbiddenField("value", "may not be changed in an update."));
  }
  return errors;
}

}  // namespace berth::apiserver
