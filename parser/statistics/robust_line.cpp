#include "parser/statistics/robust_line.h"

#include <algorithm>
#include <cmath>

#include "parser/statistics/median.h"

namespace llmb::parser {

double theil_sen_slope(std::span<const LinePoint> points) {
  std::vector<double> slopes;
  slopes.reserve(points.size() * (points.size() - 1) / 2);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      slopes.push_back((points[j].y - points[i].y) / (points[j].x - points[i].x));
    }
  }
  return median_of(slopes);
}

std::vector<double> clipped_residuals(std::span<const LinePoint> points, double slope,
                                      double deviation_min) {
  constexpr double kClipDeviations = 3;
  std::vector<double> residuals;
  for (const LinePoint& point : points) residuals.push_back(point.y - slope * point.x);
  const double middle = median_of(residuals);
  std::vector<double> distances;
  for (double& residual : residuals) {
    residual -= middle;
    distances.push_back(std::abs(residual));
  }
  const double deviation = std::max(kDeviationsPerMad * median_of(distances), deviation_min);
  double sum = 0;
  for (double& residual : residuals) {
    residual = std::clamp(residual, -kClipDeviations * deviation, kClipDeviations * deviation);
    sum += residual;
  }
  for (double& residual : residuals) residual -= sum / static_cast<double>(residuals.size());
  return residuals;
}

}  // namespace llmb::parser
