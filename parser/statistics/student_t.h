// Student's t distribution: what is needed for intervals and tests on a few run means. Degrees of
// freedom need not be whole (Welch). Good to about 12 digits; tests hold it to tables.
#pragma once

namespace llmb::parser {

// I_x(a, b) = B(x; a, b) / B(a, b), for a, b > 0 and 0 <= x <= 1. Not NaN inside that range.
double regularized_incomplete_beta(double a, double b, double x);

// P(|T| >= |t|) with `degrees_of_freedom` > 0: the p-value of a two-sided test.
double student_t_two_sided_p(double t, double degrees_of_freedom);

// The t with P(|T| <= t) = `confidence`, 0 < confidence < 1: 0.95 gives the half width of a 95 %
// interval in standard errors.
double student_t_quantile(double confidence, double degrees_of_freedom);

}  // namespace llmb::parser
