#include "runner/cpu/embedding.h"

#include <algorithm>
#include <cassert>

#include "runner/cpu/op_profile.h"
#include "runner/cpu/parallel_for.h"

namespace llmb::runner::cpu {

template <typename T>
void Embedding<T>::forward(std::span<const std::int64_t> tokens, std::int64_t first_token,
                           View<const T> table, View<T> y) {
  const OpTimer timer("embedding.forward");
  assert(y.rows == static_cast<std::int64_t>(tokens.size()) && y.cols == table.cols);
  parallel_for(y.rows, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = tokens[i] - first_token;
      if (row >= 0 && row < table.rows) {
        std::copy_n(table.row(row), table.cols, y.row(i));
      } else {
        std::fill_n(y.row(i), y.cols, T(0));
      }
    }
  });
}

// Threads share columns, not tokens: a token may occur twice.
template <typename T>
void Embedding<T>::backward(std::span<const std::int64_t> tokens, std::int64_t first_token,
                            View<const T> dy, View<T> dtable) {
  const OpTimer timer("embedding.backward");
  parallel_for(dy.cols, 256, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < dy.rows; ++i) {
      const std::int64_t row = tokens[i] - first_token;
      if (row < 0 || row >= dtable.rows) continue;
      for (std::int64_t j = begin; j < end; ++j) dtable.row(row)[j] += dy.row(i)[j];
    }
  });
}

template struct Embedding<float>;
template struct Embedding<double>;

}  // namespace llmb::runner::cpu
