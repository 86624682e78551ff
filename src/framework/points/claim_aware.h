// What a plugin that looks at a pod's volumes or resource claims says so that pods with claims of
// their own can share what is known about nodes (framework/class_cache.h).
//
// Such pods have no shape in common, for the names of their claims are part of it. They are of one
// class when they agree in everything else and their claims mean the same to every plugin. For that
// a plugin that reads volumes or claims of a pod, directly or through objects, must depend on
// kOnVolumes or kOnDevices; pods that concern one which does and is not claim-aware are decided by
// looking at all nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/table/row_log.h"
#include "framework/points/plugin.h"

namespace berth::framework {

class ClaimAwarePlugin : public ClassAwarePlugin {
 public:
  // Appends what the pod's claims mean to this plugin. Pods with equal numbers (and equal in all
  // but their claims) get equal verdicts on every node. False: the pod is like no other. Called
  // after PreFilter and before AppendPremises.
  virtual bool AppendClaims(const CycleContext&, PluginState*, std::vector<int64_t>* out) const = 0;

  bool AppendPremises(const CycleContext&, PluginState*, std::vector<int64_t>*) const override {
    return true;
  }

  // Rows about which answers may have changed though neither the node nor its pods have. Up to date
  // after PreFilter of a pod that concerns the plugin; null: there are none. Always the same log.
  virtual const cluster::RowLog* ChangedRows() const { return nullptr; }
};

}  // namespace berth::framework
