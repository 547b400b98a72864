#include "runner/plan/step_floor.h"

#include <algorithm>

namespace llmb::runner {
namespace {

// Backward does each GEMM twice, and attention's products two and a half times: it forms the
// scores again.
constexpr double kGemmPasses = 3.0;
constexpr double kAttentionBackward = 2.5;
constexpr std::int64_t kGradientBytes = 2;

struct StageTime {
  double gemm_s = 0;
  double attention_s = 0;
  double memory_s = 0;
  double cast_s = 0;  // part of memory_s
  double total() const { return gemm_s + attention_s + memory_s; }
};

// Bytes that pass through memory for one number that enters FP8 products. The kernel that makes it
// writes it in both layouts in place of BF16, where its scale is known by then: of earlier steps
// (fp8_ds), or of its own block of 32 (fp8_mx). The scale of the current maximum (fp8_cs) is known
// when all of the tensor is written, so that it is read once more.
double cast_bytes(Precision precision) {
  switch (precision) {
    case Precision::fp8_current:
      return 2 + 2;  // BF16 read again, and two layouts written
    case Precision::fp8_delayed:
    case Precision::mxfp8:
      return 1;  // the second layout; the first takes the place of BF16
    default:
      return 0;
  }
}

StageTime stage_time(const RunSettings& settings, const StageBytes& stage, const GpuRates& rates) {
  const bool fp8 = is_fp8(settings.precision);
  const double layer_gemm_flops_per_s =
      fp8 ? rates.fp8_peak_flops * rates.fp8_gemm_share : rates.bf16_peak_flops * rates.gemm_share;
  const double head_gemm_flops_per_s = rates.bf16_peak_flops * rates.gemm_share;
  const double bytes_per_s = rates.bandwidth_bytes_per_s * rates.bandwidth_share;
  const double bytes_per_cast = cast_bytes(settings.precision);
  StageTime time;
  for (const LayerRange& chunk : stage.chunks) {
    for (std::int64_t layer = chunk.first; layer < chunk.last; ++layer) {
      const LayerCost cost = layer_cost(settings, layer);
      time.gemm_s += kGemmPasses * cost.gemm_flops / layer_gemm_flops_per_s;
      time.attention_s +=
          cost.attention_flops / rates.bf16_peak_flops *
          (1 / rates.attention_forward_share + kAttentionBackward / rates.attention_backward_share);
      const double cast_s = cost.cast_elements * bytes_per_cast / bytes_per_s;
      time.cast_s += cast_s;
      time.memory_s +=
          (cost.memory_bytes_forward + cost.memory_bytes_backward) / bytes_per_s + cast_s;
    }
  }
  if (stage.stage == settings.sizes.pp - 1) {
    const HeadCost head = head_cost(settings);
    time.gemm_s += kGemmPasses * head.gemm_flops / head_gemm_flops_per_s;
    time.memory_s += head.memory_bytes / bytes_per_s;
  }
  return time;
}

// Gradients read twice (norm, update), states read and written, weights written. A gradient is
// BF16, as the recipes reduce it: this is a floor under their steps, too.
double optimizer_time(const RunSettings& settings, const StageBytes& stage, const GpuRates& rates) {
  const NumberBytes bytes = number_bytes(settings.precision, Backend::cuda);
  const ParallelSizes& sizes = settings.sizes;
  const double elements = static_cast<double>(stage.parameter_count) / (sizes.dp * sizes.cp) +
                          static_cast<double>(stage.expert_parameter_count) / sizes.edp();
  const auto per_element =
      static_cast<double>(2 * kGradientBytes + 2 * bytes.optimizer + bytes.parameter);
  return elements * per_element / (rates.bandwidth_bytes_per_s * rates.bandwidth_share);
}

}  // namespace

double model_flops_per_step(const RunSettings& settings) {
  return parser::model_flops_per_sequence(settings.spec.shape, settings.flops_formula).total() *
         static_cast<double>(settings.batch.global_batch_size);
}

StepFloor step_floor(const RunSettings& settings, const GpuRates& rates) {
  // As if on the GPU, whatever the run's own backend is.
  RunSettings on_gpu = settings;
  on_gpu.backend = Backend::cuda;
  const auto micro_batches = static_cast<double>(settings.micro_batches());
  StepFloor floor;
  double slowest = -1;
  for (const StageBytes& stage : make_memory_plan(on_gpu).stages) {
    const StageTime time = stage_time(on_gpu, stage, rates);
    floor.optimizer_s = std::max(floor.optimizer_s, optimizer_time(on_gpu, stage, rates));
    if (time.total() <= slowest) continue;
    slowest = time.total();
    floor.gemm_s = time.gemm_s * micro_batches;
    floor.attention_s = time.attention_s * micro_batches;
    floor.memory_s = time.memory_s * micro_batches;
    floor.cast_s = time.cast_s * micro_batches;
  }
  floor.bubble_fraction =
      static_cast<double>(settings.sizes.pp - 1) / (settings.sizes.vp * micro_batches);
  floor.step_time_s = slowest * micro_batches * (1 + floor.bubble_fraction) + floor.optimizer_s;
  const double flops_per_s_per_gpu =
      model_flops_per_step(settings) / floor.step_time_s / settings.world_size();
  const double peak = is_fp8(settings.precision) ? rates.fp8_peak_flops : rates.bf16_peak_flops;
  floor.tflops_per_gpu = flops_per_s_per_gpu / 1e12;
  floor.mfu = flops_per_s_per_gpu / peak;
  return floor;
}

}  // namespace llmb::runner
