// Array: elements in a row that stay from step to step (weights, gradients, optimizer states), or
// that say where others are (orders of rows, messages). The memory meter, which tells what passes
// need, does not count them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

template <typename T>
class Array {
 public:
  Array() = default;
  Array(Memory& memory, std::int64_t count) { resize(memory, count); }

  // Contents are unspecified.
  void resize(Memory& /*memory*/, std::int64_t count) {
    values_.resize(static_cast<std::size_t>(count));
  }
  void release() { std::vector<T>().swap(values_); }

  std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }
  std::span<T> values() { return values_; }
  std::span<const T> values() const { return values_; }

 private:
  std::vector<T> values_;
};

}  // namespace llmb::runner::cpu
