// Taint sets: nodes with equal taints share one id, so tolerations are checked once per distinct
// set, not once per node.
#pragma once

#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/core/node.h"
#include "cluster/ids.h"

namespace berth::cluster {

using TaintSetId = uint32_t;
inline constexpr TaintSetId kNoTaints = 0;

class TaintSets {
 public:
  TaintSets() { sets_.emplace_back(); }

  // The id of `taints`, in the order given (the order decides which taint is named first).
  // timeAdded is ignored.
  TaintSetId Intern(const std::vector<api::Taint>& taints);

  const std::vector<api::Taint>& Get(TaintSetId id) const { return sets_[id]; }
  size_t Size() const { return sets_.size(); }

 private:
  std::vector<std::vector<api::Taint>> sets_;
  boost::unordered_flat_map<std::string, TaintSetId> ids_;
};

}  // namespace berth::cluster
