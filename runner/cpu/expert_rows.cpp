#include "runner/cpu/expert_rows.h"

#include <algorithm>
#include <cassert>

#include "runner/cpu/op_profile.h"
#include "runner/cpu/parallel_for.h"

namespace llmb::runner::cpu {
namespace {

template <typename T>
T weight_of(View<const T> weights, std::int64_t slot) {
  return weights.data ? weights.data[slot] : T(1);
}

}  // namespace

void sort_by_expert(View<const std::int64_t> choices, std::span<std::int64_t> row_of_slot,
                    std::span<std::int64_t> rows_of_expert) {
  const OpTimer timer("expert_rows.sort");
  std::fill(rows_of_expert.begin(), rows_of_expert.end(), 0);
  for (const std::int64_t expert : choices.values()) ++rows_of_expert[expert];
  std::vector<std::int64_t> next(rows_of_expert.size());
  for (std::size_t e = 1; e < next.size(); ++e) next[e] = next[e - 1] + rows_of_expert[e - 1];
  std::size_t slot = 0;
  for (const std::int64_t expert : choices.values()) row_of_slot[slot++] = next[expert]++;
}

void order_arrivals(std::span<const std::int64_t> counts, std::span<std::int64_t> order,
                    std::span<std::int64_t> rows_of_expert) {
  const OpTimer timer("expert_rows.order_arrivals");
  const std::size_t experts = rows_of_expert.size();
  std::fill(rows_of_expert.begin(), rows_of_expert.end(), 0);
  for (std::size_t i = 0; i < counts.size(); ++i) rows_of_expert[i % experts] += counts[i];
  std::vector<std::int64_t> next(experts);
  for (std::size_t e = 1; e < experts; ++e) next[e] = next[e - 1] + rows_of_expert[e - 1];
  std::size_t arrived = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    for (std::int64_t row = 0; row < counts[i]; ++row) order[arrived++] = next[i % experts]++;
  }
}

void ExpertOrder::sort(View<const std::int64_t> choices, std::int64_t experts) {
  rows_of_expert.resize(static_cast<std::size_t>(experts));
  row_of_slot.resize(static_cast<std::size_t>(choices.size()));
  sort_by_expert(choices, row_of_slot, rows_of_expert);
}

template <typename T>
void ExpertRows<T>::scatter(std::span<const std::int64_t> row_of_slot, View<const T> weights,
                            View<const T> x, View<T> rows) {
  const OpTimer timer("expert_rows.scatter");
  const std::int64_t top_k = x.rows == 0 ? 1 : rows.rows / x.rows;
  assert(rows.rows == static_cast<std::int64_t>(row_of_slot.size()));
  parallel_for(rows.rows, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t slot = begin; slot < end; ++slot) {
      const T weight = weight_of(weights, slot);
      const T* in = x.row(slot / top_k);
      T* out = rows.row(row_of_slot[slot]);
      for (std::int64_t j = 0; j < x.cols; ++j) out[j] = weight * in[j];
    }
  });
}

template <typename T>
void ExpertRows<T>::combine(std::span<const std::int64_t> row_of_slot, View<const T> weights,
                            View<const T> rows, View<T> y) {
  const OpTimer timer("expert_rows.combine");
  const std::int64_t top_k = y.rows == 0 ? 1 : rows.rows / y.rows;
  parallel_for(y.rows, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      T* out = y.row(i);
      std::fill_n(out, y.cols, T(0));
      for (std::int64_t slot = i * top_k; slot < (i + 1) * top_k; ++slot) {
        const T weight = weight_of(weights, slot);
        const T* in = rows.row(row_of_slot[slot]);
        for (std::int64_t j = 0; j < y.cols; ++j) out[j] += weight * in[j];
      }
    }
  });
}

template <typename T>
void ExpertRows<T>::dot(std::span<const std::int64_t> row_of_slot, View<const T> x,
                        View<const T> rows, View<T> dots) {
  const OpTimer timer("expert_rows.dot");
  parallel_for(dots.size(), 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t slot = begin; slot < end; ++slot) {
      const T* a = x.row(slot / dots.cols);
      const T* b = rows.row(row_of_slot[slot]);
      T sum = 0;
      for (std::int64_t j = 0; j < x.cols; ++j) sum += a[j] * b[j];
      dots.data[slot] = sum;
    }
  });
}

template struct ExpertRows<float>;
template struct ExpertRows<double>;

}  // namespace llmb::runner::cpu
