// device_ceilings: what the device (or the double, with --double's small shapes) sustains, as a
// table. The shapes are a layer of Llama 3.1 8B at 8192 positions.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "runner/cuda/ceilings.h"
#include "runner/cuda/device.h"

namespace {

using namespace llmb::runner::cuda;  // NOLINT(google-build-using-namespace): a program of one file

struct Shapes {
  std::int64_t rows, hidden, qkv, ffn, head_count, group_count, head_size, copy_bytes;
};
constexpr Shapes kLlama8b = {8192, 4096, 6144, 14336, 32, 8, 128, std::int64_t{1} << 30};
constexpr Shapes kTiny = {64, 32, 48, 112, 2, 1, 16, std::int64_t{1} << 16};

Gemm product(std::int64_t m, std::int64_t n, std::int64_t k, bool a_transposed, bool b_transposed,
             NumberType d_type, float beta) {
  return {.m = m,
          .n = n,
          .k = k,
          .a = {nullptr, NumberType::bf16, a_transposed ? m : k, a_transposed},
          .b = {nullptr, NumberType::bf16, b_transposed ? k : n, b_transposed},
          .d_type = d_type,
          .d_stride = n,
          .beta = beta};
}

void print(const Ceiling& ceiling) {
  std::puts(ceiling_line(ceiling).c_str());
  std::fflush(stdout);
}

void measure_linear(const char* layer, std::int64_t rows, std::int64_t in, std::int64_t out,
                    const CeilingOptions& options) {
  const auto name = [&](const char* pass) {
    return fmt::format("gemm {} {} {}x{}x{} bf16", layer, pass, rows, in, out);
  };
  print(measure_gemm(name("forward"), product(rows, out, in, false, true, NumberType::bf16, 0),
                     options));
  print(measure_gemm(name("backward_input"),
                     product(rows, in, out, false, false, NumberType::bf16, 0), options));
  print(measure_gemm(name("backward_weight"),
                     product(out, in, rows, true, false, NumberType::float32, 1), options));
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_tiny = argc > 1 && std::string(argv[1]) == "--tiny";
  try {
    const DeviceCount devices = count_devices();
    if (devices.count == 0) {
      fmt::print(stderr, "device_ceilings: no device: {}\n", devices.why_none);
      return 77;
    }
    const DeviceInfo device = choose_device(0);
    ClockReader clocks(device.pci_address);
    const CeilingOptions options{is_tiny ? 0.01 : 2.0, &clocks};
    const Shapes& shapes = is_tiny ? kTiny : kLlama8b;
    fmt::print("{}, {}, {}\n", device.name, runtime_name(), gemm_library());
    if (!clocks.why_nothing().empty()) fmt::print("No clocks: {}\n", clocks.why_nothing());
    std::puts(ceiling_heading().c_str());
    measure_linear("qkv", shapes.rows, shapes.hidden, shapes.qkv, options);
    measure_linear("ffn", shapes.rows, shapes.hidden, shapes.ffn, options);
    AttentionSizes sizes;
    sizes.head_count = shapes.head_count;
    sizes.group_count = shapes.group_count;
    sizes.head_size = shapes.head_size;
    sizes.key_count = shapes.rows;
    sizes.query_pieces = {{0, shapes.rows}};
    print(measure_attention_forward(sizes, options));
    print(measure_attention_backward(sizes, options));
    print(measure_copy(shapes.copy_bytes, options));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "device_ceilings: {}\n", error.what());
    return 1;
  }
}
