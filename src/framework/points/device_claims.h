// What plugins that allocate devices need besides the extension points: the time, claims that they
// make and remove themselves, and a word about the pod. The engine asks for these with
// dynamic_cast, off the hot path.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "api/core/pod.h"
#include "framework/points/pre_bind.h"

namespace berth::framework {

// A plugin that has to know when something is too late.
class TimeAwarePlugin : public virtual Plugin {
 public:
  // Whenever time has passed.
  virtual void SetTime(const api::Time& now) = 0;
};

// A PreBind task that also tells something about the pod.
class PodPreBindTask : public PreBindTask {
 public:
  struct Event {
    std::string reason;
    std::string note;
  };
  // Both are asked after every Next. What is told about the pod before the step is carried out:
  std::optional<Event> TakeEvent() { return std::exchange(event_, std::nullopt); }
  // With a step that writes nothing: to be set in the status of the pod instead. The result of that
  // is given to Next as if it were the result of a write.
  std::optional<api::PodExtendedResourceClaimStatus> TakePodStatus() {
    return std::exchange(pod_status_, std::nullopt);
  }

 protected:
  std::optional<Event> event_;
  std::optional<api::PodExtendedResourceClaimStatus> pod_status_;
};

// Not every write of a claim is an update. One without a name is created, under a name made from
// metadata.generateName; one that is going (it has a deletionTimestamp) is removed, whatever its
// current version is, after its finalizer.
inline bool Creates(const ApiWrite& write) {
  const auto* claim = std::get_if<api::ResourceClaim>(&write.object);
  return claim != nullptr && claim->metadata.name.empty();
}
inline bool Removes(const ApiWrite& write) {
  const auto* claim = std::get_if<api::ResourceClaim>(&write.object);
  return claim != nullptr && !write.status && claim->metadata.deletion_timestamp.has_value();
}
inline ApiWrite RemovalOf(api::ResourceClaim claim) {
  claim.metadata.deletion_timestamp.emplace();
  return {std::move(claim), false};
}

}  // namespace berth::framework
