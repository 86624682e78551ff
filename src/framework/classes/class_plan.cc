#include "framework/classes/class_plan.h"

#include "framework/runtime/cycle.h"

namespace berth::framework {
namespace {

constexpr uint32_t kOnNodeItself = kOnNodeObject | kOnNodePods;
constexpr uint32_t kOnClaims = kOnVolumes | kOnDevices;

const NodeSet kNoNodes;

}  // namespace

ClassPlan::ClassPlan(const Profile& profile) : profile_(profile) {
  for (const auto& plugin : profile.Plugins()) {
    Role& role = roles_.emplace_back();
    role.depends_on = plugin->DependsOn();
    role.aware = dynamic_cast<const ClassAwarePlugin*>(plugin.get());
    role.claims = dynamic_cast<const ClaimAwarePlugin*>(plugin.get());
    role.labels = dynamic_cast<const LabelAwarePlugin*>(plugin.get());
    role.by_domain = role.aware != nullptr && (role.depends_on & kOnDomainPods) != 0;
    if (role.labels == nullptr && role.depends_on != kOnEverything) {
      reads_labels_ = reads_labels_ || (role.depends_on & kOnPodLabels) != 0;
    }
    role.unknown =
        (role.aware == nullptr && (role.depends_on & ~(kOnNodeItself | kOnPodLabels)) != 0) ||
        (role.claims == nullptr && (role.depends_on & kOnClaims) != 0);
  }
}

// Mostly the plugins are sorted as they were for the pod before.
bool ClassPlan::Classify(Cycle& cycle) {
  if (!RunPreScores(cycle)) return false;
  if (cycle.filters_skipped() == last_filters_skipped_ && scores_skipped_ == last_scores_skipped_) {
    return last_classified_;
  }
  last_filters_skipped_ = cycle.filters_skipped();
  last_scores_skipped_ = scores_skipped_;
  aware_.clear();
  last_classified_ = ClassifyFilters(cycle) && ClassifyScores();
  if (last_classified_) WriteSignature();
  return last_classified_;
}

// PreScore of plugins that depend on domains runs later, on cells.
bool ClassPlan::RunPreScores(Cycle& cycle) {
  scores_skipped_ = cycle.pre_scores_skipped();
  pre_scored_.clear();
  for (const auto& [plugin, index] : cycle.pre_scores()) {
    const Role& role = roles_[index];
    if (role.by_domain) continue;
    if ((role.depends_on & (kOnNodeCount | kOnDomainPods)) != 0) return false;
    const Status status = plugin->PreScore(cycle.context(), cycle.state(index), kNoNodes);
    if (status.IsSkip()) {
      scores_skipped_[index] = 1;
      continue;
    }
    if (!status.Ok()) return false;
    pre_scored_.push_back(index);
  }
  return SkipNeutralScores(cycle);
}

// Claims are part of the key for filters only, so a plugin that scores by claims rules classes out,
// unless it scores this pod 0 everywhere.
bool ClassPlan::SkipNeutralScores(Cycle& cycle) {
  for (const auto& [plugin, index, weight] : profile_.score) {
    if (roles_[index].claims == nullptr || scores_skipped_[index] != 0) continue;
    if (plugin->UniformScore(cycle.context(), cycle.state(index), kNoNodes) != 0) return false;
    scores_skipped_[index] = 1;
  }
  return true;
}

bool ClassPlan::ClassifyFilters(Cycle& cycle) {
  local_filters_.clear();
  domain_filters_.clear();
  domains_last_ = true;
  logs_.clear();
  for (const auto& served : profile_.filter) {
    if (cycle.FilterSkipped(served.index)) continue;
    const Role& role = roles_[served.index];
    if (role.unknown) return false;
    domains_last_ = domains_last_ && (role.by_domain || domain_filters_.empty());
    (role.by_domain ? domain_filters_ : local_filters_).push_back(served);
    NoteAware(served.index);
    if (role.claims == nullptr) continue;
    if (const cluster::RowLog* log = role.claims->ChangedRows()) logs_.push_back(log);
  }
  return true;
}

bool ClassPlan::ClassifyScores() {
  local_scores_.clear();
  normalized_scores_.clear();
  domain_scores_.clear();
  for (size_t i = 0; i < profile_.score.size(); ++i) {
    const auto& [plugin, index, weight] = profile_.score[i];
    const Role& role = roles_[index];
    if (scores_skipped_[index] != 0) continue;
    if (role.unknown) return false;
    if (role.by_domain) {
      domain_scores_.push_back(i);
    } else {
      (plugin->HasNormalize() ? normalized_scores_ : local_scores_).push_back(i);
    }
  }
  return true;
}

void ClassPlan::WriteSignature() {
  signature_.clear();
  for (const auto* filters : {&local_filters_, &domain_filters_}) {
    for (const auto& served : *filters) signature_.push_back(served.index);
    signature_.push_back(-1);
  }
  for (const auto* scores : {&local_scores_, &normalized_scores_, &domain_scores_}) {
    for (const size_t i : *scores) {
      NoteAware(profile_.score[i].index);
      signature_.push_back(static_cast<int64_t>(i));
    }
    signature_.push_back(-1);
  }
}

void ClassPlan::NoteAware(uint8_t plugin) {
  const ClassAwarePlugin* aware = roles_[plugin].aware;
  if (aware == nullptr) return;
  for (const auto& known : aware_) {
    if (known.index == plugin) return;
  }
  aware_.push_back({aware, plugin});
}

}  // namespace berth::framework
