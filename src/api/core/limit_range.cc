#include "api/core/limit_range.h"

namespace berth::api {

const TypeInfo& LimitRangeItem::Type() {
  static const TypeInfo type =
      Describe<LimitRangeItem>("LimitRangeItem")
          .Always(1, "type", &LimitRangeItem::type)
          .Field(2, "max", &LimitRangeItem::max)
          .Field(3, "min", &LimitRangeItem::min)
          .Field(4, "default", &LimitRangeItem::default_)
          .Field(5, "defaultRequest", &LimitRangeItem::default_request)
          .Field(6, "maxLimitRequestRatio", &LimitRangeItem::max_limit_request_ratio)
          .Build();
  return type;
}

const TypeInfo& LimitRangeSpec::Type() {
  static const TypeInfo type = Describe<LimitRangeSpec>("LimitRangeSpec")
                                   .Always(1, "limits", &LimitRangeSpec::limits)
                                   .Build();
  return type;
}

const TypeInfo& LimitRange::Type() {
  static const TypeInfo type = Describe<LimitRange>("LimitRange")
                                   .Always(1, "metadata", &LimitRange::metadata)
                                   .Always(2, "spec", &LimitRange::spec)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
