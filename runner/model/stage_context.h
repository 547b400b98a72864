// StageContext: what every block of a stage knows of its surroundings: the model, the rank's
// place and groups, and which rows of a micro-batch are its own. Rows are (position, sample), the
// sample quickest, so that a piece of the sequence is a block of rows. With context parallelism a
// rank has an early and a late piece of the sequence (zigzag), which balances causal attention;
// sequence parallelism shares these out over the tensor group, outside attention and MLP.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runner/model/backend_types.h"
#include "runner/model/expert_counts.h"
#include "runner/model/parameter_store.h"
#include "runner/model/precision.h"
#include "runner/model/spec.h"
#include "runner/operation/attention_shape.h"
#include "runner/parallel/layout.h"
#include "runner/parallel/rank_groups.h"

namespace llmb::runner {

// Positions of a context rank: of 2 cp equal pieces, its own from the front and from the back.
std::vector<std::int64_t> zigzag_positions(std::int64_t length, int cp, int index);

// The attention of layer `layer` of the whole model, on one rank.
AttentionShape attention_shape(const ModelSpec& spec, const ParallelSizes& sizes,
                               std::int64_t samples, Precision precision, std::int64_t layer);

// Row of the whole micro-batch, in sequence order, for every row as the context group gathers
// them: rank by rank.
std::vector<std::int64_t> gathered_rows_of(std::int64_t length, int cp, std::int64_t samples);

// Indices in the backend's memory.
template <typename Backend>
void write_indices(typename Backend::Ops& ops, std::span<const std::int64_t> host,
                   IndexArray<Backend>& to) {
  const std::vector<typename Backend::Index> indices(host.begin(), host.end());
  to.resize(ops, static_cast<std::int64_t>(indices.size()));
  ops.template write<typename Backend::Index>(indices, to.values());
}

template <typename Backend>
struct StageContext {
  // `operations` and `rank_groups` outlive it.
  StageContext(typename Backend::Ops& operations, const ModelSpec& model, const Layout& layout,
               int rank, RankGroups& rank_groups, std::int64_t samples,
               Precision numbers = Precision::fp32)
      : ops(operations),
        spec(model),
        sizes(layout.sizes()),
        place(layout.place_of(rank)),
        groups(rank_groups),
        micro_batch_size(samples),
        precision(numbers),
        positions(zigzag_positions(model.shape.sequence_length, sizes.cp, place.cp)) {
    write_indices<Backend>(ops, positions, query_positions);
    write_indices<Backend>(ops, gathered_rows_of(model.shape.sequence_length, sizes.cp, samples),
                           gathered_rows);
  }

  typename Backend::Ops& ops;
  ModelSpec spec;
  ParallelSizes sizes;
  RankPlace place;
  RankGroups& groups;
  std::int64_t micro_batch_size;
  Precision precision;
  bool keeps_fp8_weights = false;                        // StageOptions
  std::int64_t head_chunk_rows = 0;                      // StageOptions
  ExpertCounts expert_counts = ExpertCounts::on_device;  // StageOptions

  std::vector<std::int64_t> positions;  // in the sequence, of this rank's context slice
  IndexArray<Backend> query_positions;  // the same, where attention reads them
  IndexArray<Backend> gathered_rows;    // gathered_rows_of

  // Whether no pass asks the host how many rows each expert gets: all experts are here, or slices
  // of all, and their products are made for that.
  bool counts_experts_on_device() const {
    const bool has_blocks = precision == Precision::mxfp8 && !Backend::kEmulatesNarrow;
    return sizes.ep == 1 && expert_counts == ExpertCounts::on_device && !has_blocks;
  }

  // Rows of this rank's context slice, of its sequence-parallel piece, of the whole micro-batch.
  std::int64_t context_rows() const {
    return static_cast<std::int64_t>(positions.size()) * micro_batch_size;
  }
  std::int64_t shard_rows() const { return context_rows() / sizes.tp; }
  std::int64_t token_count() const { return spec.shape.sequence_length * micro_batch_size; }
};

// A parameter as a matrix: all axes but the last are rows. Where it lies may change from pass to
// pass, as sharded parameters come and go.
template <typename Backend>
struct Weight {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  const LocalParameter<Backend>* parameter = nullptr;

  Weight() = default;
  explicit Weight(const LocalParameter<Backend>& local)
      : rows(local.element_count() / local.local_shape.back()),
        cols(local.local_shape.back()),
        parameter(&local) {}

  std::span<const typename Backend::Value> values() const { return parameter->weight; }
  std::span<typename Backend::Gradient> gradients() const { return parameter->gradient; }
  ConstValueView<Backend> value() const { return {values().data(), rows, cols}; }
  GradientView<Backend> gradient() const { return {gradients().data(), rows, cols}; }
};

}  // namespace llmb::runner
