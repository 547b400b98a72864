#include "runner/plan/layer_cost.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "runner/model/head_chunk.h"

namespace llmb::runner {
namespace {

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

// One MLP, as its tokens see it.
struct MlpPart {
  std::int64_t token_count = 0;  // rows on this rank
  std::int64_t width = 0;        // columns on this rank
  bool is_gated = true;
};

// What goes into the activation, and what comes out.
std::int64_t kept_mlp_bytes(const MlpPart& mlp, const NumberBytes& bytes) {
  const std::int64_t up = mlp.is_gated ? 2 : 1;
  return mlp.token_count * mlp.width * (up * bytes.activation + bytes.gemm_input);
}

void add_mlp(const MlpPart& mlp, std::int64_t hidden, const NumberBytes& bytes, LayerCost& cost) {
  const std::int64_t up = mlp.is_gated ? 2 : 1;
  const std::int64_t cells = mlp.token_count * mlp.width;
  cost.gemm_flops += 2.0 * as_double(cells) * as_double(hidden) * as_double(up + 1);
  // Forward what both products read, backward the gradients of what they gave.
  const double read = as_double(cells + mlp.token_count * hidden);
  cost.cast_elements_forward += read;
  cost.cast_elements += read + as_double(cells * up + mlp.token_count * hidden);
  cost.activation_bytes += kept_mlp_bytes(mlp, bytes);
  // Activation: reads up cells, writes one; backward reads one more and writes up.
  cost.memory_bytes_forward += as_double(cells * (up + 1) * bytes.activation);
  cost.memory_bytes_backward += as_double(cells * (2 * up + 1) * bytes.activation);
}

void add_experts(const RunSettings& settings, const TokenCounts& tokens, const NumberBytes& bytes,
                 LayerCost& cost) {
  const ModelShape& shape = settings.spec.shape;
  const std::int64_t chosen = tokens.resident * shape.experts_per_token;
  const MlpPart expert{even_expert_rows(settings),
                       shape.expert_ffn_hidden_size / settings.sizes.etp, settings.spec.is_gated()};
  add_mlp(expert, shape.hidden_size, bytes, cost);
  const std::int64_t planned = planned_expert_rows(settings);
  cost.activation_bytes += kept_mlp_bytes({planned, expert.width, expert.is_gated}, bytes) -
                           kept_mlp_bytes(expert, bytes);
  // Rows on their way to the experts and back, and the router's probabilities.
  cost.activation_bytes += planned * shape.hidden_size * bytes.gemm_input +
                           chosen * shape.hidden_size * bytes.activation +
                           tokens.resident * shape.expert_count * std::int64_t{sizeof(float)};
  const double moved = as_double(4 * chosen * shape.hidden_size * bytes.activation);
  cost.memory_bytes_forward += moved;
  cost.memory_bytes_backward += moved;
  cost.gemm_flops +=
      2.0 * as_double(tokens.resident) * as_double(shape.hidden_size * shape.expert_count);
}

void add_attention(const RunSettings& settings, const TokenCounts& tokens, const NumberBytes& bytes,
                   LayerCost& cost) {
  const ModelSpec& spec = settings.spec;
  const std::int64_t tp = settings.sizes.tp;
  const std::int64_t query = spec.query_size() / tp;
  const std::int64_t qkv = query + 2 * spec.key_value_size() / tp;
  cost.gemm_flops +=
      2.0 * as_double(tokens.attended) * as_double(spec.shape.hidden_size) * as_double(qkv + query);
  const std::int64_t rows = tokens.resident * spec.shape.hidden_size;
  cost.cast_elements_forward += as_double(tokens.attended * query + rows);
  cost.cast_elements += as_double(tokens.attended * (query + qkv) + 2 * rows);
  // Two products of the sequence with itself, half of them masked.
  cost.attention_flops =
      2.0 * as_double(tokens.attended) * as_double(spec.shape.sequence_length) * as_double(query);
  const std::int64_t statistics =
      spec.shape.attention_head_count / tp * std::int64_t{sizeof(float)};
  cost.activation_bytes += tokens.attended * ((qkv + query) * bytes.activation + statistics);
  // RoPE turns queries and keys, there and back.
  const double turned = as_double(2 * tokens.attended * (qkv + query) / 2 * bytes.activation);
  cost.memory_bytes_forward += turned;
  cost.memory_bytes_backward += turned;
}

}  // namespace

NumberBytes number_bytes(Precision precision, Backend backend) {
  if (backend == Backend::cpu || precision == Precision::fp32) return {4, 4, 12, 4, 4};
  return {};
}

TokenCounts token_counts(const ModelSpec& spec, const ParallelSizes& sizes,
                         std::int64_t micro_batch_size) {
  TokenCounts tokens;
  tokens.attended = spec.shape.sequence_length * micro_batch_size / sizes.cp;
  tokens.resident = tokens.attended / sizes.tp;
  return tokens;
}

std::int64_t even_expert_rows(const RunSettings& settings) {
  const TokenCounts tokens =
      token_counts(settings.spec, settings.sizes, settings.batch.micro_batch_size);
  return tokens.resident * settings.spec.shape.experts_per_token * settings.sizes.etp;
}

// All rows of the ranks that share out experts are the most that one of them can get.
std::int64_t planned_expert_rows(const RunSettings& settings) {
  const double most = settings.sizes.ep;
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(even_expert_rows(settings)) *
                                             std::min(settings.expert_imbalance, most)));
}

