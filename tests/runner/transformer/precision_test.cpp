// What narrow numbers do to a linear layer, against an oracle that rounds and multiplies the slow
// way.
#include <gtest/gtest.h>

#include <functional>

#include "runner/cpu/backend.h"
#include "runner/model/linear_layer.h"
#include "runner/parallel/loopback_communicator.h"
#include "tests/runner/cpu/finite_difference.h"
#include "tests/runner/cpu/fp8_oracle.h"
#include "tests/runner/model/tiny_models.h"

namespace llmb::runner {
namespace {

using cpu::Fp8Format;
using cpu::Tensor;
using testing::nearest_fp8;
using testing::random_tensor;
using Backend = cpu::Backend<double>;

// As if every element had its own way of being rounded: (matrix, row, column) -> number.
using Rounding = std::function<double(const Tensor<double>&, std::int64_t, std::int64_t)>;

double at(const Tensor<double>& x, std::int64_t row, std::int64_t col) {
  return x.data()[row * x.cols() + col];
}

double bf16(const Tensor<double>& x, std::int64_t row, std::int64_t col) {
  return cpu::round_to_bf16(static_cast<float>(at(x, row, col)));
}

double largest_of(const Tensor<double>& x) {
  double largest = 0;
  for (const double value : x.values()) largest = std::max(largest, std::fabs(value));
  return largest;
}

Rounding scaled_fp8(Fp8Format format, double largest) {
  return [=](const Tensor<double>& x, std::int64_t row, std::int64_t col) {
    const double scale = largest > 0 ? cpu::fp8_max(format) / largest : 1;
    return nearest_fp8(static_cast<float>(at(x, row, col) * scale), format) / scale;
  };
}

Rounding mxfp8(bool along_rows) {
  return [=](const Tensor<double>& x, std::int64_t row, std::int64_t col) {
    double largest = 0;
    for (std::int64_t other = 0; other < (along_rows ? x.cols() : x.rows()); ++other) {
      if (other / 32 != (along_rows ? col : row) / 32) continue;
      largest = std::max(largest, std::fabs(along_rows ? at(x, row, other) : at(x, other, col)));
    }
    double scale = 1;
    while (largest * scale > 448) scale /= 2;
    while (largest * scale * 2 <= 448) scale *= 2;
    return nearest_fp8(static_cast<float>(at(x, row, col) * scale), Fp8Format::e4m3) / scale;
  };
}

Tensor<double> rounded(const Tensor<double>& x, const Rounding& rounding) {
  Tensor<double> y(x.rows(), x.cols());
  for (std::int64_t row = 0; row < x.rows(); ++row) {
    for (std::int64_t col = 0; col < x.cols(); ++col) {
      y.data()[row * x.cols() + col] = rounding(x, row, col);
    }
  }
  return y;
}

// c(i, j) = sum over k of a and b as `pick` gives them.
Tensor<double> product(
    std::int64_t rows, std::int64_t cols, std::int64_t inner,
    const std::function<double(std::int64_t, std::int64_t, std::int64_t)>& term) {
  Tensor<double> c(rows, cols);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k) sum += term(i, j, k);
      c.data()[i * cols + j] = sum;
    }
  }
  return c;
}

void expect_near(const Tensor<double>& values, const Tensor<double>& expected, double relative,
                 const char* what) {
  const double largest = largest_of(expected);
  ASSERT_GT(largest, 0) << what;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values.data()[i], expected.data()[i], relative * largest) << what << " " << i;
  }
}

// The second MLP matrix of a tiny Llama: 32 rows of 48, so that MX blocks end early.
class Layer {
 public:
  explicit Layer(Precision precision)
      : world_(make_loopback_world()),
        spec_(tiny_llama()),
        layout_(*Layout::make({}, 1)),
        groups_(make_rank_groups(*world_, layout_)),
        store_(ops_, spec_, layout_, 0),
        context_(ops_, spec_, layout_, 0, groups_, 1, precision),
        linear_(context_, store_.at("layers.0.mlp.fc2.weight")) {
    store_.initialize(spec_, 3);
    weight_.resize(32, 48);
    const auto stored = store_.at("layers.0.mlp.fc2.weight").weight;
    // As the optimizer keeps them.
    if (precision == Precision::bf16) {
      std::transform(stored.begin(), stored.end(), stored.begin(), cpu::round_to_bf16);
    }
    std::copy(stored.begin(), stored.end(), weight_.data());
    run();
  }

