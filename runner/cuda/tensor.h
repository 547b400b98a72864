// Tensor and Array of the CUDA backend: matrices and rows of elements in a rank's device memory,
// owned. What they mean is what cpu/tensor.h and cpu/array.h say.
#pragma once

#include <cstdint>
#include <span>

#include "runner/cuda/memory_pool.h"
#include "runner/operation/view.h"

namespace llmb::runner::cuda {

template <typename T>
class Tensor {
 public:
  Tensor() = default;
  Tensor(MemoryPool& pool, std::int64_t rows, std::int64_t cols) { resize(pool, rows, cols); }

  void resize(MemoryPool& pool, std::int64_t rows, std::int64_t cols) {
    rows_ = rows;
    cols_ = cols;
    block_.resize(pool, size() * std::int64_t{sizeof(T)}, PoolUse::tensor);
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t size() const { return rows_ * cols_; }
  T* data() { return reinterpret_cast<T*>(block_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(block_.data()); }
  std::span<T> values() { return view().values(); }
  std::span<const T> values() const { return view().values(); }

  View<T> view() { return {data(), rows_, cols_}; }
  View<const T> view() const { return {data(), rows_, cols_}; }
  // NOLINTNEXTLINE(google-explicit-constructor): operations take views
  operator View<T>() { return view(); }
  // NOLINTNEXTLINE(google-explicit-constructor): operations take views
  operator View<const T>() const { return view(); }

 private:
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  PoolBlock block_;
};

template <typename T>
class Array {
 public:
  Array() = default;
  Array(MemoryPool& pool, std::int64_t count) { resize(pool, count); }

  void resize(MemoryPool& pool, std::int64_t count) {
    count_ = count;
    block_.resize(pool, count * std::int64_t{sizeof(T)}, PoolUse::lasting);
  }
  void release() {
    count_ = 0;
    block_.release();
  }

  std::int64_t size() const { return count_; }
  std::span<T> values() {
    return {reinterpret_cast<T*>(block_.data()), static_cast<std::size_t>(count_)};
  }
  std::span<const T> values() const {
    return {reinterpret_cast<const T*>(block_.data()), static_cast<std::size_t>(count_)};
  }

 private:
  std::int64_t count_ = 0;
  PoolBlock block_;
};

}  // namespace llmb::runner::cuda
