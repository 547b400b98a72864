#include "runner/cuda/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "runner/cuda/gemm_plans.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"
#include "runner/data/counter_random.h"

namespace llmb::runner::cuda {
namespace {

constexpr double kPieceSeconds = 0.1;
constexpr int kPiecesMin = 3;

// Repeats `put` in pieces of about a tenth of a second each, until `seconds` are over.
void repeat(Ceiling& ceiling, const CeilingOptions& options, Stream stream,
            const std::function<void()>& put) {
  Event begin(Event::Timing::with);
  Event end(Event::Timing::with);
  const auto time_of = [&](std::int64_t repetitions) {
    begin.record(stream);
    for (std::int64_t i = 0; i < repetitions; ++i) put();
    end.record(stream);
    end.synchronize();
    return Event::seconds_between(begin, end);
  };
  time_of(1);  // loads what is loaded once
  const double once = std::max(time_of(1), 1e-7);
  const double seconds_a_piece = std::min(kPieceSeconds, options.seconds / kPiecesMin);
  const auto a_piece = std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds_a_piece / once));
  std::vector<double> times;
  double total = 0;
  while (total < options.seconds || static_cast<int>(times.size()) < kPiecesMin) {
    const double time_s = time_of(a_piece);
    total += time_s;
    times.push_back(time_s / static_cast<double>(a_piece));
    ceiling.repetitions += a_piece;
    // Of the first half the last reading stays: the device is warm by then.
    if (options.clocks && total < options.seconds / 2 + seconds_a_piece) {
      ceiling.clocks = options.clocks->read();
    }
  }
  std::sort(times.begin(), times.end());
  ceiling.time_s = times[times.size() / 2];
  ceiling.time_s_min = times.front();
  ceiling.time_s_max = times.back();
}

DeviceMemory random_bf16(std::int64_t count, Stream stream) {
  constexpr std::int64_t kBlock = 1 << 18;
  std::vector<kernels::Bf16> block(static_cast<std::size_t>(std::min(count, kBlock)));
  for (std::size_t i = 0; i < block.size(); ++i) {
    block[i] =
        kernels::from_float<kernels::Bf16>(static_cast<float>(normal_at(key_of("ceilings"), i)));
  }
  DeviceMemory memory(static_cast<std::size_t>(count) * sizeof(kernels::Bf16));
  const std::size_t block_bytes = block.size() * sizeof(kernels::Bf16);
  for (std::size_t at = 0; at < memory.bytes(); at += block_bytes) {
    copy_async(memory.data() + at, block.data(), std::min(block_bytes, memory.bytes() - at),
               CopyDirection::to_device, stream);
  }
  synchronize(stream);
  return memory;
}

// Operands and results of an attention.
struct AttentionOperands {
  AttentionOperands(const AttentionSizes& sizes, Stream stream)
      : query_rows(sizes.query_count() * sizes.batch),
        key_rows(sizes.key_count * sizes.batch),
        query_cols(sizes.head_count * sizes.head_size),
        key_cols(sizes.group_count * sizes.head_size) {
    for (int i = 0; i < 4; ++i) queries.push_back(random_bf16(query_rows * query_cols, stream));
    for (int i = 0; i < 4; ++i) keys.push_back(random_bf16(key_rows * key_cols, stream));
    statistics =
        DeviceMemory(static_cast<std::size_t>(query_rows * sizes.head_count) * sizeof(float));
  }
  Bf16Matrix query(std::size_t index) const {
    return {reinterpret_cast<kernels::Bf16*>(queries[index].data()), query_rows, query_cols};
  }
  Bf16Matrix key(std::size_t index) const {
    return {reinterpret_cast<kernels::Bf16*>(keys[index].data()), key_rows, key_cols};
  }
  float* sums() const { return reinterpret_cast<float*>(statistics.data()); }

  std::int64_t query_rows, key_rows, query_cols, key_cols;
  std::vector<DeviceMemory> queries;  // q, o, d_o, dq
  std::vector<DeviceMemory> keys;     // k, v, dk, dv
  DeviceMemory statistics;
};

std::string words_of(const AttentionSizes& sizes) {
  return fmt::format("b {} heads {}/{} x {} s {}", sizes.batch, sizes.head_count, sizes.group_count,
                     sizes.head_size, sizes.key_count);
}

}  // namespace