  // Outputs are BF16; the weight's gradient is a sum that stays wide.
  void expect(const Rounding& input, const Rounding& weight, const Rounding& gradient,
              const Rounding& input_down, const Rounding& weight_down,
              const Rounding& gradient_down) {
    constexpr double kBf16 = 1.0 / 256;
    const Tensor<double> x = rounded(x_, input);
    const Tensor<double> w = rounded(weight_, weight);
    const Tensor<double> dy = rounded(dy_, gradient);
    const Tensor<double> x_down = rounded(x_, input_down);
    const Tensor<double> w_down = rounded(weight_, weight_down);
    const Tensor<double> dy_down = rounded(dy_, gradient_down);
    expect_near(
        y_,
        product(kRows, 32, 48, [&](auto i, auto j, auto k) { return at(x, i, k) * at(w, j, k); }),
        kBf16, "y");
    expect_near(dx_,
                product(kRows, 48, 32,
                        [&](auto i, auto j, auto k) { return at(dy, i, k) * at(w_down, k, j); }),
                kBf16, "dx");
    expect_near(
        dweight_,
        product(32, 48, kRows,
                [&](auto i, auto j, auto k) { return at(dy_down, k, i) * at(x_down, k, j); }),
        1e-12, "dweight");
    for (const double value : y_.values()) {
      EXPECT_EQ(value, cpu::round_to_bf16(static_cast<float>(value)));
    }
  }

  const Tensor<double>& x() const { return x_; }
  const Tensor<double>& weight() const { return weight_; }
  const Tensor<double>& dy() const { return dy_; }
  LinearLayer<Backend>& linear() { return linear_; }

  void run() {
    store_.zero_gradients();
    linear_.forward(x_, y_);
    linear_.backward(x_, dy_, dx_);
    const auto gradient = store_.at("layers.0.mlp.fc2.weight").gradient;
    std::copy(gradient.begin(), gradient.end(), dweight_.data());
  }

 private:
  static constexpr std::int64_t kRows = 40;

  std::unique_ptr<World> world_;
  ModelSpec spec_;
  Layout layout_;
  RankGroups groups_;
  cpu::Ops<double> ops_;
  ParameterStore<cpu::Backend<double>> store_;
  StageContext<Backend> context_;
  LinearLayer<Backend> linear_;
  Tensor<double> weight_;
  Tensor<double> x_ = random_tensor(kRows, 48, 1, -3, 3);
  Tensor<double> dy_ = random_tensor(kRows, 32, 2, -1e-4, 1e-4);
  Tensor<double> y_{kRows, 32};
  Tensor<double> dx_{kRows, 48};
  Tensor<double> dweight_{32, 48};
};

TEST(LinearLayer, RoundsToBf16) {
  Layer layer(Precision::bf16);
  layer.expect(bf16, bf16, bf16, bf16, bf16, bf16);
}

TEST(LinearLayer, RoundsToFp8ByTheCurrentMaxima) {
  Layer layer(Precision::fp8_current);
  const Rounding input = scaled_fp8(Fp8Format::e4m3, largest_of(layer.x()));
  const Rounding weight = scaled_fp8(Fp8Format::e4m3, largest_of(layer.weight()));
  const Rounding gradient = scaled_fp8(Fp8Format::e5m2, largest_of(layer.dy()));
  layer.expect(input, weight, gradient, input, weight, gradient);
}

TEST(LinearLayer, RoundsToFp8ByTheMaximaOfEarlierSteps) {
  Layer layer(Precision::fp8_delayed);
  // Nothing is known in the first step; in the second, what the first one saw, doubled here.
  std::vector<NamedHistory> histories;
  layer.linear().add_histories(0, histories);
  ASSERT_EQ(histories.size(), 3U);
  std::vector<double> maxima(layer.linear().history_count());
  layer.linear().take_maxima(maxima);
  for (std::size_t i = 0; i < histories.size(); ++i) {
    histories[i].history->end_step(2 * maxima[i]);
  }
  layer.run();
  const Rounding input = scaled_fp8(Fp8Format::e4m3, 2 * largest_of(layer.x()));
  const Rounding weight = scaled_fp8(Fp8Format::e4m3, 2 * largest_of(layer.weight()));
  const Rounding gradient = scaled_fp8(Fp8Format::e5m2, 2 * largest_of(layer.dy()));
  layer.expect(input, weight, gradient, input, weight, gradient);
}

TEST(LinearLayer, RoundsToMxfp8AlongWhatIsAddedUp) {
  Layer layer(Precision::mxfp8);
  layer.expect(mxfp8(true), mxfp8(true), mxfp8(true), mxfp8(false), mxfp8(false), mxfp8(false));
}

TEST(AmaxHistory, GoesOnFromWhatItWas) {
  AmaxHistory history;
  for (int step = 0; step < 1500; ++step) history.end_step(step % 700);
  AmaxHistory restored;
  restored.restore(history.past());
  EXPECT_EQ(restored.past().size(), 1024U);
  EXPECT_EQ(restored.past().back(), 1499 % 700);
  for (int step = 0; step < 1100; ++step) {
    ASSERT_EQ(restored.scaling_max(), history.scaling_max()) << step;
    history.end_step(0);
    restored.end_step(0);
  }
}

TEST(AmaxHistory, TakesTheLargestOfTheLastSteps) {
  AmaxHistory history;
  EXPECT_EQ(history.scaling_max(), 0);
  history.end_step(7);
  for (int step = 0; step < 1023; ++step) {
    history.end_step(1);
    ASSERT_EQ(history.scaling_max(), 7);
  }
  history.end_step(0);  // the 7 is 1024 steps old
  EXPECT_EQ(history.scaling_max(), 1);
}

}  // namespace
}  // namespace llmb::runner
