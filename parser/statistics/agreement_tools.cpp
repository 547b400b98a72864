#include "parser/statistics/agreement_tools.h"

#include <vector>

#include "parser/foundation/name_table.h"

namespace llmb::parser {
namespace {

constexpr auto kDeviations = name_table<DeviationKind>({
    {DeviationKind::none, "none"},
    {DeviationKind::population, "population"},
    {DeviationKind::sample, "sample"},
});

constexpr std::string_view kNemoMetric = "train_step_timing in s";
constexpr std::string_view kMbridgeMetric = "elapsed time per iteration (ms)";
constexpr double kElapsedDigitS = 1e-4;   // 0.1 ms
constexpr double kStepTimeDigitS = 1e-2;  // "Step Time : 7.38s"

Tool nemo_shell(std::string_view release, const Window& window, bool needs_tflops) {
  Tool tool;
  tool.name = "NeMo shell parser";
  tool.release = release;
  tool.source = "parse_train_timing.sh";
  tool.metric = kNemoMetric;
  tool.family = ToolFamily::nemo;
  tool.window = window;
  tool.deviation = DeviationKind::population;
  tool.completeness = ToolCompleteness::window_end;
  tool.tflops = TflopsSource::with_step;
  tool.needs_50_steps = true;
  tool.needs_tflops = needs_tflops;
  return tool;
}

Tool mbridge_shell(std::string_view release, bool reads_tflop, bool reads_model_tflop,
                   bool rejects_nan_gradient) {
  Tool tool;
  tool.name = "Megatron-Bridge shell parser";
  tool.release = release;
  tool.source = "parse_train_timing_mbridge.sh";
  tool.metric = kMbridgeMetric;
  tool.family = ToolFamily::mbridge_shell;
  tool.window = Window{35, 44};
  tool.deviation = DeviationKind::sample;
  tool.completeness = ToolCompleteness::window_end;
  tool.tflops = TflopsSource::before_line;
  tool.reads_tflop = reads_tflop;
  tool.reads_model_tflop = reads_model_tflop;
  tool.rejects_nan_gradient = rejects_nan_gradient;
  tool.printed_digit_s = kElapsedDigitS;
  return tool;
}

Tool llmb_run() {
  Tool tool;
  tool.name = "llmb-run";
  tool.release = "26.05";
  tool.source = "pretrain_log_parser.py";
  tool.metric = "train_step_timing in s, or elapsed time per iteration (ms)";
  tool.family = ToolFamily::nemo_or_mbridge;
  tool.window = Window{35, 44};
  tool.deviation = DeviationKind::sample;
  tool.completeness = ToolCompleteness::whole_window_and_end;
  tool.tflops = TflopsSource::by_position;
  tool.rejects_nan_gradient = true;
  return tool;
}

Tool cloudai_mbridge() {
  Tool tool;
  tool.name = "cloudai Megatron-Bridge report";
  tool.release = "2025";
  tool.source = "workloads/megatron_bridge/report_generation_strategy.py";
  tool.metric = "Step Time lines (s)";
  tool.family = ToolFamily::mbridge_rank_0;
  tool.last_steps = 10;
  tool.deviation = DeviationKind::population;
  tool.tflops = TflopsSource::with_step;
  tool.printed_digit_s = kStepTimeDigitS;
  return tool;
}

Tool cloudai_nemo() {
  Tool tool;
  tool.name = "cloudai NeMo report";
  tool.release = "2025";
  tool.source = "workloads/nemo_run/report_utils.py";
  tool.metric = kNemoMetric;
  tool.family = ToolFamily::nemo;
  tool.last_steps = 20;
  tool.all_up_to = 100;
  return tool;
}

Tool spreadsheet() {
  Tool tool;
  tool.name = "spreadsheet";
  tool.release = "2024 documents, to 25.04";
  tool.source = "grep train_step_timing *.out";
  tool.metric = kNemoMetric;
  tool.family = ToolFamily::nemo_any;
  tool.last_steps = 1;
  return tool;
}

// What people compute by hand or with a few lines of their own, of any program's steps.
Tool by_position(std::string_view name, std::int64_t skipped_first, std::int64_t skipped_percent,
                 std::int64_t position_last) {
  Tool tool;
  tool.name = name;
  tool.release = "in use";
  tool.source = "scripts of users";
  tool.metric = "step times, by position";
  tool.family = ToolFamily::any;
  tool.skipped_first = skipped_first;
  tool.skipped_percent = skipped_percent;
  tool.position_last = position_last;
  tool.deviation = DeviationKind::sample;
  tool.tflops = TflopsSource::with_step;
  return tool;
}

// Theirs by the steps' numbers.
Tool by_iteration(std::string_view name, const Window& window) {
  Tool tool = by_position(name, 0, 0, 0);
  tool.metric = "step times, by iteration";
  tool.window = window;
  return tool;
}

Tool last_of_any(std::string_view name, std::int64_t last_steps) {
  Tool tool = by_position(name, 0, 0, 0);
  tool.last_steps = last_steps;
  return tool;
}

}  // namespace

std::string_view deviation_name(DeviationKind kind) {
  return kDeviations.name(kind);
}

std::span<const Tool> known_tools() {
  static const std::vector<Tool> tools = {
      nemo_shell("25.05", {11, 44}, true),
      nemo_shell("25.07", {11, 44}, false),
      nemo_shell("25.08 to 26.05", {35, 44}, false),
      mbridge_shell("25.10", true, false, false),
      mbridge_shell("25.12", false, true, false),
      mbridge_shell("26.02", true, true, false),
      mbridge_shell("26.05", true, true, true),
      llmb_run(),
      cloudai_mbridge(),
      cloudai_nemo(),
      spreadsheet(),
      by_iteration("iterations 11 to 44", {11, 44}),
      by_iteration("iterations 35 to 44", {35, 44}),
      last_of_any("the last 10 steps", 10),
      by_position("all but the first 5 steps", 5, 0, 0),
      by_position("all but the first 10 % of the steps", 0, 10, 0),
      by_position("steps 2 to 6", 1, 0, 6),
      by_position("the first 60 steps", 0, 0, 60),
  };
  return tools;
}

}  // namespace llmb::parser
