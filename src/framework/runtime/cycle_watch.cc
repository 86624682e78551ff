#include "framework/runtime/cycle_watch.h"

namespace berth::framework {

std::string_view PointName(Point point) {
  constexpr std::string_view kNames[kPoints] = {"PreEnqueue",
                                                "PreFilter",
                                                "Filter",
                                                "PostFilter",
                                                "PreScore",
                                                "Score",
                                                "ScoreExtensionNormalize",
                                                "Reserve",
                                                "Unreserve",
                                                "Permit",
                                                "PreBindPreFlight",
                                                "PreBind",
                                                "Bind",
                                                "PostBind",
                                                "Sign"};
  return kNames[static_cast<size_t>(point)];
}

}  // namespace berth::framework
