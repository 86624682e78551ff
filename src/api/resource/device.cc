#include "api/resource/device.h"

namespace berth::api {

const TypeInfo& DeviceAttribute::Type() {
  static const TypeInfo type = Describe<DeviceAttribute>("DeviceAttribute")
                                   .Field(2, "int", &DeviceAttribute::int_)
                                   .Field(3, "bool", &DeviceAttribute::bool_)
                                   .Field(4, "string", &DeviceAttribute::string)
                                   .Field(5, "version", &DeviceAttribute::version)
                                   .Build();
  return type;
}

const TypeInfo& CapacityRequestPolicyRange::Type() {
  static const TypeInfo type = Describe<CapacityRequestPolicyRange>("CapacityRequestPolicyRange")
                                   .Field(1, "min", &CapacityRequestPolicyRange::min)
                                   .Field(2, "max", &CapacityRequestPolicyRange::max)
                                   .Field(3, "step", &CapacityRequestPolicyRange::step)
                                   .Build();
  return type;
}

const TypeInfo& CapacityRequestPolicy::Type() {
  static const TypeInfo type = Describe<CapacityRequestPolicy>("CapacityRequestPolicy")
                                   .Always(1, "default", &CapacityRequestPolicy::default_)
                                   .Field(3, "validValues", &CapacityRequestPolicy::valid_values)
                                   .Field(4, "validRange", &CapacityRequestPolicy::valid_range)
                                   .Build();
  return type;
}

const TypeInfo& DeviceCapacity::Type() {
  static const TypeInfo type = Describe<DeviceCapacity>("DeviceCapacity")
                                   .Always(1, "value", &DeviceCapacity::value)
                                   .Field(2, "requestPolicy", &DeviceCapacity::request_policy)
                                   .Build();
  return type;
}

const TypeInfo& Counter::Type() {
  static const TypeInfo type =
      Describe<Counter>("Counter").Always(1, "value", &Counter::value).Build();
  return type;
}

const TypeInfo& CounterSet::Type() {
  static const TypeInfo type = Describe<CounterSet>("CounterSet")
                                   .Always(1, "name", &CounterSet::name)
                                   .Field(2, "counters", &CounterSet::counters)
                                   .Build();
  return type;
}

const TypeInfo& DeviceCounterConsumption::Type() {
  static const TypeInfo type = Describe<DeviceCounterConsumption>("DeviceCounterConsumption")
                                   .Always(1, "counterSet", &DeviceCounterConsumption::counter_set)
                                   .Field(2, "counters", &DeviceCounterConsumption::counters)
                                   .Build();
  return type;
}

const TypeInfo& DeviceTaint::Type() {
  static const TypeInfo type = Describe<DeviceTaint>("DeviceTaint")
                                   .Always(1, "key", &DeviceTaint::key)
                                   .Field(2, "value", &DeviceTaint::value)
                                   .Always(3, "effect", &DeviceTaint::effect)
                                   .Field(4, "timeAdded", &DeviceTaint::time_added)
                                   .Build();
  return type;
}

const TypeInfo& Device::Type() {
  static const TypeInfo type =
      Describe<Device>("Device")
          .Always(1, "name", &Device::name)
          .Field(2, "attributes", &Device::attributes)
          .Field(3, "capacity", &Device::capacity)
          .Field(4, "consumesCounters", &Device::consumes_counters)
          .Field(5, "nodeName", &Device::node_name)
          .Field(6, "nodeSelector", &Device::node_selector)
          .Field(7, "allNodes", &Device::all_nodes)
          .Field(8, "taints", &Device::taints)
          .Field(9, "bindsToNode", &Device::binds_to_node)
          .Field(10, "bindingConditions", &Device::binding_conditions)
          .Field(11, "bindingFailureConditions", &Device::binding_failure_conditions)
          .Field(12, "allowMultipleAllocations", &Device::allow_multiple_allocations)
          .Build();
  return type;
}

}  // namespace berth::api
