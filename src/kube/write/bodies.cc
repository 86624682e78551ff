#include "kube/write/bodies.h"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "api/codec/json.h"
#include "api/codec/proto.h"
#include "api/core/reference.h"
#include "api/go/go_text.h"
#include "kube/client/api_client.h"
#include "kube/write/proto_text.h"

namespace berth::kube {

namespace {

// A key of a condition and its JSON; "" when the key is absent.
using JsonKey = std::pair<std::string_view, std::string>;

std::string Quoted(std::string_view text) {
  std::string out;
  api::AppendJsonString(out, text);
  return out;
}

std::string TimeOrNull(const api::Time& time) {
  return time.IsZero() ? "null" : Quoted(time.Format());
}

std::string OmitEmpty(std::string_view text) { return text.empty() ? "" : Quoted(text); }

// All keys, sorted: what encoding/json makes of a condition by way of a map.
std::vector<JsonKey> KeysOf(const api::PodCondition& condition) {
  const int64_t generation = condition.observed_generation;
  return {{"lastProbeTime", TimeOrNull(condition.last_probe_time)},
          {"lastTransitionTime", TimeOrNull(condition.last_transition_time)},
          {"message", OmitEmpty(condition.message)},
          {"observedGeneration", generation == 0 ? "" : std::to_string(generation)},
          {"reason", OmitEmpty(condition.reason)},
          {"status", Quoted(condition.status)},
          {"type", Quoted(condition.type)}};
}

std::vector<JsonKey> KeysOf(const api::Condition& condition) {
  const int64_t generation = condition.observed_generation;
  return {{"lastTransitionTime", TimeOrNull(condition.last_transition_time)},
          {"message", Quoted(condition.message)},
          {"observedGeneration", generation == 0 ? "" : std::to_string(generation)},
          {"reason", Quoted(condition.reason)},
          {"status", Quoted(condition.status)},
          {"type", Quoted(condition.type)}};
}

std::string JsonObject(const std::vector<JsonKey>& keys) {
  std::string out = "{";
  for (const auto& [key, value] : keys) {
    if (value.empty()) continue;
    if (out.size() > 1) out += ',';
    out += Quoted(key) + ':' + value;
  }
  return out + '}';
}

// What a condition that is there already becomes: changed keys, those that go as null, and the type
// it is found by. Empty: nothing changes.
template <class Condition>
std::vector<JsonKey> ChangedKeys(const Condition& from, const Condition& to) {
  const std::vector<JsonKey> old_keys = KeysOf(from);
  std::vector<JsonKey> keys = KeysOf(to);
  bool changed = false;
  for (size_t i = 0; i + 1 < keys.size(); ++i) {  // the type is the last
    if (keys[i].second == old_keys[i].second) {
      keys[i].second.clear();
      continue;
    }
    changed = true;
    if (keys[i].second.empty()) keys[i].second = "null";
  }
  if (!changed) keys.clear();
  return keys;
}

std::string ElementOrder(const std::vector<std::string>& types, std::string_view added) {
  std::string out = "[";
  const auto append = [&](std::string_view type) {
    if (out.size() > 1) out += ',';
    out += "{\"type\":" + Quoted(type) + '}';
  };
  for (const std::string& type : types) append(type);
  if (!added.empty()) append(added);
  return out + ']';
}

// The keys of the status that are about its conditions. `keys`: of the one that is written.
void AddCondition(const std::vector<std::string>& types, const std::string& type,
                  const std::vector<JsonKey>& keys, std::vector<JsonKey>& status) {
  if (keys.empty()) return;
  const bool there = std::find(types.begin(), types.end(), type) != types.end();
  if (!types.empty()) {
    status.emplace_back("$setElementOrder/conditions", ElementOrder(types, there ? "" : type));
  }
  status.emplace_back("conditions", '[' + JsonObject(keys) + ']');
}

void AddConditions(const scheduler::PatchPodStatus& patch, std::vector<JsonKey>& status) {
  const std::vector<std::string>& types = patch.condition_types;
  const api::PodCondition& condition = *patch.condition;
  const bool there = std::find(types.begin(), types.end(), condition.type) != types.end();
  std::vector<JsonKey> keys = KeysOf(condition);
  if (there && patch.old_condition) {
    keys = ChangedKeys(*patch.old_condition, condition);
  } else if (there && condition.last_probe_time.IsZero()) {
    keys.front().second.clear();  // nobody sets it, so it does not change
  }
  AddCondition(types, condition.type, keys, status);
}

std::string ExtendedResourceClaim(const api::PodExtendedResourceClaimStatus& claim) {
  std::string mappings = "[";
  for (const api::ContainerExtendedResourceRequest& mapping : claim.request_mappings) {
    if (mappings.size() > 1) mappings += ',';
    mappings += JsonObject({{"containerName", Quoted(mapping.container_name)},
                            {"requestName", Quoted(mapping.request_name)},
                            {"resourceName", Quoted(mapping.resource_name)}});
  }
  return JsonObject({{"requestMappings", mappings + ']'},
                     {"resourceClaimName", Quoted(claim.resource_claim_name)}});
}

// The bytes that api::ToProto gives for the api::Binding, in its envelope.
std::string ProtoBinding(const scheduler::BindPod& bind) {
  using Out = ProtoText;
  constexpr std::string_view kMetaEnd("\x38\0\x42\0", 4);  // generation, creationTimestamp
  const std::initializer_list<std::string_view> type = {api::Binding::kApiVersion,
                                                        api::Binding::kKind};
  const std::initializer_list<std::string_view> meta = {bind.pod.name, "", bind.pod.namespace_, "",
                                                        bind.pod.uid,  ""};
  const std::initializer_list<std::string_view> target = {"Node", "", bind.node, "", "", "", ""};
  const size_t meta_size = Out::Size(meta) + kMetaEnd.size();
  const size_t size = Out::MessageSize(meta_size) + Out::MessageSize(Out::Size(target));
  Out out(Out::EnvelopeSize(type, size));
  out.BeginEnvelope(type, size);
  out.Head(1, meta_size);
  out.Fields(meta);
  out.Bytes(kMetaEnd);
  out.Head(2, Out::Size(target));
  out.Fields(target);
  out.EndEnvelope();
  return std::move(out).Take();
}

}  // namespace

std::string BindingBody(const scheduler::BindPod& bind, std::string_view content_type,
                        std::string_view epoch) {
  if (content_type != kJson && epoch.empty()) return ProtoBinding(bind);
  api::Binding binding;
  binding.metadata.name = bind.pod.name;
  binding.metadata.namespace_ = bind.pod.namespace_;
  binding.metadata.uid = bind.pod.uid;
  binding.target.kind = "Node";
  binding.target.name = bind.node;
  if (!epoch.empty())
    binding.metadata.annotations.emplace(std::string(kEpochAnnotation), std::string(epoch));
  return content_type == kJson ? api::ToJson(binding) : api::ToEnvelope(binding);
}

std::string DeleteBody(std::string_view content_type) {
  if (content_type == kJson) return "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}";
  return api::WrapEnvelope("v1", "DeleteOptions", "");
}

std::optional<std::string> StatusPatch(const scheduler::PatchPodStatus& patch) {
  std::vector<JsonKey> status;
  if (patch.condition) AddConditions(patch, status);
  if (const auto& claim = patch.extended_resource_claim) {
    status.emplace_back("extendedResourceClaimStatus", ExtendedResourceClaim(*claim));
  }
  if (const auto& node = patch.nominated_node_name) {
    status.emplace_back("nominatedNodeName", node->empty() ? "null" : Quoted(*node));
  }
  if (status.empty()) return std::nullopt;
  return "{\"status\":" + JsonObject(status) + '}';
}

std::optional<std::string> StatusPatch(const scheduler::PatchPodGroupStatus& patch) {
  std::vector<JsonKey> status;
  AddCondition(patch.condition_types, patch.condition.type,
               patch.old_condition ? ChangedKeys(*patch.old_condition, patch.condition)
                                   : KeysOf(patch.condition),
               status);
  if (status.empty()) return std::nullopt;
  return "{\"status\":" + JsonObject(status) + '}';
}

}  // namespace berth::kube
