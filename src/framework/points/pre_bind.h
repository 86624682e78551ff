// PreBind: what has to be written to the API, and waited for, before a pod is bound.
//
// The core does no I/O, so PreBind is a task that says what to do next and is told what came of it.
// It outlives the cycle it was made in: whatever it needs from the cycle's states it copies.
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

// One update of an object, refused by the API server when metadata.resourceVersion is not current.
struct ApiWrite {
  std::variant<api::PersistentVolume, api::PersistentVolumeClaim, api::ResourceClaim> object;
  bool status = false;  // of the status subresource
};

struct WriteResult {
  enum class Code : uint8_t {
    kOk,
    kConflict,  // the object has changed since it was read
    kNotFound,
    kError,  // anything else; it may have been written all the same
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
    kWrite,  // carry out `writes`, in order, stopping at the first that fails; then ask again
    kWait,   // ask again in a second
    kFail,   // `failure` says why
  };
  Kind kind = Kind::kDone;
  std::vector<ApiWrite> writes = {};
  Status failure = {};
};

class PreBindTask {
 public:
  // Destroying a task gives up what it still held in memory. It may outlive what it was made from,
  // but not the plugin or the cluster.
  virtual ~PreBindTask() = default;
  // `results`: of the writes of the step before, as far as they were tried; empty otherwise.
  virtual PreBindStep Next(cluster::Cluster& cluster, const api::Time& now,
                           std::span<const WriteResult> results) = 0;
  // The pod will not be bound after all: what to write to take back what was written. Nobody waits
  // for it. Called at most once, instead of Next.
  virtual std::vector<ApiWrite> Undo(cluster::Cluster& cluster) {
    static_cast<void>(cluster);
    return {};
  }
};

class PreBindPlugin : public virtual Plugin {
 public:
  // Called after Reserve, in the same cycle. Null: this pod needs nothing.
  virtual std::unique_ptr<PreBindTask> PreparePreBind(const CycleContext&, PluginState*,
                                                      NodeIndex node) = 0;
};

}  // namespace berth::framework
