#include "api/resource/device_taint_rule.h"

namespace berth::api {

const TypeInfo& DeviceTaintSelector::Type() {
  static const TypeInfo type =
      Describe<DeviceTaintSelector>("DeviceTaintSelector")
          .Field(1, "deviceClassName", &DeviceTaintSelector::device_class_name)
          .Field(2, "driver", &DeviceTaintSelector::driver)
          .Field(3, "pool", &DeviceTaintSelector::pool)
          .Field(4, "device", &DeviceTaintSelector::device)
          .Field(5, "selectors", &DeviceTaintSelector::selectors)
          .Build();
  return type;
}

const TypeInfo& DeviceTaintRuleSpec::Type() {
  static const TypeInfo type =
      Describe<DeviceTaintRuleSpec>("DeviceTaintRuleSpec")
          .Field(1, "deviceSelector", &DeviceTaintRuleSpec::device_selector)
          .Field(2, "taint", &DeviceTaintRuleSpec::taint)
          .Build();
  return type;
}

const TypeInfo& DeviceTaintRule::Type() {
  static const TypeInfo type = Describe<DeviceTaintRule>("DeviceTaintRule")
                                   .Always(1, "metadata", &DeviceTaintRule::metadata)
                                   .Always(2, "spec", &DeviceTaintRule::spec)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
