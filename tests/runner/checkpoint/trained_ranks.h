// Thread ranks that train a tiny transformer, and what they hold, joined into the whole model.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "runner/cpu/ops.h"
#include "runner/model/transformer_stage.h"
#include "runner/parallel/thread_communicator.h"
#include "runner/trainer/rank_trainer.h"
#include "tests/runner/model/tiny_models.h"
#include "tests/runner/parallel/whole_index.h"

namespace llmb::runner::testing {

// How a trainer computes; no way changes what it computes, but for narrower numbers.
struct TrainerWay {
  StageOptions stage;
  ParameterSharding sharding = ParameterSharding::none;
};

inline std::unique_ptr<RankTrainer<float>> make_trainer(World& world, const ModelSpec& spec,
                                                        const Layout& layout,
                                                        std::int64_t global_batch_size = 4,
                                                        const TrainerWay& way = {}) {
  TrainerSettings<float> settings;
  settings.batch = {.micro_batch_size = 1, .global_batch_size = global_batch_size};
  settings.seed = 11;
  settings.sharding = way.sharding;
  return std::make_unique<RankTrainer<float>>(
      world, spec, layout, settings,
      [&](int chunk, ParameterStore<float>& store, RankGroups& groups) {
        return std::make_unique<TransformerStage<cpu::Ops<float>>>(
            spec, layout, world.rank(), chunk, 1, store, groups, way.stage);
      });
}

inline void on_every_rank(const ModelSpec& spec, const ParallelSizes& sizes,
                          const std::function<void(RankTrainer<float>&)>& body,
                          const TrainerWay& way = {}) {
  const auto layout = Layout::make(sizes, sizes.world());
  if (!layout) throw std::invalid_argument(layout.error().message);
  run_thread_ranks(sizes.world(), [&](World& world) {
    const auto trainer = make_trainer(world, spec, *layout, 4, way);
    body(*trainer);
  });
}

// "first_moment of head.weight" -> index in the whole parameter -> value.
using Joined = std::map<std::string, std::map<std::int64_t, float>>;

// Adds what this rank's optimizer holds. Throws where two ranks disagree about an element.
inline void join_states(RankTrainer<float>& trainer, Joined& joined) {
  for (const LocalParameter<float>& local : trainer.store().parameters()) {
    const OptimizerShard<float>& shard = trainer.optimizer().shard(local.block());
    for (std::int64_t i = 0; i < local.element_count(); ++i) {
      const std::int64_t at = local.block_offset + i - shard.first;
      if (at < 0 || at >= static_cast<std::int64_t>(shard.master.size())) continue;
      const auto add = [&](const char* state, const std::vector<float>& values) {
        const float value = values[static_cast<std::size_t>(at)];
        const auto [known, is_new] =
            joined[state + (" of " + local.parameter.name)].emplace(whole_index(local, i), value);
        if (!is_new && known->second != value) throw std::logic_error("ranks disagree");
      };
      add("master", shard.master);
      add("first_moment", shard.first_moment);
      add("second_moment", shard.second_moment);
    }
  }
}

inline Joined joined_states(const ModelSpec& spec, const ParallelSizes& sizes,
                            const std::function<void(RankTrainer<float>&)>& body,
                            const TrainerWay& way = {}) {
  Joined joined;
  std::mutex mutex;
  on_every_rank(
      spec, sizes,
      [&](RankTrainer<float>& trainer) {
        body(trainer);
        const std::lock_guard lock(mutex);
        join_states(trainer, joined);
      },
      way);
  return joined;
}

}  // namespace llmb::runner::testing
