// prepare_attention: makes the attention of a rank's layers before its memory is planned, so that
// the plan has what this device's libraries ask for, and no step has to make anything.
#pragma once

#include <algorithm>

#include "runner/cuda/ops.h"
#include "runner/model/stage_context.h"
#include "runner/plan/run_settings.h"

namespace llmb::runner {

// Of all layers: a rank's stage may have any of them. The implementation is that of the one which
// asks for most.
template <typename T>
AttentionUse prepare_attention(cuda::Ops<T>& ops, const RunSettings& settings, const Layout& layout,
                               int rank) {
  const std::int64_t length = settings.spec.shape.sequence_length;
  const std::int64_t samples = settings.batch.micro_batch_size;
  const std::vector<std::int64_t> positions =
      zigzag_positions(length, settings.sizes.cp, layout.place_of(rank).cp);
  AttentionUse most;
  for (std::int64_t layer = 0; layer < settings.spec.shape.layer_count; ++layer) {
    const AttentionUse use = ops.prepare_attention(
        attention_shape(settings.spec, settings.sizes, samples, settings.precision, layer),
        positions, length * samples);
    if (most.implementation.empty() || use.workspace_bytes > most.workspace_bytes) most = use;
  }
  return most;
}

}  // namespace llmb::runner
