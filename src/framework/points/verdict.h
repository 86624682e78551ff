// Verdicts: why a node was rejected, without strings.
//
// A verdict names the plugin, the code and a reason id whose meaning is the plugin's own; within
// one cycle, equal verdicts mean equal reasons. Reasons are formatted on demand (Plugin::Reasons).
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/ids.h"
#include "framework/points/status.h"

namespace berth::framework {

// The plugin field of a verdict without a plugin: a PreFilter result excluded the node.
inline constexpr uint8_t kNoPlugin = 0xff;
// The detail of a verdict without a plugin but with a reason: an extender's.
inline constexpr uint16_t kForeignVerdict = 1;

struct Verdict {
  uint8_t plugin = kNoPlugin;  // position in the profile's plugin table
  Code code = Code::kSuccess;
  uint16_t detail = 0;  // the plugin's own
  uint32_t reason = 0;  // the plugin's own

  bool operator==(const Verdict&) const = default;
  uint64_t Packed() const {
    return uint64_t{plugin} << 56 | uint64_t{static_cast<uint8_t>(code)} << 48 |
           uint64_t{detail} << 32 | reason;
  }
};
static_assert(sizeof(Verdict) == 8);

// One verdict per row. Meaningful only for rows a filter has rejected in the current cycle: rows
// are not reset.
using VerdictTable = std::vector<Verdict>;

}  // namespace berth::framework
