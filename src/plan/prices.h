// PriceList: what nodes cost per hour, by their labels.
//
//   prices:
//   - selector: node.kubernetes.io/instance-type=m5.large,karpenter.sh/capacity-type=spot
//     hourly: 0.038
//   - selector: node.kubernetes.io/instance-type=m5.large
//     hourly: 0.107
//
// The first entry whose selector matches a node is its price; an empty selector matches all nodes.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/node.h"
#include "api/rules/label_selector.h"
#include "base/error.h"

namespace berth::plan {

class PriceList {
 public:
  // Without entries: no node has a price.
  PriceList() = default;
  // YAML or JSON. The error names the entry.
  static Result<PriceList> Parse(std::string_view text);

  bool Empty() const { return entries_.empty(); }
  std::optional<double> Hourly(const api::Node& node) const;

 private:
  std::vector<std::pair<api::Selector, double>> entries_;
};

}  // namespace berth::plan
