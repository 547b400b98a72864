#include "runner/cuda/grouped_operands.h"

#include <algorithm>
#include <vector>

#include "runner/cuda/fp8_copy.h"
#include "runner/cuda/stream.h"
#include "runner/data/counter_random.h"
#include "runner/kernels/grouped_product.h"

namespace llmb::runner::cuda {
namespace {

using kernels::Bf16;
using kernels::Fp8E4m3;
using kernels::Fp8E5m2;
using kernels::Matrix;

std::int64_t padded(std::int64_t cols) {
  return Fp8Copy::padded(NumberType::fp8_e4m3, cols);
}

template <typename E>
Matrix<E> matrix(const DeviceMemory& memory, std::int64_t rows, std::int64_t cols) {
  return {reinterpret_cast<E*>(memory.data()), rows, cols};
}

// Enough for an operand as it lies, rows of `cols`, and transposed.
std::int64_t elements_of(const LinearShape& shape, std::int64_t rows_each, std::int64_t cols,
                         bool is_fp8) {
  if (!is_fp8) return shape.experts * rows_each * cols;
  return shape.experts *
         std::max(rows_each * padded(cols), cols * kernels::padded_expert_rows(rows_each));
}

struct OperandElements {
  OperandElements(const LinearShape& shape, bool is_fp8)
      : x(elements_of(shape, shape.rows, shape.in, is_fp8)),
        dy(elements_of(shape, shape.rows, shape.out, is_fp8)),
        weight(elements_of(shape, shape.out, shape.in, is_fp8)),
        result(shape.experts * shape.rows * std::max(shape.in, shape.out)),
        gradients(shape.experts * shape.out * shape.in) {}
  std::int64_t x, dy, weight, result, gradients;
};

DeviceMemory operand(std::int64_t elements, bool is_fp8, bool is_gradient, Stream stream) {
  if (!is_fp8) return random_numbers<Bf16>(elements, stream);
  return is_gradient ? random_numbers<Fp8E5m2>(elements, stream)
                     : random_numbers<Fp8E4m3>(elements, stream);
}

}  // namespace

template <typename E>
DeviceMemory random_numbers(std::int64_t count, Stream stream) {
  constexpr std::int64_t kBlock = 1 << 18;
  std::vector<E> block(static_cast<std::size_t>(std::min(count, kBlock)));
  for (std::size_t i = 0; i < block.size(); ++i) {
    block[i] = kernels::from_float<E>(static_cast<float>(normal_at(key_of("ceilings"), i)));
  }
  DeviceMemory memory(static_cast<std::size_t>(count) * sizeof(E));
  const std::size_t block_bytes = block.size() * sizeof(E);
  for (std::size_t at = 0; at < memory.bytes(); at += block_bytes) {
    copy_async(memory.data() + at, block.data(), std::min(block_bytes, memory.bytes() - at),
               CopyDirection::to_device, stream);
  }
  synchronize(stream);
  return memory;
}
template DeviceMemory random_numbers<Bf16>(std::int64_t, Stream);
template DeviceMemory random_numbers<Fp8E4m3>(std::int64_t, Stream);
template DeviceMemory random_numbers<Fp8E5m2>(std::int64_t, Stream);

GroupedOperands::GroupedOperands(const LinearShape& shape, ProductNumbers numbers, Stream stream)
    : stream_(stream), is_fp8_(is_fp8(numbers)), shape_(shape) {
  const OperandElements elements(shape, is_fp8_);
  x_ = operand(elements.x, is_fp8_, false, stream);
  dy_ = operand(elements.dy, is_fp8_, true, stream);
  weight_ = operand(elements.weight, is_fp8_, false, stream);
  result_ = DeviceMemory(static_cast<std::size_t>(elements.result) * sizeof(Bf16));
  gradients_ = DeviceMemory(static_cast<std::size_t>(elements.gradients) * sizeof(float));
  fill_async(gradients_.data(), 0, gradients_.bytes(), stream);
  const std::vector<std::int32_t> even(static_cast<std::size_t>(shape.experts),
                                       static_cast<std::int32_t>(shape.rows));
  counts_ = DeviceMemory(even.size() * sizeof(std::int32_t));
  copy_async(counts_.data(), even.data(), counts_.bytes(), CopyDirection::to_device, stream);
  const float one = 1;
  one_ = DeviceMemory(sizeof(one));
  copy_async(one_.data(), &one, sizeof(one), CopyDirection::to_device, stream);
  synchronize(stream);
}

Matrix<float> GroupedOperands::gradients() const {
  return matrix<float>(gradients_, shape_.experts * shape_.out, shape_.in);
}

void GroupedOperands::multiply(std::size_t pass) const {
  is_fp8_ ? multiply_fp8(pass) : multiply_bf16(pass);
}

void GroupedOperands::multiply_bf16(std::size_t pass) const {
  const std::int64_t rows = shape_.experts * shape_.rows;
  const kernels::DeviceCounts counts{reinterpret_cast<const std::int32_t*>(counts_.data()),
                                     shape_.experts};
  const auto x = matrix<const Bf16>(x_, rows, shape_.in);
  const auto dy = matrix<const Bf16>(dy_, rows, shape_.out);
  const auto weight = matrix<const Bf16>(weight_, shape_.experts * shape_.out, shape_.in);
  if (pass == 0) {
    kernels::grouped_forward(counts, x, weight, matrix<Bf16>(result_, rows, shape_.out), stream_);
  } else if (pass == 1) {
    kernels::grouped_backward_input(counts, dy, weight, matrix<Bf16>(result_, rows, shape_.in),
                                    stream_);
  } else {
    kernels::grouped_backward_weight(counts, x, dy, gradients(), stream_);
  }
}

void GroupedOperands::multiply_fp8(std::size_t pass) const {
  const std::int64_t rows = shape_.experts * shape_.rows;
  const std::int64_t in = shape_.in;
  const std::int64_t out = shape_.out;
  const std::int64_t side_by_side = shape_.experts * kernels::padded_expert_rows(shape_.rows);
  const kernels::DeviceCounts counts{reinterpret_cast<const std::int32_t*>(counts_.data()),
                                     shape_.experts};
  const auto* one = reinterpret_cast<const float*>(one_.data());
  const kernels::ExpertInverses inverses{one, one, 0};
  if (pass == 0) {
    kernels::grouped_fp8_forward(counts, inverses, matrix<const Fp8E4m3>(x_, rows, padded(in)),
                                 matrix<const Fp8E4m3>(weight_, shape_.experts * out, padded(in)),
                                 matrix<Bf16>(result_, rows, out), stream_);
  } else if (pass == 1) {
    kernels::grouped_fp8_backward_input(
        counts, inverses, matrix<const Fp8E5m2>(dy_, rows, padded(out)),
        matrix<const Fp8E4m3>(weight_, in, shape_.experts * padded(out)),
        matrix<Bf16>(result_, rows, in), stream_);
  } else {
    kernels::grouped_fp8_backward_weight(
        counts, inverses, matrix<const Fp8E4m3>(x_, in, side_by_side),
        matrix<const Fp8E5m2>(dy_, out, side_by_side), gradients(), stream_);
  }
}

double GroupedOperands::flops() const {
  return 2.0 * static_cast<double>(shape_.experts * shape_.rows) * static_cast<double>(shape_.in) *
         static_cast<double>(shape_.out);
}

std::int64_t GroupedOperands::bytes(const LinearShape& shape, ProductNumbers numbers) {
  const OperandElements elements(shape, is_fp8(numbers));
  const std::int64_t width = is_fp8(numbers) ? 1 : sizeof(Bf16);
  return width * (elements.x + elements.dy + elements.weight) +
         elements.result * std::int64_t{sizeof(Bf16)} +
         elements.gradients * std::int64_t{sizeof(float)};
}

}  // namespace llmb::runner::cuda
