#include "runner/cpu/attention.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#include "runner/cpu/gemm.h"
#include "runner/cpu/op_profile.h"
#include "runner/cpu/parallel_for.h"
#include "runner/cpu/quantize.h"

namespace llmb::runner::cpu {
namespace {

constexpr std::int64_t kQueryBlock = 64;

// One head of one sample, as the products see it.
template <typename T>
struct HeadView {
  HeadView(View<T> all, const AttentionShape& shape, std::int64_t sample, std::int64_t head)
      : data(all.data + sample * all.cols + head * shape.head_size),
        stride(shape.batch * all.cols) {}

  T* row(std::int64_t position) const { return data + position * stride; }
  Operand<std::remove_const_t<T>> rows_from(std::int64_t position, bool transposed = false) const {
    return {row(position), stride, transposed};
  }

  T* data;
  std::int64_t stride;
};

// Scores of a block of queries against the keys that any of them sees.
struct Block {
  Block(const AttentionShape& shape, std::span<const std::int64_t> positions,
        std::int64_t first_query)
      : first(first_query),
        count(std::min(kQueryBlock, static_cast<std::int64_t>(positions.size()) - first_query)),
        first_key(positions[static_cast<std::size_t>(first_query)]) {
    const auto visible =
        positions.subspan(static_cast<std::size_t>(first_query), static_cast<std::size_t>(count));
    std::int64_t last_key = 0;
    for (const std::int64_t position : visible) {
      first_key = std::min(first_key, shape.first_visible(position));
      last_key = std::max(last_key, position);
    }
    keys = last_key + 1 - first_key;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t position = visible[static_cast<std::size_t>(i)];
      seen[static_cast<std::size_t>(i)] = {shape.first_visible(position) - first_key,
                                           position + 1 - first_key};
    }
  }

  // Of the block's keys, those [begin, end) that a query sees.
  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  std::int64_t first;
  std::int64_t count;
  std::int64_t first_key;
  std::int64_t keys = 0;
  std::array<Range, kQueryBlock> seen;
};

template <typename T>
T scale_of(const AttentionShape& shape) {
  return static_cast<T>(1 / std::sqrt(static_cast<double>(shape.head_size)));
}

// Zero where a query sees nothing.
template <typename T>
void clear_unseen(T* row, const Block::Range& seen, std::int64_t keys) {
  std::fill(row, row + seen.begin, T(0));
  std::fill(row + seen.end, row + keys, T(0));
}

template <typename T>
void round_block(const Block& block, std::vector<T>& values) {
  Quantize<T>::to_bf16({values.data(), 1, block.count * block.keys});
}

// Scores to probabilities in place.
template <typename T>
void softmax_row(T* scores, const Block::Range& seen, std::int64_t keys, T& log_sum) {
  const T maximum = *std::max_element(scores + seen.begin, scores + seen.end);
  T sum = 0;
  for (std::int64_t j = seen.begin; j < seen.end; ++j) {
    sum += scores[j] = std::exp(scores[j] - maximum);
  }
  for (std::int64_t j = seen.begin; j < seen.end; ++j) scores[j] /= sum;
  clear_unseen(scores, seen, keys);
  log_sum = maximum + std::log(sum);
}

}  // namespace

template <typename T>
void Attention<T>::forward(const AttentionShape& shape,
                           std::span<const std::int64_t> query_positions, View<const T> q,
                           View<const T> k, View<const T> v, View<T> o, View<T> log_sum) {
  const OpTimer timer("attention.forward");
  const auto queries = static_cast<std::int64_t>(query_positions.size());
  const std::int64_t d = shape.head_size;
  const std::int64_t heads_per_group = shape.head_count / shape.group_count;
  assert(q.rows == queries * shape.batch && q.cols == shape.head_count * d);
  assert(k.cols == shape.group_count * d && v.rows == k.rows);
  parallel_for(shape.batch * shape.head_count, 1, [&](std::int64_t index, std::int64_t) {
    const std::int64_t sample = index / shape.head_count;
    const std::int64_t head = index % shape.head_count;
    const HeadView<const T> q_head(q, shape, sample, head);
    const HeadView<const T> k_head(k, shape, sample, head / heads_per_group);
    const HeadView<const T> v_head(v, shape, sample, head / heads_per_group);
    const HeadView<T> o_head(o, shape, sample, head);
    std::vector<T> scores;
    for (std::int64_t first = 0; first < queries; first += kQueryBlock) {
      const Block block(shape, query_positions, first);
      scores.resize(static_cast<std::size_t>(block.count * block.keys));
      gemm<T>(block.count, block.keys, d, scale_of<T>(shape), q_head.rows_from(first),
              k_head.rows_from(block.first_key, true), T(0), scores.data(), block.keys);
      for (std::int64_t i = 0; i < block.count; ++i) {
        softmax_row(scores.data() + i * block.keys, block.seen[i], block.keys,
                    log_sum.row((first + i) * shape.batch + sample)[head]);
      }
      if (shape.bf16_products) round_block(block, scores);
      gemm<T>(block.count, d, block.keys, T(1), {scores.data(), block.keys},
              v_head.rows_from(block.first_key), T(0), o_head.row(first), o_head.stride);
    }
  });
}

