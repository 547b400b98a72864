#include "runner/cuda/gemm_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "runner/cuda/device_error.h"
#include "runner/cuda/fp8_copy.h"
#include "runner/cuda/gemm_plans.h"
#include "runner/cuda/ops_operands.h"
#include "runner/operation/view.h"

namespace llmb::runner::cuda {
namespace {

using detail::forward_product;
using detail::input_product;
using detail::product;
using detail::weight_product;

template <typename E>
View<E> nowhere(std::int64_t rows, std::int64_t cols) {
  return {nullptr, rows, cols};
}

template <typename T>
std::array<Gemm, 3> layer_products(const LinearShape& on) {
  const auto x = nowhere<const T>(on.rows, on.in);
  const auto dy = nowhere<const T>(on.rows, on.out);
  const auto weight = nowhere<const T>(on.out, on.in);
  return {forward_product(x, weight, nowhere<T>(on.rows, on.out)),
          input_product(dy, weight, nowhere<T>(on.rows, on.in), 0),
          weight_product(x, dy, nowhere<float>(on.out, on.in))};
}

// Logits and their gradients are fp32, and what meets the gradients is widened; dx is added to
// where it is fp32 itself.
template <typename T>
std::array<Gemm, 3> router_products(const LinearShape& on) {
  const auto dlogits = nowhere<const float>(on.rows, on.out);
  const float beta = std::is_same_v<T, float> ? 1 : 0;
  return {
      forward_product(nowhere<const T>(on.rows, on.in), nowhere<const T>(on.out, on.in),
                      nowhere<float>(on.rows, on.out)),
      input_product(dlogits, nowhere<const float>(on.out, on.in), nowhere<float>(on.rows, on.in),
                    beta),
      weight_product(nowhere<const float>(on.rows, on.in), dlogits, nowhere<float>(on.out, on.in))};
}

// Inputs and weights are `forward`, gradients `backward`.
std::array<Gemm, 3> fp8_products(const LinearShape& on, NumberType forward, NumberType backward) {
  using kernels::Bf16;
  const auto fp8 = [](NumberType type, std::int64_t cols, bool is_transposed) {
    return GemmOperand{nullptr, type, Fp8Copy::padded(type, cols), is_transposed, nullptr};
  };
  const auto of = [&](NumberType type, std::int64_t summed, auto d, float beta) {
    return product(d.rows, d.cols, Fp8Copy::padded(type, summed), fp8(type, summed, false),
                   fp8(forward, summed, true), d, beta);
  };
  return {of(forward, on.in, nowhere<Bf16>(on.rows, on.out), 0),
          of(backward, on.out, nowhere<Bf16>(on.rows, on.in), 0),
          of(backward, on.rows, nowhere<float>(on.out, on.in), 1)};
}

}  // namespace

bool is_fp8(ProductNumbers numbers) {
  return numbers == ProductNumbers::fp8 || numbers == ProductNumbers::mxfp8;
}

std::array<Gemm, 3> products_of(const LinearShape& linear, ProductNumbers numbers) {
  const bool is_fp32 = numbers == ProductNumbers::fp32;
  if (linear.kind == LinearKind::router) {
    return is_fp32 ? router_products<float>(linear) : router_products<kernels::Bf16>(linear);
  }
  if (is_fp8(numbers) && linear.kind != LinearKind::head) {
    return numbers == ProductNumbers::mxfp8
               ? fp8_products(linear, NumberType::mxfp8, NumberType::mxfp8)
               : fp8_products(linear, NumberType::fp8_e4m3, NumberType::fp8_e5m2);
  }
  return is_fp32 ? layer_products<float>(linear) : layer_products<kernels::Bf16>(linear);
}

std::vector<CountedGemm> products_of(const std::vector<LinearShape>& linears,
                                     ProductNumbers numbers) {
  std::map<std::string, CountedGemm> by_key;
  for (const LinearShape& linear : linears) {
    for (const Gemm& gemm : products_of(linear, numbers)) {
      by_key.try_emplace(plan_key(gemm), CountedGemm{gemm, 0}).first->second.count += linear.count;
    }
  }
  std::vector<CountedGemm> products;
  products.reserve(by_key.size());
  for (const auto& [key, product] : by_key) products.push_back(product);
  return products;
}

TuningResult tune_products(GemmEngine& engine, std::vector<CountedGemm> products, double seconds,
                           Stream stream) {
  using std::chrono::steady_clock;
  const steady_clock::time_point begin = steady_clock::now();
  const steady_clock::time_point until = begin + std::chrono::duration_cast<steady_clock::duration>(
                                                     std::chrono::duration<double>(seconds));
  std::stable_sort(products.begin(), products.end(), [](const auto& a, const auto& b) {
    return a.count * flops_of(a.gemm) > b.count * flops_of(b.gemm);
  });
  TuningResult result;
  result.products = static_cast<int>(products.size());
  for (const auto& [gemm, count] : products) {
    if (engine.has_plan(gemm)) {
      ++result.known;
      continue;
    }
    if (steady_clock::now() >= until) continue;
    try {
      const TunedGemm tuned = engine.tune(gemm, stream, until);
      ++result.tuned;
      result.first_time_s += count * tuned.first_time_s;
      result.time_s += count * tuned.time_s;
    } catch (const OutOfDeviceMemory&) {
      ++result.without_memory;
    }
  }
  result.seconds = std::chrono::duration<double>(steady_clock::now() - begin).count();
  return result;
}

std::string tuning_text(const TuningResult& result) {
  std::string text = fmt::format("{} of {} shapes of matrix products tuned in {:.1f} s",
                                 result.tuned, result.products, result.seconds);
  if (result.tuned > 0) {
    constexpr double kPercent = 100;
    constexpr double kMilli = 1e3;
    text += fmt::format(
        ": a micro-batch's take {:.3f} ms in place of {:.3f} ms by the library's suggestions "
        "({:.1f} % less)",
        result.time_s * kMilli, result.first_time_s * kMilli,
        kPercent * (1 - result.time_s / result.first_time_s));
  }
  if (result.known > 0) text += fmt::format("; {} were known", result.known);
  if (result.without_memory > 0) {
    text += fmt::format("; {} did not fit the device's free memory", result.without_memory);
  }
  const int late = result.products - result.known - result.tuned - result.without_memory;
  if (late > 0) text += fmt::format("; {} keep the library's suggestion, the time was over", late);
  return text;
}

}  // namespace llmb::runner::cuda
