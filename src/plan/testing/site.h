// For tests only: a cluster written as YAML, ready to plan on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "api/codec/manifest.h"
#include "plan/inventory.h"
#include "plan/mover.h"
#include "plan/plan.h"

namespace berth::plan {

inline std::string Node(const std::string& name, int cpu, const std::string& labels = "") {
  return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {" + labels +
         "}}\nstatus: {allocatable: {cpu: " + std::to_string(cpu) + ", memory: 64Gi, pods: 110}}\n";
}

// A running pod of ReplicaSet `owner` ("" for none) on `node` ("" for pending), as an API server
// returns it.
inline std::string Pod(const std::string& name, const std::string& owner, const std::string& node,
                       const std::string& cpu, const std::string& spec = "",
                       const std::string& metadata = "") {
  std::string text = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
                     ", namespace: shop, uid: u-" + name +
                     ", resourceVersion: \"1\", creationTimestamp: 2026-01-01T00:00:00Z" + metadata;
  if (!owner.empty()) {
    text += ", labels: {app: " + owner +
            "}, ownerReferences: [{apiVersion: apps/v1, kind: " + "ReplicaSet, name: " + owner +
            ", uid: r-" + owner + ", controller: true}]";
  }
  text += "}\nspec: {schedulerName: default-scheduler, containers: [{name: c, resources: " +
          std::string("{requests: {cpu: \"") + cpu + "\"}}}]" + spec;
  if (!node.empty()) text += ", nodeName: " + node;
  return text + "}\nstatus: {phase: " + (node.empty() ? "Pending" : "Running") + "}\n";
}

struct Site {
  explicit Site(const std::string& yaml, uint64_t seed = 0) {
    const auto read = api::ForEachObject(
        yaml, [&](api::Object object) { return inventory.Add(std::move(object)); });
    EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().Message());
    EXPECT_TRUE(inventory.Finish().has_value());
    auto made =
        scheduler::ProfileSet::Make(config::Default(), {}, inventory.cluster(), nullptr, seed);
    EXPECT_TRUE(made.has_value());
    profiles = std::move(*made);
    scheduler::AlgorithmOptions options;
    options.seed = seed;
    mover = std::make_unique<Mover>(inventory, *profiles, options);
  }

  Inventory inventory;
  std::optional<scheduler::ProfileSet> profiles;
  std::unique_ptr<Mover> mover;
};

// "web-1 Moves a>b; …" in order.
inline std::string Told(const Plan& plan) {
  std::string text;
  for (const Step& step : plan.pods) {
    if (!text.empty()) text += "; ";
    text += step.name + " " + step.outcome + " " + step.from + ">" + step.to;
    if (!step.preempted_by.empty()) text += " for " + step.preempted_by;
  }
  return text;
}

}  // namespace berth::plan
