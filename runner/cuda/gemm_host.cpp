// The double's matrix products: runner/cpu/gemm.h on what the narrow numbers stand for, rounded to
// the result's type once, where cuBLASLt rounds.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <vector>

#include "runner/cpu/gemm.h"
#include "runner/cuda/device.h"
#include "runner/cuda/gemm.h"
#include "runner/cuda/gemm_plans.h"
#include "runner/cuda/host_registry.h"
#include "runner/cuda/stream.h"

namespace llmb::runner::cuda {
namespace {

float number_at(const void* data, NumberType type, std::int64_t index) {
  switch (type) {
    case NumberType::bf16:
      return kernels::to_float(static_cast<const kernels::Bf16*>(data)[index]);
    case NumberType::fp8_e4m3:
      return kernels::to_float(static_cast<const kernels::Fp8E4m3*>(data)[index]);
    case NumberType::fp8_e5m2:
      return kernels::to_float(static_cast<const kernels::Fp8E5m2*>(data)[index]);
    default:
      return static_cast<const float*>(data)[index];
  }
}

// As floats, without gaps, in the layout that it lies in.
std::vector<float> numbers_of(const GemmOperand& operand, std::int64_t first, std::int64_t rows,
                              std::int64_t cols) {
  const std::int64_t stored_rows = operand.transposed ? cols : rows;
  const std::int64_t stored_cols = operand.transposed ? rows : cols;
  std::vector<float> numbers(static_cast<std::size_t>(stored_rows * stored_cols));
  for (std::int64_t i = 0; i < stored_rows; ++i) {
    for (std::int64_t j = 0; j < stored_cols; ++j) {
      numbers[static_cast<std::size_t>(i * stored_cols + j)] =
          number_at(operand.data, operand.type, first + i * operand.stride + j);
    }
  }
  return numbers;
}

void store(const Gemm& gemm, std::int64_t first, const std::vector<float>& sums) {
  for (std::int64_t i = 0; i < gemm.m; ++i) {
    for (std::int64_t j = 0; j < gemm.n; ++j) {
      const float value = sums[static_cast<std::size_t>(i * gemm.n + j)];
      const std::int64_t at = first + i * gemm.d_stride + j;
      if (gemm.d_type == NumberType::bf16) {
        static_cast<kernels::Bf16*>(gemm.d)[at] = kernels::from_float<kernels::Bf16>(value);
      } else {
        static_cast<float*>(gemm.d)[at] = value;
      }
    }
  }
}

void multiply(const Gemm& gemm, std::int64_t index) {
  const std::vector<float> a = numbers_of(gemm.a, index * gemm.a_batch_stride, gemm.m, gemm.k);
  const std::vector<float> b = numbers_of(gemm.b, index * gemm.b_batch_stride, gemm.k, gemm.n);
  const std::int64_t first = index * gemm.d_batch_stride;
  std::vector<float> sums(static_cast<std::size_t>(gemm.m * gemm.n));
  if (gemm.beta != 0) {
    for (std::int64_t i = 0; i < gemm.m; ++i) {
      for (std::int64_t j = 0; j < gemm.n; ++j) {
        sums[static_cast<std::size_t>(i * gemm.n + j)] =
            number_at(gemm.d, gemm.d_type, first + i * gemm.d_stride + j);
      }
    }
  }
  const float a_scale = gemm.a.scale ? *gemm.a.scale : 1.0F;
  const float b_scale = gemm.b.scale ? *gemm.b.scale : 1.0F;
  cpu::gemm<float>(gemm.m, gemm.n, gemm.k, gemm.alpha * a_scale * b_scale,
                   {a.data(), gemm.a.transposed ? gemm.m : gemm.k, gemm.a.transposed},
                   {b.data(), gemm.b.transposed ? gemm.k : gemm.n, gemm.b.transposed}, gemm.beta,
                   sums.data(), gemm.n);
  store(gemm, first, sums);
}

constexpr const char* kAlgorithm = "cpu";

}  // namespace

struct GemmEngine::State {
  std::map<std::string, std::string> plans;
};

GemmEngine::GemmEngine(std::size_t) : state_(std::make_unique<State>()) {
  host_device();  // chosen, as a device's engine needs it
}

GemmEngine::~GemmEngine() = default;

void GemmEngine::run(const Gemm& gemm, Stream stream) {
  check(gemm);
  if (gemm.m == 0 || gemm.n == 0 || gemm.batch == 0) return;
  require_on_device(gemm.a.data, bytes_of_a(gemm), "product's a");
  require_on_device(gemm.b.data, bytes_of_b(gemm), "product's b");
  require_on_device(gemm.d, bytes_of_d(gemm), "product's d");
  for (const float* scale : {gemm.a.scale, gemm.b.scale}) {
    if (scale) require_on_device(scale, sizeof(float), "product's scale");
  }
  state_->plans.emplace(plan_key(gemm), kAlgorithm);
  compute_on_stream(stream, [gemm] {
    for (std::int64_t i = 0; i < gemm.batch; ++i) multiply(gemm, i);
  });
}

TunedGemm GemmEngine::tune(const Gemm& gemm, Stream stream) {
  check(gemm);
  const GemmBuffers buffers(gemm, stream);
  synchronize(stream);
  const auto begin = std::chrono::steady_clock::now();
  run(buffers.gemm(), stream);
  synchronize(stream);
  const double time_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  state_->plans[plan_key(gemm)] = kAlgorithm;
  return {plan_key(gemm), kAlgorithm, time_s, flops_of(gemm) / time_s / 1e12};
}

std::string GemmEngine::plans_as_json() const {
  return gemm_plans_as_json({gemm_library(), current_device().name, state_->plans});
}

std::string GemmEngine::pin_plans(const std::string& json) {
  GemmPlans plans = gemm_plans_from_json(json);
  std::string why_not = why_plans_differ(plans, gemm_library(), current_device().name);
  if (why_not.empty()) state_->plans = std::move(plans.algorithms);
  return why_not;
}

std::size_t GemmEngine::plan_count() const {
  return state_->plans.size();
}

std::string gemm_library() {
  return fmt::format("{}, the CPU's double", cpu::gemm_library());
}

}  // namespace llmb::runner::cuda
