#include "runner/plan/pass_graphs.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/model/precision.h"
#include "runner/plan/layer_cost.h"
#include "runner/schedule/task_list.h"

namespace llmb::runner {

bool has_graphs(const RunSettings& settings) {
  return settings.wants_graphs && why_no_graphs(settings).empty();
}

std::vector<std::int64_t> states_of_chunks(const RunSettings& settings, int stage) {
  const PipelineShape shape{settings.sizes.pp, settings.sizes.vp,
                            static_cast<int>(settings.micro_batches())};
  std::vector<std::int64_t> now(static_cast<std::size_t>(shape.chunks));
  std::vector<std::int64_t> most = now;
  for (const Task& task : make_task_list(shape, stage)) {
    const auto chunk = static_cast<std::size_t>(task.chunk);
    if (task.kind == TaskKind::forward) most[chunk] = std::max(most[chunk], ++now[chunk]);
    if (task.kind == TaskKind::backward) --now[chunk];
  }
  return most;
}

std::int64_t graph_operations(const RunSettings& settings, const LayerRange& layers,
                              bool has_embedding, bool has_head) {
  // Of a layer's forward and backward pass together, collectives included; the double, which also
  // counts what its checks put in between, has 92 of a dense layer over two ranks.
  constexpr std::int64_t kDense = 100;
  constexpr std::int64_t kExperts = 80;   // beside those of a dense layer
  constexpr std::int64_t kFp8Casts = 80;  // beside those of BF16
  constexpr std::int64_t kEmbedding = 16;
  constexpr std::int64_t kHeadChunk = 24;
  std::int64_t count = has_embedding ? kEmbedding : 0;
  for (std::int64_t layer = layers.first; layer < layers.last; ++layer) {
    count += kDense + (settings.spec.is_moe_layer(layer) ? kExperts : 0) +
             (is_fp8(settings.precision) ? kFp8Casts : 0);
  }
  if (has_head) {
    const HeadCost head = head_cost(settings);
    count += (head.rows / head.chunk_rows + 1) * kHeadChunk;
  }
  return count;
}

std::string graphs_text(const RunSettings& settings) {
  if (!settings.wants_graphs) return "";
  const std::string why_not = why_no_graphs(settings);
  if (!why_not.empty()) return fmt::format("no CUDA graphs: {}\n", why_not);
  return "from the second step on, each pass of a micro-batch is a CUDA graph: a stage's forward "
         "and its backward; steps that are profiled or traced have none\n";
}

}  // namespace llmb::runner
