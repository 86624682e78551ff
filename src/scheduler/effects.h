// Effects: what the engine asks its host to do. The engine does no I/O itself.
//
// Every effect that can fail has an id, and the host reports what came of it with Engine::Complete:
// once, late, twice or after the watch has shown the outcome already; the engine copes. A host that
// never hears back from the API server reports kUnknown when it gives up waiting.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/core/pod.h"
#include "api/meta.h"
#include "framework/points/pre_bind.h"

namespace berth::scheduler {

using EffectId = uint64_t;

struct PodRef {
  std::string namespace_;
  std::string name;
  std::string uid;
  std::string resource_version = {};  // of the version the engine looked at
};

// POST pods/NAME/binding. Refused by the API server when the pod has a node or another uid.
struct BindPod {
  PodRef pod;
  std::string node;
};

// PATCH pods/NAME/status: sets what is given, leaves the rest.
struct PatchPodStatus {
  PodRef pod;
  std::optional<api::PodCondition> condition;      // replaces the one of its type
  std::optional<std::string> nominated_node_name;  // "" clears it
  // The conditions the engine last saw there, by type, in order.
  std::vector<std::string> condition_types = {};
  // The one that `condition` replaces, as far as the engine knows it: of the preceding attempt.
  std::optional<api::PodCondition> old_condition = std::nullopt;
  std::optional<api::PodExtendedResourceClaimStatus> extended_resource_claim = std::nullopt;
};

// PATCH podgroups/NAME/status: sets one condition, leaves the rest.
struct PatchPodGroupStatus {
  PodRef group;                                                // named like a pod
  api::Condition condition;                                    // replaces the one of its type
  std::vector<std::string> condition_types;                    // there, as last seen, in order
  std::optional<api::Condition> old_condition = std::nullopt;  // that `condition` replaces
};

// DELETE pods/NAME. Like kube-scheduler, a host need not make the uid a precondition.
struct DeletePod {
  PodRef pod;
};

// GET pods/NAME: asked when a binding got no clear answer.
struct ReadPod {
  PodRef pod;
};

// PUT of an object that is refused when it has changed since it was read; or, as the write says,
// POST of a new one, or the end of one.
struct WriteObject {
  framework::ApiWrite write;
};

// One request to an extender. What it says is in EffectResult::extender.
struct CallExtender {
  enum class Verb : uint8_t { kFilter, kPrioritize, kPreempt, kBind };
  struct Victims {
    std::vector<PodRef> pods;
    int64_t pdb_violations = 0;
  };
  size_t extender = 0;  // position in Engine::Extenders
  Verb verb = Verb::kFilter;
  PodRef pod;
  std::vector<std::string> nodes = {};          // kFilter, kPrioritize; kBind: the one
  std::map<std::string, Victims> victims = {};  // kPreempt: by node
};

// What an extender says, as it says it: names may be of nodes that do not exist.
struct ExtenderAnswer {
  struct Victims {
    std::vector<std::string> uids;
    int64_t pdb_violations = 0;
  };
  std::vector<std::string> nodes;                              // kFilter: that pass
  std::map<std::string, std::string> failed;                   // kFilter: reasons by node
  std::map<std::string, std::string> failed_and_unresolvable;  // kFilter, and preemption is no help
  std::vector<std::pair<std::string, int64_t>> scores;         // kPrioritize: by node
  std::map<std::string, Victims> victims;                      // kPreempt: by node
};

// An events.k8s.io/v1 Event. Best effort: no result is expected.
struct RecordEvent {
  PodRef regarding;
  std::optional<PodRef> related;
  std::string type;    // "Normal" or "Warning"
  std::string reason;  // e.g. "FailedScheduling"
  std::string action;  // e.g. "Scheduling"
  std::string note;
  std::string reporting_controller;  // the schedulerName of the profile
  bool note_counts = false;       // with another note it is another event, not the same once more
  bool related_is_group = false;  // `related` names a PodGroup
};

// Its positions are part of recordings: new ones come last.
using EffectAction = std::variant<BindPod, PatchPodStatus, DeletePod, ReadPod, WriteObject,
                                  RecordEvent, CallExtender, PatchPodGroupStatus>;

struct Effect {
  EffectId id = 0;
  EffectAction action;
};

struct EffectResult {
  enum class Code : uint8_t {
    kOk,
    kConflict,  // 409
    kNotFound,  // 404
    kError,     // refused: it was surely not carried out
    kUnknown,   // a timeout or a broken connection: it may have been carried out
  };
  EffectId id = 0;
  Code code = Code::kOk;
  std::string message;  // the API server's words when it failed
  // kOk of WriteObject: the object as it is now.
  decltype(framework::WriteResult::written) written = std::nullopt;
  // kOk of ReadPod: the pod as it is now.
  std::optional<api::Pod> pod = std::nullopt;
  // kOk of CallExtender.
  std::shared_ptr<const ExtenderAnswer> extender = nullptr;
};

}  // namespace berth::scheduler
