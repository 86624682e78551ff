#include "plugins/peaks/go_exp.h"

#include <array>
#include <cmath>
#include <limits>

namespace berth::plugins::peaks {
namespace {

constexpr double kLog2E = 1.4426950408889634073599246810018920;
// ln 2 in two parts.
constexpr double kLn2High = 0.69314718055966295651160180568695068359375;
constexpr double kLn2Low = 0.28235290563031577122588448175013436025525412068e-12;
constexpr double kOverflow = 7.09782712893384e+02;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kHalvings = 4;

// 1/8! down to 1/1!.
constexpr std::array kTaylor = {2.4801587301587301587e-5,
                                1.9841269841269841270e-4,
                                1.3888888888888888889e-3,
                                8.3333333333333333333e-3,
                                4.1666666666666666667e-2,
                                1.6666666666666666667e-1,
                                0.5,
                                1.0};

}  // namespace

// The method of N. Shibata (ISC 2010): x = n ln 2 + 16 r; e^r - 1 by its Taylor series, then four
// times (1 + y)^2 - 1 = y (y + 2).
double GoExp(double x) {
  if (std::isnan(x)) return x;
  if (x > kOverflow) return kInfinity;
  if (x < -800) return 0;
  const int n = static_cast<int>(std::nearbyint(x * kLog2E));
  double r = std::fma(-static_cast<double>(n), kLn2High, x);
  r = std::fma(-static_cast<double>(n), kLn2Low, r);
  r *= 0.0625;
  double series = kTaylor[0];
  for (size_t i = 1; i < kTaylor.size(); ++i) series = std::fma(series, r, kTaylor[i]);
  double y = r * series;
  for (int i = 1; i < kHalvings; ++i) y *= y + 2;
  y = std::fma(y + 2, y, 1.0);
  constexpr int kBias = 1023;
  if (n + kBias >= 2047) return kInfinity;
  if (n + kBias < -52) return 0;
  return std::ldexp(y, n);
}

}  // namespace berth::plugins::peaks
