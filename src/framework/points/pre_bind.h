// PreBind: API writes and conditions that must complete before a pod is bound.
//
// The core does no I/O, so PreBind is a continuation: it returns its next step and is called again
// with the result. It outlives its cycle, so it copies what it needs from the cycle's states.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "api/core/persistent_volume.h"
#include "api/core/persistent_volume_claim.h"
#include "api/resource/resource_claim.h"
#include "api/time.h"
#include "framework/points/plugin.h"

namespace berth::framework {

// One write of an object.
struct ApiWrite {
  enum class Verb : uint8_t {
    kUpdate,        // refused by the API server when metadata.resourceVersion is not current
    kUpdateStatus,  // the same of the status subresource
    kCreate,        // under a name that the API server makes from metadata.generateName
    kDelete,        // after its finalizer, whatever its current version is
  };
  std::variant<api::PersistentVolume, api::PersistentVolumeClaim, api::ResourceClaim> object;
  Verb verb = Verb::kUpdate;
};

struct WriteResult {
  enum class Code : uint8_t {
    kOk,
    kConflict,  // the object has changed since it was read
    kNotFound,
    kError,  // anything else; the write may have been carried out nevertheless
  };
  Code code = Code::kOk;
  std::string message;
  // With kOk: the object as the API server has it now.
  std::optional<std::variant<api::PersistentVolume, api::PersistentVolumeClaim, api::ResourceClaim>>
      written = std::nullopt;
};

struct PreBindStep {
  enum class Kind : uint8_t {
    kDone,
    kWrite,  // carry out `writes` in order, stop at the first failure, then call Next
    kWait,   // call Next in a second
    kFail,   // see `failure`
  };
  Kind kind = Kind::kDone;
  std::vector<ApiWrite> writes = {};
  Status failure = {};
};

class PreBindTask {
 public:
  // Destroying a task releases what it still holds in memory. It may outlive the cycle and the pod,
  // but not the plugin or the cluster.
  virtual ~PreBindTask() = default;
  // `results`: of the writes of the previous step that were tried; empty otherwise.
  virtual PreBindStep Next(cluster::Cluster& cluster, const api::Time& now,
                           std::span<const WriteResult> results) = 0;
  // The pod will not be bound: returns the writes that revert earlier ones. The engine does not
  // wait for their results. Called at most once, instead of Next.
  virtual std::vector<ApiWrite> Undo(cluster::Cluster& cluster) {
    static_cast<void>(cluster);
    return {};
  }
};

class PreBindPlugin : public virtual Plugin {
 public:
  // Called after Reserve, in the same cycle. Null: nothing to do for this pod.
  virtual std::unique_ptr<PreBindTask> PreparePreBind(const CycleContext&, PluginState*,
                                                      NodeIndex node) = 0;
  // May its tasks run beside those of other plugins that say so?
  virtual bool AllowsParallel() const { return false; }
};

}  // namespace berth::framework
