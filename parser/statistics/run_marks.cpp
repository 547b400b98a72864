#include "parser/statistics/run_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "parser/foundation/name_table.h"

namespace llmb::parser {
namespace {

constexpr auto kMarkNames = name_table<RunMark>({
    {RunMark::profiled, "profiled"},
    {RunMark::traced, "traced"},
    {RunMark::function_check, "function_check"},
    {RunMark::proxy, "proxy"},
    {RunMark::running, "running"},
    {RunMark::incomplete, "incomplete"},
    {RunMark::failed, "failed"},
    {RunMark::invalid, "invalid"},
    {RunMark::no_data, "no_data"},
    {RunMark::superseded, "superseded"},
    {RunMark::on_cpu, "on_cpu"},
    {RunMark::implausible, "implausible"},
});

bool is_true(const RunConfiguration& configuration, std::string_view key) {
  return configuration.value(key) == "true";
}

// Nothing for a complete run.
const RunMark* mark_of_status(RunStatus status) {
  static constexpr std::array kMarks = {
      std::pair{RunStatus::running, RunMark::running},
      std::pair{RunStatus::incomplete, RunMark::incomplete},
      std::pair{RunStatus::failed, RunMark::failed},
      std::pair{RunStatus::invalid, RunMark::invalid},
      std::pair{RunStatus::no_data, RunMark::no_data},
  };
  for (const auto& [value, mark] : kMarks) {
    if (value == status) return &mark;
  }
  return nullptr;
}

// More FLOPs than the GPU has are none that it did: the log counts them wrong, its clock stands, or
// the GPU is another one. Attention may be counted whole where half of it is done, so that model
// FLOPs show it only where they count half.
std::string why_implausible(const DerivedMetrics* metrics) {
  if (metrics == nullptr) return "";
  for (const Metric* const mfu : {&metrics->mfu_tflops_per_gpu, &metrics->mfu_causal}) {
    if (mfu->value.value_or(0) <= 1) continue;
    const bool is_logged = mfu == &metrics->mfu_tflops_per_gpu;
    return fmt::format(
        "No GPU does {:.1f} % of its peak, as {} would have it: another GPU or dtype "
        "than the run says, or a wrong clock.",
        100 * *mfu->value, is_logged ? "the logged TFLOPS" : "the step time");
  }
  return "";
}

}  // namespace

std::string_view run_mark_name(RunMark mark) {
  return kMarkNames.name(mark);
}

std::string run_mark_names() {
  std::string names;
  for (const auto& [mark, name] : kMarkNames) {
    if (mark != RunMark::no_data) names += std::string(name) + ", ";
  }
  return names + "all";
}

Result<RunMarkSet> parse_run_marks(std::string_view text) {
  RunMarkSet marks;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    bool is_known = word == "all";
    for (const auto& [mark, name] : kMarkNames) {
      if (word != "all" && word != name) continue;
      marks.insert(mark);
      is_known = true;
    }
    if (!is_known || word == "no_data") {
      return fail("'" + std::string(word) + "' is nothing that can be included; there are " +
                  run_mark_names() + ", separated by commas.");
    }
  }
  return marks;
}

bool is_traced(bool nccl_trace_seen, const RunConfiguration& configuration) {
  return nccl_trace_seen || is_true(configuration, "nccl_trace_enabled");
}

std::vector<RunMarkReason> marks_of(const RunCondition& run) {
  std::vector<RunMarkReason> marks;
  if (run.has_profiles || is_true(run.configuration, "profile_enabled")) {
    marks.push_back({RunMark::profiled,
                     "A profiler slowed the run: its profiles lie beside the log, or its name "
                     "or configuration says so."});
  }
  if (is_traced(run.nccl_trace_seen, run.configuration)) {
    marks.push_back({RunMark::traced,
                     run.nccl_trace_seen
                         ? "The log holds an NCCL trace, whose writing slows every collective."
                         : "Its name or folder says that NCCL wrote a trace, which slows every "
                           "collective."});
  }
  if (run.summary.is_function_check) {
    marks.push_back({RunMark::function_check,
                     "It loaded a checkpoint and did one step: that shows that loading works, and "
                     "nothing of speed."});
  }
  if (run.is_proxy || is_true(run.configuration, "proxy")) {
    marks.push_back(
        {RunMark::proxy, "A proxy has fewer layers than its model: its speed is not the model's."});
  }
  if (run.configuration.value("backend") == "cpu") {
    marks.push_back({RunMark::on_cpu, "The run computed on CPUs: its speed is no GPU's."});
  }
  if (std::string reason = why_implausible(run.metrics); !reason.empty()) {
    marks.push_back({RunMark::implausible, std::move(reason)});
  }
  if (const RunMark* const mark = mark_of_status(run.summary.status)) {
    marks.push_back({*mark, std::string(run_mark_name(*mark)) + ": " + run.summary.status_reason});
  }
  const bool is_timed =
      run.summary.step_time_s.has_value() || run.summary.printed_tokens_per_s_per_gpu.has_value();
  if (!is_timed && (marks.empty() || marks.back().mark != RunMark::no_data)) {
    marks.push_back({RunMark::no_data, "No step in the window " + to_string(run.summary.window) +
                                           " has a step time."});
  }
  if (run.is_superseded) {
    marks.push_back(
        {RunMark::superseded, "The log was written anew since: a later run has its place."});
  }
  return marks;
}

std::string exclusion_reason(const std::vector<RunMarkReason>& marks, const RunMarkSet& included) {
  std::string reason;
  for (const RunMarkReason& mark : marks) {
    if (mark.mark != RunMark::no_data && included.contains(mark.mark)) continue;
    // A status's reason is no sentence with a full stop.
    if (!reason.empty()) reason += reason.ends_with('.') ? " " : ". ";
    reason += mark.reason;
  }
  return reason;
}

}  // namespace llmb::parser
