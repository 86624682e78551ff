#include "plugins/pod_topology_spread/service_index.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/random.h"

namespace berth::plugins::pod_topology_spread {
namespace {

using Services = cluster::Store<api::Service>;

// What the services say that are looked at one by one.
api::StringMap AskAll(const cluster::PodShape& shape, const Services& services) {
  const api::StringMap& labels = shape.source.metadata.labels;
  api::StringMap wanted;
  services.ForEach([&](const api::Service& service) {
    const auto& selector = service.spec.selector;
    if (service.metadata.namespace_ != shape.namespace_) return;
    if (!std::includes(labels.begin(), labels.end(), selector.begin(), selector.end())) return;
    wanted.insert(selector.begin(), selector.end());
  });
  return wanted;
}

api::StringMap SomePairs(Random& random) {
  api::StringMap pairs;
  for (const char* key : {"app", "tier", "track"}) {
    if (random.Below(2) == 0) pairs[key] = std::to_string(random.Below(3));
  }
  return pairs;
}

std::string SomeNamespace(Random& random) { return "ns" + std::to_string(random.Below(3)); }

cluster::PodShape SomeShape(Random& random) {
  cluster::PodShape shape;
  shape.namespace_ = SomeNamespace(random);
  shape.source.metadata.labels = SomePairs(random);
  return shape;
}

void SetOrRemoveSome(Random& random, Services& services) {
  api::Service service;
  service.metadata.namespace_ = SomeNamespace(random);
  service.metadata.name = "s" + std::to_string(random.Below(20));
  if (random.Below(3) == 0) {
    services.Remove(service.metadata.namespace_, service.metadata.name);
    return;
  }
  service.spec.selector = SomePairs(random);
  services.Set(std::move(service));
}

TEST(ServiceIndex, SaysWhatAllServicesSay) {
  Random random(7);
  Services services;
  ServiceIndex index;
  size_t selected = 0;
  for (int step = 0; step < 2000; ++step) {
    // Now and then so many changes that the store no longer tells all of them.
    const int changes = step % 100 == 99 ? 500 : 2;
    for (int i = 0; i < changes; ++i) SetOrRemoveSome(random, services);
    const cluster::PodShape shape = SomeShape(random);
    const api::StringMap expected = AskAll(shape, services);
    ASSERT_EQ(index.LabelsFor(shape, services), expected) << "step " << step;
    selected += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(selected, 500u);
}

}  // namespace
}  // namespace berth::plugins::pod_topology_spread
