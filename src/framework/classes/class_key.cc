#include "framework/classes/class_key.h"

#include "framework/runtime/cycle.h"

namespace berth::framework {

bool ClassKey::Begin(const ClassPlan& plan, Cycle& cycle) {
  const CycleContext& c = cycle.context();
  key_.clear();
  key_.push_back(static_cast<int64_t>(c.shape.kind));
  if (!HasClaims(c.shape)) return true;
  for (const auto& [plugin, index] : plan.profile().filter) {
    if (cycle.FilterSkipped(index)) continue;
    const ClassPlan::Role& role = plan.RoleOf(index);
    if (role.unknown) return false;
    if (role.claims == nullptr) continue;
    key_.push_back(index);
    const size_t length = key_.size();
    key_.push_back(0);
    if (!role.claims->AppendClaims(c, cycle.state(index), &key_)) return false;
    key_[length] = static_cast<int64_t>(key_.size());
  }
  return true;
}

bool ClassKey::CollectPremises(const ClassPlan& plan, Cycle& cycle) {
  premises_.assign(plan.Signature().begin(), plan.Signature().end());
  const CycleContext& c = cycle.context();
  const bool claims_in_key = HasClaims(c.shape);
  for (const auto& [plugin, index] : plan.Aware()) {
    PluginState* state = cycle.state(index);
    const ClaimAwarePlugin* claims = claims_in_key ? nullptr : plan.RoleOf(index).claims;
    if (claims != nullptr && !claims->AppendClaims(c, state, &premises_)) return false;
    if (!plugin->AppendPremises(c, state, &premises_)) return false;
  }
  return true;
}

// Kind, claims and labels determine which plugins concern a pod, so the key need not name them.
void ClassKey::Finish(const ClassPlan& plan, Cycle& cycle) {
  const CycleContext& c = cycle.context();
  key_.push_back(-1);
  key_.push_back(plan.ReadsLabels() ? static_cast<int64_t>(c.shape.serial) : 0);
  for (const auto& [plugin, index] : plan.Aware()) {
    const LabelAwarePlugin* labels = plan.RoleOf(index).labels;
    if (labels != nullptr) labels->AppendLabels(c, cycle.state(index), &key_);
  }
}

}  // namespace berth::framework
