// Feature gates: see feature_gates.h.
#include "config/feature_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/go/go_text.h"

namespace berth::config {

namespace {

constexpr std::string_view kAllAlpha = "AllAlpha";
constexpr std::string_view kAllBeta = "AllBeta";
constexpr int kOldest = 34;
constexpr int kNewest = 37;
constexpr int kDefault = 34;
// How many minors back a kube-scheduler can emulate, and the first one that can be emulated.
constexpr int kEmulationSpan = 3;
constexpr int kFirstEmulated = 31;
constexpr int kFirstWithMinCompatibility = 35;

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

// strconv.ParseBool.
std::optional<bool> ParseBool(std::string_view text) {
  for (const std::string_view word : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

std::string_view Word(bool value) { return value ? "true" : "false"; }

using Wanted = std::map<std::string, bool, std::less<>>;

Result<Wanted> Parse(std::string_view text) {
  Wanted wanted;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (item.empty()) continue;
    const size_t equal = item.find('=');
    const std::string name(Trim(item.substr(0, equal)));
    if (equal == std::string_view::npos) return Fail("missing bool value for " + name);
    const std::string value(Trim(item.substr(equal + 1)));
    const std::optional<bool> parsed = ParseBool(value);
    if (!parsed) {
      return Fail(
          fmt::format("invalid value of {}={}, err: strconv.ParseBool: parsing {}: invalid syntax",
                      name, value, api::GoQuote(value)));
    }
    wanted[name] = *parsed;
  }
  return wanted;
}

// Why `name` cannot be `value`, empty if it can; what to warn about then.
std::string Refusal(const std::string& name, bool value, const FeatureSpec& spec,
                    const FeatureGates& gates) {
  const std::string wish = "cannot set feature gate " + name + " to " + std::string(Word(value));
  if (spec.locked && spec.enabled != value) {
    return wish + ", feature is locked to " + std::string(Word(spec.enabled));
  }
  if (spec.stage == FeatureStage::kNone) {
    std::string text =
        fmt::format("{}, feature is PreAlpha at emulated version 1.{}", wish, gates.Emulated());
    if (gates.HasMinCompatibility()) {
      text += fmt::format(", min compatibility version 1.{}", gates.MinCompatibility());
    }
    return text;
  }
  return {};
}

std::string Warning(const std::string& name, bool value, const FeatureSpec& spec) {
  if (spec.stage != FeatureStage::kGA && spec.stage != FeatureStage::kDeprecated) return {};
  return std::string("Setting ") + (spec.stage == FeatureStage::kGA ? "GA" : "deprecated") +
         " feature gate " + name + "=" + std::string(Word(value)) +
         ". It will be removed in a future release.";
}

// As an aggregate of errors prints: [a, b], or the only one.
std::string Join(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors[0];
  std::string text = "[";
  for (const std::string& error : errors) {
    if (text.size() > 1) text += ", ";
    text += error;
  }
  return text + "]";
}

}  // namespace

int OldestKubernetes() { return kOldest; }
int NewestKubernetes() { return kNewest; }
int DefaultKubernetes() { return kDefault; }

std::string_view StageName(FeatureStage stage) {
  switch (stage) {
    case FeatureStage::kNone:
      return "PRE-ALPHA";
    case FeatureStage::kAlpha:
      return "ALPHA";
    case FeatureStage::kBeta:
      return "BETA";
    case FeatureStage::kGA:
      return "";
    case FeatureStage::kDeprecated:
      return "DEPRECATED";
  }
  return "";
}

FeatureSpec Feature::At(int minor, std::optional<int> min_compatibility) const {
  FeatureSpec found;
  for (const FeatureSpec& spec : specs) {
    if (spec.stage == FeatureStage::kNone || spec.minor > minor) continue;
    if (spec.min_compatibility <= min_compatibility.value_or(minor - 1)) found = spec;
  }
  return found;
}

FeatureGates::FeatureGates(int minor, std::optional<int> emulated,
                           std::optional<int> min_compatibility)
    : minor_(minor),
      emulated_(emulated.value_or(minor)),
      min_compatibility_(min_compatibility.value_or(std::max(emulated_ - 1, OldestEmulated()))) {}

int FeatureGates::OldestEmulated() const {
  return std::max(minor_ - kEmulationSpan, kFirstEmulated);
}

bool FeatureGates::HasMinCompatibility() const { return minor_ >= kFirstWithMinCompatibility; }

// Asked for by name, else by its stage, else the default.
bool FeatureGates::ValueOf(const Feature& feature) const {
  if (!feature.KnownIn(minor_)) return false;
  const FeatureSpec spec = SpecOf(feature);
  if (const auto it = asked_.find(feature.name); it != asked_.end()) return it->second;
  if (feature.name == kAllAlpha || feature.name == kAllBeta) return spec.enabled;
  const std::string_view group = spec.stage == FeatureStage::kAlpha  ? kAllAlpha
                                 : spec.stage == FeatureStage::kBeta ? kAllBeta
                                                                     : "";
  if (const auto it = asked_.find(group); it != asked_.end()) return it->second;
  return spec.enabled;
}

bool FeatureGates::Enabled(Gate gate) const { return ValueOf(FeatureOf(gate)); }

Result<void> FeatureGates::Set(std::string_view text, std::vector<std::string>* warnings) {
  auto parsed = Parse(text);
  if (!parsed) return Fail(std::move(parsed.error()));
  Wanted wanted = asked_;
  for (const auto& [name, value] : *parsed) wanted[name] = value;
  std::vector<std::string> errors;
  std::vector<std::string> notes;
  for (const auto& [name, value] : wanted) {
    const Feature* feature = FindFeature(name);
    if (feature == nullptr || !feature->KnownIn(minor_)) {
      errors.push_back("unrecognized feature gate: " + name);
      break;
    }
    const FeatureSpec spec = SpecOf(*feature);
    std::string refusal = Refusal(name, value, spec, *this);
    if (!refusal.empty()) {
      errors.push_back(std::move(refusal));
    } else if (std::string warning = Warning(name, value, spec); !warning.empty()) {
      notes.push_back(std::move(warning));
    }
  }
  if (warnings != nullptr) warnings->insert(warnings->end(), notes.begin(), notes.end());
  if (!errors.empty()) return Fail(Join(errors));
  std::swap(asked_, wanted);
  errors = BrokenDependencies();
  if (errors.empty()) return {};
  std::swap(asked_, wanted);
  return Fail(Join(errors));
}

std::vector<FeatureGates::Value> FeatureGates::All() const {
  std::vector<Value> values;
  for (const Feature& feature : KnownFeatures()) {
    if (!feature.KnownIn(minor_)) continue;
    const FeatureSpec spec = SpecOf(feature);
    if (spec.stage == FeatureStage::kNone) continue;
    values.push_back({feature.name, spec, ValueOf(feature)});
  }
  return values;
}

std::vector<std::string> FeatureGates::NotHonoured() const {
  std::vector<std::string> names;
  for (const GateOfBerth& gate : GatesOfBerth()) {
    const Feature& feature = FeatureOf(gate.gate);
    const bool followed = gate.followed && emulated_ >= gate.since;
    if (followed || !feature.KnownIn(minor_)) continue;
    const bool enabled = ValueOf(feature);
    if (enabled == feature.At(minor_).enabled) continue;
    names.push_back(std::string(feature.name) + "=" + std::string(Word(enabled)));
  }
  return names;
}

}  // namespace berth::config
