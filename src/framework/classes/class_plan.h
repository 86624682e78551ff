// ClassPlan: how the plugins of a profile take part when a pod is decided from its class.
//
// A plugin whose answer depends on the node and its own pods is local: the class stores its answer
// per row. One that depends on topology domains is evaluated for every pod, once per cell of nodes
// that are alike. A plugin that declares more than that rules classes out for the pods it concerns.
//
// Owned by ClassCache. Classify is called once per pod; everything else describes that pod until
// the next call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "framework/points/claim_aware.h"
#include "framework/points/label_aware.h"
#include "framework/runtime/profile.h"

namespace berth::framework {

class Cycle;

class ClassPlan {
 public:
  // What a plugin of the profile declares.
  struct Role {
    uint32_t depends_on = 0;
    const ClassAwarePlugin* aware = nullptr;
    const ClaimAwarePlugin* claims = nullptr;
    const LabelAwarePlugin* labels = nullptr;
    bool by_domain = false;  // evaluated per cell, for every pod
    bool unknown = false;    // declares more than a class can follow
  };

  explicit ClassPlan(const Profile& profile);

  const Profile& profile() const { return profile_; }
  const Role& RoleOf(uint8_t plugin) const { return roles_[plugin]; }
  // Some plugin reads the pod's labels and is not label-aware.
  bool ReadsLabels() const { return reads_labels_; }

  // Runs PreScore of the plugins that look at the pod alone, and sorts all plugins that concern the
  // cycle's pod by how they are evaluated. False: the pod cannot be decided from a class.
  bool Classify(Cycle& cycle);

  std::span<const Served<FilterPlugin>> LocalFilters() const { return local_filters_; }
  std::span<const Served<FilterPlugin>> DomainFilters() const { return domain_filters_; }
  // Positions in profile().score. Raw scores of NormalizedScores are the first traits of a row.
  std::span<const size_t> LocalScores() const { return local_scores_; }
  std::span<const size_t> NormalizedScores() const { return normalized_scores_; }
  std::span<const size_t> DomainScores() const { return domain_scores_; }
  // The class-aware plugins among all of these.
  std::span<const Served<const ClassAwarePlugin>> Aware() const { return aware_; }
  // Logs of rows that plugins among the local filters keep.
  std::span<const cluster::RowLog* const> Logs() const { return logs_; }
  // No local filter comes after one of domains.
  bool DomainsLast() const { return domains_last_; }
  // Plugins whose PreScore succeeded in Classify.
  std::span<const uint8_t> PreScored() const { return pre_scored_; }
  // Equal for two pods exactly when their plugins are sorted alike.
  std::span<const int64_t> Signature() const { return signature_; }

 private:
  bool RunPreScores(Cycle& cycle);
  bool SkipNeutralScores(Cycle& cycle);
  bool ClassifyFilters(Cycle& cycle);
  bool ClassifyScores();
  void NoteAware(uint8_t plugin);
  void WriteSignature();

  const Profile& profile_;
  std::vector<Role> roles_;  // by plugin position
  bool reads_labels_ = false;

  // What was skipped when the plugins were sorted last, by plugin position.
  std::vector<uint8_t> last_filters_skipped_;
  std::vector<uint8_t> last_scores_skipped_;
  bool last_classified_ = false;

  std::vector<uint8_t> scores_skipped_;  // by PreScore, by plugin position
  std::vector<uint8_t> pre_scored_;
  std::vector<Served<FilterPlugin>> local_filters_;
  std::vector<Served<FilterPlugin>> domain_filters_;
  std::vector<size_t> local_scores_;
  std::vector<size_t> normalized_scores_;
  std::vector<size_t> domain_scores_;
  std::vector<Served<const ClassAwarePlugin>> aware_;
  std::vector<const cluster::RowLog*> logs_;
  bool domains_last_ = true;
  std::vector<int64_t> signature_;
};

}  // namespace berth::framework
