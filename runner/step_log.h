// The lines that a run prints, as NeMo 2 and Megatron-Bridge print theirs, with the names that
// parser/dialects/step_line_grammar.h shares with the readers. Pure: text in, text out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runner/operation/device_use.h"
#include "runner/plan/run_settings.h"

namespace llmb::runner {

// One finished step. `step` counts from 0 over the life of the weights: a run that goes on from a
// checkpoint of 50 steps begins with step 50.
struct StepRecord {
  std::int64_t step = 0;
  double step_time_s = 0;
  double tflops_per_gpu = 0;  // per rank, by the run's formula
  double learning_rate = 0;
  double loss = 0;
  std::optional<double> auxiliary_loss;  // of the router, where there is one
  double grad_norm = 0;
  std::int64_t memory_bytes_max = 0;
  std::int64_t memory_bytes_allocated = 0;
  // Of the step, a GPU's, the mean over all ranks; and what rank 0's did.
  std::optional<double> energy_j_per_gpu;
  DeviceUse device;
};

// What stays the same from step to step.
struct StepLogHead {
  LogFormat format = LogFormat::nemo;
  std::int64_t first_step = 0;
  std::int64_t step_count = 0;
  std::int64_t global_batch_size = 0;
  std::string label{};  // behind every line, where a reader must not take it for a whole run's

  std::int64_t end_step() const { return first_step + step_count; }
};

// With their newlines. `date_time` is local, "2025-12-22 15:18:33".
std::string step_lines(const StepLogHead& head, const StepRecord& step,
                       const std::string& date_time);

// What NeMo or Megatron-Bridge prints when all steps are done.
std::string finish_line(const StepLogHead& head, const std::string& date_time);

// The line that says who wrote the log and with which configuration, so that it can be ingested
// like a recipe's, and a CPU run never looks like a GPU's.
std::string configuration_line(const RunSettings& settings);
// What it states: "framework=llmb-step-runner backend=cpu …".
std::string configuration_text(const RunSettings& settings);

// As NeMo formats a metric: whole numbers as integers, others with 4 significant digits, the
// exponent form from 1000 up.
std::string nemo_number(double value);

// The documents' checkpoint lines. Instants are seconds since the epoch.
std::string checkpoint_save_line(int rank, std::int64_t iteration, double started_at_s,
                                 double duration_s, const std::string& date_time);
std::string checkpoint_load_line(int rank, double started_at_s, double duration_s,
                                 const std::string& date_time);

}  // namespace llmb::runner
