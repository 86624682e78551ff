#include "apiserver/http/node_metrics.h"

#include <utility>

#include "api/rules/quantity.h"

namespace berth::apiserver {

Json ListNodeMetrics(const Store& store, uint32_t nodes, const std::string& now) {
  Json items = Json::MakeArray();
  for (const auto& [key, node] : store.All(nodes)) {
    if (node->text.find("berth.dev/load-") == std::string::npos) continue;  // most have none
    const Json value = node->Value();
    const Json& annotations = value["metadata"]["annotations"];
    Json usage = Json::MakeObject();
    for (const char* resource : {"cpu", "memory"}) {
      const Json* load = annotations.Find(std::string("berth.dev/load-") + resource);
      if (load == nullptr) continue;
      const auto amount = api::Quantity::Parse(load->Str());
      if (amount && amount->Sign() >= 0) usage.Set(resource, amount->String());
    }
    if (usage.Members().empty()) continue;
    items.Append(Json::MakeObject({{"metadata", Json::MakeObject({{"name", node->name}})},
                                   {"timestamp", now},
                                   {"window", "30s"},
                                   {"usage", std::move(usage)}}));
  }
  return Json::MakeObject({{"kind", "NodeMetricsList"},
                           {"apiVersion", "metrics.k8s.io/v1beta1"},
                           {"metadata", Json::MakeObject()},
                           {"items", std::move(items)}});
}

}  // namespace berth::apiserver