namespace {

// What backward reads and writes of one head of one sample.
template <typename T>
struct HeadGradients {
  HeadView<const T> q, k, v, o, d_o;
  HeadView<T> dq, dk, dv;
};

// With p the probabilities and ds = p (dp - row sum of p dp): dv += p^T do, dp = do v^T,
// dq = scale ds k, dk += scale ds^T q. The row sum is that of do o.
template <typename T>
void block_backward(const Block& block, const AttentionShape& shape, const HeadGradients<T>& head,
                    const std::vector<T>& log_sums, std::vector<T>& p, std::vector<T>& ds) {
  const std::int64_t d = shape.head_size;
  const T scale = scale_of<T>(shape);
  const std::int64_t first = block.first;
  const std::int64_t key = block.first_key;
  p.resize(static_cast<std::size_t>(block.count * block.keys));
  ds.resize(p.size());
  gemm<T>(block.count, block.keys, d, scale, head.q.rows_from(first), head.k.rows_from(key, true),
          T(0), p.data(), block.keys);
  for (std::int64_t i = 0; i < block.count; ++i) {
    T* row = p.data() + i * block.keys;
    const Block::Range seen = block.seen[i];
    for (std::int64_t j = seen.begin; j < seen.end; ++j) {
      row[j] = std::exp(row[j] - log_sums[first + i]);
    }
    clear_unseen(row, seen, block.keys);
  }
  if (shape.bf16_products) round_block(block, p);
  gemm<T>(block.keys, d, block.count, T(1), {p.data(), block.keys, true}, head.d_o.rows_from(first),
          T(1), head.dv.row(key), head.dv.stride);
  gemm<T>(block.count, block.keys, d, T(1), head.d_o.rows_from(first), head.v.rows_from(key, true),
          T(0), ds.data(), block.keys);
  for (std::int64_t i = 0; i < block.count; ++i) {
    const T* o_row = head.o.row(first + i);
    const T* d_o_row = head.d_o.row(first + i);
    T row_sum = 0;
    for (std::int64_t j = 0; j < d; ++j) row_sum += o_row[j] * d_o_row[j];
    for (std::int64_t j = i * block.keys; j < (i + 1) * block.keys; ++j) {
      ds[j] = p[j] * (ds[j] - row_sum);
    }
  }
  if (shape.bf16_products) round_block(block, ds);
  gemm<T>(block.count, d, block.keys, scale, {ds.data(), block.keys}, head.k.rows_from(key), T(0),
          head.dq.row(first), head.dq.stride);
  gemm<T>(block.keys, d, block.count, scale, {ds.data(), block.keys, true}, head.q.rows_from(first),
          T(1), head.dk.row(key), head.dk.stride);
}

}  // namespace

template <typename T>
void Attention<T>::backward(const AttentionShape& shape,
                            std::span<const std::int64_t> query_positions, View<const T> q,
                            View<const T> k, View<const T> v, View<const T> o,
                            View<const T> log_sum, View<const T> d_o, View<T> dq, View<T> dk,
                            View<T> dv) {
  const OpTimer timer("attention.backward");
  const auto queries = static_cast<std::int64_t>(query_positions.size());
  const std::int64_t heads_per_group = shape.head_count / shape.group_count;
  std::fill_n(dk.data, dk.size(), T(0));
  std::fill_n(dv.data, dv.size(), T(0));
  // The heads of a group add to the same dk and dv: one thread takes them, in order.
  parallel_for(shape.batch * shape.group_count, 1, [&](std::int64_t index, std::int64_t) {
    const std::int64_t sample = index / shape.group_count;
    const std::int64_t group = index % shape.group_count;
    std::vector<T> p;
    std::vector<T> ds;
    std::vector<T> log_sums(static_cast<std::size_t>(queries));
    for (std::int64_t h = group * heads_per_group; h < (group + 1) * heads_per_group; ++h) {
      const HeadGradients<T> head{{q, shape, sample, h},      {k, shape, sample, group},
                                  {v, shape, sample, group},  {o, shape, sample, h},
                                  {d_o, shape, sample, h},    {dq, shape, sample, h},
                                  {dk, shape, sample, group}, {dv, shape, sample, group}};
      for (std::int64_t i = 0; i < queries; ++i) {
        log_sums[i] = log_sum.row(i * shape.batch + sample)[h];
      }
      for (std::int64_t first = 0; first < queries; first += kQueryBlock) {
        block_backward(Block(shape, query_positions, first), shape, head, log_sums, p, ds);
      }
    }
  });
}

template struct Attention<float>;
template struct Attention<double>;

}  // namespace llmb::runner::cpu
