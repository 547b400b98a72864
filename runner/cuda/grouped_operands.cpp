#include "runner/cuda/grouped_operands.h"

#include <algorithm>
#include <vector>

#include "runner/cuda/stream.h"
#include "runner/data/counter_random.h"
#include "runner/kernels/grouped_product.h"

namespace llmb::runner::cuda {

using kernels::Bf16;

DeviceMemory random_bf16(std::int64_t count, Stream stream) {
  constexpr std::int64_t kBlock = 1 << 18;
  std::vector<Bf16> block(static_cast<std::size_t>(std::min(count, kBlock)));
  for (std::size_t i = 0; i < block.size(); ++i) {
    block[i] = kernels::from_float<Bf16>(static_cast<float>(normal_at(key_of("ceilings"), i)));
  }
  DeviceMemory memory(static_cast<std::size_t>(count) * sizeof(Bf16));
  const std::size_t block_bytes = block.size() * sizeof(Bf16);
  for (std::size_t at = 0; at < memory.bytes(); at += block_bytes) {
    copy_async(memory.data() + at, block.data(), std::min(block_bytes, memory.bytes() - at),
               CopyDirection::to_device, stream);
  }
  synchronize(stream);
  return memory;
}

GroupedOperands::GroupedOperands(const LinearShape& shape, Stream stream)
    : stream_(stream),
      rows_(shape.rows * shape.experts),
      weight_rows_(shape.out * shape.experts),
      in_(shape.in),
      out_(shape.out),
      experts_(shape.experts),
      x_(random_bf16(rows_ * shape.in, stream)),
      y_(random_bf16(rows_ * shape.out, stream)),
      weight_(random_bf16(weight_rows_ * shape.in, stream)),
      gradients_(static_cast<std::size_t>(weight_rows_ * shape.in) * sizeof(float)),
      counts_(static_cast<std::size_t>(shape.experts) * sizeof(std::int32_t)) {
  fill_async(gradients_.data(), 0, gradients_.bytes(), stream);
  const std::vector<std::int32_t> even(static_cast<std::size_t>(shape.experts),
                                       static_cast<std::int32_t>(shape.rows));
  copy_async(counts_.data(), even.data(), counts_.bytes(), CopyDirection::to_device, stream);
  synchronize(stream);
}

void GroupedOperands::multiply(std::size_t pass) const {
  const auto values = [](const DeviceMemory& memory, std::int64_t rows, std::int64_t cols) {
    return kernels::Matrix<Bf16>(reinterpret_cast<Bf16*>(memory.data()), rows, cols);
  };
  const auto x = values(x_, rows_, in_);
  const auto y = values(y_, rows_, out_);
  const auto weight = values(weight_, weight_rows_, in_);
  const kernels::DeviceCounts counts{reinterpret_cast<const std::int32_t*>(counts_.data()),
                                     experts_};
  if (pass == 0) return kernels::grouped_forward<Bf16>(counts, x, weight, y, stream_);
  if (pass == 1) return kernels::grouped_backward_input<Bf16>(counts, y, weight, x, stream_);
  kernels::grouped_backward_weight<Bf16>(
      counts, x, y, {reinterpret_cast<float*>(gradients_.data()), weight_rows_, in_}, stream_);
}

double GroupedOperands::flops() const {
  return 2.0 * static_cast<double>(rows_) * static_cast<double>(in_) * static_cast<double>(out_);
}

std::int64_t GroupedOperands::bytes(const LinearShape& shape) {
  constexpr std::int64_t kValue = sizeof(Bf16);
  constexpr std::int64_t kGradient = sizeof(float);
  return shape.experts * (shape.rows * (shape.in + shape.out) * kValue +
                          shape.in * shape.out * (kValue + kGradient));
}

}  // namespace llmb::runner::cuda
