#include "runner/plan/ceiling_shapes.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "runner/plan/layer_cost.h"

namespace llmb::runner {
namespace {

constexpr std::int64_t kCopyBytes = std::int64_t{1} << 30;
constexpr std::int64_t kCopyBytesOnCpu = std::int64_t{1} << 26;  // beyond its caches

}  // namespace

CeilingShapes ceiling_shapes(const RunSettings& settings) {
  const ModelSpec& spec = settings.spec;
  const ModelShape& shape = spec.shape;
  const ParallelSizes& sizes = settings.sizes;
  const std::int64_t rows = token_counts(spec, sizes, settings.batch.micro_batch_size).attended;
  const std::int64_t query = spec.query_size() / sizes.tp;
  const std::int64_t up = spec.is_gated() ? 2 : 1;
  CeilingShapes shapes;
  // Of a rank; the first layers say what kinds there are.
  const double layers = static_cast<double>(shape.layer_count) / sizes.pp;
  const double moe_layers =
      spec.is_moe() ? layers / static_cast<double>(shape.moe_layer_interval) : 0;
  const auto add_mlp = [&](const std::string& name, std::int64_t mlp_rows, std::int64_t width,
                           double count, LinearKind kind = LinearKind::layer) {
    shapes.linears.push_back({name + " fc1", mlp_rows, shape.hidden_size, up * width, count, kind});
    shapes.linears.push_back({name + " fc2", mlp_rows, width, shape.hidden_size, count, kind});
  };
  shapes.linears.push_back(
      {"qkv", rows, shape.hidden_size, query + 2 * spec.key_value_size() / sizes.tp, layers});
  shapes.linears.push_back({"attention_out", rows, query, shape.hidden_size, layers});
  const bool has_dense = !spec.is_moe() || !spec.is_moe_layer(0);
  if (has_dense) add_mlp("mlp", rows, shape.ffn_hidden_size / sizes.tp, layers - moe_layers);
  if (spec.is_moe()) {
    const std::int64_t chosen = rows / sizes.tp * sizes.etp * sizes.ep * shape.experts_per_token;
    add_mlp("expert", std::max<std::int64_t>(1, chosen / shape.expert_count),
            shape.expert_ffn_hidden_size / sizes.etp,
            moe_layers * static_cast<double>(shape.expert_count) / sizes.ep, LinearKind::expert);
    if (sizes.ep == 1) {
      for (LinearShape& linear : shapes.linears) {
        if (linear.kind == LinearKind::expert) linear.experts = shape.expert_count;
      }
    }
  }
  if (spec.is_moe()) {
    const std::int64_t resident =
        token_counts(spec, sizes, settings.batch.micro_batch_size).resident;
    shapes.linears.push_back({"router", resident, shape.hidden_size, shape.expert_count, moe_layers,
                              LinearKind::router});
  }
  if (shape.shared_expert_ffn_hidden_size > 0) {
    add_mlp("shared_expert", rows, shape.shared_expert_ffn_hidden_size / sizes.tp, moe_layers);
  }
  const HeadCost head = head_cost(settings);
  shapes.linears.push_back(
      {"head", head.chunk_rows, shape.hidden_size, shape.vocabulary_size / sizes.tp,
       static_cast<double>(head.rows) / static_cast<double>(head.chunk_rows), LinearKind::head});
  shapes.attention.batch = settings.batch.micro_batch_size;
  shapes.attention.head_count = shape.attention_head_count / sizes.tp;
  shapes.attention.group_count = std::max<std::int64_t>(1, shape.query_group_count / sizes.tp);
  shapes.attention.head_size = shape.head_size;
  shapes.attention.chunk_size = shape.attention_chunk_size;
  shapes.key_count = shape.sequence_length;
  // Of the first context rank: an early and a late piece, together as much work as any other's.
  const std::int64_t piece = shape.sequence_length / sizes.cp / (sizes.cp > 1 ? 2 : 1);
  shapes.positions.resize(static_cast<std::size_t>(piece));
  std::iota(shapes.positions.begin(), shapes.positions.end(), 0);
  if (sizes.cp > 1) {
    for (std::int64_t i = shape.sequence_length - piece; i < shape.sequence_length; ++i) {
      shapes.positions.push_back(i);
    }
  }
  shapes.copy_bytes = settings.backend == Backend::cpu ? kCopyBytesOnCpu : kCopyBytes;
  return shapes;
}

std::vector<LinearShape> lone_expert_shapes(const RunSettings& settings) {
  std::vector<LinearShape> experts;
  const bool has_both_ways =
      settings.precision != Precision::fp32 && settings.precision != Precision::mxfp8;
  if (!has_both_ways) return experts;
  for (LinearShape& linear : ceiling_shapes(settings).linears) {
    if (linear.kind == LinearKind::expert && linear.experts > 1) {
      experts.push_back(std::move(linear));
    }
  }
  return experts;
}

std::vector<LinearShape> fixed_linear_shapes(const RunSettings& settings) {
  std::vector<LinearShape> fixed;
  for (LinearShape& linear : ceiling_shapes(settings).linears) {
    if (linear.kind != LinearKind::expert) fixed.push_back(std::move(linear));
  }
  // The chunks of the head, and the last one, where it is smaller.
  const HeadCost head = head_cost(settings);
  LinearShape& chunks = fixed.back();
  const std::int64_t whole_chunks = head.rows / head.chunk_rows;
  chunks.count = static_cast<double>(whole_chunks);
  if (const std::int64_t rest = head.rows % head.chunk_rows; rest > 0) {
    LinearShape last = chunks;
    last.rows = rest;
    last.count = 1;
    fixed.push_back(std::move(last));
  }
  return fixed;
}

}  // namespace llmb::runner
