#include "plugins/low_risk_over_commitment/incomplete_beta.h"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace berth::plugins::low_risk_over_commitment {
namespace {

constexpr double kEpsilon = 1.0 / static_cast<double>(uint64_t{1} << 53);
constexpr double kMaxGamma = 171.624376956302725;  // of an argument whose gamma is finite
constexpr double kMaxLog = 1024 * std::numbers::ln2;
constexpr double kMinLog = -1075 * std::numbers::ln2;
constexpr double kBig = 4503599627370496;  // 2^52
constexpr int kMaxSteps = 300;

// B(a, b) and its logarithm, as the original's library has them: with signs that cancel.
double LogBeta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }
double Beta(double a, double b) { return std::exp(LogBeta(a, b)); }

// The convergents p/q of a continued fraction 1 + c1/(1 + c2/(1 + ...)).
class Convergents {
 public:
  void Add(double coefficient) {
    const double p = p_ + p_before_ * coefficient;
    const double q = q_ + q_before_ * coefficient;
    p_before_ = p_;
    q_before_ = q_;
    p_ = p;
    q_ = q;
  }
  // True when the value does not change any more.
  bool Converged() {
    if (q_ != 0) ratio_ = p_ / q_;
    if (ratio_ == 0) return false;
    const double change = std::fabs((value_ - ratio_) / ratio_);
    value_ = ratio_;
    return change < 3 * kEpsilon;
  }
  // Keeps p and q in the range of doubles.
  void Rescale() {
    if (std::fabs(q_) + std::fabs(p_) > kBig) Multiply(1 / kBig);
    if (std::fabs(q_) < 1 / kBig || std::fabs(p_) < 1 / kBig) Multiply(kBig);
  }
  double Value() const { return value_; }

 private:
  void Multiply(double factor) {
    for (double* number : {&p_, &p_before_, &q_, &q_before_}) *number *= factor;
  }

  double p_ = 1;
  double p_before_ = 0;
  double q_ = 1;
  double q_before_ = 1;
  double ratio_ = 1;
  double value_ = 1;
};

// Two expansions that differ in their variable and in the direction in which two factors go.
double Fraction(double a, double b, double x, bool of_odds) {
  const double z = of_odds ? x / (1 - x) : x;
  const double step = of_odds ? -1 : 1;
  double even = of_odds ? b - 1 : a + b;
  double odd = of_odds ? a + b : b - 1;
  Convergents fraction;
  for (int n = 0; n <= kMaxSteps; ++n) {
    const double at = a + 2 * n;
    fraction.Add(-(z * (a + n) * even) / (at * (at + 1)));
    fraction.Add(z * (1.0 + n) * odd / ((at + 1) * (at + 2)));
    if (fraction.Converged()) break;
    even += step;
    odd -= step;
    fraction.Rescale();
  }
  return fraction.Value();
}

// For small b * x.
double Series(double a, double b, double x) {
  const double first = (1 - b) * x;
  double product = first;
  double term = first / (a + 1);
  const double first_term = term;
  double sum = 0;
  for (double n = 2; std::fabs(term) > kEpsilon / a; n += 1) {
    product *= (n - b) * x / n;
    term = product / (a + n);
    sum += term;
  }
  sum += first_term;
  sum += 1 / a;
  const double log_power = a * std::log(x);
  if (a + b < kMaxGamma && std::fabs(log_power) < kMaxLog) {
    return sum * (1 / Beta(a, b)) * std::pow(x, a);
  }
  const double log = -LogBeta(a, b) + log_power + std::log(sum);
  return log < kMinLog ? 0 : std::exp(log);
}

// Below the mean, where the fractions converge fast. `rest`: 1 - x, without the error of a second
// subtraction.
double BelowMean(double a, double b, double x, double rest) {
  if (b * x <= 1 && x <= 0.95) return Series(a, b, x);
  const bool of_odds = !(x * (a + b - 2) - (a - 1) < 0);
  const double fraction = of_odds ? Fraction(a, b, x, true) / rest : Fraction(a, b, x, false);
  const double log_power = a * std::log(x);
  const double log_rest = b * std::log(rest);
  if (a + b < kMaxGamma && std::fabs(log_power) < kMaxLog && std::fabs(log_rest) < kMaxLog) {
    double factor = std::pow(rest, b) * std::pow(x, a);
    factor /= a;
    return factor * fraction * (1 / Beta(a, b));
  }
  const double log = log_power + (log_rest - LogBeta(a, b)) + std::log(fraction / a);
  return log < kMinLog ? 0 : std::exp(log);
}

}  // namespace

double IncompleteBeta(double a, double b, double x) {
  if (b * x <= 1 && x <= 0.95) return Series(a, b, x);
  const double rest = 1 - x;
  if (x <= a / (a + b)) return BelowMean(a, b, x, rest);
  const double above = BelowMean(b, a, rest, x);
  return above <= kEpsilon ? 1 - kEpsilon : 1 - above;
}

}  // namespace berth::plugins::low_risk_over_commitment
