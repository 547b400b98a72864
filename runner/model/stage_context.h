// StageContext: what every block of a stage knows of its surroundings: the model, the rank's
// place and groups, and which rows of a micro-batch are its own. Rows are (position, sample), the
// sample quickest, so that a piece of the sequence is a block of rows. With context parallelism a
// rank has an early and a late piece of the sequence (zigzag), which balances causal attention;
// sequence parallelism shares these out over the tensor group, outside attention and MLP.
#pragma once

#include <span>
#include <vector>

#include "runner/model/parameter_store.h"
#include "runner/model/precision.h"
#include "runner/model/spec.h"
#include "runner/parallel/layout.h"
#include "runner/parallel/rank_groups.h"

namespace llmb::runner {

struct StageContext {
  // `groups` outlives it.
  StageContext(const ModelSpec& model, const Layout& layout, int rank, RankGroups& rank_groups,
               std::int64_t samples, Precision numbers = Precision::fp32);

  ModelSpec spec;
  ParallelSizes sizes;
  RankPlace place;
  RankGroups& groups;
  std::int64_t micro_batch_size;
  Precision precision;

  std::vector<std::int64_t> positions;  // in the sequence, of this rank's context slice
  // Row of the whole micro-batch, in sequence order, for every row as the context group gathers
  // them: rank by rank.
  std::vector<std::int64_t> gathered_rows;

  std::int64_t context_rows() const;  // of this rank's context slice
  std::int64_t shard_rows() const;    // of its sequence-parallel piece
  std::int64_t token_count() const;   // of the whole micro-batch
};

// A parameter as a matrix: all axes but the last are rows. Where it lies may change from pass to
// pass, as sharded parameters come and go.
template <typename T>
struct Weight {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  const LocalParameter<T>* parameter = nullptr;

  Weight() = default;
  explicit Weight(const LocalParameter<T>& local)
      : rows(local.element_count() / local.local_shape.back()),
        cols(local.local_shape.back()),
        parameter(&local) {}

  std::span<T> value() const { return parameter->weight; }
  std::span<T> gradient() const { return parameter->gradient; }
  template <typename View>
  View value_as() const {
    return {value().data(), rows, cols};
  }
  template <typename View>
  View gradient_as() const {
    return {gradient().data(), rows, cols};
  }
};

}  // namespace llmb::runner
