// GroupedOperands: device memory and random numbers for the products of one linear layer of experts
// that are all on a rank, rows spread evenly, by one launch each: what such products are timed on.
// Not what computes a step's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runner/cuda/gemm_tuning.h"
#include "runner/cuda/memory.h"
#include "runner/kernels/matrix.h"
#include "runner/operation/ceiling.h"

namespace llmb::runner::cuda {

// `count` numbers of type E, Bf16 or FP8, normally distributed; a large block of them repeats.
// Waits.
template <typename E>
DeviceMemory random_numbers(std::int64_t count, Stream stream);

class GroupedOperands {
 public:
  // Of BF16 or FP8. Waits. Throws OutOfDeviceMemory.
  GroupedOperands(const LinearShape& shape, ProductNumbers numbers, Stream stream);

  // Puts a product on the stream: 0 forward, 1 of its input's gradient, 2 of its weight's.
  void multiply(std::size_t pass) const;
  // Of any of the three.
  double flops() const;
  // Of all operands together.
  static std::int64_t bytes(const LinearShape& shape, ProductNumbers numbers);

 private:
  void multiply_bf16(std::size_t pass) const;
  void multiply_fp8(std::size_t pass) const;
  kernels::Matrix<float> gradients() const;

  Stream stream_;
  bool is_fp8_;
  LinearShape shape_;
  DeviceMemory x_, dy_, weight_;
  DeviceMemory result_;  // of forward and of the input's gradient, in BF16
  DeviceMemory gradients_, counts_;
  DeviceMemory one_;  // by which products of FP8 are multiplied
};

}  // namespace llmb::runner::cuda
