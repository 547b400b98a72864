// The lines that training programs print, as the sample tree's logs hold them.
// Formats: parser/dialects has the readers; a test reads back every line that is written here.
#pragma once

#include <cstdint>
#include <string>

namespace llmb::sample {

// One step's figures; each producer prints what it knows of them.
struct StepFigures {
  std::int64_t index = 0;  // from 0
  std::int64_t step_count = 50;
  double step_time_s = 0;
  double tflops_per_gpu = 0;
  double loss = 0;
  double learning_rate = 0;
  double grad_norm = 0;
  std::int64_t global_batch_size = 0;
};

// Python's `{:.4}` of a float, as NeMo prints metrics: 4 significant digits, an exponent from
// 1000 up, whole numbers without a point.
std::string nemo_number(double value);

// "Training epoch 0, iteration 11/49 | lr: … | TFLOPS_per_GPU: …" with a newline.
std::string nemo_line(const StepFigures& step);

// The 2024 progress bar: the bar once with the step before's figures and once with its own, both
// after a carriage return, and the DLLogger line glued behind.
std::string progress_bar_records(const StepFigures& step, const StepFigures& previous);

// "Step Time : 5.74s GPU utilization: 1636.8MODEL_TFLOP/s/GPU" with a newline.
std::string step_time_line(const StepFigures& step);

// Megatron's iteration line; `with_throughput` as Megatron-LM prints it. `clock_s` is the time of
// day behind the date.
std::string megatron_iteration_line(const StepFigures& step, double clock_s, bool with_throughput);

}  // namespace llmb::sample
