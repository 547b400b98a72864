// Tensor: a matrix of rows (tokens) and columns (features) that owns its elements, row-major.
// Gone through resize(), contents are unspecified; builds with assertions fill them with NaN, so
// that an operation that forgets to write an element cannot pass a test by luck.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "runner/cpu/memory_meter.h"
#include "runner/operation/view.h"

namespace llmb::runner::cpu {

using runner::View;

// Where tensors lie. The CPU's memory is one for all, so that nothing need be said of it; a
// device's is another one.
struct Memory {};

template <typename T>
class Tensor {
 public:
  Tensor() = default;
  Tensor(std::int64_t rows, std::int64_t cols) { resize(rows, cols); }
  Tensor(Memory& /*memory*/, std::int64_t rows, std::int64_t cols) : Tensor(rows, cols) {}

  // Keeps what it allocated: a tensor that is used again for the same shape costs nothing.
  void resize(std::int64_t rows, std::int64_t cols) {
    rows_ = rows;
    cols_ = cols;
    values_.resize(static_cast<std::size_t>(rows * cols));
#ifndef NDEBUG
    if constexpr (std::is_floating_point_v<T>) fill(std::numeric_limits<T>::quiet_NaN());
#endif
  }
  void resize(Memory& /*memory*/, std::int64_t rows, std::int64_t cols) {
    resize(rows, cols);
  }
  void fill(T value) {
    values_.assign(values_.size(), value);
  }

  std::int64_t rows() const {
    return rows_;
  }
  std::int64_t cols() const {
    return cols_;
  }
  std::int64_t size() const {
    return rows_ * cols_;
  }
  T* data() {
    return values_.data();
  }
  const T* data() const {
    return values_.data();
  }
  std::span<T> values() {
    return values_;
  }
  std::span<const T> values() const {
    return values_;
  }

  View<T> view() {
    return {values_.data(), rows_, cols_};
  }
  View<const T> view() const {
    return {values_.data(), rows_, cols_};
  }
  // NOLINTNEXTLINE(google-explicit-constructor): operations take views
  operator View<T>() {
    return view();
  }
  // NOLINTNEXTLINE(google-explicit-constructor): operations take views
  operator View<const T>() const {
    return view();
  }

 private:
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  std::vector<T, MeteredAllocator<T>> values_;
};

}  // namespace llmb::runner::cpu
