// The two collectives around every pair of a column-parallel and a row-parallel linear. Each is
// the other's backward: what forward gathers, backward scatters.
#pragma once

#include "runner/model/linear_layer.h"
#include "runner/model/stage_context.h"

namespace llmb::runner {

// All rows of the context slice, from the tensor group's pieces. Without tensor parallelism that
// is `shard` itself; else they lie in `storage`.
template <typename Backend>
ConstValueView<Backend> gather_sequence(const StageContext<Backend>& context,
                                        ConstValueView<Backend> shard,
                                        ValueTensor<Backend>& storage, CallTag tag) {
  if (context.sizes.tp == 1) return shard;
  storage.resize(context.ops, shard.rows * context.sizes.tp, shard.cols);
  context.groups.tensor->all_gather(shard.values(), storage.values(), tag);
  return storage;
}

// Where the partial results of all rows go that scatter_sequence brings into `shard`: without
// tensor parallelism `shard` itself, else `storage`.
template <typename Backend>
ValueView<Backend> partial_of(const StageContext<Backend>& context, ValueView<Backend> shard,
                              ValueTensor<Backend>& storage) {
  if (context.sizes.tp == 1) return shard;
  storage.resize(context.ops, shard.rows * context.sizes.tp, shard.cols);
  return storage;
}

// This rank's rows of the sum of everybody's partial results, which lie where partial_of said.
template <typename Backend>
void scatter_sequence(const StageContext<Backend>& context, ConstValueView<Backend> partial,
                      ValueView<Backend> shard, CallTag tag) {
  if (context.sizes.tp == 1) return;
  context.groups.tensor->reduce_scatter(partial.values(), shard.values(), tag);
  keep<Backend>(context.ops, context.precision, shard);
}

}  // namespace llmb::runner
