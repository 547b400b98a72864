// Attention of a device, or of the double, against runner/cpu's in double precision: forward and
// backward, grouped queries, pieces of the sequence, chunks, slices of one matrix.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "runner/cpu/attention.h"
#include "runner/cuda/attention.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"
#include "runner/data/counter_random.h"
#include "tests/runner/cuda/device_setup.h"
#include "tests/runner/cuda/device_values.h"

namespace llmb::runner::cuda {
namespace {

using kernels::Bf16;

// Bf16 numbers on the device, with what they stand for.
struct Tensor {
  cpu::Tensor<double> numbers;
  DeviceMemory memory;
  std::int64_t stride;

  Bf16Matrix matrix() const {
    return {reinterpret_cast<Bf16*>(memory.data()), numbers.rows(), numbers.cols(), stride};
  }
};

Tensor tensor(std::int64_t rows, std::int64_t cols, std::int64_t stride, std::uint64_t key,
              Stream stream) {
  Tensor result{cpu::Tensor<double>(rows, cols),
                DeviceMemory(static_cast<std::size_t>(rows * stride * std::int64_t{sizeof(Bf16)})),
                stride};
  std::vector<Bf16> bits(static_cast<std::size_t>(rows * stride));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      const auto at = static_cast<std::size_t>(i * stride + j);
      bits[at] = kernels::from_float<Bf16>(static_cast<float>(normal_at(key, at)));
      result.numbers.view().row(i)[j] = static_cast<double>(kernels::to_float(bits[at]));
    }
  }
  copy_async(result.memory.data(), bits.data(), result.memory.bytes(), CopyDirection::to_device,
             stream);
  synchronize(stream);
  return result;
}

cpu::Tensor<double> read(const Tensor& tensor, Stream stream) {
  std::vector<Bf16> bits(tensor.memory.bytes() / sizeof(Bf16));
  copy_async(bits.data(), tensor.memory.data(), tensor.memory.bytes(), CopyDirection::to_host,
             stream);
  synchronize(stream);
  cpu::Tensor<double> numbers(tensor.numbers.rows(), tensor.numbers.cols());
  for (std::int64_t i = 0; i < numbers.rows(); ++i) {
    for (std::int64_t j = 0; j < numbers.cols(); ++j) {
      numbers.view().row(i)[j] = static_cast<double>(
          kernels::to_float(bits[static_cast<std::size_t>(i * tensor.stride + j)]));
    }
  }
  return numbers;
}

class DeviceAttention : public testing::OnDevice {
 protected:
  void compare(const AttentionSizes& sizes, AttentionChoice choice);
};

