#include "runner/plan/pass_bytes.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "runner/kernels/device_counts.h"
#include "runner/model/stage_context.h"
#include "runner/operation/attention_pieces.h"
#include "runner/plan/fp8_copy_bytes.h"
#include "runner/plan/layer_cost.h"

namespace llmb::runner {
namespace {

// Elements of matrices on one rank.
struct Elements {
  explicit Elements(const RunSettings& settings)
      : spec(settings.spec),
        sizes(settings.sizes),
        tokens(token_counts(spec, sizes, settings.batch.micro_batch_size)),
        shard(tokens.resident * spec.shape.hidden_size),
        expert_rows(planned_expert_rows(settings)),
        // Gathered, and waiting to be scattered; without tensor parallelism they are the shard.
        whole(sizes.tp > 1 ? tokens.attended * spec.shape.hidden_size : 0),
        precision(settings.precision),
        counts_casts(settings.keeps_fp8_weights),
        casts_experts_together(is_fp8(precision) && settings.counts_experts_on_device()) {}

  const ModelSpec& spec;
  const ParallelSizes& sizes;
  TokenCounts tokens;
  std::int64_t shard;
  std::int64_t expert_rows;  // of a micro-batch, that come to this rank's experts
  std::int64_t whole;
  Precision precision;
  bool counts_casts;
  bool casts_experts_together;
};

// What a layer's two backward products cast, in elements of BF16: the gradient in both layouts, and
// the input. A block needs most when it is at its first layer, whose inputs are of the hidden size:
// all gradients of the block are there by then.
std::int64_t cast_elements(const Elements& on, std::int64_t rows, std::int64_t out) {
  if (!on.counts_casts) return 0;
  return (fp8_copy_bytes(on.precision, rows, out) + fp8_copy_bytes(on.precision, out, rows) +
          fp8_copy_bytes(on.precision, on.spec.shape.hidden_size, rows)) /
         2;
}

std::int64_t up_factor(const ModelSpec& spec) {
  return spec.is_gated() ? 2 : 1;
}

// Gradients of what is between the two products; rows gathered there and back.
std::int64_t mlp_elements(const Elements& on, std::int64_t ffn) {
  const std::int64_t width = ffn / on.sizes.tp;
  const std::int64_t up = up_factor(on.spec);
  return on.tokens.attended * width * (1 + up) + 3 * on.whole +
         cast_elements(on, on.tokens.attended, width * up);
}

// Gradients of o, q, k and v, with attention's workspace while it is at work; then those of the
// fused projection. Over context ranks keys, values
// and their gradients are those of the whole context, and k's are sorted twice over on their way.
std::int64_t attention_elements(const Elements& on, std::int64_t workspace) {
  const std::int64_t query = on.tokens.attended * on.spec.query_size() / on.sizes.tp;
  const std::int64_t key = on.tokens.attended * on.spec.key_value_size() / on.sizes.tp;
  const std::int64_t cp = on.sizes.cp;
  const std::int64_t casts = cast_elements(
      on, on.tokens.attended, (on.spec.query_size() + 2 * on.spec.key_value_size()) / on.sizes.tp);
  const std::int64_t attending = 2 * query + (cp > 1 ? 4 * cp : 2) * key + on.whole + workspace;
  if (cp == 1) {
    return std::max(attending, 2 * query + 2 * key + query + 2 * key + 3 * on.whole + casts);
  }
  const std::int64_t scattering = 2 * query + 5 * cp * key + key;
  const std::int64_t projecting = 2 * query + 2 * cp * key + 3 * key + query + 2 * key;
  return std::max(attending, std::max(scattering, projecting + casts + 2 * on.whole) + on.whole);
}

// The same of experts whose rows are cast by one launch; where no copies of weights are kept, all
// experts' weights come in the place of the input.
std::int64_t expert_cast_elements(const Elements& on, std::int64_t rows, std::int64_t out) {
  const ModelShape& shape = on.spec.shape;
  if (!on.casts_experts_together) {
    // Experts go one after another.
    return cast_elements(on, rows * on.sizes.ep / shape.expert_count, out);
  }
  const std::int64_t side_by_side = kernels::padded_rows_max(rows, shape.expert_count);
  const std::int64_t weights = on.counts_casts ? 0 : shape.expert_count * out * shape.hidden_size;
  const std::int64_t input = shape.hidden_size * side_by_side;
  return (rows * out + out * side_by_side + std::max(input, weights)) / 2;
}

std::int64_t expert_elements(const Elements& on) {
  const ModelShape& shape = on.spec.shape;
  const std::int64_t chosen = on.shard * shape.experts_per_token;
  const std::int64_t gathered = on.expert_rows * shape.hidden_size;
  const std::int64_t cells =
      on.expert_rows * (shape.expert_ffn_hidden_size / on.sizes.etp) * (1 + up_factor(on.spec));
  const std::int64_t on_way =
      (on.sizes.ep > 1 ? chosen : 0) + (on.sizes.etp > 1 ? 2 * gathered : 0);
  const std::int64_t casts = expert_cast_elements(
      on, on.expert_rows, shape.expert_ffn_hidden_size / on.sizes.etp * up_factor(on.spec));
  // d_outputs and the gradient of the rows are those of this rank's experts where no row travels.
  const bool are_two = on.sizes.ep * on.sizes.etp > 1;
  const std::int64_t own = are_two ? gathered : 0;
  // d_outputs, and the rows of this rank's experts with what is between their products; then those
  // rows' way back.
  const std::int64_t working = chosen + own + gathered + cells + casts;
  const std::int64_t returning = chosen + own + 2 * gathered + on_way;
  // The router's products are fp32: its input, and its part of the input's gradient.
  constexpr std::int64_t kWide = 2;  // BF16 elements
  const std::int64_t routing = 2 * chosen + 2 * own + 2 * kWide * on.shard;
  std::int64_t most = std::max(working, routing);
  if (are_two) most = std::max(most, returning);
  if (shape.shared_expert_ffn_hidden_size > 0) {
    most = std::max(most, 2 * chosen + 2 * own + on.shard +
                              mlp_elements(on, shape.shared_expert_ffn_hidden_size));
  }
  return most;
}

}  // namespace

// Of the first context rank, whose late piece sees all keys.
std::int64_t attention_workspace_bytes(const RunSettings& settings, std::int64_t layer) {
  if (settings.attention_workspace_bytes) return *settings.attention_workspace_bytes;
  const AttentionShape shape = attention_shape(
      settings.spec, settings.sizes, settings.batch.micro_batch_size, settings.precision, layer);
  const std::int64_t length = settings.spec.shape.sequence_length;
  const std::vector<std::int64_t> positions = zigzag_positions(length, settings.sizes.cp, 0);
  return settings.precision == Precision::fp32
             ? own_attention_workspace_bytes(shape, std::ssize(positions))
             : attention_workspace_bytes(shape, positions, length);
}

std::int64_t layer_pass_bytes(const RunSettings& settings, std::int64_t layer) {
  const Elements on(settings);
  const std::int64_t mlp = on.spec.is_moe_layer(layer)
                               ? expert_elements(on)
                               : mlp_elements(on, on.spec.shape.ffn_hidden_size);
  // Beside them the gradient that the layer passes on, and that of its normalized rows.
  const std::int64_t width = number_bytes(settings.precision, settings.backend).activation;
  const std::int64_t workspace = attention_workspace_bytes(settings, layer) / width;
  return (2 * on.shard + std::max(mlp, attention_elements(on, workspace))) * width;
}

std::int64_t head_pass_bytes(const RunSettings& settings) {
  const Elements on(settings);
  const HeadCost head = head_cost(settings);
  const std::int64_t logits = head.chunk_rows * on.spec.shape.vocabulary_size / on.sizes.tp;
  // What it reads, the same normalized, and the gradient of that; of rows that are gathered, there
  // and back.
  const std::int64_t elements = 3 * on.shard + 2 * on.whole + logits;
  // The norm's, the losses; where ranks share the softmax, two of its own and of all, and a target.
  const std::int64_t statistics = on.tokens.resident * (on.spec.norm_has_bias() ? 2 : 1) +
                                  on.tokens.attended + (on.sizes.tp > 1 ? 5 * head.chunk_rows : 0);
  return elements * number_bytes(settings.precision, settings.backend).activation +
         statistics * std::int64_t{sizeof(float)};
}

}  // namespace llmb::runner
