#include <cmath>
#include <stdexcept>
#include <string>

#include "runner/kernels/attention.h"
#include "runner/kernels/attention_tile.h"

namespace llmb::runner::kernels {
namespace {

// dots (row, head) = d_o . o of that row and head: a warp has one.
template <typename T>
struct AttentionDotsKernel {
  static constexpr int kThreadsMax = kAttentionThreads;

  AttentionBackward<T> in;

  __device__ void operator()() const {
    const std::int64_t index = block_x() * (kAttentionThreads / kWarp) + warp_index();
    const std::int64_t heads = in.shape.head_count;
    if (index >= in.o.rows * heads) return;  // the whole warp
    const std::int64_t first = index % heads * in.shape.head_size;
    const T* o = in.o.row(index / heads) + first;
    const T* d_o = in.d_o.row(index / heads) + first;
    float sum = 0;
    for (std::int64_t f = lane_index(); f < in.shape.head_size; f += kWarp) {
      sum += to_float(o[f]) * to_float(d_o[f]);
    }
    sum = warp_reduce(sum);
    if (lane_index() == 0) in.dots[index] = sum;
  }
};

// With p the probabilities and ds = p (dp - d_o . o): dq = scale ds k. Blocks as in forward.
template <typename T, int kFeatures>
struct AttentionQueryGradientKernel {
  static constexpr int kThreadsMax = kAttentionThreads;

  AttentionBackward<T> in;
  float scale;

  __device__ void operator()() const {
    const AttentionShape& shape = in.shape;
    const std::int64_t size = shape.head_size;
    const std::int64_t head = block_y();
    const std::int64_t group = head / (shape.head_count / shape.group_count);
    const RowTile queries(0, kOwnTile, size);
    const RowTile d_outputs(kOwnTile, kOwnTile, size);
    const RowTile keys(2 * kOwnTile, kOtherTile, size);
    const RowTile values(2 * kOwnTile + kOtherTile, kOtherTile, size);
    const std::int64_t first = block_x() * kOwnTile;
    queries.read(shape, in.q, block_z(), head, first, shape.query_count);
    d_outputs.read(shape, in.d_o, block_z(), head, first, shape.query_count);

    std::int64_t begin = in.k.rows;
    std::int64_t end = 0;
    for (int i = 0; i < kOwnTile; ++i) {
      const KeyRange one = KeyRange::of_query(shape, first + i);
      if (one.end == 0) continue;
      begin = one.begin < begin ? one.begin : begin;
      end = one.end > end ? one.end : end;
    }
    RowSums<kFeatures> sums;
    for (std::int64_t key = begin; key < end; key += kOtherTile) {
      __syncthreads();  // before the last tile is written over
      keys.read(shape, in.k, block_z(), group, key, end);
      values.read(shape, in.v, block_z(), group, key, end);
      __syncthreads();
      const Floats<kRows> scores = dot_rows(queries, keys, size);
      Floats<kRows> ds = dot_rows(d_outputs, values, size);
      for (int r = 0; r < kRows; ++r) {
        const std::int64_t query = first + warp_index() * kRows + r;
        if (!KeyRange::of_query(shape, query).has(key + lane_index())) {
          ds[r] = 0;
          continue;
        }
        const std::int64_t at = (query * shape.batch + block_z()) * shape.head_count + head;
        const float p = rounded<T>(expf(scores[r] * scale - in.log_sums[at]));
        ds[r] = rounded<T>(p * (ds[r] - in.dots[at]));
      }
      sums.add(ds, keys, size);
    }
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t query = first + warp_index() * kRows + r;
      if (query >= shape.query_count) continue;
      sums.write(r, scale, size, in.dq.row(query * shape.batch + block_z()) + head * size);
    }
  }
};

// dv = p^T d_o, dk = scale ds^T q: a block has kOwnTile keys of one group of one sample, and goes
// through the queries of all its heads that see one of them.
template <typename T, int kFeatures>
struct AttentionKeyGradientKernel {
  static constexpr int kThreadsMax = kAttentionThreads;

  AttentionBackward<T> in;
  float scale;

