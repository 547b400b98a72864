// Between tokens in their order and rows sorted by expert (permute and unpermute), as
// runner/cpu/expert_rows.h has them; the order, too, is found on the device, so that no count is
// read by the host. T: float or Bf16; weights and dots are fp32.
#pragma once

#include <cstdint>

#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

// Slot t * k + j is choice j of token t. Rows of an expert are in slot order. Reads the choices
// once an expert, from the cache.
struct ExpertOrder {
  const std::int32_t* choices;  // (slots)
  std::int64_t slots;
  std::int64_t experts;
  std::int32_t* row_of_slot;     // (slots)
  std::int32_t* rows_of_expert;  // (experts): how many
};
void sort_by_expert(const ExpertOrder& operands, Stream stream);

// Rows that came from several sources, one after the other, each source's sorted by expert: where
// each stands when all are sorted by expert, and those of an expert by source.
struct Arrivals {
  const std::int32_t* counts;  // (sources, experts): rows
  std::int64_t sources;
  std::int64_t experts;
  std::int32_t* order;           // (rows, as many as the counts say)
  std::int32_t* rows_of_expert;  // (experts): of all sources
};
void order_arrivals(const Arrivals& operands, Stream stream);

// rows[row of (t, j)] = weights[t, j] x[t]; x (n, h) -> rows (n k, h). Moves (1 + k) n h elements.
// Weights (n, k) without gaps, or null for ones, here and below.
template <typename T>
void scatter_to_experts(const std::int32_t* row_of_slot, std::int64_t top_k, const float* weights,
                        Matrix<const T> x, Matrix<T> rows, Stream stream);
// y[t] = sum_j weights[t, j] rows[row of (t, j)]; rows (n k, h) -> y (n, h). Moves (1 + k) n h.
template <typename T>
void combine_from_experts(const std::int32_t* row_of_slot, std::int64_t top_k, const float* weights,
                          Matrix<const T> rows, Matrix<T> y, Stream stream);
// dots[t, j] = x[t] . rows[row of (t, j)]; -> dots (n, k). Reads 2 k n h elements.
template <typename T>
void dot_with_experts(const std::int32_t* row_of_slot, std::int64_t top_k, Matrix<const T> x,
                      Matrix<const T> rows, float* dots, Stream stream);

}  // namespace llmb::runner::kernels
