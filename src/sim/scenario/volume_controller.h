// VolumeController: gives claims their volumes, a second after it is asked to.
//
// A claim whose class waits for its first pod gets a volume where the scheduler wants it: in the
// zone of the node, or on the node when it has no zone. Other claims of a class that provisions get
// one that can be used anywhere. A volume that the scheduler has given to a claim is bound to it.
// Volumes that exist are not matched with claims that do not wait: that takes a claim with
// spec.volumeName.
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
