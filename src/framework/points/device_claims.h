// Interfaces for plugins that allocate devices, besides the extension points: the time, claims that
// they create and delete themselves, and events about the pod. The engine finds these with
// dynamic_cast, off the hot path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/pod.h"
#include "framework/points/pre_bind.h"

namespace berth::framework {

// A plugin with deadlines.
class TimeAwarePlugin : public virtual Plugin {
 public:
  // Called whenever time has advanced.
  virtual void SetTime(const api::Time& now) = 0;
};

// How waiting for the binding conditions of a pod's devices ended.
struct DeviceWait {
  struct Device {
    std::string driver;
    bool has_conditions = false;
  };
  std::string_view result;  // "success", "failure", "timeout" or "error"
  int64_t waited_ns = 0;
  std::vector<Device> devices;  // all that are allocated to the pod's claims
};

// A PreBind task that also reports about the pod.
class PodPreBindTask : public PreBindTask {
 public:
  struct Event {
    std::string reason;
    std::string note;
  };
  // These are called after every Next and after Undo. An event to record before the step is carried
  // out:
  std::optional<Event> TakeEvent() { return std::exchange(event_, std::nullopt); }
  // With a step that writes nothing: a status to set on the pod instead. Its result is passed to
  // Next as if it were the result of a write.
  std::optional<api::PodExtendedResourceClaimStatus> TakePodStatus() {
    return std::exchange(pod_status_, std::nullopt);
  }
  // Waiting has ended in this step:
  std::optional<DeviceWait> TakeWait() { return std::exchange(wait_, std::nullopt); }

 protected:
  std::optional<Event> event_;
  std::optional<api::PodExtendedResourceClaimStatus> pod_status_;
  std::optional<DeviceWait> wait_;
};

}  // namespace berth::framework
