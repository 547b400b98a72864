// The double's matrix products: runner/cpu/gemm.h on what the narrow numbers stand for, rounded to
// the result's type once, where cuBLASLt rounds.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "runner/cpu/gemm.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/gemm.h"
#include "runner/cuda/gemm_plans.h"
#include "runner/cuda/host_device.h"
#include "runner/cuda/host_registry.h"
#include "runner/cuda/stream.h"
#include "runner/kernels/mx_scales.h"

namespace llmb::runner::cuda {
namespace {

float number_at(const void* data, NumberType type, std::int64_t index) {
  switch (type) {
    case NumberType::bf16:
      return kernels::to_float(static_cast<const kernels::Bf16*>(data)[index]);
    case NumberType::fp8_e4m3:
    case NumberType::mxfp8:
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

// Blocks and their scales as tensor cores multiply them: up to whole tiles of scales, elements that
// are not there being zero, so that a scale of NaN in a tile's rest shows in the result.
std::vector<float> block_numbers_of(const GemmOperand& operand, std::int64_t rows, std::int64_t k) {
  const std::int64_t tiles = kernels::mx_tiles_along(k);
  const std::int64_t padded = tiles * kernels::kMxTileBlocks * kernels::kMxBlock;
  std::vector<float> numbers(static_cast<std::size_t>(rows * padded));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < padded; ++j) {
      const std::uint8_t exponent =
          operand.block_scales[kernels::mx_scale_offset(i, j / kernels::kMxBlock, tiles)];
      const float scale = exponent == 0xff ? std::numeric_limits<float>::quiet_NaN()
                                           : std::ldexp(1.0F, exponent - 127);
      const float number =
          j < k ? number_at(operand.data, operand.type, i * operand.stride + j) : 0.0F;
      numbers[static_cast<std::size_t>(i * padded + j)] = number * scale;
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
  const bool has_blocks = gemm.a.type == NumberType::mxfp8;
  const std::vector<float> a =
      has_blocks ? block_numbers_of(gemm.a, gemm.m, gemm.k)
                 : numbers_of(gemm.a, index * gemm.a_batch_stride, gemm.m, gemm.k);
  const std::vector<float> b =
      has_blocks ? block_numbers_of(gemm.b, gemm.n, gemm.k)
                 : numbers_of(gemm.b, index * gemm.b_batch_stride, gemm.k, gemm.n);
  const std::int64_t k = has_blocks ? std::ssize(a) / gemm.m : gemm.k;
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
  cpu::gemm<float>(gemm.m, gemm.n, k, gemm.alpha * a_scale * b_scale,
                   {a.data(), gemm.a.transposed ? gemm.m : k, gemm.a.transposed},
                   {b.data(), gemm.b.transposed ? k : gemm.n, gemm.b.transposed}, gemm.beta,
                   sums.data(), gemm.n);
  store(gemm, first, sums);
}

// They compute alike, and differ by what HostDeviceOptions says that they take.
std::string algorithm_name(std::size_t index) {
  return fmt::format("cpu {}", index);
}
std::size_t algorithm_count() {
  return std::max<std::size_t>(1, host_devices().product_times_s.size());
}
bool is_algorithm(const std::string& name) {
  for (std::size_t index = 0; index < algorithm_count(); ++index) {
    if (name == algorithm_name(index)) return true;
  }
  return false;
}

struct Run {
  std::mutex mutex;
  HostProducts products;
};
Run& run_products() {
  static Run all;
  return all;
}

}  // namespace

HostProducts host_products() {
  Run& all = run_products();
  const std::lock_guard lock(all.mutex);
  return all.products;
}

void forget_host_products() {
  Run& all = run_products();
  const std::lock_guard lock(all.mutex);
  all.products.clear();
}

struct GemmEngine::State {
  std::map<std::string, std::string> plans;
  std::set<std::string> chosen;  // of the plans, those that were tuned or pinned
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
  require_served(gemm);
  if (gemm.a.type == NumberType::mxfp8) {
    const auto bytes = [&](std::int64_t rows) {
      return static_cast<std::size_t>(kernels::mx_scale_bytes(rows, gemm.k));
    };
    require_on_device(gemm.a.block_scales, bytes(gemm.m), "product's scales of a");
    require_on_device(gemm.b.block_scales, bytes(gemm.n), "product's scales of b");
  }
  const std::string key = plan_key(gemm);
  const auto plan = state_->plans.emplace(key, algorithm_name(0)).first;
  if (!is_algorithm(plan->second)) {
    throw DeviceError("use the pinned plan of " + key, "it is no algorithm", plan->second, "");
  }
  {
    Run& all = run_products();
    const std::lock_guard lock(all.mutex);
    all.products[key].insert(plan->second);
  }
  compute_on_stream(stream, [gemm] {
    for (std::int64_t i = 0; i < gemm.batch; ++i) multiply(gemm, i);
  });
}

TunedGemm GemmEngine::tune(const Gemm& gemm, Stream stream,
                           std::chrono::steady_clock::time_point until) {
  check(gemm);
  require_served(gemm);
  const GemmBuffers buffers(gemm, stream);
  const std::vector<double> told = host_devices().product_times_s;
  const auto time_of = [&](std::size_t index) -> std::optional<double> {
    if (!told.empty()) return told[index] > 0 ? std::optional(told[index]) : std::nullopt;
    synchronize(stream);
    const auto begin = std::chrono::steady_clock::now();
    compute_on_stream(stream, [&] {
      for (std::int64_t i = 0; i < gemm.batch; ++i) multiply(buffers.gemm(), i);
    });
    synchronize(stream);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const std::string key = plan_key(gemm);
  const auto choice = choose_algorithm(algorithm_count(), time_of, until);
  if (!choice) throw DeviceError("tune " + key, "every algorithm was refused", "", "");
  const std::string algorithm = algorithm_name(choice->index);
  state_->plans[key] = algorithm;
  state_->chosen.insert(key);
  return {key, algorithm, choice->time_s, choice->first_time_s,
          flops_of(gemm) / choice->time_s / 1e12};
}

bool GemmEngine::has_plan(const Gemm& gemm) {
  const std::string key = plan_key(gemm);
  if (!state_->chosen.contains(key)) return false;
  if (is_algorithm(state_->plans[key])) return true;
  state_->plans.erase(key);
  state_->chosen.erase(key);
  return false;
}

std::string GemmEngine::plans_as_json() const {
  return gemm_plans_as_json({gemm_place(), state_->plans});
}

std::string GemmEngine::pin_plans(const std::string& json) {
  GemmPlans plans = gemm_plans_from_json(json);
  std::string why_not = why_plans_differ(plans, gemm_place());
  if (!why_not.empty()) return why_not;
  state_->plans = std::move(plans.algorithms);
  state_->chosen.clear();
  for (const auto& [key, algorithm] : state_->plans) state_->chosen.insert(key);
  return "";
}

std::size_t GemmEngine::plan_count() const {
  return state_->plans.size();
}

std::string why_library_has_no_mxfp8() {
  return "";
}

std::string gemm_library() {
  return fmt::format("{}, the CPU's double", cpu::gemm_library());
}

}  // namespace llmb::runner::cuda
