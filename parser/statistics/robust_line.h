// A line through values that odd ones do not move: its slope is Theil and Sen's, the median over
// all pairs.
#pragma once

#include <span>
#include <vector>

namespace llmb::parser {

struct LinePoint {
  double x = 0;
  double y = 0;
};

// `points`: by x, which rises; two at least.
double theil_sen_slope(std::span<const LinePoint> points);

// What a line of this slope leaves, about 0; odd values are drawn in. `deviation_min`: by how much
// values deviate at least, also where rounding makes them equal.
std::vector<double> clipped_residuals(std::span<const LinePoint> points, double slope,
                                      double deviation_min);

}  // namespace llmb::parser
