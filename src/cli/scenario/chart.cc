#include "cli/scenario/chart.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "cli/scenario/amounts.h"

namespace berth::cli {
namespace {

constexpr double kWidth = 400;
constexpr double kHeight = 210;
constexpr double kLeft = 46;
constexpr double kRight = 12;
constexpr double kTop = 10;
constexpr double kBottom = 24;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kPlotHeight = kHeight - kTop - kBottom;
constexpr double kBase = kTop + kPlotHeight;

// A coordinate; a tenth of a unit is fine enough, and equal everywhere.
std::string At(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

struct Scale {
  double end = 1;  // of time
  double top = 1;
  double bottom = 0;  // above 0: equal distances are equal factors
  double X(double time) const { return kLeft + kPlotWidth * (end > 0 ? time / end : 0); }
  double Y(double value) const {
    const double share = bottom > 0
                             ? std::log(std::max(value, bottom) / bottom) / std::log(top / bottom)
                             : value / top;
    return kBase - kPlotHeight * std::clamp(share, 0.0, 1.0);
  }
};

std::string Head(const std::string& title, const std::string& about) {
  return fmt::format("<figure class=\"chart\">\n<figcaption><h3>{}</h3><p>{}</p></figcaption>\n",
                     Escaped(title), Escaped(about));
}

std::string Legend(const TimeChart& chart) {
  if (chart.series.size() < 2) return "";
  std::string text = "<ul class=\"legend\">";
  for (size_t i = 0; i < chart.series.size(); ++i) {
    text += fmt::format("<li><i class=\"s{}\"></i>{}</li>", i, Escaped(chart.series[i].label));
  }
  return text + "</ul>\n";
}

std::string Open(const std::string& title) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", At(kWidth),
                     At(kHeight), Escaped(title));
}

std::string Axis(const Scale& scale, const std::vector<double>& steps,
                 const std::function<std::string(double)>& show) {
  std::string text;
  for (const double step : steps) {
    const std::string y = At(scale.Y(step));
    text +=
        fmt::format("<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>",
                    step == steps.front() ? "base" : "grid", At(kLeft), At(kWidth - kRight), y, y);
    text += fmt::format("<text class=\"y\" x=\"{}\" y=\"{}\">{}</text>\n", At(kLeft - 6),
                        At(scale.Y(step) + 3.5), Escaped(show(step)));
  }
  return text;
}

// A place on the x axis.
std::string PlaceText(const TimeChart& chart, double x) {
  if (chart.percent) return fmt::format("{:.3g} %", x);
  return x == 0 ? "0s" : LengthText(x);
}

std::string TimeAxis(const TimeChart& chart, const Scale& scale) {
  std::string text;
  for (const double time : chart.percent ? AxisSteps(scale.end) : TimeSteps(scale.end)) {
    if (time > scale.end) break;
    const double x = scale.X(time);
    // A label at the right edge must not stick out.
    const char* place = x > kWidth - kRight - 14 ? "end" : "middle";
    text += fmt::format("<text class=\"x\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", At(x),
                        At(kHeight - 8), place, time == 0 ? "0" : PlaceText(chart, time));
  }
  return text;
}

std::string Line(const Scale& scale, const std::vector<double>& times,
                 const std::vector<double>& values, size_t number) {
  std::string points;
  for (size_t i = 0; i < times.size(); ++i) {
    points +=
        fmt::format("{}{},{}", i == 0 ? "" : " ", At(scale.X(times[i])), At(scale.Y(values[i])));
  }
  return fmt::format("<polyline class=\"line s{}\" points=\"{}\"/>\n", number, points);
}

std::string Area(const Scale& scale, const std::vector<double>& times,
                 const std::vector<double>& below, const std::vector<double>& above,
                 size_t number) {
  std::string points;
  for (size_t i = 0; i < times.size(); ++i) {
    points += fmt::format("{},{} ", At(scale.X(times[i])), At(scale.Y(above[i])));
  }
  for (size_t i = times.size(); i-- > 0;) {
    points += fmt::format("{},{} ", At(scale.X(times[i])), At(scale.Y(below[i])));
  }
  if (!points.empty()) points.pop_back();
  return fmt::format("<polygon class=\"area s{}\" points=\"{}\"/>\n", number, points);
}

std::string Curves(const TimeChart& chart, const Scale& scale) {
  std::string text;
  std::vector<double> below(chart.times.size(), 0);
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const std::vector<double>& values = chart.series[i].values;
    if (!chart.stacked) {
      text += Line(scale, chart.times, values, i);
      continue;
    }
    std::vector<double> above = below;
    for (size_t j = 0; j < above.size(); ++j) above[j] += values[j];
    text += Area(scale, chart.times, below, above, i);
    below = std::move(above);
  }
  return text;
}

std::string Moments(const TimeChart& chart, const Scale& scale) {
  std::string text;
  for (const auto& [from, to] : chart.shaded) {
    const double x = scale.X(from);
    text += fmt::format(
        "<rect class=\"shade\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title>"
        "</rect>\n",
        At(x), At(kTop), At(std::max(1.0, scale.X(to) - x)), At(kPlotHeight),
        Escaped(chart.shaded_about));
  }
  for (const auto& [time, name] : chart.marks) {
    const std::string x = At(scale.X(time));
    text += fmt::format("<line class=\"mark\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n", x, x,
                        At(kTop), At(kBase));
  }
  return text;
}

