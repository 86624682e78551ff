// Model: a cluster to plan on, with the scheduler that places its pods.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "api/codec/manifest.h"
#include "config/config.h"
#include "plan/inventory.h"
#include "plan/mover.h"
#include "scheduler/profile_set.h"

namespace berth::plan {

struct ModelOptions {
  config::KubeSchedulerConfiguration config;
  config::Behaviour behaviour = {};
  uint64_t seed = 0;        // of random choices
  bool list_equal = false;  // landings name the nodes that would do as well
};

class Model {
 public:
  // Gives every object of the cluster to the consumer.
  using Read = std::function<Result<void>(const api::ObjectConsumer&)>;

  // Errors are those of `read`, of the objects and of the configuration.
  static Result<std::unique_ptr<Model>> Make(const ModelOptions& options, const Read& read);

  Inventory& inventory() { return inventory_; }
  Mover& mover() { return *mover_; }

 private:
  explicit Model(const config::Behaviour& behaviour) : inventory_(behaviour) {}

  Inventory inventory_;
  std::optional<scheduler::ProfileSet> profiles_;
  std::unique_ptr<Mover> mover_;
};

}  // namespace berth::plan
