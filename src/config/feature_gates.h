// Feature gates: the switches of kube-scheduler v1.34, as --feature-gates sets them.
//
// All gates kube-scheduler knows are known here, with their defaults per emulated version; what is
// asked of them is refused or warned about in kube-scheduler's words. ActedOn() says which of them
// change what berth does.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::config {

enum class FeatureStage : uint8_t { kAlpha, kBeta, kGA, kDeprecated };

// "ALPHA", "BETA", "" (GA), "DEPRECATED": as metrics and the help name them.
std::string_view StageName(FeatureStage stage);

// What a gate is from Kubernetes 1.MINOR on.
struct FeatureSpec {
  uint8_t minor = 0;
  bool enabled = false;
  bool locked = false;  // only the default can be set
  FeatureStage stage = FeatureStage::kAlpha;
};

struct Feature {
  std::string_view name;
  std::span<const FeatureSpec> specs;  // ascending by minor
};

// Sorted by name, with AllAlpha and AllBeta.
std::span<const Feature> KnownFeatures();
const Feature* FindFeature(std::string_view name);

class FeatureGates {
 public:
  // The newest version that can be emulated: this one; and the oldest.
  static constexpr int kMinor = 34;
  static constexpr int kOldestMinor = 31;

  // All at their defaults in Kubernetes 1.`minor`.
  explicit FeatureGates(int minor = kMinor);

  int Minor() const { return minor_; }

  // False for gates that do not exist, or not yet in the emulated version.
  bool Enabled(std::string_view name) const;

  // "A=true,B=false", on top of what is set. Lines to warn with go to `warnings` (may be null).
  // After an error nothing has changed.
  Result<void> Set(std::string_view text, std::vector<std::string>* warnings = nullptr);

  // What was asked for, by name: AllAlpha and AllBeta as well as what they set.
  const std::map<std::string, bool, std::less<>>& Asked() const { return asked_; }

  struct Value {
    const Feature* feature;
    FeatureSpec spec;  // in the emulated version
    bool enabled;

    bool IsDefault() const { return enabled == spec.enabled; }
  };
  // Every gate of the emulated version, sorted by name.
  std::vector<Value> All() const;

  // Gates that were set to something else than berth does: "NAME=value", sorted.
  std::vector<std::string> NotHonoured() const;

 private:
  FeatureSpec SpecOf(const Feature& feature) const;
  void Put(const Feature& feature, bool value);
  void SetGroup(FeatureStage stage, bool value);

  int minor_;
  std::map<std::string, bool, std::less<>> asked_;
  std::set<std::string, std::less<>> by_name_;  // asked for one by one: groups leave them alone
};

// How berth takes a gate that matters to a scheduler.
enum class GateUse : uint8_t {
  kSwitch,     // on or off, berth follows
  kAlwaysOn,   // berth does what is behind the gate whether it is on or off
  kAlwaysOff,  // berth does not do what is behind the gate
};
struct GateOfBerth {
  std::string_view name;
  GateUse use;
};
// The gates that alter scheduling or the scheduler's own server, sorted by name. A gate that is not
// listed has no effect in kube-scheduler's process either.
std::span<const GateOfBerth> ActedOn();

}  // namespace berth::config
