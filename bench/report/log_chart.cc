#include "bench/report/log_chart.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "cli/scenario/chart.h"

namespace berth::bench {
namespace {

constexpr double kWidth = 860;
constexpr double kLeft = 70;
constexpr double kRight = 240;  // the legend
constexpr double kTop = 44;
constexpr double kBottom = 46;
constexpr double kRowHeight = 19;  // of the legend
constexpr double kLeastHeight = 420;

// Told apart by people who do not see all colours, too: every second round is dashed.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#8c6d00", "#56b4e9", "#7f3c8d", "#444444"};

std::string Stroke(size_t line) {
  const size_t colours = std::size(kColours);
  return fmt::format("stroke=\"{}\"{}", kColours[line % colours],
                     line / colours % 2 == 1 ? " stroke-dasharray=\"5 3\"" : "");
}

struct Axis {
  double low = 1;  // powers of ten
  double high = 10;
  double from = 0;  // where they are in the picture
  double to = 1;
  double At(double value) const {
    return from + (to - from) * std::log(value / low) / std::log(high / low);
  }
};

bool IsShown(const std::pair<double, double>& point) {
  return point.first > 0 && point.second > 0 && std::isfinite(point.first) &&
         std::isfinite(point.second);
}

// Axes around all points.
std::pair<Axis, Axis> AxesOf(const LogChart& chart, double height) {
  double low_x = std::numeric_limits<double>::infinity();
  double low_y = low_x;
  double high_x = 0;
  double high_y = 0;
  for (const LogChart::Line& line : chart.lines) {
    for (const auto& point : line.points) {
      if (!IsShown(point)) continue;
      low_x = std::min(low_x, point.first);
      high_x = std::max(high_x, point.first);
      low_y = std::min(low_y, point.second);
      high_y = std::max(high_y, point.second);
    }
  }
  if (high_x == 0) low_x = low_y = high_x = high_y = 1;
  const auto xs = Decades(low_x, high_x);
  const auto ys = Decades(low_y, high_y);
  return {Axis{xs.front(), xs.back(), kLeft, kWidth - kRight},
          Axis{ys.front(), ys.back(), height - kBottom, kTop}};
}

std::string Grid(const Axis& x, const Axis& y) {
  std::string text;
  for (const double value : Decades(x.low, x.high)) {
    text += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>\n",
        x.At(value), y.from, y.to, y.from + 17, ShortNumber(value));
  }
  for (const double value : Decades(y.low, y.high)) {
    text += fmt::format(
        "<line x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\" stroke=\"#ddd\"/>"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        y.At(value), x.from, x.to, x.from - 7, y.At(value) + 4, ShortNumber(value));
  }
  return text;
}

std::string Curve(const LogChart::Line& line, size_t index, const Axis& x, const Axis& y) {
  std::string path;
  std::string dots;
  for (const auto& point : line.points) {
    if (!IsShown(point)) continue;
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", x.At(point.first),
                        y.At(point.second));
    dots += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\" fill=\"{}\"><title>{}: {}"
        "</title></circle>\n",
        x.At(point.first), y.At(point.second), kColours[index % std::size(kColours)],
        cli::Escaped(line.label), fmt::format("{:.4g}, {:.4g}", point.first, point.second));
  }
  if (path.empty()) return "";
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-width=\"1.8\" {}/>\n{}", path,
                     Stroke(index), dots);
}

std::string Legend(const LogChart& chart) {
  std::string text;
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    const double y = kTop + 8 + kRowHeight * static_cast<double>(i);
    const double x = kWidth - kRight + 16;
    text += fmt::format(
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke-width=\"2.4\" {}/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        x, x + 26, y, y, Stroke(i), x + 33, y + 4, cli::Escaped(chart.lines[i].label));
  }
  return text;
}

}  // namespace

std::vector<double> Decades(double low, double high) {
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  int last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  if (last <= first) last = first + 1;
  std::vector<double> decades;
  for (int i = first; i <= last; ++i) decades.push_back(std::pow(10, i));
  return decades;
}

std::string ShortNumber(double value) {
  if (value >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:g}", value);
}

std::string DrawSvg(const LogChart& chart) {
  const double legend = kRowHeight * static_cast<double>(chart.lines.size()) + kTop + kBottom;
  const double height = std::max(kLeastHeight, legend);
  const auto [x, y] = AxesOf(chart, height);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
      "height=\"{1:g}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
      "<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"#fff\"/>\n"
      "<text x=\"{2:g}\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{3}</text>\n",
      kWidth, height, kLeft, cli::Escaped(chart.title));
  text += Grid(x, y);
  text += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n"
      "<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      (x.from + x.to) / 2, height - 8, cli::Escaped(chart.x_title), (y.from + y.to) / 2,
      cli::Escaped(chart.y_title));
  for (size_t i = 0; i < chart.lines.size(); ++i) text += Curve(chart.lines[i], i, x, y);
  return text + Legend(chart) + "</svg>\n";
}

}  // namespace berth::bench
