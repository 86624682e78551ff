// VolumeController: binds claims to volumes, with a delay of a second.
//
// A claim whose class waits for its first consumer gets a volume in the zone of the chosen node, or
// on the node when it has no zone. Other claims of a provisioning class get a volume without
// topology. A volume that the scheduler assigned to a claim is bound to it. Existing volumes are
// not matched with claims that do not wait; such a claim needs spec.volumeName.
#pragma once

#include <cstdint>
#include <string>

#include "api/object.h"
#include "sim/host/event_loop.h"
#include "sim/host/model_api.h"

namespace berth::sim {

class VolumeController {
 public:
  // `loop` and `api` outlive it.
  VolumeController(EventLoop& loop, ModelApi& api);
  VolumeController(const VolumeController&) = delete;
  VolumeController& operator=(const VolumeController&) = delete;

 private:
  void OnChange(const ApiChange& change);
  void Provision(const std::string& ns, const std::string& name);
  void Bind(const std::string& volume, const std::string& ns, const std::string& name);

  EventLoop& loop_;
  ModelApi& api_;
  int64_t next_ = 1;
};

}  // namespace berth::sim
