// Columns of networking, autoscaling, quotas and storage.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "apiserver/http/columns_cells.h"

namespace berth::apiserver {
namespace {

using api::Time;

constexpr size_t kMostShown = 3;

// "a,b,c + 2 more..."
std::string Some(const std::vector<std::string>& all, size_t most = kMostShown,
                 std::string_view separator = ",") {
  const size_t shown = std::min(all.size(), most);
  std::string text = fmt::format("{}", fmt::join(all.begin(), all.begin() + shown, separator));
  if (all.size() > shown) text += fmt::format(" + {} more...", all.size() - shown);
  return text;
}

std::string Endpoints(const Json& endpoints) {
  std::vector<std::string> all;
  for (const Json& subset : endpoints["subsets"].Items()) {
    for (const Json& address : subset["addresses"].Items()) {
      if (subset["ports"].Empty()) all.emplace_back(address["ip"].Str());
    }
    for (const Json& port : subset["ports"].Items()) {
      for (const Json& address : subset["addresses"].Items()) {
        all.push_back(fmt::format("{}:{}", address["ip"].Str(), port["port"].Int()));
      }
    }
  }
  return OrNone(Some(all));
}

std::string SlicePorts(const Json& slice) {
  std::vector<std::string> all;
  for (const Json& port : slice["ports"].Items()) {
    const std::string_view name = port["name"].Str();
    all.push_back(port.Has("port") ? std::to_string(port["port"].Int())
                                   : std::string(name.empty() ? "*" : name));
  }
  return all.empty() ? "<unset>" : Some(all);
}

std::string SliceAddresses(const Json& slice) {
  std::vector<std::string> all;
  for (const Json& endpoint : slice["endpoints"].Items()) {
    for (const Json& address : endpoint["addresses"].Items()) all.emplace_back(address.Str());
  }
  return all.empty() ? "<unset>" : Some(all);
}

// The part of a metric that says what is measured: "resource", "pods", ....
std::string_view MetricPart(std::string_view type) {
  static constexpr std::pair<std::string_view, std::string_view> kParts[] = {
      {"External", "external"},
      {"Pods", "pods"},
      {"Object", "object"},
      {"Resource", "resource"},
      {"ContainerResource", "containerResource"}};
  for (const auto& [name, part] : kParts) {
    if (name == type) return part;
  }
  return "";
}

std::string Metric(const Json& metric, const Json& current) {
  const std::string_view part = MetricPart(metric["type"].Str());
  if (part.empty()) return "<unknown type>";
  const Json& target = metric[part]["target"];
  const Json& now = current[part]["current"];
  const bool resource = metric[part].Has("name");
  const std::string prefix = resource ? fmt::format("{}: ", metric[part]["name"].Str()) : "";
  if (const Json* average = target.Find("averageValue")) {
    const std::string_view value = now["averageValue"].Str();
    const bool says = part == "external" || part == "object";
    return fmt::format("{}{}/{}{}", prefix, value.empty() ? "<unknown>" : value, average->Str(),
                       says ? " (avg)" : "");
  }
  if (!resource) {
    const std::string_view value = now["value"].Str();
    return fmt::format("{}/{}", value.empty() ? "<unknown>" : value, target["value"].Str());
  }
  const auto percent = [](const Json& of, std::string_view otherwise) {
    return of.Has("averageUtilization") ? fmt::format("{}%", of["averageUtilization"].Int())
                                        : std::string(otherwise);
  };
  return fmt::format("{}{}/{}", prefix, percent(now, "<unknown>"), percent(target, "<auto>"));
}

// Of both versions: the old one knows one metric.
std::string Targets(const Json& autoscaler) {
  const Json& spec = autoscaler["spec"];
  const Json& status = autoscaler["status"];
  std::vector<std::string> all;
  if (const Json* percent = spec.Find("targetCPUUtilizationPercentage")) {
    const Json* now = status.Find("currentCPUUtilizationPercentage");
    all.push_back(fmt::format("cpu: {}/{}%", now ? fmt::format("{}%", now->Int()) : "<unknown>",
                              percent->Int()));
  }
  const auto& metrics = spec["metrics"].Items();
  const auto& current = status["currentMetrics"].Items();
  for (size_t i = 0; i < metrics.size(); ++i) {
    all.push_back(Metric(metrics[i], i < current.size() ? current[i] : Json()));
  }
  return OrNone(Some(all, 2, ", "));
}

std::string QuotaAmounts(const Json& quota, bool limits) {
  std::string out;
  for (const auto& [name, hard] : quota["status"]["hard"].Members()) {
    if (std::string_view(name).starts_with("limits.") != limits) continue;
    if (!out.empty()) out += ", ";
    const std::string_view used = quota["status"]["used"][name].Str();
    out += fmt::format("{}: {}/{}", name, used.empty() ? "0" : used, hard.Str());
  }
  return out;
}

std::string Hosts(const Json& ingress) {
  std::vector<std::string> all;
  for (const Json& rule : ingress["spec"]["rules"].Items()) {
    if (!rule["host"].Empty()) all.emplace_back(rule["host"].Str());
  }
  return all.empty() ? "*" : Some(all);
}

std::string IngressAddress(const Json& ingress) {
  std::vector<std::string> all;
  for (const Json& one : ingress["status"]["loadBalancer"]["ingress"].Items()) {
    all.emplace_back(one["ip"].Empty() ? one["hostname"].Str() : one["ip"].Str());
  }
  return fmt::format("{}", fmt::join(all, ","));
}

std::string Selector(const Json& selector) {
  std::string out;
  for (const auto& [key, value] : selector["matchLabels"].Members()) {
    if (!out.empty()) out += ",";
    out += fmt::format("{}={}", key, value.Str());
  }
  return OrNone(out);
}

std::string Parameters(const Json& ingress_class) {
  const Json& parameters = ingress_class["spec"]["parameters"];
  if (parameters.IsNull()) return "<none>";
  const std::string_view group = parameters["apiGroup"].Str();
  return fmt::format("{}{}{}/{}", parameters["kind"].Str(), group.empty() ? "" : ".", group,
                     parameters["name"].Str());
}

// clang-format off
#define CELL(value) [](const Json& object, const Time&) -> Json { return (value); }
// clang-format on

const std::vector<Column> kEndpoints = {
    kName, {"Endpoints", "string", false, CELL(Endpoints(object))}, kAge};
const std::vector<Column> kSlices = {
    kName,
    {"AddressType", "string", false, CELL(object["addressType"].Str())},
    {"Ports", "string", false, CELL(SlicePorts(object))},
    {"Endpoints", "string", false, CELL(SliceAddresses(object))},
    kAge};
const std::vector<Column> kAutoscalers = {
    kName,
    {"Reference", "string", false,
     CELL(fmt::format("{}/{}", object["spec"]["scaleTargetRef"]["kind"].Str(),
                      object["spec"]["scaleTargetRef"]["name"].Str()))},
    {"Targets", "string", false, CELL(Targets(object))},
    {"MinPods", "string", false,
     CELL(object["spec"].Has("minReplicas") ? std::to_string(object["spec"]["minReplicas"].Int())
                                            : std::string("<unset>"))},
    {"MaxPods", "integer", false, CELL(object["spec"]["maxReplicas"].Int())},
    {"Replicas", "integer", false, CELL(object["status"]["currentReplicas"].Int())},
    kAge};
const std::vector<Column> kQuotas = {
    kName,
    {"Request", "string", false, CELL(QuotaAmounts(object, false))},
    {"Limit", "string", false, CELL(QuotaAmounts(object, true))},
    kAge};
const std::vector<Column> kIngresses = {
    kName,
    {"Class", "string", false, CELL(OrNone(object["spec"]["ingressClassName"].Str()))},
    {"Hosts", "string", false, CELL(Hosts(object))},
    {"Address", "string", false, CELL(IngressAddress(object))},
    {"Ports", "string", false, CELL(object["spec"]["tls"].Empty() ? "80" : "80, 443")},
    kAge};
const std::vector<Column> kPolicies = {
    kName, {"Pod-Selector", "string", false, CELL(Selector(object["spec"]["podSelector"]))}, kAge};
const std::vector<Column> kIngressClasses = {
    kName,
    {"Controller", "string", false, CELL(object["spec"]["controller"].Str())},
    {"Parameters", "string", false, CELL(Parameters(object))},
    kAge};
const std::vector<Column> kLimitRanges = {
    kName, {"Created At", "date", false, CELL(object["metadata"]["creationTimestamp"].Str())}};
const std::vector<Column> kAttachments = {
    kName,
    {"Attacher", "string", false, CELL(object["spec"]["attacher"].Str())},
    {"PV", "string", false, CELL(object["spec"]["source"]["persistentVolumeName"].Str())},
    {"Node", "string", false, CELL(object["spec"]["nodeName"].Str())},
    {"Attached", "boolean", false, CELL(object["status"]["attached"].Bool())},
    kAge};
const std::vector<Column> kCsiNodes = {
    kName,
    {"Drivers", "integer", false,
     CELL(static_cast<int64_t>(object["spec"]["drivers"].Items().size()))},
    kAge};
const std::vector<Column> kRuntimeClasses = {
    kName, {"Handler", "string", false, CELL(object["handler"].Str())}, kAge};

#undef CELL

}  // namespace

const std::vector<Column>* ColumnsOfServices(std::string_view group_resource) {
  static const std::map<std::string_view, const std::vector<Column>*> kByName = {
      {"endpoints", &kEndpoints},
      {"endpointslices.discovery.k8s.io", &kSlices},
      {"horizontalpodautoscalers.autoscaling", &kAutoscalers},
      {"resourcequotas", &kQuotas},
      {"limitranges", &kLimitRanges},
      {"ingresses.networking.k8s.io", &kIngresses},
      {"networkpolicies.networking.k8s.io", &kPolicies},
      {"ingressclasses.networking.k8s.io", &kIngressClasses},
      {"volumeattachments.storage.k8s.io", &kAttachments},
      {"csinodes.storage.k8s.io", &kCsiNodes},
      {"runtimeclasses.node.k8s.io", &kRuntimeClasses},
  };
  const auto it = kByName.find(group_resource);
  return it == kByName.end() ? nullptr : it->second;
}

}  // namespace berth::apiserver