Ceiling measure_gemm(const std::string& name, const Gemm& gemm, const CeilingOptions& options) {
  const OwnedStream stream;
  GemmEngine engine;
  engine.tune(gemm, stream);
  const GemmBuffers buffers(gemm, stream);
  Ceiling ceiling;
  ceiling.name = name;
  ceiling.flops = flops_of(gemm);
  repeat(ceiling, options, stream, [&] { engine.run(buffers.gemm(), stream); });
  return ceiling;
}

double attention_flops(const AttentionSizes& sizes) {
  double pairs = 0;
  for (const std::int32_t position : query_positions(sizes)) {
    const std::int64_t first =
        sizes.chunk_size > 0 ? position / sizes.chunk_size * sizes.chunk_size : 0;
    pairs += static_cast<double>(position - first) + 0.5;  // half of the diagonal's square
  }
  return 4 * pairs * static_cast<double>(sizes.batch * sizes.head_count * sizes.head_size);
}

Ceiling measure_attention_forward(const AttentionSizes& sizes, const CeilingOptions& options) {
  const OwnedStream stream;
  Attention attention(sizes);
  const AttentionOperands on(sizes, stream);
  Ceiling ceiling;
  ceiling.name =
      fmt::format("attention forward {} ({})", words_of(sizes), attention.implementation());
  ceiling.flops = attention_flops(sizes);
  repeat(ceiling, options, stream, [&] {
    attention.forward({on.query(0), on.key(0), on.key(1), on.query(1), on.sums()}, stream);
  });
  return ceiling;
}

Ceiling measure_attention_backward(const AttentionSizes& sizes, const CeilingOptions& options) {
  const OwnedStream stream;
  Attention attention(sizes);
  const AttentionOperands on(sizes, stream);
  attention.forward({on.query(0), on.key(0), on.key(1), on.query(1), on.sums()}, stream);
  Ceiling ceiling;
  ceiling.name =
      fmt::format("attention backward {} ({})", words_of(sizes), attention.implementation());
  // Five products, one of which computes the scores again; published counts leave that one out.
  ceiling.flops = 2 * attention_flops(sizes);
  repeat(ceiling, options, stream, [&] {
    attention.backward({on.query(0), on.key(0), on.key(1), on.query(1), on.sums(), on.query(2),
                        on.query(3), on.key(2), on.key(3)},
                       stream);
  });
  return ceiling;
}

Ceiling measure_copy(std::int64_t bytes, const CeilingOptions& options) {
  const OwnedStream stream;
  const auto size = static_cast<std::size_t>(bytes);
  const DeviceMemory from(size);
  const DeviceMemory to(size);
  fill_async(from.data(), 1, size, stream);
  Ceiling ceiling;
  ceiling.name = fmt::format("copy of {} MiB", bytes >> 20);
  ceiling.bytes = 2 * static_cast<double>(bytes);
  repeat(ceiling, options, stream,
         [&] { copy_async(to.data(), from.data(), size, CopyDirection::within_device, stream); });
  return ceiling;
}

std::string ceiling_heading() {
  return fmt::format("{:>10} {:>9} {:>8} {:>7} {:>7}  {}", "ms", "TFLOP/s", "GB/s", "MHz", "W",
                     "what");
}

std::string ceiling_line(const Ceiling& ceiling) {
  const auto number = [](bool is_there, double value, int decimals) {
    return is_there ? fmt::format("{:.{}f}", value, decimals) : std::string("-");
  };
  const ClockReading& clocks = ceiling.clocks;
  std::string line =
      fmt::format("{:>10.4f} {:>9} {:>8} {:>7} {:>7}  {}", ceiling.time_s * 1e3,
                  number(ceiling.flops > 0, ceiling.tflops_per_s(), 3),
                  number(ceiling.bytes > 0, ceiling.gb_per_s(), 1),
                  number(clocks.sm_clock_hz.has_value(), clocks.sm_clock_hz.value_or(0) / 1e6, 0),
                  number(clocks.power_w.has_value(), clocks.power_w.value_or(0), 0), ceiling.name);
  if (!clocks.throttle_reasons.empty()) {
    line += fmt::format("; slowed by {}", fmt::join(clocks.throttle_reasons, ", "));
  }
  return line;
}

}  // namespace llmb::runner::cuda