void DeviceAttention::compare(const AttentionSizes& sizes, AttentionChoice choice) {
  const OwnedStream stream;
  Attention attention(sizes, choice);
  RecordProperty("implementation", attention.implementation());
  const std::int64_t queries = sizes.query_count() * sizes.batch;
  const std::int64_t keys = sizes.key_count * sizes.batch;
  const std::int64_t q_cols = sizes.head_count * sizes.head_size;
  const std::int64_t k_cols = sizes.group_count * sizes.head_size;
  const Tensor q = tensor(queries, q_cols, q_cols + 2 * k_cols, 1, stream);
  const Tensor k = tensor(keys, k_cols, q_cols + 2 * k_cols, 2, stream);
  const Tensor v = tensor(keys, k_cols, k_cols, 3, stream);
  const Tensor o = tensor(queries, q_cols, q_cols, 4, stream);
  const Tensor d_o = tensor(queries, q_cols, q_cols, 5, stream);
  const Tensor dq = tensor(queries, q_cols, q_cols, 6, stream);
  const Tensor dk = tensor(keys, k_cols, k_cols + 8, 7, stream);
  const Tensor dv = tensor(keys, k_cols, k_cols, 8, stream);
  const DeviceMemory statistics(static_cast<std::size_t>(queries * sizes.head_count) *
                                sizeof(float));
  auto* sums = reinterpret_cast<float*>(statistics.data());
  const AttentionForwardCall forward{q.matrix(), k.matrix(), v.matrix(), o.matrix(), sums};
  const AttentionBackwardCall backward{q.matrix(),   k.matrix(),  v.matrix(),  o.matrix(), sums,
                                       d_o.matrix(), dq.matrix(), dk.matrix(), dv.matrix()};
  const auto bytes =
      std::max(attention.workspace_bytes(forward), attention.workspace_bytes(backward));
  const DeviceMemory workspace(static_cast<std::size_t>(bytes));
  attention.forward(forward, workspace.data(), stream);
  const cpu::Tensor<double> output = read(o, stream);
  attention.backward(backward, workspace.data(), stream);

  cpu::AttentionShape shape;
  shape.batch = sizes.batch;
  shape.head_count = sizes.head_count;
  shape.group_count = sizes.group_count;
  shape.head_size = sizes.head_size;
  shape.chunk_size = sizes.chunk_size;
  std::vector<std::int64_t> positions;
  for (const std::int32_t position : query_positions(sizes)) positions.push_back(position);
  cpu::Tensor<double> expected_o(queries, q_cols);
  cpu::Tensor<double> log_sums(queries, sizes.head_count);
  cpu::Attention<double>::forward(shape, positions, q.numbers, k.numbers, v.numbers, expected_o,
                                  log_sums);
  cpu::Tensor<double> expected_dq(queries, q_cols);
  cpu::Tensor<double> expected_dk(keys, k_cols);
  cpu::Tensor<double> expected_dv(keys, k_cols);
  cpu::Attention<double>::backward(shape, positions, q.numbers, k.numbers, v.numbers, expected_o,
                                   log_sums, d_o.numbers, expected_dq, expected_dk, expected_dv);
  // Probabilities and results are bf16, and gradients are sums of such.
  constexpr double kTolerance = 3e-2;
  testing::expect_close(output, expected_o, kTolerance, "o");
  testing::expect_close(read(dq, stream), expected_dq, kTolerance, "dq");
  testing::expect_close(read(dk, stream), expected_dk, kTolerance, "dk");
  testing::expect_close(read(dv, stream), expected_dv, kTolerance, "dv");
}

TEST_F(DeviceAttention, OfAWholeSequence) {
  for (const AttentionChoice choice : {AttentionChoice::best, AttentionChoice::own_kernels}) {
    compare({2, 4, 4, 32, 0, {{0, 40}}, 40}, choice);
    compare({1, 4, 2, 64, 0, {{0, 33}}, 33}, choice);
  }
}

TEST_F(DeviceAttention, OfAnEarlyAndALatePiece) {
  compare({1, 4, 2, 32, 0, {{8, 8}, {40, 8}}, 64}, AttentionChoice::best);
}

TEST_F(DeviceAttention, OfChunks) {
  compare({1, 2, 1, 32, 16, {{0, 40}}, 40}, AttentionChoice::best);
}

// The own kernels would train all the same, at a tenth of the speed.
TEST_F(DeviceAttention, OfRecipesIsCudnnsOnADevice) {
  if (!runtime_name().starts_with("CUDA")) GTEST_SKIP() << "the double has the own kernels only";
  const Attention llama({1, 32, 8, 128, 0, {{0, 4096}}, 4096});
  EXPECT_THAT(llama.implementation(), ::testing::StartsWith("cuDNN"));
}

TEST(AttentionSizes, RefuseWhatContradictsItself) {
  EXPECT_NO_THROW(check({1, 4, 2, 32, 0, {{0, 8}, {8, 8}}, 16}));
  EXPECT_THROW(check({1, 4, 3, 32, 0, {{0, 8}}, 8}), std::invalid_argument);
  EXPECT_THROW(check({1, 4, 2, 300, 0, {{0, 8}}, 8}), std::invalid_argument);
  EXPECT_THROW(check({1, 4, 2, 32, 0, {{0, 8}, {4, 8}}, 16}), std::invalid_argument);
  EXPECT_THROW(check({1, 4, 2, 32, 0, {{0, 9}}, 8}), std::invalid_argument);
}

}  // namespace
}  // namespace llmb::runner::cuda
