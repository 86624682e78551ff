// Feature gates: the switches of kube-scheduler, as --feature-gates sets them.
//
// Every gate of the supported minors is in one table (feature_gate_table.inc)
// with its default, stage and lock per minor. Code names a gate by its id, so
// that a misspelt one does not compile; strings come from users only. Errors
// and warnings are kube-scheduler's. What a gate means to berth is decided in
// one place, config::Behaviour.
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

// The Kubernetes minors whose kube-scheduler berth can be, and the one where nothing says which.
int OldestKubernetes();
int NewestKubernetes();
int DefaultKubernetes();

// Gate::kDRAAdminAccess and so on, in the order of KnownFeatures().
enum class Gate : uint16_t {
#define BERTH_GATE(name, ...) k##name,
#include "config/feature_gate_table.inc"
#undef BERTH_GATE
};

enum class FeatureStage : uint8_t { kNone, kAlpha, kBeta, kGA, kDeprecated };

// "ALPHA", "BETA", "" (GA), "DEPRECATED": as metrics and the help name them.
std::string_view StageName(FeatureStage stage);

// What a gate is from Kubernetes 1.MINOR on.
struct FeatureSpec {
  uint8_t minor = 0;
  bool enabled = false;
  bool locked = false;  // only the default can be set
  FeatureStage stage = FeatureStage::kNone;
  // Only where every component of the control plane is at least 1.this.
  uint8_t min_compatibility = 0;
};

struct Feature {
  std::string_view name;
  std::array<FeatureSpec, 4> specs;  // ascending by minor; kNone fills the rest
  uint8_t since = 0;                 // the first minor that knows it
  uint8_t removed = 0xff;            // the first minor that does not know it any more

  // What it is in Kubernetes 1.`minor` beside components of 1.`min_compatibility` (absent: of the
  // minor before); kNone: not there yet.
  FeatureSpec At(int minor, std::optional<int> min_compatibility = std::nullopt) const;
  // Whether the kube-scheduler of 1.`minor` knows the name.
  bool KnownIn(int minor) const { return since <= minor && minor < removed; }
};

// Sorted by name, with AllAlpha and AllBeta.
std::span<const Feature> KnownFeatures();
// Null if there is no such gate in any minor.
const Feature* FindFeature(std::string_view name);
inline const Feature& FeatureOf(Gate gate) { return KnownFeatures()[static_cast<size_t>(gate)]; }

class FeatureGates {
 public:
  // All at their defaults in the kube-scheduler of 1.DefaultKubernetes().
  FeatureGates() : FeatureGates(DefaultKubernetes()) {}
  // The same of 1.`minor`, emulating 1.`emulated` (absent: itself) beside components of at least
  // 1.`min_compatibility` (absent: the minor before the emulated one, if that can be emulated).
  explicit FeatureGates(int minor, std::optional<int> emulated = std::nullopt,
                        std::optional<int> min_compatibility = std::nullopt);

  // The kube-scheduler that berth is.
  int Minor() const { return minor_; }
  int Emulated() const { return emulated_; }
  int MinCompatibility() const { return min_compatibility_; }
  // The oldest minor it can emulate.
  int OldestEmulated() const;
  // Whether it has a flag for the oldest component beside it.
  bool HasMinCompatibility() const;

  // False for gates that this minor does not know, or that the emulated version
  // does not have yet.
  bool Enabled(Gate gate) const;

  // "A=true,B=false", on top of what is set. Lines to warn with go to
  // `warnings` (may be null). Gates may need others, from 1.35 on. After an
  // error nothing has changed.
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
  FeatureSpec SpecOf(const Feature& feature) const {
    return feature.At(emulated_, min_compatibility_);
  }
  bool ValueOf(const Feature& feature) const;
  // An error per gate that is on and needs one that is off.
  std::vector<std::string> BrokenDependencies() const;

  int minor_;
  int emulated_;
  int min_compatibility_;
  std::map<std::string, bool, std::less<>> asked_;
};

// A gate that changes what a scheduler does.
struct GateOfBerth {
  Gate gate;
  bool followed;  // false: berth always does what the Kubernetes minor does by
                  // default
  int since = 0;  // the first minor in which it is followed
};
// Sorted by name. A gate that is not listed changes nothing in kube-scheduler that others could
// see.
std::span<const GateOfBerth> GatesOfBerth();

}  // namespace berth::config
