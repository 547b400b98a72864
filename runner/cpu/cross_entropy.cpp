#include "runner/cpu/cross_entropy.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "runner/cpu/op_profile.h"
#include "runner/cpu/parallel_for.h"

namespace llmb::runner::cpu {

template <typename T>
void CrossEntropy<T>::local_max(View<const T> logits, std::span<T> maxima) {
  const OpTimer timer("cross_entropy.local_max");
  assert(static_cast<std::int64_t>(maxima.size()) == logits.rows);
  parallel_for(logits.rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      maxima[i] = *std::max_element(logits.row(i), logits.row(i) + logits.cols);
    }
  });
}

template <typename T>
void CrossEntropy<T>::local_sums(View<const T> logits, std::span<const T> maxima,
                                 std::span<const std::int64_t> targets, std::int64_t first_token,
                                 View<T> sums) {
  const OpTimer timer("cross_entropy.local_sums");
  parallel_for(logits.rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* row = logits.row(i);
      T sum = 0;
      for (std::int64_t j = 0; j < logits.cols; ++j) sum += std::exp(row[j] - maxima[i]);
      const std::int64_t target = targets[i] - first_token;
      const bool here = target >= 0 && target < logits.cols;
      sums.row(i)[0] = sum;
      sums.row(i)[1] = here ? row[target] - maxima[i] : T(0);
    }
  });
}

template <typename T>
void CrossEntropy<T>::losses(View<const T> sums, std::span<T> losses) {
  const OpTimer timer("cross_entropy.losses");
  for (std::int64_t i = 0; i < sums.rows; ++i) {
    losses[i] = std::log(sums.row(i)[0]) - sums.row(i)[1];
  }
}

template <typename T>
void CrossEntropy<T>::backward(View<T> logits, std::span<const T> maxima, View<const T> sums,
                               std::span<const std::int64_t> targets, std::int64_t first_token,
                               T scale) {
  const OpTimer timer("cross_entropy.backward");
  parallel_for(logits.rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      T* row = logits.row(i);
      const T factor = scale / sums.row(i)[0];
      for (std::int64_t j = 0; j < logits.cols; ++j) row[j] = factor * std::exp(row[j] - maxima[i]);
      const std::int64_t target = targets[i] - first_token;
      if (target >= 0 && target < logits.cols) row[target] -= scale;
    }
  });
}

template struct CrossEntropy<float>;
template struct CrossEntropy<double>;

}  // namespace llmb::runner::cpu
