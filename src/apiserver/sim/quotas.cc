// Resource quotas: their status says what the namespace uses. The registry enforces them.
#include <string>
#include <vector>

#include "apiserver/sim/world.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;

void SyncQuotas(World& world, const std::string& namespace_) {
  const Resource& quotas = world.catalog().Core("resourcequotas");
  std::vector<ObjectPtr> objects;
  for (auto [at, end] = world.store().Range(quotas.storage_id, namespace_); at != end; ++at) {
    objects.push_back(at->second);
  }
  for (const ObjectPtr& object : objects) {
    const Json quota = object->Value();
    Json status = Json::MakeObject({{"hard", quota["spec"]["hard"]}});
    status.Set("used", world.registry().QuotaUse(quota));
    if (status != quota["status"]) world.SetStatus(quotas, *object, status);
  }
}

}  // namespace

void AddQuotas(World& world) {
  const uint32_t quotas = world.catalog().Core("resourcequotas").storage_id;
  world.ReactToAll([&world, quotas](const Change& change) {
    const std::string& namespace_ = change.object->namespace_;
    if (namespace_.empty()) return;
    const auto [at, end] = world.store().Range(quotas, namespace_);
    if (at == end) return;
    world.Soon("quotas/" + namespace_, milliseconds(50),
               [&world, namespace_] { SyncQuotas(world, namespace_); });
  });
}

}  // namespace berth::apiserver
