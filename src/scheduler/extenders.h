// Extenders: who may have a say about a pod, and the scheduling cycle while one is being asked.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "api/object.h"
#include "base/error.h"
#include "cluster/ids.h"
#include "cluster/pods/pod.h"
#include "config/config.h"
#include "framework/runtime/post_filter.h"
#include "scheduler/effects.h"
#include "scheduler/list_part.h"

namespace berth::scheduler {

// Extenders by their position, as bits.
using ExtenderMask = uint64_t;

// The extenders of a configuration in the order of use: ignorable ones last.
class ExtenderSet {
 public:
  static constexpr size_t kMax = 64;

  // Fails when there are more than kMax.
  static Result<ExtenderSet> Make(const config::KubeSchedulerConfiguration& config,
                                  const config::Behaviour& behaviour);

  bool Empty() const { return extenders_.empty(); }
  size_t Size() const { return extenders_.size(); }
  const config::Extender& At(size_t i) const { return extenders_[i]; }
  const std::vector<config::Extender>& All() const { return extenders_; }

  // Those that want to be asked about the pod: it requests something they manage, or they manage
  // nothing in particular.
  ExtenderMask InterestedIn(const api::Pod& pod) const;
  // Those that can be asked that.
  ExtenderMask With(CallExtender::Verb verb) const { return verbs_[static_cast<size_t>(verb)]; }

 private:
  std::vector<config::Extender> extenders_;
  ExtenderMask verbs_[4] = {};
};

// The first position in `mask` from `from` on, or -1.
int NextExtender(ExtenderMask mask, size_t from);

// A scheduling cycle that waits for extenders. The engine takes nothing else up meanwhile: what the
// cycle has found so far must still hold when it goes on.
struct ExtendedCycle {
  enum class Stage : uint8_t {
    kNominated,   // the nominated node alone is being filtered
    kFilter,      // one extender after the other
    kPrioritize,  // all at once
    kPreempt,     // one after the other
  };
  cluster::PodId pod = cluster::kNoPod;
  uint8_t profile = 0;
  Stage stage = Stage::kFilter;
  size_t extender = 0;                           // the one that is asked (kPrioritize: unused)
  size_t outstanding = 0;                        // answers to come
  size_t feasible_before = 0;                    // kFilter: nodes that passed the plugins
  std::map<cluster::NodeIndex, int64_t> scores;  // kPrioritize: so far
  std::unique_ptr<framework::ReviewedPostFilter> post_filter;        // kPreempt
  std::map<std::string, framework::PreemptionCandidate> candidates;  // kPreempt: by node
  // Of a pod of a group: its group's cycle does not stop, but is run again with the answers.
  bool of_group = false;
  size_t asked = 0;                            // so far, answers that are known included
  const framework::NodeSet* within = nullptr;  // null: all nodes
};

// Inputs that came while a cycle waited for extenders.
struct DeferredReplace {
  std::string kind;
  std::vector<api::Object> objects;
  ListPart part = ListPart::kWhole;
};
struct DeferredDelete {
  api::Object object;
};
struct DeferredStatus {
  api::Pod pod;
};
struct DeferredPermit {
  bool allow = false;
  cluster::PodKey pod;
  std::string plugin;
  std::string message;
};
struct DeferredMetrics {
  std::string node;
  cluster::NodeMetrics metrics;
};
using DeferredInput = std::variant<api::Object, DeferredDelete, DeferredStatus, DeferredReplace,
                                   DeferredMetrics, EffectResult, DeferredPermit>;

}  // namespace berth::scheduler
