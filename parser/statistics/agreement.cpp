#include "parser/statistics/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parser/dialects/tflops_pairing.h"
#include "parser/statistics/agreement_tools.h"
#include "parser/statistics/window_coverage.h"

namespace llmb::parser {
namespace {

struct Step {
  std::int64_t iteration = 0;
  double time_s = 0;
  std::optional<double> tflops;
};

// Plain sums in the order of the log, as the tools' own: a mean that ends in an exact half of the
// last printed digit then rounds as theirs does.
double plain_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::optional<double> plain_deviation(const std::vector<double>& values, DeviationKind kind) {
  if (kind == DeviationKind::none) return std::nullopt;
  if (values.size() < 2) return 0;
  const double mean = plain_mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto n = static_cast<double>(values.size());
  return std::sqrt(squares / (kind == DeviationKind::sample ? n - 1 : n));
}

// What one tool sees of a log.
struct View {
  std::vector<Step> steps;
  std::string obstacle;     // why it sees nothing
  bool has_tflops = false;  // anywhere in the log
};

bool has_time(const StepSample& sample) {
  return sample.step_time_s && std::isfinite(*sample.step_time_s) && *sample.step_time_s >= 0;
}

std::string unreadable_reason(const Tool& tool, Dialect dialect) {
  const bool is_nemo = dialect == Dialect::nemo;
  const bool is_bridge = dialect == Dialect::megatron_bridge;
  switch (tool.family) {
    case ToolFamily::nemo:
      return is_nemo ? "" : "it reads the lines of NeMo 2 only";
    case ToolFamily::nemo_any:
      return is_nemo || dialect == Dialect::nemo_progress_bar ? "" : "it reads NeMo's lines only";
    case ToolFamily::mbridge_shell:
      return is_bridge || dialect == Dialect::megatron_lm ? ""
                                                          : "it reads Megatron's iteration lines";
    case ToolFamily::mbridge_rank_0:
      return is_bridge ? "" : "it reads the lines of Megatron-Bridge only";
    case ToolFamily::nemo_or_mbridge:
      return is_nemo || is_bridge ? "" : "it knows NeMo 2 and Megatron-Bridge only";
    case ToolFamily::any:
      return "";
  }
  return "";
}

// "iteration [0-9]+/49" without an end: 49, and also 490 to 499.
bool is_declared_49(const LogFacts& facts) {
  return facts.declared_last_iteration &&
         std::to_string(*facts.declared_last_iteration).starts_with("49");
}

double as_printed(double time_s, double digit_s) {
  return digit_s > 0 ? std::round(time_s / digit_s) * digit_s : time_s;
}

bool is_seen(const Tool& tool, const StepSample& sample) {
  if (!has_time(sample)) return false;
  if (tool.window && (!sample.iteration_is_logged || !tool.window->contains(sample.iteration))) {
    return false;
  }
  if (tool.needs_tflops && !sample.tflops_per_gpu) return false;
  return tool.family != ToolFamily::mbridge_rank_0 || sample.tflops_per_gpu;
}

void keep_positions(const Tool& tool, std::vector<Step>& steps) {
  const auto count = static_cast<std::int64_t>(steps.size());
  const std::int64_t last = tool.position_last > 0 ? std::min(tool.position_last, count) : count;
  const std::int64_t skipped =
      std::min(last, std::max(tool.skipped_first, count * tool.skipped_percent / 100));
  steps.erase(steps.begin() + last, steps.end());
  steps.erase(steps.begin(), steps.begin() + skipped);
}

void keep_last(const Tool& tool, std::vector<Step>& steps) {
  const auto count = static_cast<std::int64_t>(steps.size());
  if (tool.window) return;
  if (tool.last_steps == 0) {
    keep_positions(tool, steps);
    return;
  }
  if (count <= tool.all_up_to || count <= tool.last_steps) return;
  steps.erase(steps.begin(), steps.end() - static_cast<std::ptrdiff_t>(tool.last_steps));
}

// k-th figure to k-th step, over the whole log: a step without one moves all later ones.
std::vector<std::optional<double>> tflops_by_position(std::span<const StepSample> samples) {
  std::vector<std::optional<double>> figures;
  for (const StepSample& sample : samples) {
    if (sample.tflops_per_gpu) figures.push_back(sample.tflops_per_gpu);
  }
  figures.resize(samples.size());
  return figures;
}

// The newest of the figures before the line whose unit the tool knows.
std::optional<double> tflops_before_line(const Tool& tool, const StepSample& sample) {
  std::optional<double> newest;
  for (const auto& [name, value] : sample.extra_fields) {
    const bool is_known = (tool.reads_tflop && name == kStepTimeLineTflops) ||
                          (tool.reads_model_tflop && name == kStepTimeLineModelTflops);
    if (is_known) newest = value;
  }
  return newest;
}

bool has_any_tflops(std::span<const StepSample> samples) {
  return std::any_of(samples.begin(), samples.end(),
                     [](const StepSample& sample) { return sample.tflops_per_gpu.has_value(); });
}

View look(const Tool& tool, std::span<const StepSample> samples, const LogFacts& facts) {
  View view;
  view.obstacle = unreadable_reason(tool, facts.dialect);
  if (!view.obstacle.empty()) return view;
  if (tool.needs_50_steps && !is_declared_49(facts)) {
    view.obstacle = "its pattern holds the /49 of 50 steps, and prints no row for other runs";
    return view;
  }
  const auto is_later_epoch = [](const StepSample& sample) { return sample.epoch.value_or(0) > 0; };
  if (tool.window && facts.dialect == Dialect::nemo &&
      std::any_of(samples.begin(), samples.end(), is_later_epoch)) {
    view.obstacle = "not reproduced: it mixes the epochs, whose iterations begin anew";
    return view;
  }
  view.has_tflops = has_any_tflops(samples);
  // NeMo has both on one line.
  const bool is_paired = tool.tflops == TflopsSource::by_position && facts.dialect != Dialect::nemo;
  const auto figures =
      is_paired ? tflops_by_position(samples) : std::vector<std::optional<double>>();
  std::size_t timed = 0;
  for (const StepSample& sample : samples) {
    const auto tflops = is_paired ? figures[timed]
                        : tool.tflops == TflopsSource::before_line
                            ? tflops_before_line(tool, sample)
                            : sample.tflops_per_gpu;
    if (has_time(sample)) ++timed;
    if (!is_seen(tool, sample)) continue;
    const double time_s = as_printed(*sample.step_time_s, tool.printed_digit_s);
    view.steps.push_back({sample.iteration, time_s, tflops});
  }
  keep_last(tool, view.steps);
  return view;
}

std::optional<std::int64_t> first_missing(const Window& window, const std::vector<Step>& steps) {
  for (std::int64_t wanted = window.first_iteration; wanted <= window.last_iteration; ++wanted) {
    const auto is_wanted = [&](const Step& step) { return step.iteration == wanted; };
    if (std::none_of(steps.begin(), steps.end(), is_wanted)) return wanted;
  }
  return std::nullopt;
}

bool has_nan_gradient(std::span<const StepSample> samples) {
  return std::any_of(samples.begin(), samples.end(), [](const StepSample& sample) {
    return sample.grad_norm && std::isnan(*sample.grad_norm);
  });
}

bool last_was_reached(const LogFacts& facts) {
  return facts.declared_last_iteration &&
         std::any_of(facts.segments.begin(), facts.segments.end(), [&](const SegmentFacts& s) {
           return s.last_iteration >= *facts.declared_last_iteration;
         });
}

bool has_rates_only(std::span<const StepSample> samples) {
  return std::none_of(samples.begin(), samples.end(), has_time) &&
         std::any_of(samples.begin(), samples.end(), has_rate);
}

// Empty where the tool gives numbers.
std::string refusal_of(const Tool& tool, const View& view, std::span<const StepSample> samples,
                       const LogFacts& facts) {
  if (!view.obstacle.empty()) return view.obstacle;
  // NeMo's lines have no gradient norm that these tools would look at.
  if (tool.rejects_nan_gradient && facts.dialect != Dialect::nemo && has_nan_gradient(samples)) {
    return "it calls the run invalid: a gradient norm is NaN";
  }
  if (view.steps.empty()) {
    if (has_rates_only(samples)) return "the log's steps have rates and no times: no row";
    return tool.window || tool.last_steps == 0 ? "no step that it reads lies in its window: no row"
                                               : "no step has a time";
  }
  if (tool.completeness == ToolCompleteness::any_step) return "";
  if (tool.completeness == ToolCompleteness::window_end) {
    const std::int64_t end = tool.window->last_iteration;
    const bool is_there = std::any_of(view.steps.begin(), view.steps.end(),
                                      [&](const Step& step) { return step.iteration == end; });
    return is_there ? "" : fmt::format("failed: iteration {} is not there", end);
  }
  if (const auto missing = first_missing(*tool.window, view.steps)) {
    return fmt::format("incomplete: iteration {} of its window is not there", *missing);
  }
  return last_was_reached(facts) ? "" : "incomplete: the run's last iteration is not there";
}

std::string rule_text(const Tool& tool) {
  std::string text;
  switch (tool.completeness) {
    case ToolCompleteness::any_step:
      text = "any step with a time";
      break;
    case ToolCompleteness::window_end:
      text = "iteration 44 is there; gaps do not matter";
      break;
    case ToolCompleteness::whole_window_and_end:
      text = "every iteration of the window, and the run's last";
      break;
  }
  if (tool.needs_50_steps) text += "; runs of 50 steps";
  if (tool.needs_tflops) text += "; drops steps without TFLOPS";
  if (tool.rejects_nan_gradient) text += "; no NaN gradient norm (Megatron-Bridge)";
  return text;
}

std::string window_text(const Tool& tool) {
  if (tool.window) return to_string(*tool.window);
  if (tool.last_steps == 0) return std::string(tool.name);
  if (tool.last_steps == 1) return "last step";
  std::string last = fmt::format("last {} steps", tool.last_steps);
  if (tool.all_up_to == 0) return last;
  return fmt::format("all steps, {} of more than {}", last, tool.all_up_to);
}

void add_numbers(const Tool& tool, const View& view, const LogFacts& facts, ToolResult& result) {
  std::vector<double> times_s;
  std::vector<double> tflops;
  for (const Step& step : view.steps) {
    times_s.push_back(step.time_s);
    if (step.tflops) tflops.push_back(*step.tflops);
  }
  result.step_count = static_cast<std::int64_t>(times_s.size());
  result.step_time_s_mean = plain_mean(times_s);
  result.step_time_s_std = plain_deviation(times_s, tool.deviation);
  if (tool.deviation == DeviationKind::none) result.reason = "it reports no deviation";

  const auto say = [&](const char* text) {
    result.reason += (result.reason.empty() ? "" : "; ") + std::string(text);
  };
  if (tool.tflops == TflopsSource::none) {
    say("it reports no TFLOPS");
  } else if (facts.dialect == Dialect::megatron_lm && tool.family != ToolFamily::any) {
    say("it does not read the iteration line's own TFLOPS");
  } else if (tflops.empty() && tool.tflops == TflopsSource::before_line && view.has_tflops) {
    say(tool.reads_tflop && tool.reads_model_tflop
            ? "no Step Time line stands before the lines that it reads"
        : tool.reads_tflop
            ? "it knows the unit TFLOP/s/GPU alone, and the log prints another"
            : "it knows the unit MODEL_TFLOP/s/GPU alone, and the log prints another");
  } else if (tflops.empty()) {
    say("no step has a TFLOPS figure");
  } else {
    result.tflops_per_gpu_mean = plain_mean(tflops);
  }
}

bool shows_other_tflops(const Tool& tool, const ToolResult& result, const RunSummary& ours,
                        bool is_same_window) {
  return tool.tflops == TflopsSource::before_line && is_same_window && ours.tflops_per_gpu &&
         result.tflops_per_gpu_mean &&
         std::abs(*result.tflops_per_gpu_mean / ours.tflops_per_gpu->mean - 1) > 1e-6;
}

// The last step is our window where our result is made of it, too.
bool takes_our_window(const Tool& tool, const LogFacts& facts, const RunSummary& ours) {
  if (tool.window) return *tool.window == ours.window;
  return tool.last_steps == 1 && ours.window.size() == 1 && facts.segments.size() == 1 &&
         facts.segments.front().last_iteration == ours.window.last_iteration;
}

// Of a log that prints every tenth iteration a script's "steps" are lines. Empty where each
// iteration has one.
std::string lines_text(const Tool& tool, const View& view, const LogFacts& facts) {
  if (tool.family != ToolFamily::any || facts.segments.size() > 1 || view.steps.size() < 2) {
    return {};
  }
  const std::int64_t first = view.steps.front().iteration;
  const std::int64_t last = view.steps.back().iteration;
  const auto lines = static_cast<std::int64_t>(view.steps.size());
  if (last - first < lines) return {};
  return fmt::format("its {} steps are lines, at iterations {} to {}", lines, first, last);
}

std::string describe_why(const Tool& tool, const View& view, const ToolResult& result,
                         const LogFacts& facts, const RunSummary& ours) {
  if (!result.gives_result) return "no result: " + result.reason;
  std::string why;
  const auto say = [&](const std::string& text) { why += (why.empty() ? "" : "; ") + text; };
  const bool is_same_window = takes_our_window(tool, facts, ours);
  if (!is_same_window) say("averages " + result.window + ", ours " + to_string(ours.window));
  if (const std::string lines = lines_text(tool, view, facts); !lines.empty()) say(lines);
  const std::int64_t our_count = ours.step_time_s ? ours.step_time_s->count : 0;
  if (facts.segments.size() > 1) {
    say(fmt::format("takes its steps from all {} passes of a restarted log, ours from one",
                    facts.segments.back().segment + 1));
  } else if (is_same_window && result.step_count != our_count) {
    say(fmt::format("counts {} steps, ours {}", result.step_count, our_count));
  }
  if (!result.is_exact) {
    say("reads rank 0's Step Time lines, printed to 10 ms: computed here from the iteration "
        "lines' times");
  }
  if (shows_other_tflops(tool, result, ours, is_same_window)) {
    say("takes the TFLOPS of the newest Step Time line before each iteration's line, which need "
        "not "
        "be of that step");
  }
  if (tool.deviation == DeviationKind::population) say("its deviation divides by n");
  if (tool.deviation == DeviationKind::sample) say("its deviation divides by n - 1");
  if (ours.status != RunStatus::complete) {
    say("gives numbers although the run is " + std::string(run_status_name(ours.status)));
  }
  if (is_same_window && result.difference_to_ours && std::abs(*result.difference_to_ours) < 1e-9) {
    why = "same steps, same mean" + (why.empty() ? "" : "; " + why);
  }
  return why.empty() ? "same steps" : why;
}

}  // namespace

std::vector<ToolResult> compute_agreement(std::span<const StepSample> samples,
                                          const LogFacts& facts, const RunSummary& ours) {
  std::vector<ToolResult> results;
  for (const Tool& tool : known_tools()) {
    ToolResult result;
    result.tool = tool.name;
    result.release = tool.release;
    result.source = tool.source;
    result.metric = tool.metric;
    result.rule = rule_text(tool);
    result.window = window_text(tool);
    result.deviation = tool.deviation;
    result.reads_such_logs = unreadable_reason(tool, facts.dialect).empty();
    const View view = look(tool, samples, facts);
    result.reason = refusal_of(tool, view, samples, facts);
    result.gives_result = result.reason.empty();
    if (result.gives_result) {
      result.is_exact = tool.family != ToolFamily::mbridge_rank_0;
      add_numbers(tool, view, facts, result);
      if (ours.step_time_s && ours.step_time_s->mean > 0) {
        result.difference_to_ours = *result.step_time_s_mean / ours.step_time_s->mean - 1;
      }
    }
    result.why = describe_why(tool, view, result, facts, ours);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace llmb::parser
