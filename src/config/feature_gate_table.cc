// The table of feature gates: see feature_gate_table.inc.
#include <algorithm>
#include <initializer_list>

#include "config/feature_gates.h"

namespace berth::config {

namespace {

using enum FeatureStage;

// An entry of a row: a specification, or how long the gate is known.
struct Entry {
  enum class What : uint8_t { kSpec, kSince, kRemoved } what;
  FeatureSpec spec;
};

constexpr Entry Spec(uint8_t minor, bool enabled, bool locked, FeatureStage stage) {
  return {Entry::What::kSpec, {minor, enabled, locked, stage, 0}};
}
constexpr Entry Alpha(uint8_t minor) { return Spec(minor, false, false, kAlpha); }
constexpr Entry BetaOff(uint8_t minor) { return Spec(minor, false, false, kBeta); }
constexpr Entry BetaOn(uint8_t minor) { return Spec(minor, true, false, kBeta); }
// Where every component is at least as new.
constexpr Entry BetaOnBesideEqual(uint8_t minor) {
  Entry entry = BetaOn(minor);
  entry.spec.min_compatibility = minor;
  return entry;
}
constexpr Entry GA(uint8_t minor) { return Spec(minor, true, false, kGA); }
constexpr Entry GAOff(uint8_t minor) { return Spec(minor, false, false, kGA); }
constexpr Entry GALocked(uint8_t minor) { return Spec(minor, true, true, kGA); }
constexpr Entry DeprecatedOff(uint8_t minor) { return Spec(minor, false, false, kDeprecated); }
constexpr Entry DeprecatedOn(uint8_t minor) { return Spec(minor, true, false, kDeprecated); }
constexpr Entry DeprecatedLockedOff(uint8_t minor) { return Spec(minor, false, true, kDeprecated); }
constexpr Entry DeprecatedLockedOn(uint8_t minor) { return Spec(minor, true, true, kDeprecated); }
constexpr Entry Since(uint8_t minor) {
  return {Entry::What::kSince, {minor, false, false, kNone, 0}};
}
constexpr Entry Removed(uint8_t minor) {
  return {Entry::What::kRemoved, {minor, false, false, kNone, 0}};
}

constexpr Feature Row(std::string_view name, std::initializer_list<Entry> entries) {
  Feature feature;
  feature.name = name;
  size_t count = 0;
  for (const Entry& entry : entries) {
    switch (entry.what) {
      case Entry::What::kSpec:
        feature.specs[count++] = entry.spec;  // a fifth does not compile
        break;
      case Entry::What::kSince:
        feature.since = entry.spec.minor;
        break;
      case Entry::What::kRemoved:
        feature.removed = entry.spec.minor;
        break;
    }
  }
  if (feature.since == 0) feature.since = feature.specs[0].minor;
  return feature;
}

constexpr Feature kFeatures[] = {
#define BERTH_GATE(name, ...) Row(#name, {__VA_ARGS__}),
#include "config/feature_gate_table.inc"
#undef BERTH_GATE
};

}  // namespace

std::span<const Feature> KnownFeatures() { return kFeatures; }

const Feature* FindFeature(std::string_view name) {
  const auto* found = std::lower_bound(
      std::begin(kFeatures), std::end(kFeatures), name,
      [](const Feature& feature, std::string_view wanted) { return feature.name < wanted; });
  return found != std::end(kFeatures) && found->name == name ? found : nullptr;
}

}  // namespace berth::config
