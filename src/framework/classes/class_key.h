// ClassKey: the numbers that say which class a pod belongs to.
//
// Pods are of one class when they are of one kind (PodShape::kind) and when their claims
// (ClaimAwarePlugin) and labels (LabelAwarePlugin) mean the same to the plugins that concern them.
// The premises are the inputs of a cached verdict other than the node itself: a class is valid only
// while they are unchanged.
//
// Written in three steps, because plugins report claims, premises and labels in that order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "framework/classes/class_plan.h"

namespace berth::framework {

class ClassKey {
 public:
  using Numbers = std::vector<int64_t>;

  // A pod with volumes or resource claims: their meaning is part of the key.
  static bool HasClaims(const cluster::PodShape& shape) {
    return (shape.parts & (cluster::kHasVolumes | cluster::kHasResourceClaims)) != 0;
  }

  // Starts with the pod's kind and claims. False: its claims are like no other pod's.
  bool Begin(const ClassPlan& plan, Cycle& cycle);
  // REQUIRES: plan.Classify succeeded for the cycle. False: nothing can be cached for this pod.
  bool CollectPremises(const ClassPlan& plan, Cycle& cycle);
  // Ends with the pod's labels. REQUIRES: CollectPremises succeeded.
  void Finish(const ClassPlan& plan, Cycle& cycle);

  const Numbers& key() const { return key_; }
  const Numbers& premises() const { return premises_; }

 private:
  Numbers key_;
  Numbers premises_;
};

}  // namespace berth::framework
