// WorldTest: a simulated world of three nodes on a fake clock, whose pods are placed as they come.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apiserver/cluster.h"
#include "apiserver/sim/world.h"
#include "net/testing/fake_loop.h"

namespace berth::apiserver {

class WorldTest : public testing::Test {
 protected:
  explicit WorldTest(const config::FeatureGates& gates = config::FeatureGates()) : catalog_(gates) {
    for (const char* name : {"default", "kube-node-lease"}) {
      Json object = Json::MakeObject();
      object.At("metadata").Set("name", name);
      EXPECT_TRUE(registry_.Create(catalog_.Core("namespaces"), "", std::move(object)));
    }
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(registry_.Create(catalog_.Core("nodes"), "", MakeNode(i, loop_.Now(), "v1")));
    }
    world_.Start();
    // Pods are placed as they come.
    store_.WatchAll([this](const Change& change) {
      if (change.storage_id != pods_.storage_id || change.type != ChangeType::kAdded) return;
      const std::string namespace_ = change.object->namespace_;
      const std::string name = change.object->name;
      if (hold_) return;
      loop_.Post([this, namespace_, name] {
        const std::string node = "node-000" + std::to_string(++placed_ % 3 + 1);
        (void)registry_.Bind(namespace_, name,
                             Json::MakeObject({{"target", Json::MakeObject({{"name", node}})}}));
      });
    });
  }

  void Create(std::string_view manifest) {
    const auto ok = CreateAll(registry_, manifest);
    ASSERT_TRUE(ok) << ok.error().Message();
  }
  void Pass(std::chrono::milliseconds time) { loop_.Advance(time); }

  std::vector<ObjectPtr> Pods(std::string_view phase = "") {
    std::vector<ObjectPtr> pods;
    for (const auto& [key, pod] : store_.All(pods_.storage_id)) {
      if (phase.empty() || world_.index().PhaseOf(*pod) == phase) pods.push_back(pod);
    }
    return pods;
  }
  Json Get(const Resource& resource, std::string_view namespace_, std::string_view name) {
    const ObjectPtr object = store_.Get(resource.storage_id, namespace_, name);
    return object ? object->Value() : Json();
  }

  net::FakeLoop loop_;
  Catalog catalog_;
  Store store_{catalog_};
  Registry registry_{catalog_, store_, {.now = [this] { return loop_.Now(); }}};
  World world_{registry_, loop_, {}};
  const Resource& pods_ = catalog_.Core("pods");
  size_t placed_ = 0;
  bool hold_ = false;
};

}  // namespace berth::apiserver
