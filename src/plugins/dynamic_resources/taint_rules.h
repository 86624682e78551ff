// TaintRules: resource slices with the taints of DeviceTaintRules on their devices.
//
// Decides as kube-scheduler's tracker of slices does: a slice is looked at anew when it changes,
// when a rule that may concern it does, or when a device class is set; not when one goes. A slice
// that a rule cannot be tried on, because an expression does not compile, stays as it was.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource/device_class.h"
#include "api/resource/device_taint_rule.h"
#include "api/resource/resource_slice.h"
#include "cel/program.h"

namespace berth::plugins::dynamic_resources {

class TaintRules {
 public:
  using Slices = std::vector<api::ResourceSlice>;

  // The slice with its taints; nothing when it cannot be told and never could.
  std::optional<api::ResourceSlice> SetSlice(api::ResourceSlice slice);
  void RemoveSlice(std::string_view name);
  // The names of all slices.
  std::vector<std::string> SliceNames() const;

  // The slices whose taints are others now.
  Slices SetRule(api::DeviceTaintRule rule);
  Slices RemoveRule(std::string_view name);
  Slices SetClass(api::DeviceClass device_class);
  void RemoveClass(std::string_view name);
  std::vector<std::string> RuleNames() const;
  std::vector<std::string> ClassNames() const;

 private:
  struct Kept {
    api::ResourceSlice given;
    std::optional<api::ResourceSlice> tainted;
  };
  using Expressions = std::vector<const std::string*>;

  // Looks at the slice anew. True when the taints have changed.
  bool Refresh(Kept* kept);
  Slices RefreshAll(const api::DeviceTaintRule* before, const api::DeviceTaintRule* after);
  bool Apply(const api::DeviceTaintRule& rule, const api::ResourceSlice& given,
             api::ResourceSlice* tainted);
  // Nothing: an expression does not compile.
  std::optional<bool> Matches(const Expressions& expressions, std::string_view driver,
                              const api::Device& device);
  cel::Program* Compiled(const std::string& expression);

  std::map<std::string, Kept, std::less<>> slices_;
  std::map<std::string, api::DeviceTaintRule, std::less<>> rules_;
  std::map<std::string, api::DeviceClass, std::less<>> classes_;
  std::map<std::string, std::unique_ptr<cel::Program>> programs_;  // null: does not compile
};

}  // namespace berth::plugins::dynamic_resources
