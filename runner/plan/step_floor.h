// StepFloor: the shortest time that a step can take on a named GPU: its GEMMs, its attention and
// what only moves memory, at sustained rates, one after another, and the pipeline's bubble. Layers
// that are recomputed go forward twice, and weights are cast to FP8 as often as the plan says.
// Communication is taken as hidden, so that a real step is slower.
#pragma once

#include "parser/catalog/model_flops.h"
#include "runner/plan/gpu_rates.h"
#include "runner/plan/memory_plan.h"

namespace llmb::runner {

struct StepFloor {
  // Of the slowest stage, over all its micro-batches.
  double gemm_s = 0;
  double attention_s = 0;
  double memory_s = 0;  // norms, activations, RoPE, expert rows, the loss, casts
  double cast_s = 0;    // of it: what enters FP8 products is read, scaled and written in FP8
  double optimizer_s = 0;
  double bubble_s = 0;
  double bubble_fraction = 0;  // idle time by working time: (pp - 1) / (vp * micro-batches)
  double step_time_s = 0;

  double tflops_per_gpu = 0;  // by the run's formula
  double mfu = 0;             // by the same, of the precision's peak
};

// Model FLOP of one step by the run's formula.
double model_flops_per_step(const RunSettings& settings);

StepFloor step_floor(const RunSettings& settings, const GpuRates& rates);

}  // namespace llmb::runner
