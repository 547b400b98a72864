// MadeSeries: values about levels and lines, with noise of the deviation 1, the same for each seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace llmb::parser {

class MadeSeries {
 public:
  explicit MadeSeries(std::uint64_t seed) : random_(seed) {}

  // `dependence`: how much each value takes over of the one before it.
  std::vector<double> noise(std::size_t count, double dependence = 0) {
    std::vector<double> values;
    double value = normal_(random_);
    while (values.size() < count) {
      values.push_back(value);
      value = dependence * value + std::sqrt(1 - dependence * dependence) * normal_(random_);
    }
    return values;
  }

  // By `slope` a value from `begin` on, until `end`.
  std::vector<double> ramp(std::size_t count, double slope, std::size_t begin, std::size_t end) {
    auto values = noise(count);
    for (std::size_t i = begin; i < count; ++i) {
      values[i] += slope * static_cast<double>(std::min(i, end) - begin);
    }
    return values;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

}  // namespace llmb::parser
