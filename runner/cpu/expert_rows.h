// ExpertRows: between tokens in their order and rows sorted by expert (permute and unpermute).
// Nothing is dropped: every choice of every token has its row. Three sums serve both ways and
// both passes:
//   permute      forward: scatter    backward: dx = combine(drows), dweights = dot(x, drows)
//   unpermute    forward: combine    backward: drows = scatter(dy), dweights = dot(dy, rows)
#pragma once

#include <span>
#include <vector>

#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

// Where choice j of token t, slot t * k + j, has its row; rows of an expert are in slot order.
struct ExpertOrder {
  std::vector<std::int64_t> row_of_slot;
  std::vector<std::int64_t> rows_of_expert;  // how many

  // choices (n, k) of `experts`
  void sort(View<const std::int64_t> choices, std::int64_t experts);
};
// The same into memory that is there: row_of_slot (n * k), rows_of_expert (experts).
void sort_by_expert(View<const std::int64_t> choices, std::span<std::int64_t> row_of_slot,
                    std::span<std::int64_t> rows_of_expert);

// Rows that came from several sources, one after the other, each source's sorted by expert: counts
// (sources * experts), of each source for each expert. order (rows): where each stands when all are
// sorted by expert, and those of an expert by source; rows_of_expert (experts): of all sources.
void order_arrivals(std::span<const std::int64_t> counts, std::span<std::int64_t> order,
                    std::span<std::int64_t> rows_of_expert);

// weights (n, k) multiply where they are given, and are ones where weights.data is null.
template <typename T>
struct ExpertRows {
  // rows[row of (t, j)] = weights[t, j] x[t]; x (n, h) -> rows (n * k, h)
  static void scatter(std::span<const std::int64_t> row_of_slot, View<const T> weights,
                      View<const T> x, View<T> rows);
  // y[t] = sum_j weights[t, j] rows[row of (t, j)]; rows (n * k, h) -> y (n, h)
  static void combine(std::span<const std::int64_t> row_of_slot, View<const T> weights,
                      View<const T> rows, View<T> y);
  // dots[t, j] = x[t] . rows[row of (t, j)]; x (n, h), rows (n * k, h) -> dots (n, k)
  static void dot(std::span<const std::int64_t> row_of_slot, View<const T> x, View<const T> rows,
                  View<T> dots);
};

}  // namespace llmb::runner::cpu
