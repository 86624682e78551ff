// Feature gates: the switches of kube-scheduler v1.34, as --feature-gates sets them.
//
// All gates kube-scheduler knows are known here, with their defaults per emulated version; what is
// asked of them is refused or warned about in kube-scheduler's words. GatesOfBerth() says which of
// them matter to a scheduler, and whether berth follows them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::config {

enum class FeatureStage : uint8_t { kNone, kAlpha, kBeta, kGA, kDeprecated };

// "ALPHA", "BETA", "" (GA), "DEPRECATED": as metrics and the help name them.
std::string_view StageName(FeatureStage stage);

// What a gate is from Kubernetes 1.MINOR on.
struct FeatureSpec {
  uint8_t minor = 0;
  bool enabled = false;
  bool locked = false;  // only the default can be set
  FeatureStage stage = FeatureStage::kNone;
};

struct Feature {
  std::string_view name;
  std::array<FeatureSpec, 4> specs;  // ascending by minor; kNone fills the rest

  // What it is in Kubernetes 1.`minor`; kNone: not there yet.
  FeatureSpec At(int minor) const;
};

// Sorted by name, with AllAlpha and AllBeta.
std::span<const Feature> KnownFeatures();
// Null if there is no such gate.
const Feature* FindFeature(std::string_view name);

class FeatureGates {
 public:
  // The version berth is, and the oldest one that can be emulated.
  static constexpr int kMinor = 34;
  static constexpr int kOldestMinor = 31;

  // All at their defaults in Kubernetes 1.`minor`.
  explicit FeatureGates(int minor = kMinor) : minor_(minor) {}

  int Minor() const { return minor_; }

  // False for gates that do not exist, or not yet in the emulated version.
  bool Enabled(std::string_view name) const;

  // "A=true,B=false", on top of what is set. Lines to warn with go to `warnings` (may be null).
  // After an error nothing has changed.
  Result<void> Set(std::string_view text, std::vector<std::string>* warnings = nullptr);

  // What was asked for, by name: AllAlpha and AllBeta too, but not what follows from them.
  const std::map<std::string, bool, std::less<>>& Asked() const { return asked_; }

  struct Value {
    std::string_view name;
    FeatureSpec spec;  // in the emulated version
    bool enabled;
  };
  // Every gate of the emulated version, sorted by name: for metrics.
  std::vector<Value> All() const;

  // "NAME=value" of gates that are set to something berth does not do, sorted.
  std::vector<std::string> NotHonoured() const;

 private:
  bool ValueOf(std::string_view name, const FeatureSpec& spec) const;

  int minor_;
  std::map<std::string, bool, std::less<>> asked_;
};

// A gate that changes what a scheduler does.
struct GateOfBerth {
  std::string_view name;
  bool followed;  // false: berth always does what Kubernetes 1.34 does by default
};
// Sorted by name. A gate that is not listed changes nothing in kube-scheduler that others could
// see.
std::span<const GateOfBerth> GatesOfBerth();

}  // namespace berth::config
