// Actions: what users and machines do to a cluster, one action at a time, drawn from a seed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/chaos/controllers.h"
#include "sim/chaos/dice.h"
#include "sim/chaos/profile.h"
#include "sim/host/event_loop.h"
#include "sim/host/model_api.h"

namespace berth::sim {

class Actions {
 public:
  // All of them outlive the actions.
  Actions(const ChaosProfile& profile, EventLoop& loop, ModelApi& api, Controllers& controllers,
          uint64_t seed);

  // Creates the initial cluster.
  void Populate();
  // Performs one action. Returns its description for the trace; empty if it had no object.
  std::string Act();

 private:
  using Do = std::string (Actions::*)();

  std::string AddNode();
  std::string RemoveNode();
  std::string ReplaceNode();
  std::string Cordon();
  std::string Taint();
  std::string Relabel();
  std::string ResizeNode();
  std::string AddGroup();
  std::string ScaleGroup();
  std::string RemoveGroup();
  std::string AddPod();
  std::string DeletePod();
  std::string FinishPod();
  std::string LabelPod();
  std::string OpenGate();
  std::string ResizePod();
  std::string BindElsewhere();
  std::string Budget();
  std::string TouchClaim();

  // The name of a node or pod; empty when there is none that passes.
  std::string SomeNode();
  std::string SomePod(const std::function<bool(const api::Pod&)>& passes);
  size_t PodCount() const;

  const ChaosProfile& profile_;
  EventLoop& loop_;
  ModelApi& api_;
  Controllers& controllers_;
  Dice dice_;
  std::vector<std::pair<uint32_t, Do>> weighted_;
  uint32_t total_weight_ = 0;
  uint64_t next_node_ = 0;
  uint64_t next_group_ = 0;
};

}  // namespace berth::sim
