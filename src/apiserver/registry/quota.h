// Quotas: what the objects of a namespace use, and whether one more may be created.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/rules/resource_list.h"
#include "apiserver/json/value.h"
#include "apiserver/resource.h"
#include "apiserver/status.h"
#include "apiserver/store/store.h"

namespace berth::apiserver {

// Threads: one, the server's.
class Quotas {
 public:
  Quotas(const Catalog& catalog, const Store& store);

  // Whether the namespace has a quota at all.
  bool Limits(std::string_view namespace_) const;
  // Refuses an object that would exceed a quota of its namespace. REQUIRES: it is valid.
  Answer<void> Admit(const Resource& resource, const Json& object);
  // What status.used of the quota is.
  Json Used(const Json& quota);

 private:
  // One object: how much it counts, and what scopes need of a pod.
  struct Usage {
    uint64_t version = 0;
    api::ResourceList amounts = {};
    bool pod = false;
    bool terminating = false;  // has activeDeadlineSeconds
    bool best_effort = false;
    bool cross_namespace_affinity = false;
    std::string priority_class = {};
  };

  static bool Matches(const Json& quota, const Usage& usage);
  static Usage UsageOf(const Resource& resource, const Json& object);
  static Usage UsageOfPod(const Json& pod);
  // The sum over the namespace of what the quota limits.
  api::ResourceList Sum(const Json& quota);

  const Catalog& catalog_;
  const Store& store_;
  const Resource& quotas_;
  // Of objects in namespaces with quotas, by uid. Objects that are gone are forgotten at times.
  boost::unordered_flat_map<std::string, Usage> known_;
};

}  // namespace berth::apiserver
