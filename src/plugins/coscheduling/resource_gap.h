// ResourceGap: whether all nodes together have the free resources that a group asks for.
//
// The sum ignores taints, cordons and fragmentation, as the original does: it only keeps groups out
// of the cycle that cannot fit at all. What is missing is printed as Go prints the fields of a
// quantity, because that is the message users know.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "api/values.h"
#include "cluster/cluster.h"

namespace berth::plugins::coscheduling {

// value * 10^scale. Sums that int64 cannot hold stay at its bounds.
class ScaledAmount {
 public:
  ScaledAmount() = default;
  ScaledAmount(int64_t value, int32_t scale) : value_(value), scale_(scale) {}
  explicit ScaledAmount(const api::Quantity& quantity);

  // The finer of the two scales becomes this one's.
  void Subtract(int64_t value, int32_t scale);
  bool IsPositive() const { return value_ > 0; }
  // "{{2000 -3} {<nil>}  DecimalSI}"
  std::string GoText() const;

 private:
  int64_t value_ = 0;
  int32_t scale_ = 0;
  std::string text_;  // it was parsed from; cleared by arithmetic
  std::string_view format_ = "DecimalSI";
};

// Empty: there is enough. Otherwise "resource gap: map[…]". Pods of the group `group` ("ns/name")
// count as if they had left their nodes.
std::string ResourceGap(const cluster::Cluster& cluster, const api::ResourceList& wanted,
                        int64_t pods, std::string_view namespace_, std::string_view group);

}  // namespace berth::plugins::coscheduling
