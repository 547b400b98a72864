// The runs of the sample tree as data, and how one becomes the text of its log.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/sample/log_lines.h"

namespace llmb::sample {

enum class Producer { nemo, progress_bar, megatron_bridge, megatron_bridge_time_last, megatron_lm };

// What goes wrong, and after which step (counted from 0).
enum class Trouble {
  none,
  out_of_memory_at_start,
  time_limit,           // cut off after `trouble_step`
  time_limit_teardown,  // after the last step
  node_failure,
  restart_inside,  // crashes after `trouble_step`, goes on in the same log from iteration 10
  nan_gradient,    // from `trouble_step` on
  ends_silently,   // simply stops there
};

struct SampleRun {
  std::string experiment;
  std::int64_t launched_at_s = 0;
  std::int64_t job_id = 0;
  std::int64_t retry = 0;
  Producer producer = Producer::nemo;
  double step_time_s = 0;
  double tflops_per_gpu = 0;
  std::int64_t global_batch_size = 0;
  // For llmb-config; an empty model name means that the run has no such file.
  std::string model_name, model_size, dtype, gpu_type;
  std::int64_t gpu_count = 0;
  std::string environment;  // of llmb-config: one "NAME: 'value'" that the launch set; empty: none
  Trouble trouble = Trouble::none;
  std::int64_t trouble_step = 0;
  std::string results_folder;  // set: the older results/… layout
};

const std::vector<SampleRun>& sample_runs();

StepFigures step_figures(const SampleRun& run, std::int64_t index);
std::string log_head(const SampleRun& run);
std::string log_step(const SampleRun& run, std::int64_t index);
std::string log_text(const SampleRun& run);

}  // namespace llmb::sample
