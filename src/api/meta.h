// Metadata every Kubernetes object carries, label selectors, owner references and the API server's
// Status answer (meta/v1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/string_map.h"
#include "api/time.h"

namespace berth::api {

// The object that owns this one; at most one owner is the controller.
struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  std::optional<bool> controller;
  std::optional<bool> block_owner_deletion;

  bool operator==(const OwnerReference&) const = default;
  static const TypeInfo& Type();
};

// Name, identity and labels of an object. managedFields are skipped when decoding.
struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string namespace_;
  std::string uid;
  std::string resource_version;
  int64_t generation = 0;
  Time creation_timestamp;
  std::optional<Time> deletion_timestamp;
  std::optional<int64_t> deletion_grace_period_seconds;
  StringMap labels;
  StringMap annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;

  bool operator==(const ObjectMeta&) const = default;
  static const TypeInfo& Type();
};

// Metadata of a list: the resource version to watch from and the token for the next page.
struct ListMeta {
  std::string resource_version;
  std::string continue_;
  std::optional<int64_t> remaining_item_count;

  bool operator==(const ListMeta&) const = default;
  static const TypeInfo& Type();
};

// One requirement on a label: In, NotIn, Exists or DoesNotExist.
struct LabelSelectorRequirement {
  std::string key;
  std::string operator_;
  std::vector<std::string> values;

  bool operator==(const LabelSelectorRequirement&) const = default;
  static const TypeInfo& Type();
};

// All requirements must hold; an empty selector matches everything, an absent one nothing.
struct LabelSelector {
  StringMap match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;

  bool operator==(const LabelSelector&) const = default;
  static const TypeInfo& Type();
};

// A typed condition with the generation it was observed at.
struct Condition {
  std::string type;
  std::string status;
  int64_t observed_generation = 0;
  Time last_transition_time;
  std::string reason;
  std::string message;

  bool operator==(const Condition&) const = default;
  static const TypeInfo& Type();
};

// One reason among several for a failed request.
struct StatusCause {
  std::string reason;
  std::string message;
  std::string field;

  bool operator==(const StatusCause&) const = default;
  static const TypeInfo& Type();
};

// What a failed request was about.
struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<StatusCause> causes;
  int32_t retry_after_seconds = 0;

  bool operator==(const StatusDetails&) const = default;
  static const TypeInfo& Type();
};

// The answer of the API server to a request that returns no object.
struct Status {
  static constexpr std::string_view kApiVersion = "v1";
  static constexpr std::string_view kKind = "Status";

  ListMeta metadata;
  std::string status;
  std::string message;
  std::string reason;
  Box<StatusDetails> details;
  int32_t code = 0;

  bool operator==(const Status&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
