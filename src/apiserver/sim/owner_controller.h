// OwnerController: what controllers of pods' owners have in common. It knows the owners of one
// kind and looks at one again when it, or a pod it controls, has changed.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apiserver/sim/world.h"

namespace berth::apiserver {

class OwnerController {
 public:
  using milliseconds = std::chrono::milliseconds;

  // `pod_delay`: how long changes of pods are gathered before their owner is looked at.
  OwnerController(World& world, const Resource& owners, milliseconds pod_delay)
      : world_(world), owners_(owners), pod_delay_(pod_delay) {}
  virtual ~OwnerController() = default;

  const Resource& Owners() const { return owners_; }

  void OnOwner(const Change& change) {
    if (change.type == ChangeType::kDeleted) {
      known_.erase(change.object->uid);
      return;
    }
    known_[change.object->uid] = {change.object->namespace_, change.object->name};
    Enqueue(change.object->namespace_, change.object->name, milliseconds(0));
  }
  void OnPod(const Change& change) {
    const auto it = known_.find(change.object->controller);
    if (it != known_.end()) Enqueue(it->second.first, it->second.second, pod_delay_);
  }

 protected:
  // Brings one owner's pods and status to what its spec asks for. It may be gone.
  virtual void Sync(const std::string& namespace_, const std::string& name) = 0;

  void Enqueue(std::string_view namespace_, std::string_view name, milliseconds delay) {
    world_.Soon(fmt::format("{}/{}/{}", owners_.plural, namespace_, name), delay,
                [this, space = std::string(namespace_), n = std::string(name)] { Sync(space, n); });
  }
  void EnqueueAll(milliseconds delay) {
    for (const auto& [uid, owner] : known_) Enqueue(owner.first, owner.second, delay);
  }

  World& world_;
  const Resource& owners_;

 private:
  const milliseconds pod_delay_;
  std::map<std::string, std::pair<std::string, std::string>> known_;  // by uid
};

// Makes a controller that lives as long as the world and hears of its owners and of pods.
template <class C>
std::shared_ptr<C> AddOwnerController(World& world) {
  const auto controller = std::make_shared<C>(world);
  world.React(controller->Owners(), [controller](const Change& c) { controller->OnOwner(c); });
  world.React(world.pods(), [controller](const Change& c) { controller->OnPod(c); });
  return controller;
}

}  // namespace berth::apiserver
