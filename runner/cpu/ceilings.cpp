#include "runner/cpu/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "runner/cpu/attention.h"
#include "runner/cpu/linear.h"
#include "runner/cpu/tensor.h"
#include "runner/data/counter_random.h"

namespace llmb::runner::cpu {
namespace {

Tensor<float> random_tensor(std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t kDrawn = 1 << 16;  // random numbers; they repeat
  Tensor<float> tensor(rows, cols);
  const std::span<float> values = tensor.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i < kDrawn ? static_cast<float>(normal_at(key_of("ceilings"), i))
                           : values[i - static_cast<std::size_t>(kDrawn)];
  }
  return tensor;
}

Ceiling repeated(Ceiling ceiling, double seconds, const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  run();  // touches its memory for the first time
  std::vector<double> times_s;
  double total_s = 0;
  while (times_s.empty() || total_s < seconds) {
    const auto begun = Clock::now();
    run();
    times_s.push_back(std::chrono::duration<double>(Clock::now() - begun).count());
    total_s += times_s.back();
  }
  ceiling.repetitions = static_cast<std::int64_t>(times_s.size());
  set_times(std::move(times_s), ceiling);
  return ceiling;
}

void measure_linear(const LinearShape& shape, double seconds, const CeilingSink& tell) {
  const Tensor<float> x = random_tensor(shape.rows, shape.in);
  const Tensor<float> weight = random_tensor(shape.out, shape.in);
  const Tensor<float> dy = random_tensor(shape.rows, shape.out);
  Tensor<float> y(shape.rows, shape.out);
  Tensor<float> dx(shape.rows, shape.in);
  Tensor<float> dweight(shape.out, shape.in);
  dweight.fill(0);
  const auto begun = [&](const char* pass) {
    Ceiling ceiling;
    ceiling.name =
        fmt::format("gemm {} {} {}x{}x{} fp32", shape.name, pass, shape.rows, shape.in, shape.out);
    ceiling.flops = 2.0 * static_cast<double>(shape.rows) * static_cast<double>(shape.in) *
                    static_cast<double>(shape.out);
    return ceiling;
  };
  tell(repeated(begun("forward"), seconds, [&] { Linear<float>::forward(x, weight, y); }));
  tell(repeated(begun("backward_input"), seconds,
                [&] { Linear<float>::backward_input(dy, weight, dx); }));
  tell(repeated(begun("backward_weight"), seconds,
                [&] { Linear<float>::backward_weight(x, dy, dweight); }));
}

void measure_attention(const CeilingShapes& shapes, double seconds, const CeilingSink& tell) {
  const AttentionShape& shape = shapes.attention;
  const std::int64_t rows = std::ssize(shapes.positions) * shape.batch;
  const std::int64_t key_rows = shapes.key_count * shape.batch;
  const std::int64_t cols = shape.head_count * shape.head_size;
  const std::int64_t key_cols = shape.group_count * shape.head_size;
  const Tensor<float> q = random_tensor(rows, cols);
  const Tensor<float> k = random_tensor(key_rows, key_cols);
  const Tensor<float> v = random_tensor(key_rows, key_cols);
  const Tensor<float> d_o = random_tensor(rows, cols);
  Tensor<float> o(rows, cols);
  Tensor<float> log_sum(rows, shape.head_count);
  Tensor<float> dq(rows, cols);
  Tensor<float> dk(key_rows, key_cols);
  Tensor<float> dv(key_rows, key_cols);
  Ceiling ceiling;
  const std::string words = fmt::format("b {} heads {}/{} x {} s {}", shape.batch, shape.head_count,
                                        shape.group_count, shape.head_size, shapes.key_count);
  ceiling.name = "attention forward " + words;
  ceiling.flops = attention_flops(shape, shapes.positions);
  tell(repeated(ceiling, seconds,
                [&] { Attention<float>::forward(shape, shapes.positions, q, k, v, o, log_sum); }));
  ceiling.name = "attention backward " + words;
  ceiling.flops *= 2;
  tell(repeated(ceiling, seconds, [&] {
    Attention<float>::backward(shape, shapes.positions, q, k, v, o, log_sum, d_o, dq, dk, dv);
  }));
}

void measure_copy(std::int64_t bytes, double seconds, const CeilingSink& tell) {
  const std::vector<std::byte> from(static_cast<std::size_t>(bytes), std::byte{1});
  std::vector<std::byte> to(from.size());
  Ceiling ceiling;
  ceiling.name = fmt::format("copy of {} MiB", bytes >> 20);
  ceiling.bytes = 2 * static_cast<double>(bytes);
  tell(repeated(ceiling, seconds, [&] { std::copy(from.begin(), from.end(), to.begin()); }));
}

}  // namespace

void measure_ceilings(const CeilingShapes& shapes, double seconds, const CeilingSink& tell) {
  for (const LinearShape& linear : shapes.linears) measure_linear(linear, seconds, tell);
  if (shapes.attention.head_count > 0) measure_attention(shapes, seconds, tell);
  measure_copy(shapes.copy_bytes, seconds, tell);
}

}  // namespace llmb::runner::cpu
