// GpuRates: what one GPU can do at best: memory, bandwidth, peaks from the catalog, and which share
// of them long-running kernels reached where that was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parser/catalog/catalog.h"
#include "parser/result.h"

namespace llmb::runner {

struct GpuRates {
  std::string gpu_type;
  int compute_capability = 0;  // 90 for sm_90
  std::int64_t memory_bytes = 0;
  std::int64_t gpus_per_node = 0;
  double bandwidth_bytes_per_s = 0;  // of device memory, as specified
  double bf16_peak_flops = 0;        // dense FLOP/s, as specified
  double fp8_peak_flops = 0;

  // Sustained shares of these, measured on one H200 (989 TFLOP/s, 4.8 TB/s): 8192^3 BF16 GEMMs on
  // random data 790 TFLOP/s, cuDNN's causal attention 644 forward and 541 backward, device copies
  // 4.3 TB/s. Taken for every GPU: a floor may be too fast, never too slow.
  double gemm_share = 0.80;
  // Not measured here. Others' measurements of large FP8 GEMMs on Hopper lie between 0.59
  // (torch._scaled_mm, 8192^3) and 0.78 (DeepGEMM's best shape) of the peak: power limits them
  // sooner than BF16. Of these the fastest, for the same reason.
  double fp8_gemm_share = 0.78;
  double attention_forward_share = 0.65;
  double attention_backward_share = 0.55;
  double bandwidth_share = 0.90;
};

// Refused with the names that are known.
parser::Result<GpuRates> gpu_rates(const parser::Catalog& catalog, std::string_view gpu_type);

}  // namespace llmb::runner
