#include "runner/cuda/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/gemm_plans.h"
#include "runner/cuda/grouped_operands.h"
#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"

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
      ClockReading clocks = options.clocks->read();
      ceiling.sm_clock_hz = clocks.sm_clock_hz;
      ceiling.power_w = clocks.power_w;
      ceiling.throttle_reasons = std::move(clocks.throttle_reasons);
    }
  }
  set_times(std::move(times), ceiling);
}

// Operands and results of an attention.
struct AttentionOperands {
  AttentionOperands(const AttentionSizes& sizes, Stream stream)
      : query_rows(sizes.query_count() * sizes.batch),
        key_rows(sizes.key_count * sizes.batch),
        query_cols(sizes.head_count * sizes.head_size),
        key_cols(sizes.group_count * sizes.head_size) {
    for (int i = 0; i < 4; ++i)
      queries.push_back(random_numbers<kernels::Bf16>(query_rows * query_cols, stream));
    for (int i = 0; i < 4; ++i)
      keys.push_back(random_numbers<kernels::Bf16>(key_rows * key_cols, stream));
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
  AttentionForwardCall forward() const { return {query(0), key(0), key(1), query(1), sums()}; }
  AttentionBackwardCall backward() const {
    return {query(0), key(0), key(1), query(1), sums(), query(2), query(3), key(2), key(3)};
  }

  std::int64_t query_rows, key_rows, query_cols, key_cols;
  std::vector<DeviceMemory> queries;  // q, o, d_o, dq
  std::vector<DeviceMemory> keys;     // k, v, dk, dv
  DeviceMemory statistics;
};

std::string copy_name(std::int64_t bytes) {
  return fmt::format("copy of {} MiB", bytes >> 20);
}

// Of AttentionOperands.
std::int64_t operand_bytes(const AttentionSizes& sizes) {
  const std::int64_t queries = sizes.query_count() * sizes.batch * sizes.head_count;
  const std::int64_t keys = sizes.key_count * sizes.batch * sizes.group_count;
  constexpr auto kOfARow = 4 * static_cast<std::int64_t>(sizeof(kernels::Bf16));
  return (queries + keys) * sizes.head_size * kOfARow +
         queries * static_cast<std::int64_t>(sizeof(float));
}

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
  const std::vector<std::int32_t> positions = query_positions(sizes);
  return runner::attention_flops(sizes.shape(),
                                 std::vector<std::int64_t>(positions.begin(), positions.end()));
}

Ceiling measure_attention_forward(const AttentionSizes& sizes, const CeilingOptions& options) {
  const OwnedStream stream;
  Attention attention(sizes);
  const AttentionOperands on(sizes, stream);
  Ceiling ceiling;
  ceiling.name =
      fmt::format("attention forward {} ({})", words_of(sizes), attention.implementation());
  ceiling.operation = "attention.forward";
  ceiling.flops = attention_flops(sizes);
  const AttentionForwardCall call = on.forward();
  const DeviceMemory workspace(static_cast<std::size_t>(attention.workspace_bytes(call)));
  repeat(ceiling, options, stream, [&] { attention.forward(call, workspace.data(), stream); });
  return ceiling;
}

Ceiling measure_attention_backward(const AttentionSizes& sizes, const CeilingOptions& options) {
  const OwnedStream stream;
  Attention attention(sizes);
  const AttentionOperands on(sizes, stream);
  const AttentionBackwardCall call = on.backward();
  const DeviceMemory workspace(static_cast<std::size_t>(
      std::max(attention.workspace_bytes(on.forward()), attention.workspace_bytes(call))));
  attention.forward(on.forward(), workspace.data(), stream);
  Ceiling ceiling;
  ceiling.name =
      fmt::format("attention backward {} ({})", words_of(sizes), attention.implementation());
  ceiling.operation = "attention.backward";
  // Five products, one of which computes the scores again; published counts leave that one out.
  ceiling.flops = 2 * attention_flops(sizes);
  repeat(ceiling, options, stream, [&] { attention.backward(call, workspace.data(), stream); });
  return ceiling;
}

Ceiling measure_copy(std::int64_t bytes, const CeilingOptions& options) {
  const OwnedStream stream;
  const auto size = static_cast<std::size_t>(bytes);
  const DeviceMemory from(size);
  const DeviceMemory to(size);
  fill_async(from.data(), 1, size, stream);
  Ceiling ceiling;
  ceiling.name = copy_name(bytes);
  ceiling.bytes = 2 * static_cast<double>(bytes);
  repeat(ceiling, options, stream,
         [&] { copy_async(to.data(), from.data(), size, CopyDirection::within_device, stream); });
  return ceiling;
}

