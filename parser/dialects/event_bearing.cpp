#include "parser/dialects/event_bearing.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "parser/dialects/exception_cause.h"
#include "parser/dialects/failure_class.h"
#include "parser/dialects/line_weight.h"
#include "parser/lines/line_prefix.h"

namespace llmb::parser {
namespace {

// "XlaRuntimeError: RESOURCE_EXHAUSTED: …" behind a log's line with these words: what ended the
// program, rather than what it noted on the way.
bool repeats_as_exception(const LogEvent& event, const LogEvent& earlier) {
  constexpr std::size_t kWordsMin = 24;
  constexpr std::size_t kWordsMax = 40;
  const std::string_view line = without_collector_prefix(event.line);
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos || !is_exception(line)) return false;
  const std::string_view words = line.substr(colon + 2, kWordsMax);
  return words.size() >= kWordsMin && earlier.line.find(words) != std::string::npos &&
         !is_exception(without_collector_prefix(earlier.line));
}

// Who saw it from afar, and who says of the same closer what it was: a request was refused, and the
// hub tells why; a node's agent killed a worker, and Ray tells which; a loader lost its worker, and
// Slurm counted who ran out of memory; an import of an image ended, and enroot tells what it asked;
// a rank lost another one, and NCCL names it; a handler of signals was called, and Python says what
// it was doing; pyxis shows what enroot printed, and one of its lines
// says what was refused.
struct SameToldCloser {
  std::string_view from_afar, closer;
};
constexpr std::array kSameToldCloser = {
    SameToldCloser{"HTTPError: ", "GatedRepoError: "},
    SameToldCloser{"Cannot access gated repo", "Access to model "},
    SameToldCloser{"Could not process JSON input", " returned error code: "},
    SameToldCloser{"Timeout at NCCL work", "Watchdog caught collective operation timeout"},
    SameToldCloser{"killed due to memory pressure", "ray.exceptions.OutOfMemoryError"},
    SameToldCloser{"DataLoader worker ", "oom_kill event"},
    SameToldCloser{"DataLoader worker ", "oom-kill event"},
    SameToldCloser{"remote process exited or ", "Connection closed by remote peer "},
    SameToldCloser{"*** SIGSEGV received at time=", "Fatal Python error: "},
    SameToldCloser{"error: pyxis: ", "nvidia-container-cli: "},
    SameToldCloser{"error: pyxis: ", "enroot-mount: "},
};

bool is_told_closer(const LogEvent& event, const LogEvent& earlier) {
  return std::any_of(kSameToldCloser.begin(), kSameToldCloser.end(), [&](const auto& one) {
    return earlier.line.find(one.from_afar) != std::string::npos &&
           earlier.line.find(one.closer) == std::string::npos &&
           event.line.find(one.closer) != std::string::npos;
  });
}

// "No module named 'x'" in a library's note, and then the exception that ended the program.
bool is_import_that_ended_it(const LogEvent& event, const LogEvent& earlier) {
  constexpr auto kTypes =
      std::to_array<std::string_view>({"ImportError: ", "ModuleNotFoundError: "});
  const std::string_view line = without_collector_prefix(event.line);
  return event.cause == "missing_module" &&
         std::any_of(kTypes.begin(), kTypes.end(),
                     [&](std::string_view type) { return line.starts_with(type); }) &&
         !is_exception(without_collector_prefix(earlier.line));
}

bool tells_of_a_requeue(const LogEvent& event) {
  return event.line.find("JOB REQUEUE") != std::string::npos && states_end_from_outside(event);
}

}  // namespace

bool weighs_more(const LogEvent& event, const LogEvent& earlier) {
  if (event.kind != LogEvent::Kind::failure) return false;
  const LineWeight weight = weight_of(earlier.line);
  if (weight != LineWeight::statement) return weight_of(event.line) > weight;
  if (repeats_as_exception(event, earlier)) return weight_of(event.line) == weight;
  const bool says_why = leaves_reason_open(earlier.line) && !leaves_reason_open(event.line);
  const bool is_closer = is_told_closer(event, earlier) || is_import_that_ended_it(event, earlier);
  return (says_why || is_closer) && weight_of(event.line) == weight;
}

bool states_end_from_outside(const LogEvent& event) {
  const FailureClass* const known = find_failure_class(event.cause);
  return known != nullptr && known->ends_run_over && weight_of(event.line) == LineWeight::statement;
}

bool is_no_teardown(const LogEvent& event) {
  const FailureClass* const known = find_failure_class(event.cause);
  return event.kind == LogEvent::Kind::failure && known != nullptr &&
         known->depth == CauseDepth::root && !known->ends_run_over &&
         weight_of(event.line) == LineWeight::statement;
}

bool tells_why(const LogEvent& event) {
  const FailureClass* const known = find_failure_class(event.cause);
  return event.kind == LogEvent::Kind::failure && known != nullptr &&
         known->depth <= CauseDepth::exception && weight_of(event.line) >= LineWeight::complaint;
}

bool may_be_of_a_script(const LogEvent& event) {
  const FailureClass* const known = find_failure_class(event.cause);
  const bool is_of_ranks = known == nullptr || (known->depth != CauseDepth::root &&
                                                known->depth != CauseDepth::exception);
  if (is_of_ranks || event.rank || !tells_why(event)) return false;
  return weight_of(event.line) == LineWeight::complaint ||
         is_exception(without_collector_prefix(event.line));
}

bool may_be_of_a_next_attempt(const LogEvent& event) {
  const FailureClass* const known = find_failure_class(event.cause);
  return tells_why(event) && !known->ends_run_over;
}

bool tells_of_an_own_end(const LogEvent& event) {
  constexpr auto kEnds = std::to_array<std::string_view>(
      {"child_failed", "task_exited", "task_failure", "job_exited"});
  return event.kind == LogEvent::Kind::failure &&
         std::find(kEnds.begin(), kEnds.end(), event.cause) != kEnds.end();
}

bool was_over_before_its_requeue(std::span<const LogEvent> events) {
  const auto beginning = std::find_if(events.rbegin(), events.rend(), [](const LogEvent& event) {
    return begins_anew(event.cause);
  });
  const auto requeue = std::find_if(events.rbegin(), beginning, tells_of_a_requeue);
  return requeue != beginning && std::any_of(requeue, beginning, tells_of_an_own_end);
}

bool tells_of_a_start(const LogEvent& event) {
  constexpr auto kOfStarts = std::to_array<std::string_view>(
      {"checkpoint_unreadable", "configuration_error", "hf_authentication", "hf_unreachable",
       "missing_module", "gpu_unavailable", "container_error"});
  const bool is_of_start =
      std::find(kOfStarts.begin(), kOfStarts.end(), event.cause) != kOfStarts.end();
  // "sys.meta_path is None, Python is likely shutting down", "CUDA error: driver shutting down"
  // pyxis says "child 28 failed" of an import that the end broke off, and of a container that it
  // cannot remove afterwards.
  const bool is_perhaps_of_end =
      event.line.find("pyxis") != std::string::npos && leaves_reason_open(event.line);
  return event.kind == LogEvent::Kind::failure && is_of_start && !is_perhaps_of_end &&
         weight_of(event.line) == LineWeight::statement &&
         event.line.find("shutting down") == std::string::npos;
}

}  // namespace llmb::parser
