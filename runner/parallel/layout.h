// Layout: which rank does what. The dense part of the model spreads over tp x cp x dp x pp ranks,
// the experts fold into the same ranks as etp x ep x edp x pp (Megatron's order: tp turns fastest,
// then cp, dp, and pp slowest; for experts etp, ep, edp, pp). Immutable; any thread may read it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parser/result.h"

namespace llmb::runner {

using parser::Result;

struct ParallelSizes {
  int tp = 1;   // tensor, with sequence parallelism in the same group
  int cp = 1;   // context
  int dp = 1;   // data
  int pp = 1;   // pipeline
  int vp = 1;   // virtual pipeline: model chunks a rank holds
  int ep = 1;   // expert
  int etp = 1;  // expert tensor

  int world() const { return tp * cp * dp * pp; }
  // How many ranks hold the same experts. Whole only where Layout::make agrees.
  int edp() const { return tp * cp * dp / (ep * etp); }
  bool operator==(const ParallelSizes&) const = default;
};

struct RankPlace {
  int tp = 0, cp = 0, dp = 0, pp = 0;
  int etp = 0, ep = 0, edp = 0;
  bool operator==(const RankPlace&) const = default;
};

enum class GroupKind {
  tensor,               // also sequence parallel
  context,              // exchanges keys and values
  data,                 // same parameters, other samples
  data_context,         // reduces the dense parameters' gradients
  tensor_data_context,  // one pipeline stage
  pipeline,
  expert,  // exchanges tokens
  expert_tensor,
  expert_data,  // reduces the experts' gradients
  world,
};
std::string_view group_kind_name(GroupKind kind);

// Layers [first, last) of one chunk on one stage.
struct LayerRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t size() const { return last - first; }
  bool operator==(const LayerRange&) const = default;
};

class Layout {
 public:
  // Refused in words: sizes below 1, a product that is not world_size, experts that do not fold.
  static Result<Layout> make(const ParallelSizes& sizes, int world_size);

  const ParallelSizes& sizes() const { return sizes_; }
  int world_size() const { return sizes_.world(); }
  RankPlace place_of(int rank) const;
  int rank_of(int tp, int cp, int dp, int pp) const;
  // The ranks of `rank`'s group of that kind, ascending; a rank's position is its index.
  std::vector<int> group(GroupKind kind, int rank) const;
  // Every group of that kind, ordered by its first rank.
  std::vector<std::vector<int>> groups(GroupKind kind) const;

 private:
  explicit Layout(const ParallelSizes& sizes) : sizes_(sizes) {}
  ParallelSizes sizes_;
};

// Which layers chunk `chunk` of stage `stage` holds: chunk 0 of every stage comes first, then
// chunk 1 (Megatron's interleaving). Where the layers do not divide over pp * vp chunks but do
// together with embedding and head, these count as one layer each, as in the recipe of Llama 3.1
// 405B: 126 layers on 8 x 8 chunks are 1, 2, 2, …, 2, 1. check_layout (runner/plan) refuses
// everything else.
LayerRange layers_of(const ParallelSizes& sizes, std::int64_t layer_count, int stage, int chunk);

struct BatchSizes {
  std::int64_t micro_batch_size = 1;
  std::int64_t global_batch_size = 1;
};

// Micro-batches that one replica passes through its pipeline in one step.
std::int64_t micro_batch_count(const BatchSizes& batch, const ParallelSizes& sizes);

}  // namespace llmb::runner