namespace {

constexpr const char* kPasses[] = {"forward", "backward_input", "backward_weight"};

// What the table says something of, whatever comes of measuring it.
void tell_or_say_why(const Ceiling& named, std::int64_t operand_bytes, const CeilingSink& tell,
                     const std::function<Ceiling(Ceiling)>& measure) {
  constexpr double kMebi = 1024.0 * 1024.0;
  Ceiling ceiling = named;
  try {
    ceiling = measure(named);
  } catch (const OutOfDeviceMemory&) {
    ceiling.why_not =
        fmt::format("its operands take {:.1f} MiB, and of the device's memory {:.1f} MiB are free",
                    static_cast<double>(operand_bytes) / kMebi,
                    static_cast<double>(memory_info().free_bytes) / kMebi);
  }
  tell(ceiling);
}

void measure_attention(const AttentionSizes& sizes, const CeilingOptions& options,
                       const CeilingSink& tell) {
  const auto tell_pass = [&](const char* pass, const auto& measure) {
    Ceiling named;
    named.name = fmt::format("attention {} {}", pass, words_of(sizes));
    named.operation = fmt::format("attention.{}", pass);
    tell_or_say_why(named, operand_bytes(sizes), tell,
                    [&](const Ceiling&) { return measure(sizes, options); });
  };
  tell_pass("forward", measure_attention_forward);
  tell_pass("backward", measure_attention_backward);
}

// All experts' rows by one launch, spread evenly.
void measure_grouped(const LinearShape& shape, const CeilingOptions& options,
                     const CeilingSink& tell) {
  const OwnedStream stream;
  std::optional<GroupedOperands> on;
  for (std::size_t pass = 0; pass < std::size(kPasses); ++pass) {
    Ceiling named;
    const Gemm of_one = products_of(shape, options.numbers)[pass];
    named.name =
        fmt::format("gemm {} {} {} x {}x{}x{} {}, counted on the device", shape.name, kPasses[pass],
                    shape.experts, shape.rows, shape.in, shape.out, name_of(of_one.a.type));
    named.operation = shape.operation(kPasses[pass], is_fp8(options.numbers));
    named.count = shape.count / static_cast<double>(shape.experts);
    tell_or_say_why(named, GroupedOperands::bytes(shape, options.numbers), tell,
                    [&](Ceiling ceiling) {
                      if (!on) on.emplace(shape, options.numbers, stream);
                      ceiling.flops = on->flops();
                      repeat(ceiling, options, stream, [&] { on->multiply(pass); });
                      return ceiling;
                    });
  }
}

}  // namespace

void measure_linear(const LinearShape& shape, bool experts_on_device, const CeilingOptions& options,
                    const CeilingSink& tell) {
  const bool has_grouped = shape.experts > 1 && (options.numbers == ProductNumbers::bf16 ||
                                                 options.numbers == ProductNumbers::fp8);
  const std::array<Gemm, 3> products = products_of(shape, options.numbers);
  for (std::size_t pass = 0; pass < products.size(); ++pass) {
    const Gemm& gemm = products[pass];
    Ceiling named;
    named.name = fmt::format("gemm {} {} {}x{}x{} {}", shape.name, kPasses[pass], shape.rows,
                             shape.in, shape.out, name_of(gemm.a.type));
    // Of what a run does by one launch, this is what the library would do.
    if (!has_grouped || !experts_on_device) {
      named.operation = shape.operation(kPasses[pass], is_fp8(options.numbers));
    }
    named.count = shape.count;
    const std::size_t bytes = bytes_of_a(gemm) + bytes_of_b(gemm) + bytes_of_d(gemm);
    tell_or_say_why(named, static_cast<std::int64_t>(bytes), tell, [&](const Ceiling& ceiling) {
      Ceiling measured = measure_gemm(ceiling.name, gemm, options);
      measured.operation = ceiling.operation;
      measured.count = ceiling.count;
      return measured;
    });
  }
  if (!has_grouped) return;
  measure_grouped(shape, options, [&](Ceiling ceiling) {
    if (!experts_on_device) ceiling.operation.clear();
    tell(ceiling);
  });
}

void measure_ceilings(const CeilingShapes& shapes, bool experts_on_device,
                      const CeilingOptions& options, const CeilingSink& tell) {
  for (const LinearShape& linear : shapes.linears) {
    measure_linear(linear, experts_on_device, options, tell);
  }
  if (shapes.attention.head_count > 0) {
    AttentionSizes sizes;
    sizes.batch = shapes.attention.batch;
    sizes.head_count = shapes.attention.head_count;
    sizes.group_count = shapes.attention.group_count;
    sizes.head_size = shapes.attention.head_size;
    sizes.chunk_size = shapes.attention.chunk_size;
    sizes.query_pieces = sequence_pieces(shapes.positions);
    sizes.key_count = shapes.key_count;
    measure_attention(sizes, options, tell);
  }
  Ceiling copy;
  copy.name = copy_name(shapes.copy_bytes);
  tell_or_say_why(copy, 2 * shapes.copy_bytes, tell,
                  [&](const Ceiling&) { return measure_copy(shapes.copy_bytes, options); });
}

}  // namespace llmb::runner::cuda
