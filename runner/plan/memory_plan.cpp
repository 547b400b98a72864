#include "runner/plan/memory_plan.h"

#include <algorithm>

#include "runner/model/parameters.h"
#include "runner/plan/communicator_count.h"
#include "runner/plan/fp8_copy_bytes.h"
#include "runner/plan/pass_bytes.h"
#include "runner/plan/pass_graphs.h"
#include "runner/schedule/message_count.h"

namespace llmb::runner {
namespace {

// Beside what is planned in bytes. A pool of up to 75 GiB leaves the libraries more than their
// part.
constexpr std::int64_t kReserveBytes = std::int64_t{3} << 30;
constexpr std::int64_t kLibrariesBytes = kReserveBytes / 2;

// Forward passes before the first backward one, that one included. Megatron's schedules: 1F1B, and
// interleaved 1F1B when there are several chunks.
std::int64_t live_pass_count(const RunSettings& settings, int stage) {
  const ParallelSizes& sizes = settings.sizes;
  const std::int64_t all = settings.micro_batches() * sizes.vp;
  const std::int64_t behind = sizes.pp - stage - 1;
  if (sizes.vp == 1) return std::min(all, behind + 1);
  return std::min(all, 2 * behind + std::int64_t{sizes.vp - 1} * sizes.pp + 1);
}

bool is_last(const RunSettings& settings, const StageBytes& stage) {
  return stage.stage == settings.sizes.pp - 1;
}

// Bytes that one pass through each chunk keeps.
struct ChunkBytes {
  std::vector<std::int64_t> device;
  std::vector<std::int64_t> host;
};

ChunkBytes chunk_bytes(const RunSettings& settings, const StageBytes& stage) {
  ChunkBytes bytes;
  // Megatron recomputes, and offloads, a stage's first layers.
  std::int64_t to_recompute = settings.recompute_layers;
  // On the CPU there is nowhere to offload to.
  std::int64_t to_offload = settings.backend == Backend::cpu ? 0 : settings.offload_layers;
  for (const LayerRange& chunk : stage.chunks) {
    std::int64_t device = 0;
    std::int64_t host = 0;
    for (std::int64_t layer = chunk.first; layer < chunk.last; ++layer) {
      const LayerCost cost = layer_cost(settings, layer);
      if (to_recompute-- > 0) {
        device += cost.input_bytes;
      } else if (to_offload-- > 0) {
        host += cost.activation_bytes;
      } else {
        device += cost.activation_bytes;
      }
    }
    bytes.device.push_back(device);
    bytes.host.push_back(host);
  }
  return bytes;
}

// Of the passes under way; where these are graphs, of the most that each chunk has at a time, which
// is not at the same time for all of them.
void plan_live_passes(const RunSettings& settings, StageBytes& stage) {
  const ChunkBytes bytes = chunk_bytes(settings, stage);
  if (has_graphs(settings)) {
    const std::vector<std::int64_t> states = states_of_chunks(settings, stage.stage);
    for (std::size_t chunk = 0; chunk < states.size(); ++chunk) {
      stage.live_passes += states[chunk];
      stage.activations += states[chunk] * bytes.device[chunk];
      stage.host += states[chunk] * bytes.host[chunk];
    }
    return;
  }
  stage.live_passes = live_pass_count(settings, stage.stage);
  const std::int64_t pp = settings.sizes.pp;
  for (std::int64_t pass = 0; pass < stage.live_passes; ++pass) {
    const auto chunk = static_cast<std::size_t>(pass / pp % settings.sizes.vp);
    stage.activations += bytes.device[chunk];
    stage.host += bytes.host[chunk];
  }
}

void plan_activations(const RunSettings& settings, StageBytes& stage) {
  plan_live_passes(settings, stage);
  for (const LayerRange& chunk : stage.chunks) {
    for (std::int64_t layer = chunk.first; layer < chunk.last; ++layer) {
      stage.activations += layer_cost(settings, layer).table_bytes;
    }
  }
  // Its backward pass follows at once, so that of the head there is one.
  if (is_last(settings, stage)) stage.activations += head_cost(settings).kept_bytes;
}

void plan_graphs(const RunSettings& settings, StageBytes& stage) {
  if (!has_graphs(settings)) return;
  const std::vector<std::int64_t> states = states_of_chunks(settings, stage.stage);
  for (std::size_t chunk = 0; chunk < states.size(); ++chunk) {
    const bool has_embedding = stage.stage == 0 && chunk == 0;
    const bool has_head = is_last(settings, stage) && chunk + 1 == states.size();
    stage.graphs += states[chunk] * kGraphOperationBytes *
                    graph_operations(settings, stage.chunks[chunk], has_embedding, has_head);
  }
}

// Elements on one rank of what is before the layers, on the first stage, and of what is after them,
// on the last.
struct OuterCounts {
  std::int64_t before = 0;
  std::int64_t after = 0;
};

OuterCounts outer_counts(const RunSettings& settings, const StageBytes& stage) {
  OuterCounts counts;
  const std::int64_t layer_count = settings.spec.shape.layer_count;
  for (const Parameter& parameter : model_parameters(settings.spec)) {
    const std::int64_t elements = local_element_count(parameter, settings.sizes);
    if (parameter.layer < 0 && stage.stage == 0) counts.before += elements;
    if (parameter.layer == layer_count && is_last(settings, stage)) counts.after += elements;
  }
  return counts;
}

// Elements of blocks with their padding, and of one rank's shares of them.
struct BlockCounts {
  std::int64_t whole = 0;
  std::int64_t share = 0;

