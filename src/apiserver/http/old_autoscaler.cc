#include "apiserver/http/old_autoscaler.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace berth::apiserver {
namespace {

constexpr std::string_view kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr std::string_view kBehavior = "autoscaling.alpha.kubernetes.io/behavior";

bool IsCpuUtilization(const Json& metric) {
  return metric["type"].Str() == "Resource" && metric["resource"]["name"].Str() == "cpu" &&
         metric["resource"]["target"].Has("averageUtilization");
}

Json CpuUtilization(const Json& percent) {
  return Json::MakeObject(
      {{"type", "Resource"},
       {"resource",
        Json::MakeObject({{"name", "cpu"},
                          {"target", Json::MakeObject({{"type", "Utilization"},
                                                       {"averageUtilization", percent}})}})}});
}

Json TakeAnnotation(Json& object, std::string_view name) {
  Json* annotations = object.At("metadata").Find("annotations");
  const Json* text = annotations ? annotations->Find(name) : nullptr;
  if (!text) return {};
  Json value = Json::Parse(text->Str()).value_or(Json());
  annotations->Erase(name);
  if (annotations->Empty()) object.At("metadata").Erase("annotations");
  return value;
}

}  // namespace

bool IsOldAutoscaler(const Resource& asked) {
  return asked.group == "autoscaling" && asked.version == "v1" && !asked.custom;
}

void ToOldAutoscaler(Json& object) {
  Json& spec = object.At("spec");
  Json others = Json::MakeArray();
  for (const Json& metric : spec["metrics"].Items()) {
    if (IsCpuUtilization(metric) && !spec.Has("targetCPUUtilizationPercentage")) {
      spec.Set("targetCPUUtilizationPercentage",
               metric["resource"]["target"]["averageUtilization"]);
    } else {
      others.Append(metric);
    }
  }
  spec.Erase("metrics");
  if (!others.Empty()) object.At("metadata").At("annotations").Set(kMetrics, others.Dump());
  if (const Json* behavior = object["spec"].Find("behavior")) {
    object.At("metadata").At("annotations").Set(kBehavior, behavior->Dump());
    object.At("spec").Erase("behavior");
  }
  Json* status = object.Find("status");
  if (!status) return;
  for (const Json& metric : (*status)["currentMetrics"].Items()) {
    const Json& current = metric["resource"]["current"];
    if (metric["resource"]["name"].Str() == "cpu" && current.Has("averageUtilization")) {
      status->Set("currentCPUUtilizationPercentage", Json(current["averageUtilization"]));
      break;
    }
  }
  status->Erase("currentMetrics");
  status->Erase("conditions");
}

void FromOldAutoscaler(Json& object) {
  Json metrics = Json::MakeArray();
  const Json target = object["spec"]["targetCPUUtilizationPercentage"];
  if (!target.IsNull()) metrics.Append(CpuUtilization(target));
  const Json others = TakeAnnotation(object, kMetrics);
  for (const Json& metric : others.Items()) metrics.Append(metric);
  Json behavior = TakeAnnotation(object, kBehavior);
  Json& spec = object.At("spec");
  spec.Erase("targetCPUUtilizationPercentage");
  if (!metrics.Empty()) spec.Set("metrics", std::move(metrics));
  if (behavior.IsObject()) spec.Set("behavior", std::move(behavior));
}

}  // namespace berth::apiserver
