// TaintRules: resource slices with the taints of DeviceTaintRules on their devices.
//
// Decides as kube-scheduler's tracker of slices does: a slice is evaluated again when it changes,
// when a rule that may concern it does, or when a device class is set; not when one goes. A slice
// that a rule cannot be tried on, because an expression does not compile, stays as it was. Objects
// are keyed as their stores key them. Owned by the Inventory, which feeds it from the stores.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/resource/device_class.h"
#include "api/resource/device_taint_rule.h"
#include "api/resource/resource_slice.h"
#include "cel/program.h"
#include "config/behaviour.h"

namespace berth::plugins::dynamic_resources {

// By the names of driver and pool alone. A rule without a selector concerns every slice, in 1.37
// none.
bool MayConcern(const config::DraFeatures& features, const api::DeviceTaintRule& rule,
                const api::ResourceSliceSpec& slice);

class TaintRules {
 public:
  using SlicePtr = std::shared_ptr<const api::ResourceSlice>;
  using RulePtr = std::shared_ptr<const api::DeviceTaintRule>;
  using ClassPtr = std::shared_ptr<const api::DeviceClass>;
  struct KeyedSlice {
    std::string key;
    SlicePtr slice;
  };

  explicit TaintRules(const config::DraFeatures& features) : features_(features) {}

  // The slice with its taints: `slice` itself when no rule adds one. Null when it cannot be
  // evaluated and never could. It stays valid until a later call returns another for the key.
  SlicePtr SetSlice(const std::string& key, SlicePtr slice);
  void RemoveSlice(const std::string& key) { slices_.erase(key); }

  // Return the slices whose taints are others now. A null pointer removes the rule or class.
  std::vector<KeyedSlice> SetRule(const std::string& key, RulePtr rule);
  std::vector<KeyedSlice> SetClass(const std::string& key, ClassPtr device_class);
  std::vector<std::string> RuleKeys() const;
  std::vector<std::string> ClassKeys() const;

 private:
  struct Kept {
    SlicePtr given;
    SlicePtr tainted;
  };
  using Expressions = std::vector<const std::string*>;

  // The slice with its taints; null when a rule cannot be tried on it.
  SlicePtr Evaluate(const SlicePtr& given);
  std::vector<KeyedSlice> RefreshAll(const api::DeviceTaintRule* before,
                                     const api::DeviceTaintRule* after);
  // `tainted` is a copy of `given` from the first taint on.
  bool Apply(const api::DeviceTaintRule& rule, const api::ResourceSlice& given,
             std::optional<api::ResourceSlice>* tainted);
  // Nothing: an expression does not compile.
  std::optional<bool> Matches(const Expressions& expressions, std::string_view driver,
                              const api::Device& device);
  cel::Program* Compiled(const std::string& expression);

  const config::DraFeatures features_;
  std::map<std::string, Kept> slices_;
  std::map<std::string, RulePtr> rules_;
  std::map<std::string, ClassPtr> classes_;
  std::map<std::string, std::unique_ptr<cel::Program>> programs_;  // null: does not compile
};

}  // namespace berth::plugins::dynamic_resources
