// For tests only: a world written as YAML, and what becomes of its pods.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/codec/manifest.h"
#include "sim/placement.h"
#include "sim/world.h"

namespace berth::sim {

// Adds every document; the error of the first that is refused, or of Finish.
inline Result<void> Read(World& world, const std::string& yaml) {
  auto read =
      api::ForEachObject(yaml, [&](api::Object object) { return world.Add(std::move(object)); });
  return read ? world.Finish() : read;
}

inline std::string PendingNames(const World& world) {
  std::string names;
  for (const cluster::PodId id : world.Pending()) {
    names += (names.empty() ? "" : " ") + world.GetCluster().GetPod(id).name;
  }
  return names;
}

// A world with its profiles and a placement over it.
struct Simulation {
  explicit Simulation(const std::string& yaml, PlacementOptions options = {},
                      const config::Behaviour& behaviour = {})
      : world(behaviour) {
    const auto read = Read(world, yaml);
    EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().Message());
    auto made =
        scheduler::ProfileSet::Make(config::Default(behaviour), behaviour, world.GetCluster());
    EXPECT_TRUE(made.has_value());
    profiles = std::make_unique<scheduler::ProfileSet>(std::move(*made));
    placement = std::make_unique<Placement>(world, *profiles, options);
  }

  World world;
  std::unique_ptr<scheduler::ProfileSet> profiles;
  std::unique_ptr<Placement> placement;
};

}  // namespace berth::sim
