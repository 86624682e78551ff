// StorageUse: how full storage would be on a node, class by class, with what was decided for a pod.
#pragma once

#include <cstdint>
#include <string_view>

#include <boost/container/small_vector.hpp>

#include "plugins/common/utilization_scores.h"
#include "plugins/volume_binding/pod_volumes.h"

namespace berth::plugins::volume_binding {

class StorageUse {
 public:
  void Clear() { classes_.clear(); }
  bool Empty() const { return classes_.empty(); }

  // Volumes that exist count. Only where none does, those to be provisioned where a capacity was
  // published do.
  void Add(const Decision& decision);

  // The mean over the classes. REQUIRES: !Empty().
  int64_t Score(const UtilizationScores& scores) const;

 private:
  struct Class {
    std::string_view name;
    int64_t requested = 0;
    int64_t capacity = 0;
  };
  Class& Find(std::string_view name);

  boost::container::small_vector<Class, 4> classes_;
};

}  // namespace berth::plugins::volume_binding
