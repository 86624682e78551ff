// ResourceSlice: devices a driver offers, on one node or many.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/core/node_selector.h"
#include "api/meta.h"
#include "api/resource/device.h"

namespace berth::api {

// The pool the slice is a part of; only slices of the newest generation count.
struct ResourcePool {
  std::string name;
  int64_t generation = 0;
  int64_t resource_slice_count = 0;

  bool operator==(const ResourcePool&) const = default;
  static const TypeInfo& Type();
};

// The devices and the nodes that reach them.
struct ResourceSliceSpec {
  std::string driver;
  ResourcePool pool;
  std::optional<std::string> node_name;
  Box<NodeSelector> node_selector;
  std::optional<bool> all_nodes;
  std::vector<Device> devices;
  std::optional<bool> per_device_node_selection;
  std::vector<CounterSet> shared_counters;

  bool operator==(const ResourceSliceSpec&) const = default;
  static const TypeInfo& Type();
};

// A part of a pool of devices.
struct ResourceSlice {
  static constexpr std::string_view kApiVersion = "resource.k8s.io/v1";
  static constexpr std::string_view kKind = "ResourceSlice";

  ObjectMeta metadata;
  ResourceSliceSpec spec;

  bool operator==(const ResourceSlice&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
