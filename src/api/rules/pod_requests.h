// The requests of a pod: its containers, init containers, sidecars, overhead and pod-level
// resources put together.
//
// PodResources::Of() gives a consumer the plain integers for each use. PodRequests() and
// PodLimits() give the amounts themselves, for what is printed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/pod.h"
#include "api/rules/resource_list.h"

namespace berth::api {

// A container without cpu or memory requests counts as this much where zero would attract pods.
inline constexpr int64_t kDefaultMilliCpu = 100;
inline constexpr int64_t kDefaultMemory = 200 * 1024 * 1024;

// Amounts as scheduling compares them: cpu in thousandths, all else in units, rounded up.
struct ResourceAmounts {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t ephemeral_storage = 0;
  std::vector<std::pair<std::string, int64_t>> scalars;  // IsScalarResource(), sorted by name

  bool operator==(const ResourceAmounts&) const = default;
};

// How the requests of a pod that is resized in place are put together. Differs between Kubernetes
// minors.
struct RequestRules {
  // The resources of the pod as a whole can be resized: its status counts too.
  bool pod_level_status = false;
  // The maximum of the totals of spec, allocated and actual resources; else the total of the
  // maxima of every container.
  bool max_of_totals = false;

  bool operator==(const RequestRules&) const = default;
};

struct PodRequestsOptions {
  // Take what the kubelet has allocated to containers into account (resize in place).
  bool use_status = false;
  // Ignore spec.resources.
  bool skip_pod_level = false;
  // Containers without a request for it get the default.
  bool default_cpu = false;
  bool default_memory = false;
  RequestRules rules = {};
};

ResourceList PodRequests(const Pod& pod, const PodRequestsOptions& options = {});
ResourceList PodLimits(const Pod& pod);

// Whether spec.resources requests something that counts for the pod as a whole.
bool HasPodLevelRequests(const Pod& pod);

// The integers of each use.
struct PodResources {
  // NodeResourcesFit's Filter, for a pod to be placed: from the spec alone, never negative.
  ResourceAmounts filter;
  // What the pod occupies on its node, resizes included; also what NodeResourcesBalancedAllocation
  // scores.
  ResourceAmounts node;
  // The same with defaults for containers without requests.
  int64_t nonzero_milli_cpu = 0;
  int64_t nonzero_memory = 0;
  // What NodeResourcesFit scores: defaults applied, pod-level resources and resizes not seen
  // (kube-scheduler v1.34 builds the scorer without these features).
  ResourceAmounts fit_score;

  static PodResources Of(const Pod& pod, const RequestRules& rules = {});

  bool operator==(const PodResources&) const = default;
};

}  // namespace berth::api
