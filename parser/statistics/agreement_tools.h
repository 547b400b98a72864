// The tools that Agreement knows, as data. The shell parsers' entries state what server/compat's
// release table does; a test holds the two together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "parser/window.h"

namespace llmb::parser {

enum class DeviationKind {
  none,
  population,  // divides by n
  sample,      // divides by n - 1; 0 for one value
};

std::string_view deviation_name(DeviationKind kind);  // "none", "population", "sample"

enum class ToolFamily {
  nemo,             // "train_step_timing in s:" lines of NeMo 2
  nemo_any,         // those of the 2024 progress bar too
  mbridge_shell,    // iteration lines of Megatron-Bridge or Megatron-LM, in milliseconds
  mbridge_rank_0,   // Megatron-Bridge's Step Time lines
  nemo_or_mbridge,  // by the framework that the run's configuration names
  any,              // the step times of any program
};

enum class ToolCompleteness {
  any_step,
  window_end,            // the window's last iteration is there
  whole_window_and_end,  // every iteration of the window, and the run's last
};

enum class TflopsSource {
  none,
  with_step,    // that of each step
  by_position,  // Megatron-Bridge: k-th figure to k-th step
  before_line,  // Megatron-Bridge: the newest figure before the iteration's line
};

struct Tool {
  std::string_view name;
  std::string_view release;
  std::string_view source;
  std::string_view metric;
  ToolFamily family = ToolFamily::nemo;
  std::optional<Window> window;  // else the last steps:
  std::int64_t last_steps = 0;
  std::int64_t all_up_to = 0;  // with no more steps than this, all of them
  // Or, where that is 0, all steps but these, by their position in the log and not by number:
  std::int64_t skipped_first = 0;
  std::int64_t skipped_percent = 0;  // of all steps, at the beginning; rounded down
  std::int64_t position_last = 0;    // over 0: none beyond this one, from 1
  DeviationKind deviation = DeviationKind::none;
  ToolCompleteness completeness = ToolCompleteness::any_step;
  TflopsSource tflops = TflopsSource::none;
  // Before a line: the spellings of the unit that its pattern knows.
  bool reads_tflop = false;
  bool reads_model_tflop = false;
  bool needs_50_steps = false;  // NeMo's "/49" is part of its pattern
  bool needs_tflops = false;    // a step without TFLOPS is dropped
  bool rejects_nan_gradient = false;
  double printed_digit_s = 0;  // the last digit of the times it reads; 0: as in our steps
};

std::span<const Tool> known_tools();

}  // namespace llmb::parser
