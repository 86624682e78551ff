#include "plugins/pod_topology_spread/service_index.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace berth::plugins::pod_topology_spread {
namespace {

void SetPlace(std::string_view namespace_, std::string_view key, std::string_view value,
              std::string* place) {
  place->assign(namespace_);
  place->push_back('\0');
  place->append(key);
  place->push_back('\0');
  place->append(value);
}

bool Selects(const api::Service& service, const cluster::PodShape& shape) {
  if (service.metadata.namespace_ != shape.namespace_) return false;
  const api::StringMap& labels = shape.source.metadata.labels;
  const auto& selector = service.spec.selector;
  return std::all_of(selector.begin(), selector.end(), [&](const auto& pair) {
    const auto it = labels.find(pair.first);
    return it != labels.end() && it->second == pair.second;
  });
}

}  // namespace

void ServiceIndex::TakeOut(const std::string& name) {
  const auto filed = filed_.find(name);
  if (filed == filed_.end()) return;
  const auto place = under_.find(filed->second.under);
  std::erase(place->second, filed->second.service);
  if (place->second.empty()) under_.erase(place);
  filed_.erase(filed);
}

// A service without a selector selects nothing.
void ServiceIndex::File(const std::string& name, const api::Service* service) {
  if (service == nullptr || service->spec.selector.empty()) return;
  const auto& [key, value] = *service->spec.selector.begin();
  Filed filed{{}, service};
  SetPlace(service->metadata.namespace_, key, value, &filed.under);
  under_[filed.under].push_back(service);
  filed_.emplace(name, std::move(filed));
}

void ServiceIndex::Refresh(const cluster::Store<api::Service>& services) {
  if (seen_ == services.Generation()) return;
  const bool told = services.Changes().ForEachSince(seen_, [&](const std::string& name) {
    TakeOut(name);
    File(name, services.FindKey(name));
  });
  seen_ = services.Generation();
  if (told) return;
  filed_.clear();
  under_.clear();
  services.ForEach([&](const api::Service& service) {
    File(service.metadata.namespace_ + "/" + service.metadata.name, &service);
  });
}

api::StringMap ServiceIndex::LabelsFor(const cluster::PodShape& shape,
                                       const cluster::Store<api::Service>& services) {
  Refresh(services);
  api::StringMap wanted;
  if (under_.empty()) return wanted;
  for (const auto& [key, value] : shape.source.metadata.labels) {
    SetPlace(shape.namespace_, key, value, &scratch_);
    const auto place = under_.find(scratch_);
    if (place == under_.end()) continue;
    for (const api::Service* service : place->second) {
      if (!Selects(*service, shape)) continue;
      wanted.insert(service->spec.selector.begin(), service->spec.selector.end());
    }
  }
  return wanted;
}

}  // namespace berth::plugins::pod_topology_spread