  __device__ void operator()() const {
    const AttentionShape& shape = in.shape;
    const std::int64_t size = shape.head_size;
    const std::int64_t group = block_y();
    const std::int64_t heads_per_group = shape.head_count / shape.group_count;
    const std::int64_t key_count = in.k.rows / shape.batch;
    const RowTile keys(0, kOwnTile, size);
    const RowTile values(kOwnTile, kOwnTile, size);
    const std::int64_t first = block_x() * kOwnTile;
    keys.read(shape, in.k, block_z(), group, first, key_count);
    values.read(shape, in.v, block_z(), group, first, key_count);

    RowSums<kFeatures> dk;
    RowSums<kFeatures> dv;
    for (std::int64_t h = group * heads_per_group; h < (group + 1) * heads_per_group; ++h) {
      for (std::int64_t query = 0; query < shape.query_count; query += kOtherTile) {
        // Every warp looks at the same 32 queries, so all of them skip a tile, or none.
        const KeyRange seen = KeyRange::of_query(shape, query + lane_index());
        const bool is_needed = seen.begin < first + kOwnTile && seen.end > first;
        if (__any_sync(0xffffffffU, is_needed)) add_queries(h, query, first, dk, dv);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t key = first + warp_index() * kRows + r;
      if (key >= key_count) continue;
      const std::int64_t row = key * shape.batch + block_z();
      dk.write(r, scale, size, in.dk.row(row) + group * size);
      dv.write(r, 1.0F, size, in.dv.row(row) + group * size);
    }
  }

  __device__ void add_queries(std::int64_t head, std::int64_t first_query, std::int64_t first_key,
                              RowSums<kFeatures>& dk, RowSums<kFeatures>& dv) const {
    const AttentionShape& shape = in.shape;
    const std::int64_t size = shape.head_size;
    const RowTile keys(0, kOwnTile, size);
    const RowTile values(kOwnTile, kOwnTile, size);
    const RowTile queries(2 * kOwnTile, kOtherTile, size);
    const RowTile d_outputs(2 * kOwnTile + kOtherTile, kOtherTile, size);
    __syncthreads();  // before the last tile is written over
    queries.read(shape, in.q, block_z(), head, first_query, shape.query_count);
    d_outputs.read(shape, in.d_o, block_z(), head, first_query, shape.query_count);
    __syncthreads();
    const std::int64_t query = first_query + lane_index();
    const KeyRange seen = KeyRange::of_query(shape, query);
    const std::int64_t at = (query * shape.batch + block_z()) * shape.head_count + head;
    const bool exists = query < shape.query_count;
    const float log_sum = exists ? in.log_sums[at] : 0.0F;
    const float dot = exists ? in.dots[at] : 0.0F;
    Floats<kRows> p = dot_rows(keys, queries, size);
    Floats<kRows> ds = dot_rows(values, d_outputs, size);
    for (int r = 0; r < kRows; ++r) {
      const bool is_seen = seen.has(first_key + warp_index() * kRows + r);
      p[r] = is_seen ? rounded<T>(expf(p[r] * scale - log_sum)) : 0.0F;
      ds[r] = rounded<T>(p[r] * (ds[r] - dot));
    }
    dv.add(p, d_outputs, size);
    dk.add(ds, queries, size);
  }
};

template <typename T, int kFeatures>
void launch_backward(const AttentionBackward<T>& operands, Stream stream) {
  const AttentionShape& shape = operands.shape;
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(shape.head_size)));
  const std::size_t bytes = tile_bytes(2 * (kOwnTile + kOtherTile), shape.head_size);
  launch(AttentionDotsKernel<T>{operands},
         {blocks_for(operands.o.rows * shape.head_count, kAttentionThreads / kWarp)},
         kAttentionThreads, 0, stream);
  launch(AttentionQueryGradientKernel<T, kFeatures>{operands, scale},
         {blocks_for(shape.query_count, kOwnTile), shape.head_count, shape.batch},
         kAttentionThreads, bytes, stream);
  launch(AttentionKeyGradientKernel<T, kFeatures>{operands, scale},
         {blocks_for(operands.k.rows / shape.batch, kOwnTile), shape.group_count, shape.batch},
         kAttentionThreads, bytes, stream);
}

}  // namespace

template <typename T>
void attention_backward(const AttentionBackward<T>& operands, Stream stream) {
  const std::int64_t size = operands.shape.head_size;
  if (size > kHeadSizeMax) {
    throw std::invalid_argument("The attention kernel takes heads of at most " +
                                std::to_string(kHeadSizeMax) + " features, not " +
                                std::to_string(size) + ".");
  }
  if (size <= 4 * kWarp) return launch_backward<T, 4>(operands, stream);
  launch_backward<T, 8>(operands, stream);
}

template void attention_backward(const AttentionBackward<float>&, Stream);
template void attention_backward(const AttentionBackward<Bf16>&, Stream);

}  // namespace llmb::runner::kernels
