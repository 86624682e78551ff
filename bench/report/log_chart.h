// LogChart: lines over two axes on which equal distances are equal factors, as a picture that
// stands alone (SVG).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace berth::bench {

struct LogChart {
  std::string title;
  std::string x_title;
  std::string y_title;
  struct Line {
    std::string label;
    std::vector<std::pair<double, double>> points;  // ascending; those not above 0 are left out
  };
  std::vector<Line> lines;
};

std::string DrawSvg(const LogChart& chart);

// 1, 10, 100 …: the powers of ten that enclose both. REQUIRES: 0 < low <= high.
std::vector<double> Decades(double low, double high);

// 100, 1k, 10M, 0.1
std::string ShortNumber(double value);

}  // namespace berth::bench
