// What the CPU backend makes of this machine: matrix products as a share of what one core's
// multiply-adds could do, and steps per second of a tiny model. Prints; is no test.
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "runner/cpu/gemm.h"
#include "tests/runner/model/tiny_models.h"
#include "tests/runner/transformer/layout_cases.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace llmb::runner {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The best of several, as others use the machine too.
double best_seconds_of(const std::function<void()>& work) {
  double best = seconds_of(work);
  for (int i = 0; i < 9; ++i) best = std::min(best, seconds_of(work));
  return best;
}

volatile float sink;

constexpr int kRounds = 2'000'000;
constexpr int kChains = 10;  // independent, so that the units stay full

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void multiply_add_avx2() {
  __m256 sums[kChains];
  for (__m256& sum : sums) sum = _mm256_set1_ps(1.0F);
  const __m256 factor = _mm256_set1_ps(0.999F);
  for (int round = 0; round < kRounds; ++round) {
#pragma GCC unroll 16
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, factor);
  }
  for (const __m256& sum : sums) sink = _mm256_cvtss_f32(sum);
}
#endif

void multiply_add() {
  float sums[kChains] = {};
  for (int round = 0; round < kRounds; ++round) {
#pragma GCC unroll 16
    for (float& sum : sums) sum = sum * 0.999F + 0.999F;
  }
  for (const float sum : sums) sink = sum;
}

// FLOP/s of one core's single-precision multiply-adds in registers: 256 bits wide on x86-64 with
// AVX2 (a machine with AVX-512 can do more), what the compiler makes of a loop elsewhere.
double peak_flops_per_s() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return 2.0 * 8 * kChains * kRounds / best_seconds_of(multiply_add_avx2);
  }
#endif
  return 2.0 * kChains * kRounds / best_seconds_of(multiply_add);
}

void measure_gemm(std::int64_t size, double peak) {
  const auto count = static_cast<std::size_t>(size * size);
  const std::vector<float> a(count, 0.5F);
  const std::vector<float> b(count, 0.25F);
  std::vector<float> c(count);
  const double time_s = best_seconds_of([&] {
    cpu::gemm<float>(size, size, size, 1.0F, {a.data(), size}, {b.data(), size, true}, 0.0F,
                     c.data(), size);
  });
  const double cubed = static_cast<double>(size) * static_cast<double>(size * size);
  const double rate = 2 * cubed / time_s;
  std::printf("GEMM %lld^3 fp32, one thread: %.1f GFLOP/s, %.0f %% of %.1f GFLOP/s\n",
              static_cast<long long>(size), rate / 1e9, 100 * rate / peak, peak / 1e9);
}

void measure_steps(const char* name, const ModelSpec& spec) {
  const auto world = make_loopback_world();
  testing::RankStep<float> rank(*world, spec, *Layout::make({}, 1), {2, 8}, 1);
  constexpr int kSteps = 50;
  const double time_s = seconds_of([&] {
    for (int step = 0; step < kSteps; ++step) {
      rank.forward_backward(step);
      rank.update({}, step + 1);
    }
  });
  std::printf("%s, tiny, 8 x 16 tokens: %d steps in %.2f s, %.0f steps/s\n", name, kSteps, time_s,
              kSteps / time_s);
}

int run() {
  std::printf("%s\n", cpu::gemm_library());
  const double peak = peak_flops_per_s();
  for (const std::int64_t size : {64, 256, 1024}) measure_gemm(size, peak);
  measure_steps("Grok-1", tiny_grok());
  measure_steps("Llama 3.1", tiny_llama());
  measure_steps("Llama 4 Maverick", tiny_maverick());
  measure_steps("Nemotron-4", tiny_nemotron());
  return 0;
}

}  // namespace
}  // namespace llmb::runner

int main() {
  return llmb::runner::run();
}
