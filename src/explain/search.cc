#include "explain/search.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "framework/runtime/nominated_filter.h"

namespace berth::explain {

using cluster::NodeIndex;
using framework::Code;

Search::Search(cluster::Cluster& cluster, const framework::Profile& profile)
    : cluster_(cluster), cycle_(profile) {
  cycle_.set_keep_raw(true);
}

void Search::Run(const cluster::Pod& pod, bool score) {
  diagnosis_ = framework::Diagnosis();
  diagnosis_.num_all_nodes = cluster_.NodeCount();
  diagnosis_.absent = framework::Status();
  diagnosis_.rejected.Resize(cluster_.Rows());
  feasible_.Resize(cluster_.Rows());
  feasible_.Clear();
  feasible_count_ = 0;
  scored_ = false;
  error_.clear();
  pre_filter_ = framework::Status();
  if (cluster_.NodeCount() == 0) {
    error_ = "no nodes available to schedule pods";
    return;
  }
  cycle_.Begin(cluster_, pod);
  pre_filter_ = cycle_.RunPreFilter();
  for (const uint8_t index : cycle_.restricting_plugins()) {
    diagnosis_.unschedulable_plugins.emplace(profile().At(index).Name());
  }
  if (!pre_filter_.Ok()) {
    if (framework::IsRejected(pre_filter_.code())) {
      diagnosis_.absent = pre_filter_;
      diagnosis_.pre_filter_message = pre_filter_.Message();
    } else {
      error_ = pre_filter_.Message();
    }
    return;
  }
  Filter();
  if (score && error_.empty() && feasible_count_ > 0) Score();
}

void Search::Filter() {
  const framework::PreFilterResult& restriction = cycle_.restriction();
  if (restriction.all_nodes) {
    feasible_ = cluster_.Nodes();
  } else {
    for (const NodeIndex n : restriction.nodes) feasible_.Insert(n);
    diagnosis_.absent = framework::Status::Unresolvable(fmt::format(
        "node(s) didn't satisfy plugin(s) [{}]", fmt::join(diagnosis_.unschedulable_plugins, " ")));
  }
  const framework::NodeSet asked = feasible_;
  framework::FilterWithNominated(cycle_, cluster_, feasible_);
  feasible_count_ = feasible_.Count();
  asked.ForEach([&](NodeIndex n) {
    if (feasible_.Contains(n)) return;
    diagnosis_.rejected.Insert(n);
    const framework::Verdict& verdict = cycle_.verdicts()[n];
    if (verdict.code == Code::kError && error_.empty()) {
      error_ = fmt::format("{}", fmt::join(cycle_.Reasons(verdict), ", "));
    }
  });
}

void Search::Score() {
  const framework::Status status = cycle_.RunScore(feasible_);
  if (status.Ok()) {
    scored_ = true;
  } else {
    error_ = status.Message();
  }
}

std::string Search::Message(std::vector<framework::ReasonCount>* reasons) const {
  std::string message = framework::FitErrorMessage(cycle_, diagnosis_, reasons);
  if (reasons != nullptr) {
    std::stable_sort(reasons->begin(), reasons->end(), [](const auto& a, const auto& b) {
      return a.nodes != b.nodes ? a.nodes > b.nodes : a.reason < b.reason;
    });
  }
  return error_.empty() ? message : error_;
}

Displaced::Displaced(cluster::Cluster& cluster, cluster::PodId id)
    : pod_(cluster.GetPod(id)), node_(pod_.node) {
  if (node_ == cluster::kNoNode) return;
  off_node_.emplace(cluster);
  cluster.Unplace(id);
  pod_.node = cluster::kNoNode;
  pod_.assumed = false;
  pod_.node_name.clear();
  pod_.nominated_node_name.clear();
}

}  // namespace berth::explain
