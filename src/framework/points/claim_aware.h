// ClaimAwarePlugin: lets pods with individual volumes or resource claims share a class
// (framework/classes/class_cache.h).
//
// The names of claims are part of a shape, so such pods have different shapes. They belong to one
// class if everything else is equal and their claims mean the same to every plugin. A plugin that
// reads volumes or claims of a pod, directly or through objects, must depend on kOnVolumes or
// kOnDevices. If such a plugin concerns a pod and is not claim-aware, the pod is decided by
// scanning all nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/table/row_log.h"
#include "framework/points/plugin.h"

namespace berth::framework {

class ClaimAwarePlugin : public ClassAwarePlugin {
 public:
  // Appends what the pod's claims mean to this plugin. Pods with equal numbers (and equal in all
  // but their claims) get equal verdicts on every node. False: the pod cannot share a class. Called
  // after PreFilter and before AppendPremises.
  virtual bool AppendClaims(const CycleContext&, PluginState*, std::vector<int64_t>* out) const = 0;

  bool AppendPremises(const CycleContext&, PluginState*, std::vector<int64_t>*) const override {
    return true;
  }

  // Rows whose results may have changed although neither the node nor its pods have. Current after
  // PreFilter of a pod that concerns the plugin; null: none. Always returns the same log.
  virtual const cluster::RowLog* ChangedRows() const { return nullptr; }
};

}  // namespace berth::framework
