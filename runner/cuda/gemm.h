// Matrix products of the CUDA backend: cuBLASLt on a GPU, runner/cpu/gemm.h in the double. Operands
// are row-major, as everywhere in the runner; sums are fp32 whatever the operands are. A plan is
// the algorithm for one shape; it is found once, by heuristics or by timing (`tune`), and kept.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/cuda/number_type.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::cuda {

using kernels::Stream;

// A matrix as it lies in device memory: `stride` elements from one row to the next; `transposed`
// where the product wants its transpose.
struct GemmOperand {
  const void* data = nullptr;
  NumberType type = NumberType::bf16;
  std::int64_t stride = 0;
  bool transposed = false;
  // FP8 only: one float in device memory that the operand is multiplied by (the inverse of what it
  // was scaled with). Null for 1.
  const float* scale = nullptr;
  // MXFP8 only: the blocks' scales in device memory, as kernels/mx_scales.h has them, from a
  // multiple of 16 bytes on. Those of a row that stand for no block are no NaN (255).
  const std::uint8_t* block_scales = nullptr;
};

// d (m, n) = alpha op(a) (m, k) op(b) (k, n) + beta d; with beta 0, d is not read.
//
// Types: a and b both bf16 with d bf16 or float32; a and b both float32 with d float32; a and b
// FP8, of one format or of both (but not both E5M2), with d bf16 or float32. FP8 operands lie with
// k along their rows: a not transposed, b transposed. Rows, those of d too, begin at
// multiples of 16 bytes where operands are FP8; elsewhere that is only quicker. Both mxfp8, with d
// bf16 or float32: they lie as FP8 does, with k a multiple of 32 and n of 16, and are no batch.
//
// Rounding: to d's type, once, at the end. Two E4M3 operands, those of a forward pass, are summed
// by the tensor cores' quick accumulation where the device has it.
//
// A linear layer of runner/cpu/linear.h is, with weights (out, in):
//   forward          y  = x W^T      a = x,              b = W transposed
//   backward_input   dx = dy W       a = dy,             b = W
//   backward_weight  dW += dy^T x    a = dy transposed,  b = x, beta 1, d float32
struct Gemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  GemmOperand a;
  GemmOperand b;
  void* d = nullptr;
  NumberType d_type = NumberType::bf16;
  std::int64_t d_stride = 0;
  float alpha = 1;
  float beta = 0;
  // More than one: products of the same shape, so many elements apart in a, b and d.
  std::int64_t batch = 1;
  std::int64_t a_batch_stride = 0;
  std::int64_t b_batch_stride = 0;
  std::int64_t d_batch_stride = 0;
};

// What decides a plan: shape, types, layout, strides, whether d is read, alignment, batch.
// "bf16 n128x256 bf16 t512x256 -> float32 …": one product, one key.
std::string plan_key(const Gemm& gemm);
// Why the calling thread's device, or the library that is loaded, has no products of MXFP8: the
// device is older than sm_100, or cuBLAS than 12.8. Empty where they have.
std::string why_no_mxfp8();
// Throws std::invalid_argument that says which rule of Gemm's comment does not hold.
void check(const Gemm& gemm);

struct TunedGemm {
  std::string key;
  std::string algorithm;    // bits of the library's own, in hex
  double time_s = 0;        // of one product
  double first_time_s = 0;  // by the algorithm that the library names first
  double tflops_per_s = 0;
};

// One per device and thread of the host. Its products run on any stream of the device, but those of
// one engine share a workspace, so one stream at a time.
class GemmEngine {
 public:
  // `workspace_bytes` of device memory are taken at once; 32 MiB are what cuBLASLt asks for on
  // sm_90.
  explicit GemmEngine(std::size_t workspace_bytes = 32U << 20U);
  ~GemmEngine();
  GemmEngine(const GemmEngine&) = delete;
  GemmEngine& operator=(const GemmEngine&) = delete;

  // Puts the product on the stream. An empty product (m, n or batch 0) is none; with k 0, d becomes
  // beta d. Throws DeviceError where no algorithm serves the shape, and for MXFP8 where
  // why_no_mxfp8 has a reason.
  void run(const Gemm& gemm, Stream stream);

  // Times the algorithms that the library offers for this shape and this engine's workspace, on
  // random operands of its own (the pointers in `gemm` are not used), and keeps the quickest
  // (choose_algorithm); after `until` no further one is begun. Waits. Where device memory for the
  // operands is lacking, throws OutOfDeviceMemory.
  TunedGemm tune(
      const Gemm& gemm, Stream stream,
      std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max());

  // Whether the product has a plan that was tuned or pinned. A pinned one that the library does not
  // take, or that wants more workspace than there is, is forgotten.
  bool has_plan(const Gemm& gemm);

  // The plans that are known, as JSON with the library's version, the device's name and its
  // driver's version; and plans to use from now on instead of any search. Where one of these
  // differs, they are not taken, and the answer says so; else it is empty. Throws
  // std::invalid_argument where it is no such JSON.
  std::string plans_as_json() const;
  std::string pin_plans(const std::string& json);

  std::size_t plan_count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "cuBLASLt 13.1.0" or "OpenBLAS …, the CPU's double".
std::string gemm_library();

}  // namespace llmb::runner::cuda
