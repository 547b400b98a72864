#include "runner/plan/step_floor.h"

#include <algorithm>

namespace llmb::runner {
namespace {

// Backward does each GEMM twice, and attention's products two and a half times: it forms the
// scores again.
constexpr double kGemmPasses = 3.0;
constexpr double kAttentionBackward = 2.5;
constexpr std::int64_t kGradientBytes = 2;

// Of a micro-batch.
struct StageTime {
  double gemm_s = 0;
  double attention_s = 0;
  double memory_s = 0;
  double cast_s = 0;              // part of memory_s
  double weight_cast_once_s = 0;  // a step, beside memory_s: of weights that are kept in FP8
  double total() const { return gemm_s + attention_s + memory_s; }
};

// Bytes that pass through memory for one number that enters FP8 products in so many layouts. The
// kernel that makes it writes the first in place of BF16, where its scale is known by then: of
// earlier steps (fp8_ds), or of its own block of 32 (fp8_mx). The scale of the current maximum
// (fp8_cs) is known when all of the tensor is written, so that it is read once more.
double cast_bytes(Precision precision, int layouts) {
  switch (precision) {
    case Precision::fp8_current:
      return 2 + layouts;
    case Precision::fp8_delayed:
    case Precision::mxfp8:
      return layouts - 1;
    default:
      return 0;
  }
}

// Of a weight's BF16, whose maximum the optimizer can take: read, and written in its layouts.
constexpr double weight_cast_bytes(int layouts) {
  return 2 + layouts;
}

class StageTimer {
 public:
  StageTimer(const RunSettings& settings, const GpuRates& rates)
      : settings_(settings),
        rates_(rates),
        layer_gemm_flops_per_s_(is_fp8(settings.precision)
                                    ? rates.fp8_peak_flops * rates.fp8_gemm_share
                                    : rates.bf16_peak_flops * rates.gemm_share),
        bytes_per_s_(rates.bandwidth_bytes_per_s * rates.bandwidth_share) {}

  StageTime time(const StageBytes& stage) const {
    StageTime time;
    // As the memory plan has it: a stage's first layers.
    std::int64_t to_recompute = settings_.recompute_layers;
    for (const LayerRange& chunk : stage.chunks) {
      for (std::int64_t layer = chunk.first; layer < chunk.last; ++layer) {
        const LayerCost cost = layer_cost(settings_, layer);
        const bool is_recomputed = to_recompute-- > 0;
        add_layer(cost, time);
        if (is_recomputed) add_second_forward(cost, time);
        add_weight_casts(static_cast<double>(cost.fp8_weight_elements), is_recomputed, time);
      }
    }
    if (stage.stage == settings_.sizes.pp - 1) {
      const HeadCost head = head_cost(settings_);
      time.gemm_s += kGemmPasses * head.gemm_flops / (rates_.bf16_peak_flops * rates_.gemm_share);
      time.memory_s += head.memory_bytes / bytes_per_s_;
    }
    time.memory_s += time.cast_s;
    return time;
  }

 private:
  void add_layer(const LayerCost& cost, StageTime& time) const {
    time.gemm_s += kGemmPasses * cost.gemm_flops / layer_gemm_flops_per_s_;
    time.attention_s +=
        cost.attention_flops / rates_.bf16_peak_flops *
        (1 / rates_.attention_forward_share + kAttentionBackward / rates_.attention_backward_share);
    time.memory_s += (cost.memory_bytes_forward + cost.memory_bytes_backward) / bytes_per_s_;
    time.cast_s += cost.cast_elements * cast_bytes(settings_.precision, 2) / bytes_per_s_;
  }

  // The one that keeps nothing, for which one layout will do.
  void add_second_forward(const LayerCost& cost, StageTime& time) const {
    time.gemm_s += cost.gemm_flops / layer_gemm_flops_per_s_;
    time.attention_s +=
        cost.attention_flops / rates_.bf16_peak_flops / rates_.attention_forward_share;
    time.memory_s += cost.memory_bytes_forward / bytes_per_s_;
    time.cast_s += cost.cast_elements_forward * cast_bytes(settings_.precision, 1) / bytes_per_s_;
  }

  void add_weight_casts(double elements, bool is_recomputed, StageTime& time) const {
    if (settings_.keeps_fp8_weights) {
      time.weight_cast_once_s += elements * weight_cast_bytes(2) / bytes_per_s_;
    } else {
      // Each pass takes a layout of its own.
      const int passes = is_recomputed ? 3 : 2;
      time.cast_s += elements * passes * weight_cast_bytes(1) / bytes_per_s_;
    }
  }

  const RunSettings& settings_;
  const GpuRates& rates_;
  const double layer_gemm_flops_per_s_;
  const double bytes_per_s_;
};

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
  floor.bubble_fraction =
      static_cast<double>(settings.sizes.pp - 1) / (settings.sizes.vp * micro_batches);
  const StageTimer timer(on_gpu, rates);
  double slowest_s = -1;
  for (const StageBytes& stage : make_memory_plan(on_gpu).stages) {
    const StageTime time = timer.time(stage);
    floor.optimizer_s = std::max(floor.optimizer_s, optimizer_time(on_gpu, stage, rates));
    const double bubble_s = time.total() * micro_batches * floor.bubble_fraction;
    const double stage_s = time.total() * micro_batches + bubble_s + time.weight_cast_once_s;
    if (stage_s <= slowest_s) continue;
    slowest_s = stage_s;
    floor.gemm_s = time.gemm_s * micro_batches;
    floor.attention_s = time.attention_s * micro_batches;
    floor.memory_s = time.memory_s * micro_batches + time.weight_cast_once_s;
    floor.cast_s = time.cast_s * micro_batches + time.weight_cast_once_s;
    floor.bubble_s = bubble_s;
  }
  floor.step_time_s = slowest_s + floor.optimizer_s;
  const double flops_per_s_per_gpu =
      model_flops_per_step(settings) / floor.step_time_s / settings.world_size();
  const double peak = is_fp8(settings.precision) ? rates.fp8_peak_flops : rates.bf16_peak_flops;
  floor.tflops_per_gpu = flops_per_s_per_gpu / 1e12;
  floor.mfu = flops_per_s_per_gpu / peak;
  return floor;
}

}  // namespace llmb::runner
