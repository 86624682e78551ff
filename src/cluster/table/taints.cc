#include "cluster/table/taints.h"

#include <fmt/format.h>

namespace berth::cluster {

TaintSetId TaintSets::Intern(const std::vector<api::Taint>& taints) {
  if (taints.empty()) return kNoTaints;
  std::string key;
  for (const api::Taint& taint : taints) {
    for (const std::string* part : {&taint.key, &taint.value, &taint.effect}) {
      fmt::format_to(std::back_inserter(key), "{}:{}", part->size(), *part);
    }
  }
  const auto [it, inserted] =
      ids_.try_emplace(std::move(key), static_cast<TaintSetId>(sets_.size()));
  if (inserted) {
    sets_.push_back(taints);
    for (api::Taint& taint : sets_.back()) taint.time_added.reset();
  }
  return it->second;
}

}  // namespace berth::cluster