// One area per sample, half way to its neighbours.
std::string Hovers(const TimeChart& chart, const Scale& scale) {
  std::string text;
  const size_t count = chart.times.size();
  for (size_t i = 0; i < count; ++i) {
    const double from =
        i == 0 ? scale.X(chart.times[0]) : scale.X((chart.times[i - 1] + chart.times[i]) / 2);
    const double to =
        i + 1 == count ? kWidth - kRight : scale.X((chart.times[i] + chart.times[i + 1]) / 2);
    std::string title = PlaceText(chart, chart.times[i]);
    for (const Series& series : chart.series) {
      title += fmt::format("\n{}: {}", series.label, chart.show(series.values[i]));
    }
    const double start = i == 0 ? 0 : (chart.times[i - 1] + chart.times[i]) / 2;
    const double end = i + 1 == count ? scale.end : (chart.times[i] + chart.times[i + 1]) / 2;
    for (const auto& [time, name] : chart.marks) {
      const bool here = time >= start && (time < end || (i + 1 == count && time <= end));
      if (here) title += fmt::format("\n{}: {}", LengthText(time), name);
    }
    text += fmt::format(
        "<rect class=\"hover\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title>"
        "</rect>\n",
        At(from), At(kTop), At(std::max(0.1, to - from)), At(kPlotHeight), Escaped(title));
  }
  return text;
}

double Highest(const TimeChart& chart) {
  double highest = 0;
  for (size_t i = 0; i < chart.times.size(); ++i) {
    double sum = 0;
    for (const Series& series : chart.series) {
      sum = chart.stacked ? sum + series.values[i] : std::max(sum, series.values[i]);
    }
    highest = std::max(highest, sum);
  }
  return highest;
}

// The smallest value that is not 0; 0 when there is none.
double Lowest(const TimeChart& chart) {
  double lowest = 0;
  for (const Series& series : chart.series) {
    for (const double value : series.values) {
      if (value > 0 && (lowest == 0 || value < lowest)) lowest = value;
    }
  }
  return lowest;
}

}  // namespace

std::string Escaped(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::vector<double> AxisSteps(double top) {
  if (!(top > 0)) top = 1;
  const double rough = top / 4;
  const double decade = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * decade;
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * decade >= rough * (1 - 1e-9)) {
      step = factor * decade;
      break;
    }
  }
  std::vector<double> steps;
  for (int i = 0; i == 0 || static_cast<double>(i - 1) * step < top * (1 - 1e-9); ++i) {
    steps.push_back(static_cast<double>(i) * step);
  }
  return steps;
}

std::vector<double> LengthSteps(double low, double high) {
  static constexpr double kSteps[] = {0.001, 0.01, 0.1,   1,      10,     60,
                                      600,   3600, 36000, 864000, 8640000};
  std::vector<double> steps;
  for (size_t i = 0; i < std::size(kSteps); ++i) {
    const bool last = i + 1 == std::size(kSteps);
    const bool below = !last && kSteps[i + 1] <= low;
    const bool above = steps.size() >= 2 && steps.back() >= high;
    if (!below && !above) steps.push_back(kSteps[i]);
  }
  if (steps.size() < 2) steps.insert(steps.begin(), kSteps[std::size(kSteps) - 2]);
  return steps;
}

std::vector<double> TimeSteps(double end) {
  static constexpr double kSteps[] = {1,   2,    5,    10,   15,    30,    60,    120,   300,  600,
                                      900, 1800, 3600, 7200, 10800, 14400, 21600, 43200, 86400};
  constexpr double kMost = 6;
  double step = kSteps[0];
  for (const double candidate : kSteps) {
    step = candidate;
    if (end / step <= kMost) break;
  }
  if (end / step > kMost) step *= std::ceil(end / step / kMost);
  std::vector<double> times;
  for (int i = 0; static_cast<double>(i) * step <= end; ++i) {
    times.push_back(static_cast<double>(i) * step);
  }
  return times;
}

std::string Draw(const TimeChart& chart) {
  std::string text = Head(chart.title, chart.about) + Legend(chart);
  const double highest = chart.top > 0 ? chart.top : Highest(chart);
  const std::vector<double> steps =
      chart.lengths ? LengthSteps(Lowest(chart), highest) : AxisSteps(highest);
  const Scale scale{chart.times.empty() ? 0 : chart.times.back(), steps.back(), steps.front()};
  text += Open(chart.title) + Axis(scale, steps, chart.show) + TimeAxis(chart, scale);
  text += Moments(chart, scale) + Curves(chart, scale) + Hovers(chart, scale);
  return text + "</svg>\n</figure>\n";
}

std::string Draw(const BarChart& chart) {
  std::string text = Head(chart.title, chart.about);
  double highest = 0;
  for (const double value : chart.values) highest = std::max(highest, value);
  const std::vector<double> steps = AxisSteps(highest);
  const Scale scale{1, steps.back(), 0};
  text += Open(chart.title) + Axis(scale, steps, chart.show);
  const size_t count = chart.values.size();
  const double slot = kPlotWidth / static_cast<double>(std::max<size_t>(1, count));
  const size_t every = count / 7 + 1;  // labels that fit
  for (size_t i = 0; i < count; ++i) {
    const double x = kLeft + slot * static_cast<double>(i);
    const double y = scale.Y(chart.values[i]);
    text += fmt::format(
        "<rect class=\"bar s0\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\"/>\n",
        At(x + 1), At(y), At(std::max(1.0, slot - 2)), At(kBase - y));
    if (i % every == 0) {
      text += fmt::format("<text class=\"x\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                          At(x + slot / 2), At(kHeight - 8), Escaped(chart.labels[i]));
    }
    text += fmt::format(
        "<rect class=\"hover\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}: {}</title>"
        "</rect>\n",
        At(x), At(kTop), At(slot), At(kPlotHeight), Escaped(chart.labels[i]),
        Escaped(chart.show(chart.values[i])));
  }
  return text + "</svg>\n</figure>\n";
}

}  // namespace berth::cli
