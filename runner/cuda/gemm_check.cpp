#include <fmt/format.h>

#include <stdexcept>

#include "runner/cuda/gemm.h"
#include "runner/cuda/gemm_plans.h"
#include "runner/kernels/mx_scales.h"

namespace llmb::runner::cuda {
namespace {

void require(bool holds, const Gemm& gemm, const char* rule) {
  if (holds) return;
  throw std::invalid_argument(
      fmt::format("A product that cannot be: {} ({})", rule, plan_key(gemm)));
}

std::string operand_key(const GemmOperand& operand, std::int64_t rows, std::int64_t cols) {
  const bool turned = operand.transposed;
  return fmt::format("{} {}{}x{} ld {} al {}", name_of(operand.type), turned ? "t" : "n",
                     turned ? cols : rows, turned ? rows : cols, operand.stride,
                     row_alignment(operand.data, operand.stride, operand.type));
}

// Where there is none, too.
bool is_scale_aligned(const void* scale) {
  return reinterpret_cast<std::uintptr_t>(scale) % 16 == 0;
}

void check_blocks(const Gemm& gemm) {
  require(gemm.a.type == gemm.b.type, gemm, "both operands are MXFP8, or none");
  require(gemm.a.scale == nullptr && gemm.b.scale == nullptr, gemm, "MXFP8 has scales of blocks");
  require(gemm.k % kernels::kMxBlock == 0 && gemm.n % 16 == 0, gemm,
          "MXFP8 needs k in multiples of 32, n of 16");
  require(gemm.batch == 1, gemm, "MXFP8 has no batch");
  require(is_scale_aligned(gemm.a.block_scales) && is_scale_aligned(gemm.b.block_scales), gemm,
          "scales of blocks begin at multiples of 16 bytes");
}

void check_fp8(const Gemm& gemm) {
  require(is_fp8(gemm.a.type) && is_fp8(gemm.b.type), gemm, "both operands are FP8, or none");
  const bool has_blocks = gemm.a.type == NumberType::mxfp8 || gemm.b.type == NumberType::mxfp8;
  if (has_blocks) check_blocks(gemm);
  require(has_blocks || (!gemm.a.block_scales && !gemm.b.block_scales), gemm,
          "scales of blocks are MXFP8's");
  require(gemm.a.type != NumberType::fp8_e5m2 || gemm.b.type != NumberType::fp8_e5m2, gemm,
          "one of the two FP8 formats at least is E4M3");
  require(!gemm.a.transposed && gemm.b.transposed, gemm,
          "FP8 operands have k along their rows: a as it lies, b transposed");
  require(gemm.k % 16 == 0 && gemm.a.stride % 16 == 0 && gemm.b.stride % 16 == 0 && gemm.n % 8 == 0,
          gemm, "FP8 needs k and the rows' strides in multiples of 16, n of 8");
  const auto is_aligned = [](const void* data, std::int64_t stride, NumberType type) {
    return row_alignment(data, stride, type) == 16;
  };
  require(is_aligned(gemm.a.data, gemm.a.stride, gemm.a.type) &&
              is_aligned(gemm.b.data, gemm.b.stride, gemm.b.type) &&
              is_aligned(gemm.d, gemm.d_stride, gemm.d_type),
          gemm, "rows of FP8 operands, and of what they give, begin at multiples of 16 bytes");
  require(is_scale_aligned(gemm.a.scale) && is_scale_aligned(gemm.b.scale), gemm,
          "scales begin at multiples of 16 bytes");
}

}  // namespace

std::size_t row_alignment(const void* data, std::int64_t stride, NumberType type) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const auto row_bytes = static_cast<std::size_t>(stride) * bytes_of(type);
  std::size_t bytes = 16;
  while ((address | row_bytes) % bytes != 0) bytes /= 2;
  return bytes;
}

std::string plan_key(const Gemm& gemm) {
  std::string key = fmt::format(
      "{} . {} -> {} {}x{} ld {} al {}{}", operand_key(gemm.a, gemm.m, gemm.k),
      operand_key(gemm.b, gemm.k, gemm.n), name_of(gemm.d_type), gemm.m, gemm.n, gemm.d_stride,
      row_alignment(gemm.d, gemm.d_stride, gemm.d_type), gemm.beta != 0 ? " added" : "");
  if (gemm.batch > 1) {
    key += fmt::format(" batch {} by {}, {}, {}", gemm.batch, gemm.a_batch_stride,
                       gemm.b_batch_stride, gemm.d_batch_stride);
  }
  return key;
}

void check(const Gemm& gemm) {
  require(gemm.m >= 0 && gemm.n >= 0 && gemm.k >= 0 && gemm.batch >= 0, gemm,
          "no extent is negative");
  require(gemm.a.stride >= (gemm.a.transposed ? gemm.m : gemm.k), gemm, "a's stride is a row");
  require(gemm.b.stride >= (gemm.b.transposed ? gemm.k : gemm.n), gemm, "b's stride is a row");
  require(gemm.d_stride >= gemm.n, gemm, "d's stride is a row");
  const bool narrow_result = gemm.d_type == NumberType::bf16 || gemm.d_type == NumberType::float32;
  if (is_fp8(gemm.a.type) || is_fp8(gemm.b.type)) {
    check_fp8(gemm);
    require(narrow_result, gemm, "the result is bf16 or float32");
    return;
  }
  const auto has_scale = [](const GemmOperand& x) { return x.scale || x.block_scales; };
  require(!has_scale(gemm.a) && !has_scale(gemm.b), gemm, "scales are FP8's");
  require(gemm.a.type == gemm.b.type, gemm, "both operands are of one type");
  if (gemm.a.type == NumberType::float32) {
    require(gemm.d_type == NumberType::float32, gemm, "the result of float32 is float32");
  } else {
    require(gemm.a.type == NumberType::bf16, gemm, "operands are bf16, float32 or FP8");
    require(narrow_result, gemm, "the result is bf16 or float32");
  }
}

}  // namespace llmb::runner::cuda
