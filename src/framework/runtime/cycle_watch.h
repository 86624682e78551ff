// CycleWatch: callbacks at the extension points of a cycle, so that an observer with a clock can
// time it. The core reads no clock.
//
// A cycle without a watch costs one comparison per extension point. All calls are made on the
// cycle's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "framework/points/status.h"

namespace berth::framework {

enum class Point : uint8_t {
  kPreEnqueue,
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kNormalize,
  kReserve,
  kUnreserve,
  kPermit,
  kPreBindPreFlight,
  kPreBind,
  kBind,
  kPostBind,
  kSign,
};
inline constexpr size_t kPoints = 15;

// kube-scheduler's name, as in the labels of metrics: "PreFilter", "ScoreExtensionNormalize", …
std::string_view PointName(Point point);

class CycleWatch {
 public:
  virtual ~CycleWatch() = default;
  // All plugins of a point, with the status of the whole. Points do not nest.
  virtual void PointBegan(Point) {}
  virtual void PointEnded(Point, Code) {}
  // The points after PreFilter that were reported so far do not count: the cycle starts over with a
  // scan of all nodes.
  virtual void StartedOver() {}
  // One plugin, within a point. Filter and Score are reported once for all nodes; the code is
  // Unschedulable if no node passed.
  virtual void PluginBegan() {}
  virtual void PluginEnded(Point, std::string_view /*plugin*/, Code) {}
};

// Calls of a plugin; for Filter and Score, the number of nodes. Calls that return Skip do not
// count.
struct PluginCalls {
  uint64_t pre_filter = 0;
  uint64_t filter = 0;
  uint64_t post_filter = 0;
  uint64_t pre_score = 0;
  uint64_t score = 0;
};

// Reports a point from construction to End, to a watch that may be null.
class WatchedPoint {
 public:
  WatchedPoint(CycleWatch* watch, Point point) : watch_(watch), point_(point) {
    if (watch_ != nullptr) watch_->PointBegan(point_);
  }
  void End(Code code) {
    if (watch_ != nullptr) watch_->PointEnded(point_, code);
  }

 private:
  CycleWatch* watch_;
  Point point_;
};

}  // namespace berth::framework
