// View: a matrix of rows (tokens) and columns (features) without ownership, row-major, in the
// memory of whichever backend: what every operation takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace llmb::runner {

template <typename T>
struct View {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;

  std::int64_t size() const { return rows * cols; }
  T* row(std::int64_t index) const { return data + index * cols; }
  std::span<T> values() const { return {data, static_cast<std::size_t>(size())}; }
  // Rows [first, first + count).
  View slice(std::int64_t first, std::int64_t count) const { return {row(first), count, cols}; }

  // NOLINTNEXTLINE(google-explicit-constructor): whoever may write may read
  operator View<const T>() const { return {data, rows, cols}; }
};

}  // namespace llmb::runner