bool enters_fp8_products(const Parameter& parameter) {
  return parameter.shape.size() >= 2 && !parameter.name.ends_with("router.weight");
}

std::int64_t local_element_count(const Parameter& parameter, const ParallelSizes& sizes) {
  const auto shape = local_shape(parameter, sizes.tp, sizes.etp, sizes.ep);
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

LayerCost layer_cost(const RunSettings& settings, std::int64_t layer) {
  const ModelSpec& spec = settings.spec;
  const ModelShape& shape = spec.shape;
  const NumberBytes bytes = number_bytes(settings.precision, settings.backend);
  const TokenCounts tokens = token_counts(spec, settings.sizes, settings.batch.micro_batch_size);
  LayerCost cost;
  for (const Parameter& parameter : layer_parameters(spec, layer)) {
    const std::int64_t elements = local_element_count(parameter, settings.sizes);
    (parameter.is_expert() ? cost.expert_parameter_count : cost.parameter_count) += elements;
    if (enters_fp8_products(parameter)) cost.fp8_weight_elements += elements;
  }
  const std::int64_t row = tokens.resident * shape.hidden_size;
  cost.input_bytes = row * bytes.activation;
  // Both norms keep what they read (the residual stream) and what the next GEMM reads.
  const std::int64_t statistics = spec.norm_has_bias() ? 2 : 1;
  cost.activation_bytes = 2 * (row * (bytes.activation + bytes.gemm_input) +
                               tokens.resident * statistics * std::int64_t{sizeof(float)});
  // Norm with residual: reads two rows, writes two; backward reads three and writes one.
  cost.memory_bytes_forward = as_double(8 * row * bytes.activation);
  cost.memory_bytes_backward = as_double(8 * row * bytes.activation);
  add_attention(settings, tokens, bytes, cost);
  const std::int64_t tp = settings.sizes.tp;
  if (spec.is_moe_layer(layer)) {
    add_experts(settings, tokens, bytes, cost);
    if (shape.shared_expert_ffn_hidden_size > 0) {
      add_mlp({tokens.attended, shape.shared_expert_ffn_hidden_size / tp, spec.is_gated()},
              shape.hidden_size, bytes, cost);
    }
  } else {
    add_mlp({tokens.attended, shape.ffn_hidden_size / tp, spec.is_gated()}, shape.hidden_size,
            bytes, cost);
  }
  if (spec.is_rotary_layer(layer)) {
    const double turned = shape.rotary_fraction * static_cast<double>(shape.head_size);
    cost.table_bytes = tokens.attended / settings.batch.micro_batch_size *
                       static_cast<std::int64_t>(turned) * std::int64_t{sizeof(float)};
  }
  if (!is_fp8(settings.precision)) {
    cost.cast_elements = 0;
    cost.cast_elements_forward = 0;
    cost.fp8_weight_elements = 0;
  }
  return cost;
}

HeadCost head_cost(const RunSettings& settings) {
  const ModelShape& shape = settings.spec.shape;
  const NumberBytes bytes = number_bytes(settings.precision, settings.backend);
  const TokenCounts tokens =
      token_counts(settings.spec, settings.sizes, settings.batch.micro_batch_size);
  const std::int64_t columns = shape.vocabulary_size / settings.sizes.tp;
  const std::int64_t cells = tokens.attended * columns;
  HeadCost cost;
  cost.rows = tokens.attended;
  cost.chunk_rows = settings.head_chunk_rows > 0
                        ? std::min(cost.rows, settings.head_chunk_rows)
                        : head_chunk_rows(cost.rows, columns, bytes.activation);
  // It has gone back already: the gradient of what it read.
  cost.kept_bytes = tokens.resident * shape.hidden_size * bytes.activation;
  cost.gemm_flops = 2.0 * as_double(cells) * as_double(shape.hidden_size);
  // Read for the maximum and sum, read again, gradient written. Where the whole vocabulary is here,
  // the kernel that takes the sum goes over its row once more while it is in the cache.
  cost.memory_bytes = as_double((settings.sizes.tp == 1 ? 2 : 3) * cells * bytes.activation);
  return cost;
}

}  // namespace llmb::runner
