#include "runner/model/stage_context.h"

namespace llmb::runner {

std::vector<std::int64_t> zigzag_positions(std::int64_t length, int cp, int index) {
  std::vector<std::int64_t> positions;
  const auto add = [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) positions.push_back(first + i);
  };
  if (cp == 1) {
    add(0, length);
  } else {
    const std::int64_t pieces = 2 * std::int64_t{cp};
    const std::int64_t piece = length / pieces;
    add(index * piece, piece);
    add((pieces - 1 - index) * piece, piece);
  }
  return positions;
}

// Llama 4: layers with RoPE look at their chunk, those without at everything.
AttentionShape attention_shape(const ModelSpec& spec, const ParallelSizes& sizes,
                               std::int64_t samples, Precision precision, std::int64_t layer) {
  AttentionShape shape;
  shape.batch = samples;
  shape.head_count = spec.shape.attention_head_count / sizes.tp;
  shape.group_count = spec.shape.query_group_count / sizes.tp;
  shape.head_size = spec.shape.head_size;
  shape.chunk_size = spec.is_rotary_layer(layer) ? spec.shape.attention_chunk_size : 0;
  shape.bf16_products = precision != Precision::fp32;
  return shape;
}

std::vector<std::int64_t> gathered_rows_of(std::int64_t length, int cp, std::int64_t samples) {
  std::vector<std::int64_t> rows;
  for (int index = 0; index < cp; ++index) {
    for (const std::int64_t position : zigzag_positions(length, cp, index)) {
      for (std::int64_t sample = 0; sample < samples; ++sample) {
        rows.push_back(position * samples + sample);
      }
    }
  }
  return rows;
}

}  // namespace llmb::runner
