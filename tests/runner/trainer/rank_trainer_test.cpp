// The trainer over stages whose gradients can be written down: every layer multiplies the sequence
// by its own weight. What the whole model does is tested where the model is.
#include "runner/trainer/rank_trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>

#include "runner/cpu/backend.h"
#include "runner/parallel/thread_communicator.h"
#include "tests/runner/model/tiny_models.h"

namespace llmb::runner {
namespace {

constexpr std::size_t kWidth = 3;  // of the activation between stages

// x_0 = (first token + 1) / 64 in every element; x_(l+1) = x_l * w_l, where w_l is the first weight
// of layer l's input norm; loss = sum of x's elements.
class ScalingStage final : public PipelineStage<cpu::Backend<double>> {
 public:
  ScalingStage(const ModelSpec& spec, const Layout& layout, int rank, int chunk,
               const ParameterStore<cpu::Backend<double>>& store)
      : is_first_(layout.place_of(rank).pp == 0 && chunk == 0),
        is_last_(layout.place_of(rank).pp == layout.sizes().pp - 1 &&
                 chunk == layout.sizes().vp - 1) {
    const LayerRange layers =
        layers_of(layout.sizes(), spec.shape.layer_count, layout.place_of(rank).pp, chunk);
    for (std::int64_t layer = layers.first; layer < layers.last; ++layer) {
      layers_.push_back(&store.at("layers." + std::to_string(layer) + ".input_norm.weight"));
    }
  }

  std::size_t boundary_elements() const override { return kWidth; }

  void forward(std::int64_t micro_batch, const TokenBatch& batch, double loss_scale,
               std::span<const double> input, std::span<double> output) override {
    loss_scale_ = loss_scale;
    EXPECT_EQ(input.empty(), is_first_);
    EXPECT_EQ(output.empty(), is_last_);
    std::vector<double> x(input.begin(), input.end());
    if (is_first_) x.assign(kWidth, (batch.inputs(0)[0] + 1) / 64.0);
    EXPECT_TRUE(kept_.emplace(micro_batch, x).second);
    for (const auto* layer : layers_) {
      for (double& element : x) element *= layer->weight[0];
    }
    if (is_first_) losses_.auxiliary_loss += 0.5;
    if (!is_last_) {
      std::copy(x.begin(), x.end(), output.begin());
      return;
    }
    for (const double element : x) losses_.loss_sum += element;
  }

  StageLoss take_losses() override { return std::exchange(losses_, {}); }

  void backward(std::int64_t micro_batch, std::span<const double> output_gradient,
                std::span<double> input_gradient) override {
    const std::vector<double> x = kept_.at(micro_batch);
    kept_.erase(micro_batch);
    double product = 1;
    for (const auto* layer : layers_) product *= layer->weight[0];
    for (std::size_t i = 0; i < kWidth; ++i) {
      const double dy = is_last_ ? loss_scale_ : output_gradient[i];
      for (const auto* layer : layers_) {
        layer->gradient[0] += dy * x[i] * product / layer->weight[0];
      }
      if (!is_first_) input_gradient[i] = dy * product;
    }
  }

 private:
  bool is_first_;
  bool is_last_;
  double loss_scale_ = 0;
  StageLoss losses_;
  std::vector<const LocalParameter<cpu::Backend<double>>*> layers_;
  std::map<std::int64_t, std::vector<double>> kept_;
};

struct Trained {
  std::vector<StepResult> steps;
  std::map<std::string, double> weights;
};

Trained train(const ParallelSizes& sizes, const BatchSizes& batch, int steps) {
  ShapeOverrides overrides;
  overrides.layer_count = 8;
  const ModelSpec spec = tiny_model("pretrain_llama3.1", "8b", overrides);
  const auto layout = Layout::make(sizes, sizes.world());
  Trained trained;
  std::mutex mutex;
  run_thread_ranks(sizes.world(), [&](World& world) {
    TrainerSettings settings;
    settings.batch = batch;
    cpu::Ops<double> ops;
    RankTrainer<cpu::Backend<double>> trainer(
        ops, world, spec, *layout, settings,
        [&](int chunk, const ParameterStore<cpu::Backend<double>>& store, RankGroups&) {
          return std::make_unique<ScalingStage>(spec, *layout, world.rank(), chunk, store);
        });
    for (int step = 0; step < steps; ++step) {
      const StepResult result = trainer.step(step, 1e-2);
      EXPECT_GE(result.phases.total_s, result.phases.forward_s + result.phases.backward_s);
      const std::lock_guard lock(mutex);
      if (world.rank() == sizes.world() - 1) trained.steps.push_back(result);
    }
    const std::lock_guard lock(mutex);
    for (const auto& local : trainer.store().parameters()) {
      if (local.parameter.name.find("input_norm") == std::string::npos) continue;
      const auto [at, is_new] = trained.weights.emplace(local.parameter.name, local.weight[0]);
      EXPECT_TRUE(is_new || at->second == local.weight[0]);
    }
  });
  return trained;
}

TEST(RankTrainer, TakesTheLossAndTheGradientsOfTheWholeBatch) {
  const BatchSizes batch{.micro_batch_size = 1, .global_batch_size = 8};
  const StepResult first = train({}, batch, 1).steps[0];
  const SyntheticTokens data(1234, 64);
  double sum = 0;
  for (int sample = 0; sample < 8; ++sample) {
    sum += kWidth * (data.batch(0, sample, 1, 16).inputs(0)[0] + 1) / 64.0;
  }
  EXPECT_NEAR(first.loss, sum / (8 * 16), 1e-12);
  EXPECT_NEAR(first.auxiliary_loss, 0.5, 1e-12);
  // All weights are one at first: each of the eight layers has the loss as its gradient.
  EXPECT_NEAR(first.gradient_norm, std::sqrt(8.0) * sum / (8 * 16), 1e-12);
  EXPECT_EQ(first.token_count, 8 * 16);
  EXPECT_TRUE(first.is_updated);
}

TEST(RankTrainer, TrainsTheSameThroughEveryPipeline) {
  const BatchSizes batch{.micro_batch_size = 1, .global_batch_size = 12};
  const Trained one = train({}, batch, 5);
  for (const ParallelSizes& sizes :
       {ParallelSizes{.pp = 2}, ParallelSizes{.pp = 8}, ParallelSizes{.pp = 2, .vp = 4},
        ParallelSizes{.pp = 4, .vp = 2}, ParallelSizes{.dp = 3, .pp = 2, .vp = 2},
        ParallelSizes{.dp = 4, .pp = 2, .vp = 4}, ParallelSizes{.dp = 2}}) {
    const Trained many = train(sizes, batch, 5);
    ASSERT_EQ(many.weights.size(), one.weights.size());
    for (const auto& [name, weight] : one.weights) {
      EXPECT_NEAR(many.weights.at(name), weight, 1e-10) << name;
    }
    for (std::size_t step = 0; step < 5; ++step) {
      EXPECT_NEAR(many.steps[step].loss, one.steps[step].loss, 1e-10);
    }
  }
  EXPECT_LT(one.steps[4].loss, one.steps[0].loss);
}

TEST(RankTrainer, RefusesABatchThatDoesNotDivide) {
  EXPECT_THROW(train({.dp = 2}, {.micro_batch_size = 2, .global_batch_size = 6}, 1),
               std::invalid_argument);
}

}  // namespace
}  // namespace llmb::runner
