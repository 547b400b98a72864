#include <cmath>
#include <stdexcept>
#include <string>

#include "runner/kernels/attention.h"
#include "runner/kernels/attention_tile.h"

namespace llmb::runner::kernels {
namespace {

// A block has kOwnTile queries of one head of one sample, and goes through the keys they see.
template <typename T, int kFeatures>
struct AttentionForwardKernel {
  static constexpr int kThreadsMax = kAttentionThreads;

  AttentionForward<T> in;
  float scale;

  __device__ void operator()() const {
    const AttentionShape& shape = in.shape;
    const std::int64_t size = shape.head_size;
    const std::int64_t head = block_y();
    const std::int64_t group = head / (shape.head_count / shape.group_count);
    const RowTile queries(0, kOwnTile, size);
    const RowTile keys(kOwnTile, kOtherTile, size);
    const RowTile values(kOwnTile + kOtherTile, kOtherTile, size);
    const std::int64_t first = block_x() * kOwnTile;
    queries.read(shape, in.q, block_z(), head, first, shape.query_count);

    KeyRange seen[kRows];
    Floats<kRows> largest;
    Floats<kRows> sums = {};
    for (int r = 0; r < kRows; ++r) {
      seen[r] = KeyRange::of_query(shape, first + warp_index() * kRows + r);
      largest[r] = -INFINITY;
    }
    const KeyRange all = seen_by_block(first);
    RowSums<kFeatures> outputs;
    for (std::int64_t key = all.begin; key < all.end; key += kOtherTile) {
      __syncthreads();  // before the last tile is written over
      keys.read(shape, in.k, block_z(), group, key, all.end);
      values.read(shape, in.v, block_z(), group, key, all.end);
      __syncthreads();
      Floats<kRows> weights = dot_rows(queries, keys, size);
      for (int r = 0; r < kRows; ++r) {
        const bool is_seen = seen[r].has(key + lane_index());
        const float score = is_seen ? weights[r] * scale : -INFINITY;
        const float larger = fmaxf(largest[r], warp_reduce(score, Larger()));
        // Where nothing was seen yet there is nothing to scale down, and nothing to weigh.
        const float keep = largest[r] == -INFINITY ? 0.0F : expf(largest[r] - larger);
        weights[r] = is_seen ? expf(score - larger) : 0.0F;
        sums[r] = sums[r] * keep + warp_reduce(weights[r]);
        largest[r] = larger;
        weights[r] = rounded<T>(weights[r]);
        for (int i = 0; i < kFeatures; ++i) outputs.values[r][i] *= keep;
      }
      outputs.add(weights, values, size);
    }
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t query = first + warp_index() * kRows + r;
      if (query >= shape.query_count) continue;
      const std::int64_t row = query * shape.batch + block_z();
      outputs.write(r, 1.0F / sums[r], size, in.o.row(row) + head * size);
      if (lane_index() == 0) {
        in.log_sums[row * shape.head_count + head] = largest[r] + logf(sums[r]);
      }
    }
  }

  // From the first to the last key that one of the block's queries sees.
  __device__ KeyRange seen_by_block(std::int64_t first) const {
    KeyRange all = KeyRange::of_query(in.shape, first);
    for (int i = 1; i < kOwnTile; ++i) {
      const KeyRange one = KeyRange::of_query(in.shape, first + i);
      if (one.end == 0) continue;
      all.begin = one.begin < all.begin ? one.begin : all.begin;
      all.end = one.end > all.end ? one.end : all.end;
    }
    return all;
  }
};

template <typename T, int kFeatures>
void launch_forward(const AttentionForward<T>& operands, Stream stream) {
  const AttentionShape& shape = operands.shape;
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(shape.head_size)));
  launch(AttentionForwardKernel<T, kFeatures>{operands, scale},
         {blocks_for(shape.query_count, kOwnTile), shape.head_count, shape.batch},
         kAttentionThreads, tile_bytes(kOwnTile + 2 * kOtherTile, shape.head_size), stream);
}

}  // namespace

template <typename T>
void attention_forward(const AttentionForward<T>& operands, Stream stream) {
  const std::int64_t size = operands.shape.head_size;
  if (size > kHeadSizeMax) {
    throw std::invalid_argument("The attention kernel takes heads of at most " +
                                std::to_string(kHeadSizeMax) + " features, not " +
                                std::to_string(size) + ".");
  }
  if (size <= 4 * kWarp) return launch_forward<T, 4>(operands, stream);
  launch_forward<T, 8>(operands, stream);
}

template void attention_forward(const AttentionForward<float>&, Stream);
template void attention_forward(const AttentionForward<Bf16>&, Stream);

}  // namespace llmb::runner::kernels
