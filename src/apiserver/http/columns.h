// The columns `kubectl get` shows of each kind.
#pragma once

#include <string_view>
#include <vector>

#include "api/time.h"
#include "apiserver/json/value.h"
#include "apiserver/resource.h"

namespace berth::apiserver {

struct Column {
  std::string_view name;
  std::string_view type = "string";
  bool wide = false;  // only with -o wide
  Json (*cell)(const Json& object, const api::Time& now);
};

const std::vector<Column>& ColumnsOf(const Resource& resource);
// Those of networking, autoscaling, quotas and storage; null: a kind of none of these.
const std::vector<Column>* ColumnsOfServices(std::string_view group_resource);

// What `kubectl get pods` calls the status: the phase, or why a container does not run.
std::string PodStatusText(const Json& pod);

}  // namespace berth::apiserver
