// step_of: one training step of a tiny model on any backend and any layout, ranks as threads: its
// loss, its gradients' norm, and every gradient of the whole model.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "runner/cpu/backend.h"
#include "runner/cuda/backend.h"
#include "runner/cuda/device.h"
#include "runner/cuda/device_world.h"
#include "runner/model/transformer_stage.h"
#include "runner/parallel/thread_communicator.h"
#include "runner/trainer/rank_trainer.h"
#include "tests/runner/parallel/whole_index.h"

namespace llmb::runner::testing {

struct BackendStep {
  std::vector<double> losses;  // of every step
  double gradient_norm = 0;    // of the last one
  // Of the last step, before it is clipped.
  std::map<std::string, std::vector<double>> gradients;
  cuda::GraphUse graph_use;  // of rank 0, on CUDA
};

// What a step may have beside its model and layout.
struct StepVariant {
  ParameterSharding sharding = ParameterSharding::none;
  bool has_graphs = false;  // from the second step on
};

// What a rank's thread makes first.
template <typename Backend>
struct RankPlaceOf {
  explicit RankPlaceOf(World& world) : groups(&world) {}
  typename Backend::Ops ops;
  World* groups;
};
template <typename T>
struct RankPlaceOf<cuda::Backend<T>> {
  explicit RankPlaceOf(World& world) {
    cuda::choose_device(world.rank());
    ops = std::make_unique<cuda::Ops<T>>();
    device_world = std::make_unique<cuda::DeviceWorld>(world, ops->stream());
  }
  std::unique_ptr<cuda::Ops<T>> ops;
  std::unique_ptr<cuda::DeviceWorld> device_world;
};
template <typename T>
auto& ops_of(RankPlaceOf<cpu::Backend<T>>& place) {
  return place.ops;
}
template <typename T>
auto& ops_of(RankPlaceOf<cuda::Backend<T>>& place) {
  return *place.ops;
}
template <typename T>
World& world_of(RankPlaceOf<cpu::Backend<T>>& place) {
  return *place.groups;
}
template <typename T>
World& world_of(RankPlaceOf<cuda::Backend<T>>& place) {
  return *place.device_world;
}

template <typename Backend>
void add_gradients(RankTrainer<Backend>& trainer, BackendStep& step) {
  for (const LocalParameter<Backend>& local : trainer.store().parameters()) {
    std::vector<double>& whole = step.gradients[local.parameter.name];
    whole.resize(static_cast<std::size_t>(local.parameter.element_count()));
    const auto part = trainer.ops().read(local.gradient);
    for (std::int64_t i = 0; i < local.element_count(); ++i) {
      whole[static_cast<std::size_t>(whole_index(local, i))] +=
          static_cast<double>(part.values()[static_cast<std::size_t>(i)]);
    }
  }
}

// Of what each rank keeps of a fully sharded model.
template <typename Backend>
void add_gradient_shares(RankTrainer<Backend>& trainer, BackendStep& step) {
  for (const ParameterBlock block : trainer.store().blocks()) {
    const auto share = trainer.ops().read(trainer.store().gradient_share(block));
    const std::string name = "rank " + std::to_string(trainer.rank()) + " block " +
                             std::to_string(static_cast<int>(block));
    step.gradients[name].assign(share.values().begin(), share.values().end());
  }
}

// Graphs, if any, from the second step on.
template <typename Ops>
void choose_pass_mode(Ops& ops, bool has_graphs, int step) {
  if constexpr (requires { ops.graph_use(); }) {
    ops.run_passes(!has_graphs ? cuda::PassMode::as_they_are
                   : step == 0 ? cuda::PassMode::at_fixed_places
                               : cuda::PassMode::as_graphs);
  }
}

template <typename Backend>
BackendStep step_of(const ModelSpec& spec, const ParallelSizes& sizes, const BatchSizes& batch,
                    Precision precision, int steps = 1, const StageOptions& options = {},
                    const StepVariant& variant = {}) {
  const Layout layout = *Layout::make(sizes, sizes.world());
  BackendStep result;
  std::mutex mutex;
  const auto run_rank = [&](World& world) {
    RankPlaceOf<Backend> place(world);
    auto& ops = ops_of(place);
    TrainerSettings settings;
    settings.batch = batch;
    settings.seed = 5;
    settings.optimizer.has_narrow_weights = precision != Precision::fp32;
    settings.sharding = variant.sharding;
    StageOptions stage = options;
    stage.precision = precision;
    RankTrainer<Backend> trainer(
        ops, world_of(place), spec, layout, settings,
        [&](int chunk, ParameterStore<Backend>& store, RankGroups& groups) {
          return std::make_unique<TransformerStage<Backend>>(
              ops, spec, layout, world.rank(), chunk, batch.micro_batch_size, store, groups, stage);
        });
    for (int step = 0; step + 1 < steps; ++step) {
      choose_pass_mode(ops, variant.has_graphs, step);
      const StepResult done = trainer.step(step, 1e-2);
      if (world.rank() == 0) result.losses.push_back(done.loss);
    }
    choose_pass_mode(ops, variant.has_graphs, steps - 1);
    const StepResult last = trainer.accumulate_gradients(steps - 1);
    {
      const std::lock_guard lock(mutex);
      if (world.rank() == 0) result.losses.push_back(last.loss);
      if constexpr (requires { ops.graph_use(); }) {
        if (world.rank() == 0) result.graph_use = ops.graph_use();
      }
      trainer.store().is_sharded() ? add_gradient_shares(trainer, result)
                                   : add_gradients(trainer, result);
    }
    const OptimizerStep update = trainer.optimizer().step(1e-2);
    const std::lock_guard lock(mutex);
    if (world.rank() == 0) result.gradient_norm = update.gradient_norm;
  };
  // Longer than the tests' own limit: a slow machine is no fault.
  run_thread_ranks(sizes.world(), run_rank, std::chrono::minutes(10));
  return result;
}

// The largest difference of a gradient's elements, relative to the largest element of its
// parameter's gradient; and where it is.
struct GradientDifference {
  double relative = 0;
  std::string where;
};

inline GradientDifference difference_of(const BackendStep& one, const BackendStep& other) {
  GradientDifference largest;
  if (one.gradients.size() != other.gradients.size()) {
    return {std::nan(""), "the number of parameters"};
  }
  for (const auto& [name, expected] : other.gradients) {
    const std::vector<double>& gradient = one.gradients.at(name);
    double scale = 0;
    for (const double g : expected) scale = std::max(scale, std::fabs(g));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double difference = std::fabs(gradient[i] - expected[i]) / scale;
      if (!(difference <= largest.relative)) largest = {difference, name};  // NaN too
      if (std::isnan(difference)) return largest;
    }
  }
  return largest;
}

}  // namespace llmb::runner::testing
