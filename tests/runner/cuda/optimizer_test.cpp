// AdamW, the gradient norm, and the smallest operations: kernels against the CPU.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "runner/cpu/adamw.h"
#include "runner/kernels/adamw.h"
#include "runner/kernels/elementwise.h"
#include "runner/kernels/gradient_norm.h"
#include "tests/runner/cuda/device_values.h"

namespace llmb::runner::kernels {
namespace {

using runner::testing::DeviceValues;
using runner::testing::expect_close;
using runner::testing::kSeeds;
using runner::testing::kTolerance;
using runner::testing::random_tensor;
using runner::testing::zeros;
using Numbers = cpu::Tensor<double>;

template <typename T>
class SmallOperations : public ::testing::Test {};
using Types = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(SmallOperations, Types);

// Of one block, of several, and a few elements that no vector fits.
constexpr std::int64_t kSizes[] = {256, 20001, 3};

// Two stretches of every size, the second of which begins between vectors.
struct Stretch {
  std::int64_t begin, count;
};
std::vector<Stretch> stretches(std::int64_t& total) {
  std::vector<Stretch> result;
  total = 0;
  for (const std::int64_t size : kSizes) {
    result.push_back({total, size});
    total += size + 1;
  }
  return result;
}

TEST(Optimizer, UpdatesManyStretchesInOneLaunch) {
  const cpu::AdamWSettings settings = {.learning_rate = 0.01};
  constexpr std::int64_t kStep = 3;
  const double clip = 0.5;
  std::int64_t total = 0;
  const auto places = stretches(total);
  const Numbers before = random_tensor(4, total, 1, 0.1, 1);
  for (const auto seed : kSeeds) {
    simt::set_order_seed(seed);
    DeviceValues<float> gradients(before);
    DeviceValues<float> states(before);
    Numbers expected = states.numbers();
    std::vector<AdamWSegment> segments;
    for (const Stretch& place : places) {
      const bool decays = place.count != 256;
      segments.push_back({gradients.data() + place.begin, states.matrix().row(1) + place.begin,
                          states.matrix().row(2) + place.begin,
                          states.matrix().row(3) + place.begin, place.count, decays});
      auto of_place = settings;
      of_place.weight_decay = decays ? settings.weight_decay : 0;
      const Numbers gradient_numbers = gradients.numbers();
      const auto stretch = [&](Numbers& numbers, std::int64_t row) {
        return numbers.values().subspan(static_cast<std::size_t>(row * total + place.begin),
                                        static_cast<std::size_t>(place.count));
      };
      cpu::AdamW<double>::update(
          of_place, kStep, clip,
          gradient_numbers.values().subspan(static_cast<std::size_t>(place.begin),
                                            static_cast<std::size_t>(place.count)),
          stretch(expected, 1), stretch(expected, 2), stretch(expected, 3));
    }
    const std::int64_t blocks = place_segments(std::span(segments));
    adamw_update(make_adamw_step(settings.learning_rate, settings.beta1, settings.beta2,
                                 settings.epsilon, settings.weight_decay, kStep),
                 segments.data(), static_cast<int>(segments.size()), blocks, &clip, nullptr);
    expect_close(states.numbers(), expected, kTolerance<float>, "states");
  }
}

TEST(Optimizer, ClipsByTheNormOfAllGradients) {
  std::int64_t total = 0;
  const auto places = stretches(total);
  DeviceValues<float> gradients(random_tensor(1, total, 1));
  std::vector<GradientSegment> segments;
  double sum_expected = 0;
  const Numbers numbers = gradients.numbers();
  for (const Stretch& place : places) {
    segments.push_back({gradients.data() + place.begin, place.count});
    sum_expected += cpu::AdamW<double>::sum_of_squares(numbers.values().subspan(
        static_cast<std::size_t>(place.begin), static_cast<std::size_t>(place.count)));
  }
  const std::int64_t blocks = place_segments(std::span(segments));
  for (const auto seed : kSeeds) {
    simt::set_order_seed(seed);
    std::vector<double> partials(static_cast<std::size_t>(blocks));
    double sum = 0;
    sum_of_squares(segments.data(), static_cast<int>(segments.size()), blocks, partials.data(),
                   &sum, nullptr);
    EXPECT_NEAR(sum, sum_expected, 1e-10 * sum_expected);
    for (const double max_norm : {1.0, 1e6, 0.0}) {
      double norm = 0;
      double scale = 0;
      clip_factor(&sum, max_norm, &norm, &scale, nullptr);
      EXPECT_NEAR(norm, std::sqrt(sum_expected), 1e-10 * norm);
      EXPECT_NEAR(scale, clip_scale(norm, max_norm), 1e-12);
    }
  }
  for (const double broken : {std::nan(""), HUGE_VAL}) {
    double norm = 0;
    double scale = 0;
    clip_factor(&broken, 1, &norm, &scale, nullptr);
    EXPECT_FALSE(std::isfinite(norm));
    EXPECT_TRUE(std::isnan(scale));
  }
}

TYPED_TEST(SmallOperations, FillsCopiesAddsAndSums) {
  using T = TypeParam;
  for (const auto& [rows, cols, padding] :
       {std::array<std::int64_t, 3>{3, 40, 0}, {2, 9001, 7}, {1, 5, 0}}) {
    const Numbers numbers = random_tensor(rows, cols, 1);
    DeviceValues<T> x(numbers, padding);
    const float doubled = 2;
    DeviceValues<Bf16> narrow(rows, cols, padding);
    scaled_copy<T, Bf16>({x.matrix(), narrow.matrix()}, nullptr);
    expect_close(narrow.numbers(), DeviceValues<Bf16>(x.numbers()).numbers(), 0, "narrow");
    DeviceValues<float> y(rows, cols);
    fill(1.5F, y.matrix(), nullptr);
    scaled_copy<T, float>({x.matrix(), y.matrix(), 3.0F, &doubled, y.matrix()}, nullptr);
    Numbers expected = x.numbers();
    double total_expected = 0;
    for (double& value : expected.values()) {
      value = 1.5 + 6 * value;
      total_expected += value;
    }
    expect_close(y.numbers(), expected, 1e-6, "sum");
    double total = 1;
    sum_values(y.data(), rows * cols, &total, true, nullptr);
    EXPECT_NEAR(total, 1 + total_expected, 1e-5 * std::fabs(total_expected) + 1e-5);
  }
}

}  // namespace
}  // namespace llmb::runner::kernels