  void add(std::int64_t element_count, std::int64_t sharers) {
    const std::int64_t padded = padded_block_size(element_count, sharers);
    whole += padded;
    share += padded / sharers;
  }
};

void plan_parameters(const RunSettings& settings, StageBytes& stage) {
  const ParallelSizes& sizes = settings.sizes;
  const std::int64_t replicas = std::int64_t{sizes.dp} * sizes.cp;
  BlockCounts counts;
  // Fully sharded, every layer has blocks of its own, and so has what is before and after them.
  const auto count = [&](std::int64_t dense, std::int64_t expert) {
    stage.parameter_count += dense;
    stage.expert_parameter_count += expert;
    if (!settings.fully_sharded) return;
    counts.add(dense, replicas);
    counts.add(expert, sizes.edp());
  };
  for (const LayerRange& chunk : stage.chunks) {
    for (std::int64_t layer = chunk.first; layer < chunk.last; ++layer) {
      const LayerCost cost = layer_cost(settings, layer);
      count(cost.parameter_count, cost.expert_parameter_count);
    }
  }
  const OuterCounts outer = outer_counts(settings, stage);
  count(outer.before, 0);
  count(outer.after, 0);
  if (!settings.fully_sharded) {
    counts.add(stage.parameter_count, replicas);
    counts.add(stage.expert_parameter_count, sizes.edp());
  }
  const NumberBytes bytes = number_bytes(settings.precision, settings.backend);
  const std::int64_t kept = settings.fully_sharded ? counts.share : counts.whole;
  stage.parameters = kept * bytes.parameter;
  stage.gradients = kept * bytes.gradient;
  stage.optimizer = counts.share * bytes.optimizer;
}

// Both layouts of a rank's part of a weight, expert by expert.
std::int64_t fp8_weight_bytes(const Parameter& parameter, const RunSettings& settings) {
  const ParallelSizes& sizes = settings.sizes;
  const std::vector<std::int64_t> shape = local_shape(parameter, sizes.tp, sizes.etp, sizes.ep);
  const std::int64_t parts = parameter.is_expert() ? shape.front() : 1;
  const std::int64_t in = shape.back();
  const std::int64_t out = local_element_count(parameter, sizes) / parts / in;
  return parts * (fp8_copy_bytes(settings.precision, out, in) +
                  fp8_copy_bytes(settings.precision, in, out));
}

// As LinearLayer keeps them.
void plan_fp8_weights(const RunSettings& settings, StageBytes& stage) {
  if (!settings.keeps_fp8_weights) return;
  for (const LayerRange& chunk : stage.chunks) {
    for (std::int64_t layer = chunk.first; layer < chunk.last; ++layer) {
      for (const Parameter& parameter : layer_parameters(settings.spec, layer)) {
        if (enters_fp8_products(parameter)) {
          stage.fp8_weights += fp8_weight_bytes(parameter, settings);
        }
      }
    }
  }
}

// Layers and head are at work one after another, in the same memory.
void plan_pass(const RunSettings& settings, StageBytes& stage) {
  std::int64_t to_recompute = settings.recompute_layers;
  for (const LayerRange& chunk : stage.chunks) {
    for (std::int64_t layer = chunk.first; layer < chunk.last; ++layer) {
      // Emulated precisions round copies, which depend on more than sizes.
      std::int64_t bytes =
          settings.backend == Backend::cuda ? layer_pass_bytes(settings, layer) : 0;
      // A recomputed layer comes whole for as long as its backward pass takes, from a copy of its
      // input.
      if (to_recompute-- > 0) {
        const LayerCost cost = layer_cost(settings, layer);
        bytes += cost.activation_bytes + cost.input_bytes;
      }
      stage.pass = std::max(stage.pass, bytes);
    }
  }
  const bool has_head = is_last(settings, stage);
  // (shard rows, hidden): what layers work on, which stays between passes where these are graphs,
  // for each of the chunks.
  const std::int64_t rows_bytes = head_cost(settings).kept_bytes;
  const std::int64_t staying = has_graphs(settings) ? rows_bytes : 0;
  stage.activations += staying * settings.sizes.vp;
  // The gradient that the last layer takes is what the head kept.
  stage.pass = std::max<std::int64_t>(0, stage.pass - (has_head ? rows_bytes : staying));
  if (has_head) {
    stage.logits = std::max<std::int64_t>(0, head_pass_bytes(settings) - staying - stage.pass);
  }
}

// The most that is gathered at a time, with its gradients, and this rank's share of their sum: a
// layer, what is before them, or what is after them. The share comes when a pass's tensors have
// gone; it counts beside them, as room for what a pool cannot join.
std::int64_t gathered_bytes(const RunSettings& settings, const StageBytes& stage) {
  const NumberBytes bytes = number_bytes(settings.precision, settings.backend);
  const std::int64_t replicas = std::int64_t{settings.sizes.dp} * settings.sizes.cp;
  const auto whole = [&](std::int64_t dense, std::int64_t expert) {
    BlockCounts of_dense;
    BlockCounts of_expert;
    of_dense.add(dense, replicas);
    of_expert.add(expert, settings.sizes.edp());
    return (of_dense.whole + of_expert.whole) * (bytes.parameter + bytes.gradient) +
           std::max(of_dense.share, of_expert.share) * bytes.gradient;
  };
  const OuterCounts outer = outer_counts(settings, stage);
  std::int64_t most = std::max(whole(outer.before, 0), whole(outer.after, 0));
  for (const LayerRange& chunk : stage.chunks) {
    for (std::int64_t layer = chunk.first; layer < chunk.last; ++layer) {
      const LayerCost cost = layer_cost(settings, layer);
      most = std::max(most, whole(cost.parameter_count, cost.expert_parameter_count));
    }
  }
  return most;
}

void plan_communication(const RunSettings& settings, int index, StageBytes& stage) {
  const NumberBytes bytes = number_bytes(settings.precision, settings.backend);
  const TokenCounts tokens =
      token_counts(settings.spec, settings.sizes, settings.batch.micro_batch_size);
  const std::int64_t row_bytes = settings.spec.shape.hidden_size * bytes.activation;
  const PipelineShape pipeline{settings.sizes.pp, settings.sizes.vp,
                               static_cast<int>(settings.micro_batches())};
  if (pipeline.stages > 1) {
    stage.communication += messages_at_once_max(pipeline, make_task_list(pipeline, index)) *
                           tokens.resident * row_bytes;
  }
  if (settings.fully_sharded) stage.communication += gathered_bytes(settings, stage);
}

}  // namespace

const StageBytes& MemoryPlan::largest() const {
  return *std::max_element(
      stages.begin(), stages.end(),
      [](const StageBytes& a, const StageBytes& b) { return a.total() < b.total(); });
}

std::int64_t MemoryPlan::total_of_all_ranks(const ParallelSizes& sizes) const {
  std::int64_t bytes = 0;
  for (const StageBytes& stage : stages) bytes += stage.total() * (sizes.world() / sizes.pp);
  return bytes;
}

std::int64_t plannable_bytes(const StageBytes& stage, std::int64_t total_bytes,
                             std::int64_t free_bytes) {
  return free_bytes + std::min(stage.reserve, total_bytes - free_bytes);
}

MemoryPlan make_memory_plan(const RunSettings& settings) {
  MemoryPlan plan;
  for (int index = 0; index < settings.sizes.pp; ++index) {
    StageBytes stage;
    stage.stage = index;
    for (int chunk = 0; chunk < settings.sizes.vp; ++chunk) {
      stage.chunks.push_back(
          layers_of(settings.sizes, settings.spec.shape.layer_count, index, chunk));
    }
    plan_parameters(settings, stage);
    plan_activations(settings, stage);
    plan_fp8_weights(settings, stage);
    plan_pass(settings, stage);
    plan_communication(settings, index, stage);
    plan_graphs(settings, stage);
    stage.communicators = communicator_count(settings, index) * kCommunicatorBytes;
    if (settings.backend == Backend::cuda) {
      stage.reserve = std::max(kReserveBytes, kLibrariesBytes + stage.arena() - stage.pooled());
    }
    plan.stages.push_back(std::move(stage));
  }
  return plan;
}

}  // namespace llmb::runner
