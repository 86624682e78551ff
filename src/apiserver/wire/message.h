// The fields of Kubernetes' API objects: their names in JSON, their numbers in protobuf, their
// types.
//
// All fields of all built-in kinds in every supported release, unlike src/api, which describes what
// a scheduler reads. From it objects are translated between JSON and protobuf without losing any,
// and described to clients. `Served` says which of the fields one API server has.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "config/behaviour.h"
#include "config/feature_gates.h"

namespace berth::apiserver::wire {

enum class Type : uint8_t {
  kText,
  kInt,
  kBool,
  kBytes,
  kDouble,
  kTexts,  // a list of texts, in protobuf a message of its own
  kQuantity,
  kIntOrString,
  kRaw,  // any JSON
  kTime,
  kMicroTime,
  kDuration,
  kMessage,
};

struct Message;

struct Field {
  uint32_t number = 0;
  std::string_view name = {};  // empty: inlined
  bool pointer = false;        // set to zero and not set differ
  bool repeated = false;
  bool map = false;  // from text
  bool keeps_zero = false;
  bool inlined = false;  // its fields are those of the message around it
  Type type = Type::kText;
  const Message* message = nullptr;
  // How strategic merge patches treat a list, as in x-kubernetes-patch-….
  std::string_view patch_strategy = {};
  std::string_view merge_key = {};
  uint8_t releases = 0xf;                // bit n: config::Release n has the field
  std::vector<config::Gate> gates = {};  // all must be on, else the API server drops the field
};

// The fields that an API server has: those of its release, and of these the ones that its feature
// gates let it keep.
class Served {
 public:
  explicit Served(const config::FeatureGates& gates);

  bool Knows(const Field& field) const { return (field.releases & release_) != 0; }
  bool Keeps(const Field& field) const;

 private:
  uint8_t release_;
  std::vector<bool> off_;  // by gate: known to the release, and not on
};

struct Message {
  std::string_view name;  // "core.v1.PodSpec"
  std::vector<Field> fields;

  const Field* Find(std::string_view json_name) const;  // not those of inlined messages
  const Field* Find(uint32_t number) const;

  boost::unordered_flat_map<std::string_view, uint32_t> by_name;  // places in `fields`
};

// Null: not a message of Kubernetes' API, or a custom one.
const Message* FindMessage(std::string_view group, std::string_view version, std::string_view kind);

}  // namespace berth::apiserver::wire
