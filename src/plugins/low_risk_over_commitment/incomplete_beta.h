// The regularized incomplete beta function.
#pragma once

namespace berth::plugins::low_risk_over_commitment {

// I_x(a, b): the probability that a Beta(a, b) variable is at most x. By the expansions of the
// Cephes library (S. L. Moshier), with its limits on the number of steps: far from the mean of very
// narrow distributions it is as inexact as there. REQUIRES: a, b > 0 and 0 < x < 1.
double IncompleteBeta(double a, double b, double x);

}  // namespace berth::plugins::low_risk_over_commitment
