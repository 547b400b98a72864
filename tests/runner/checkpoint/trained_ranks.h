// Thread ranks that train a tiny transformer, and what they hold, joined into the whole model.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "runner/cpu/backend.h"
#include "runner/model/transformer_stage.h"
#include "runner/parallel/thread_communicator.h"
#include "runner/trainer/rank_trainer.h"
#include "tests/runner/model/tiny_models.h"
#include "tests/runner/parallel/whole_index.h"

namespace llmb::runner::testing {

using Backend = cpu::Backend<float>;
using Trainer = RankTrainer<Backend>;

// How a trainer computes; no way changes what it computes, but for narrower numbers.
struct TrainerWay {
  StageOptions stage;
  ParameterSharding sharding = ParameterSharding::none;
};

inline std::unique_ptr<Trainer> make_trainer(World& world, const ModelSpec& spec,
                                             const Layout& layout,
                                             std::int64_t global_batch_size = 4,
                                             const TrainerWay& way = {}) {
  static Backend::Ops ops;  // has no state
  TrainerSettings settings;
  settings.batch = {.micro_batch_size = 1, .global_batch_size = global_batch_size};
  settings.seed = 11;
  settings.sharding = way.sharding;
  return std::make_unique<Trainer>(
      ops, world, spec, layout, settings,
      [&](int chunk, ParameterStore<Backend>& store, RankGroups& groups) {
        return std::make_unique<TransformerStage<Backend>>(ops, spec, layout, world.rank(), chunk,
                                                           1, store, groups, way.stage);
      });
}

inline void on_every_rank(const ModelSpec& spec, const ParallelSizes& sizes,
                          const std::function<void(Trainer&)>& body, const TrainerWay& way = {}) {
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
inline void join_states(Trainer& trainer, Joined& joined) {
  for (const LocalParameter<Backend>& local : trainer.store().parameters()) {
    const OptimizerShard<Backend>& shard = trainer.optimizer().shard(local.block());
    for (std::int64_t i = 0; i < local.element_count(); ++i) {
      const std::int64_t at = local.block_offset + i - shard.first;
      if (at < 0 || at >= shard.master.size()) continue;
      const auto add = [&](const char* state, std::span<const float> values) {
        const float value = values[static_cast<std::size_t>(at)];
        const auto [known, is_new] =
            joined[state + (" of " + local.parameter.name)].emplace(whole_index(local, i), value);
        if (!is_new && known->second != value) throw std::logic_error("ranks disagree");
      };
      add("master", shard.master.values());
      add("first_moment", shard.first_moment.values());
      add("second_moment", shard.second_moment.values());
    }
  }
}

inline Joined joined_states(const ModelSpec& spec, const ParallelSizes& sizes,
                            const std::function<void(Trainer&)>& body, const TrainerWay& way = {}) {
  Joined joined;
  std::mutex mutex;
  on_every_rank(
      spec, sizes,
      [&](Trainer& trainer) {
        body(trainer);
        const std::lock_guard lock(mutex);
        join_states(trainer, joined);
      },
      way);
  return joined;
}

}  // namespace llmb::runner::testing
