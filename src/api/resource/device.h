// Devices as a resource slice publishes them: attributes, capacity, shared counters, taints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/core/node_selector.h"
#include "api/rules/quantity.h"
#include "api/time.h"
#include "api/values.h"

namespace berth::api {

// Exactly one value is set.
struct DeviceAttribute {
  std::optional<int64_t> int_;
  std::optional<bool> bool_;
  Box<std::string> string;
  Box<std::string> version;

  bool operator==(const DeviceAttribute&) const = default;
  static const TypeInfo& Type();
};

// Amounts a request is rounded to.
struct CapacityRequestPolicyRange {
  std::optional<Quantity> min;
  std::optional<Quantity> max;
  std::optional<Quantity> step;

  bool operator==(const CapacityRequestPolicyRange&) const = default;
  static const TypeInfo& Type();
};

// What may be asked of a capacity that several claims share.
struct CapacityRequestPolicy {
  std::optional<Quantity> default_;
  std::vector<Quantity> valid_values;
  std::optional<CapacityRequestPolicyRange> valid_range;

  bool operator==(const CapacityRequestPolicy&) const = default;
  static const TypeInfo& Type();
};

// An amount a device has.
struct DeviceCapacity {
  Quantity value;
  Box<CapacityRequestPolicy> request_policy;

  bool operator==(const DeviceCapacity&) const = default;
  static const TypeInfo& Type();
};

// An amount.
struct Counter {
  Quantity value;

  bool operator==(const Counter&) const = default;
  static const TypeInfo& Type();
};

// Named amounts that devices of the slice draw from.
struct CounterSet {
  std::string name;
  Map<Counter> counters;

  bool operator==(const CounterSet&) const = default;
  static const TypeInfo& Type();
};

// What a device draws from a counter set.
struct DeviceCounterConsumption {
  std::string counter_set;
  Map<Counter> counters;

  bool operator==(const DeviceCounterConsumption&) const = default;
  static const TypeInfo& Type();
};

// Keeps away claims that do not tolerate it.
struct DeviceTaint {
  std::string key;
  std::string value;
  std::string effect;
  std::optional<Time> time_added;

  bool operator==(const DeviceTaint&) const = default;
  static const TypeInfo& Type();
};

// One device of a slice.
struct Device {
  std::string name;
  Map<DeviceAttribute> attributes;
  Map<DeviceCapacity> capacity;
  std::vector<DeviceCounterConsumption> consumes_counters;
  Box<std::string> node_name;
  Box<NodeSelector> node_selector;
  std::optional<bool> all_nodes;
  std::vector<DeviceTaint> taints;
  std::optional<bool> binds_to_node;
  std::vector<std::string> binding_conditions;
  std::vector<std::string> binding_failure_conditions;
  std::optional<bool> allow_multiple_allocations;

  bool operator==(const Device&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
