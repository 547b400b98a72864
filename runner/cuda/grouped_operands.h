// GroupedOperands: device memory and random numbers for the products of one linear layer of experts
// that are all on a rank, rows spread evenly, by one launch each: what such products are timed on.
// Not what computes a step's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runner/cuda/memory.h"
#include "runner/operation/ceiling.h"

namespace llmb::runner::cuda {

// `count` BF16 numbers, normally distributed; a large block of them repeats. Waits.
DeviceMemory random_bf16(std::int64_t count, Stream stream);

class GroupedOperands {
 public:
  // Waits. Throws OutOfDeviceMemory.
  GroupedOperands(const LinearShape& shape, Stream stream);

  // Puts a product on the stream: 0 forward, 1 of its input's gradient, 2 of its weight's.
  void multiply(std::size_t pass) const;
  // Of any of the three.
  double flops() const;
  // Of all operands together.
  static std::int64_t bytes(const LinearShape& shape);

 private:
  Stream stream_;
  std::int64_t rows_, weight_rows_, in_, out_, experts_;
  DeviceMemory x_, y_, weight_, gradients_, counts_;
};

}  // namespace llmb::runner::cuda
