#include "parser/statistics/student_t.h"

#include <cmath>
#include <limits>

namespace llmb::parser {
namespace {

// ln B(a, b). lgamma_r and not lgamma, which leaves the sign in a global that threads share.
double log_beta(double a, double b) {
  int sign = 0;
  return lgamma_r(a, &sign) + lgamma_r(b, &sign) - lgamma_r(a + b, &sign);
}

// The continued fraction of the incomplete beta function (DLMF 8.17.22), by the modified Lentz
// method. Converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kTermsMax = 10'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double numerator = 1;
  double denominator = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = denominator;
  for (int m = 1; m <= kTermsMax; ++m) {
    const double k = m;
    const double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
    denominator = 1 / away_from_zero(1 + even * denominator);
    numerator = away_from_zero(1 + even / numerator);
    fraction *= denominator * numerator;
    const double odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
    denominator = 1 / away_from_zero(1 + odd * denominator);
    numerator = away_from_zero(1 + odd / numerator);
    const double change = denominator * numerator;
    fraction *= change;
    if (std::abs(change - 1) < std::numeric_limits<double>::epsilon()) break;
  }
  return fraction;
}

}  // namespace

double regularized_incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta(a, b));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_t_two_sided_p(double t, double degrees_of_freedom) {
  const double x = degrees_of_freedom / (degrees_of_freedom + t * t);
  return regularized_incomplete_beta(degrees_of_freedom / 2, 0.5, x);
}

double student_t_quantile(double confidence, double degrees_of_freedom) {
  const double p = 1 - confidence;
  double low = 0;
  double high = 1;
  // The p-value falls as t rises: doubling brackets the quantile, halving finds it.
  while (student_t_two_sided_p(high, degrees_of_freedom) > p && high < 1e300) high *= 2;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (student_t_two_sided_p(middle, degrees_of_freedom) > p ? low : high) = middle;
  }
}

}  // namespace llmb::parser
