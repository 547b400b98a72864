#include "runner/plan/gpu_rates.h"

namespace llmb::runner {
namespace {

constexpr double kTeraPerUnit = 1e12;
constexpr double kGibi = 1024.0 * 1024.0 * 1024.0;

// What the documents do not say, from the makers' data sheets.
struct DataSheet {
  const char* gpu_type;
  int compute_capability;
  double memory_gib;
  std::int64_t gpus_per_node;
  double bandwidth_tb_per_s;
  double bf16_tflops;  // dense
  double fp8_tflops;
};

constexpr DataSheet kDataSheets[] = {
    {"h100", 90, 80, 8, 3.35, 989, 1979},    {"h200", 90, 141, 8, 4.8, 989, 1979},
    {"b200", 100, 180, 8, 8.0, 2250, 4500},  {"gb200", 100, 186, 4, 8.0, 2450, 4900},
    {"gb300", 103, 288, 4, 8.0, 2450, 4900},
};

}  // namespace

parser::Result<GpuRates> gpu_rates(const parser::Catalog& catalog, std::string_view gpu_type) {
  std::string known;
  for (const DataSheet& sheet : kDataSheets) {
    known += (known.empty() ? "" : ", ") + std::string(sheet.gpu_type);
    if (gpu_type != sheet.gpu_type) continue;
    GpuRates rates;
    rates.gpu_type = sheet.gpu_type;
    rates.compute_capability = sheet.compute_capability;
    rates.memory_bytes = static_cast<std::int64_t>(sheet.memory_gib * kGibi);
    rates.gpus_per_node = sheet.gpus_per_node;
    rates.bandwidth_bytes_per_s = sheet.bandwidth_tb_per_s * kTeraPerUnit;
    rates.bf16_peak_flops = sheet.bf16_tflops * kTeraPerUnit;
    rates.fp8_peak_flops = sheet.fp8_tflops * kTeraPerUnit;
    const parser::GpuPeak* const bf16 = catalog.peak(gpu_type, "bf16", "");
    const parser::GpuPeak* const fp8 = catalog.peak(gpu_type, "fp8", "");
    if (bf16 != nullptr) rates.bf16_peak_flops = bf16->tflops * kTeraPerUnit;
    if (fp8 != nullptr) rates.fp8_peak_flops = fp8->tflops * kTeraPerUnit;
    return rates;
  }
  return parser::fail("unknown GPU type '" + std::string(gpu_type) + "'; known: " + known);
}

}  // namespace llmb::runner
