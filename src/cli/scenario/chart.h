// Charts as inline SVG: lines and stacked areas over time, and bars.
//
// 400 units wide, so that letters keep their size in a column of about 400 pixels. Colours come
// from classes (s0 to s5) that the page defines. Every sample has a hover area whose title gives
// its values.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace berth::cli {

// & < > " made harmless.
std::string Escaped(const std::string& text);

struct Series {
  std::string label;
  std::vector<double> values;  // one per time
};

struct TimeChart {
  std::string title;
  std::string about;          // what is shown and in which unit
  std::vector<double> times;  // seconds, ascending
  std::vector<Series> series;
  bool stacked = false;
  double top = 0;  // of the axis; 0: as high as the values need
  // The x axis has percent instead of times.
  bool percent = false;
  // Values are lengths of time that differ by powers of ten: equal distances are equal factors.
  bool lengths = false;
  std::function<std::string(double)> show;            // a value as text
  std::vector<std::pair<double, std::string>> marks;  // named moments
  std::vector<std::pair<double, double>> shaded;      // from, to
  std::string shaded_about;
};
std::string Draw(const TimeChart& chart);

struct BarChart {
  std::string title;
  std::string about;
  std::vector<std::string> labels;
  std::vector<double> values;
  std::function<std::string(double)> show;
};
std::string Draw(const BarChart& chart);

// 0 and round steps up to at least `top`: 0, 25, 50, 75, 100.
std::vector<double> AxisSteps(double top);
// Round lengths of time in seconds that enclose those from `low` to `high`: 10ms, 100ms, 1s, 10s,
// 1m.
std::vector<double> LengthSteps(double low, double high);
// Round times up to `end` seconds, at most seven: 0, 1h, 2h, …
std::vector<double> TimeSteps(double end);

}  // namespace berth::cli
