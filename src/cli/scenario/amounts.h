// Numbers as the reports of scenarios show them.
#pragma once

#include <cstdint>
#include <string>

namespace berth::cli {

std::string Grouped(int64_t n);           // 12,345
std::string LengthText(double seconds);   // 12ms, 3.25s, 4m10s, 2h5m
std::string PercentText(double percent);  // 12.3%
std::string RateText(double per_second);  // 0.25, 12.3, 1,200

}  // namespace berth::cli
