// Scenario: events that happen to a cluster over time, read from a file.
//
// The structs mirror the file (docs/scenarios.md is the reference). ParseScenario checks every
// value, so users of a Scenario need not: durations are positive where required, node groups have
// amounts, selectors parse, objects are decoded, and every event has exactly one action.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/object.h"
#include "api/rules/label_selector.h"
#include "api/values.h"
#include "base/error.h"
#include "sim/scenario/spread.h"

namespace berth::sim {

// Equal nodes.
struct NodeGroup {
  int64_t count = 1;
  std::string name;  // of the nodes: NAME-1, NAME-2, …
  api::Quantity cpu;
  api::Quantity memory;
  std::optional<int64_t> pods;        // 110 unless given
  api::Map<api::Quantity> resources;  // others, such as example.com/gpu
  api::StringMap labels;
  std::vector<std::string> taints;  // KEY[=VALUE]:EFFECT
  std::vector<std::string> zones;   // the nodes take turns

  static const api::TypeInfo& Type();
};

// A selection of nodes. All given conditions must hold.
struct NodePick {
  std::string name;              // * stands for any text
  std::string selector;          // on labels
  std::optional<int64_t> count;  // this many of them, at random

  static const api::TypeInfo& Type();
};

struct TaintNodes {
  NodePick nodes;
  std::vector<std::string> taints;  // KEY[=VALUE]:EFFECT; to remove: also KEY
  static const api::TypeInfo& Type();
};

struct LabelNodes {
  NodePick nodes;
  api::StringMap labels;
  std::vector<std::string> remove;
  static const api::TypeInfo& Type();
};

struct ResizeNodes {
  NodePick nodes;
  std::optional<api::Quantity> cpu;
  std::optional<api::Quantity> memory;
  std::optional<int64_t> pods;
  static const api::TypeInfo& Type();
};

struct DeleteObjects {
  std::string kind;
  std::string namespace_;
  std::string name;      // * stands for any text
  std::string selector;  // on labels
  static const api::TypeInfo& Type();
};

struct ScaleWorkload {
  std::string kind;
  std::string namespace_;
  std::string name;
  int64_t replicas = 0;
  static const api::TypeInfo& Type();
};

// Pods without a controller: `count` at once, or `per_second` over time.
struct PodArrivals {
  std::optional<int64_t> count;
  std::optional<double> per_second;
  std::optional<api::Duration> for_;  // how long they keep coming; to the end unless given
  std::string name;                   // of the pods: NAME-1, NAME-2, …
  std::string namespace_;
  std::optional<api::Quantity> cpu;
  std::optional<api::Quantity> memory;
  std::string priority_class_name;
  std::optional<int32_t> priority;
  api::StringMap labels;
  api::RawJson template_;  // metadata and spec of a pod; the fields above add to it
  std::string lifetime;    // a Spread; runs for ever unless given

  // Made by ParseScenario.
  api::Pod pod;

  static const api::TypeInfo& Type();
};

struct CrashScheduler {
  api::Duration down{5'000'000'000};
  static const api::TypeInfo& Type();
};

struct ScenarioEvent {
  std::string name;  // shown in the report
  std::optional<api::Duration> at;
  std::optional<api::Duration> every;
  std::optional<api::Duration> until;
  std::optional<int64_t> times;

  // Exactly one of these.
  std::vector<api::RawJson> apply;
  std::string apply_file;
  std::optional<DeleteObjects> delete_;
  std::optional<ScaleWorkload> scale;
  std::optional<NodePick> cordon;
  std::optional<NodePick> uncordon;
  std::optional<NodePick> drain;
  std::optional<TaintNodes> taint;
  std::optional<TaintNodes> untaint;
  std::optional<LabelNodes> label;
  std::optional<ResizeNodes> resize;
  std::optional<NodeGroup> add_nodes;
  std::optional<NodePick> remove_nodes;
  std::optional<PodArrivals> pods;
  std::optional<CrashScheduler> crash_scheduler;

  // Made by ParseScenario.
  std::string path;                  // events[3]
  std::vector<api::Object> objects;  // of apply and applyFile

  static const api::TypeInfo& Type();
};

struct NetworkSpec {
  std::string writes;   // round trip from the scheduler to the API server; Spreads
  std::string watches;  // a watch event
  std::string cycle;    // one scheduling cycle
  static const api::TypeInfo& Type();
};

struct ReferencePod {
  api::Quantity cpu;
  api::Quantity memory;
  static const api::TypeInfo& Type();
};

// The file.
struct ScenarioFile {
  std::string api_version;
  std::string kind;
  int64_t seed = 0;
  std::optional<api::Duration> duration;
  std::optional<api::Duration> sample_every;
  std::string config;
  std::vector<std::string> cluster;
  std::vector<api::RawJson> objects;
  std::optional<NetworkSpec> network;
  std::string pod_startup;
  std::optional<ReferencePod> reference_pod;
  std::vector<NodeGroup> nodes;
  std::vector<ScenarioEvent> events;

  static const api::TypeInfo& Type();
};

struct Scenario {
  uint64_t seed = 0;
  std::optional<Nanos> duration;
  std::optional<Nanos> sample_every;
  std::string config;                // as written; empty: none
  std::vector<api::Object> objects;  // of `cluster` and `objects`, in this order
  std::vector<NodeGroup> nodes;
  Spread writes = Spread::Fixed(5 * kMillisecond);
  Spread watches = Spread::Fixed(5 * kMillisecond);
  Spread cycle = Spread::Fixed(kMillisecond);
  Spread pod_startup = Spread::Fixed(2 * kSecond);
  std::optional<ReferencePod> reference_pod;
  std::vector<ScenarioEvent> events;
};

// Reads the objects of a manifest named in a scenario. The path is as written there.
using ManifestReader = std::function<Result<std::vector<api::Object>>(const std::string& path)>;

// Errors name the path inside the scenario and the value.
Result<Scenario> ParseScenario(std::string_view text, const ManifestReader& read);

// Adds objects from elsewhere to those the cluster starts with. Kinds that scheduling does not use
// are ignored; an error names the object.
Result<void> AddObjects(std::vector<api::Object> objects, std::vector<api::Object>* to);

// KEY[=VALUE]:EFFECT.
Result<api::Taint> ParseTaint(std::string_view text);

// * stands for any text, also none.
bool MatchesPattern(std::string_view pattern, std::string_view text);

// The annotation with a pod's run time once it has started; a Spread.
inline constexpr std::string_view kLifetimeAnnotation = "berth.dev/lifetime";

// A limit against typing errors; no scenario needs more.
inline constexpr int64_t kMaxCount = 1'000'000;

}  // namespace berth::sim
