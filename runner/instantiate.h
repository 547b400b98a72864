// Everything that is written over a backend, made for one: a backend's own file says
// LLMB_INSTANTIATE_RUNNER(its type) once, and nothing else compiles these templates.
#pragma once

#include "runner/checkpoint/checkpoint_impl.h"
#include "runner/checkpoint/resharding_impl.h"
#include "runner/model/attention_block_impl.h"
#include "runner/model/fp8_scaling_impl.h"
#include "runner/model/head_block_impl.h"
#include "runner/model/linear_layer_impl.h"
#include "runner/model/mlp_block_impl.h"
#include "runner/model/moe_block_impl.h"
#include "runner/model/operand_rounding_impl.h"
#include "runner/model/parameter_store_impl.h"
#include "runner/model/resident_layer_impl.h"
#include "runner/model/token_exchange_impl.h"
#include "runner/model/transformer_layer_impl.h"
#include "runner/model/transformer_stage_impl.h"
#include "runner/optimizer/distributed_optimizer_impl.h"
#include "runner/trainer/rank_trainer_impl.h"

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define LLMB_INSTANTIATE_RUNNER(Backend)                                                      \
  template struct LocalParameter<Backend>;                                                    \
  template class ParameterStore<Backend>;                                                     \
  template class LinearLayer<Backend>;                                                        \
  template class TransformerStage<Backend>;                                                   \
  template class DistributedOptimizer<Backend>;                                               \
  template class RankTrainer<Backend>;                                                        \
  template std::filesystem::path save_checkpoint(                                             \
      const std::filesystem::path&, RankTrainer<Backend>&, std::int64_t, const SaveOptions&); \
  template std::int64_t load_checkpoint(const std::filesystem::path&, RankTrainer<Backend>&)
// NOLINTEND(bugprone-macro-parentheses)
