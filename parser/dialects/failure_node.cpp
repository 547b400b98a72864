#include "parser/dialects/failure_node.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "parser/dialects/failure_class.h"
#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"
#include "parser/lines/line_prefix.h"

namespace llmb::parser {
namespace {

re2::StringPiece piece_of(std::string_view text) {
  return {text.data(), text.size()};
}

std::string_view first_group(const RE2& pattern, std::string_view text) {
  re2::StringPiece group;
  if (!RE2::PartialMatch(piece_of(text), pattern, &group)) return {};
  return {group.data(), group.size()};
}

// What is told by who waited for another rank, or lost it.
constexpr auto kToldByWitnesses =
    std::to_array<std::string_view>({"peer_lost", "nccl_timeout", "rendezvous_failure"});
// What NCCL warns of where the other end, or what lies between, may have failed: "Connection closed
// by remote peer", "Got completion from peer", "connect returned Connection timed out".
constexpr auto kOfTwoNodes =
    std::to_array<std::string_view>({" peer ", "emote ", "onnect", "Broken pipe", "imed out"});
// What may be the fault of the node of the rank that tells of it. A configuration, a module or a
// file that all ranks need is missed by all, and the first to say so is on any node; so is a loss,
// which all ranks have in common.
constexpr auto kOfOneNode = std::to_array<std::string_view>(
    {"cuda_oom", "host_oom_kill", "locked_memory_limit", "shared_memory_full", "gpu_hardware_error",
     "gpu_unavailable", "gpu_process_error", "illegal_memory_access", "cuda_error", "nan_gradient",
     "disk_full_or_quota", "file_system_error", "container_error", "nccl_system_error",
     "nccl_error", "segmentation_fault"});

bool is_one_of(std::string_view cause, const auto& causes) {
  return std::find(causes.begin(), causes.end(), cause) != causes.end();
}

// What kernels tell of; "ERROR kernel: RuntimeError: …" and "Triton kernel: CUDA error: …" are a
// program's.
constexpr auto kToldByKernels = std::to_array<std::string_view>(
    {"gpu_hardware_error", "gpu_process_error", "host_oom_kill", "segmentation_fault",
     "file_system_error", "illegal_memory_access", "disk_full_or_quota"});

struct EndedTasks {
  std::string_view node;   // empty: the line tells of none
  std::string_view tasks;  // "0-3,6"
};

// Of srun. Not of those that SIGTERM ended, by itself or as a shell passes it on: another task had
// failed, or somebody ended the step.
EndedTasks ended_tasks(std::string_view line) {
  static const RE2 of_tasks(R"(\bsrun: error: ([A-Za-z0-9][\w.-]{0,127}): tasks? (\d[\d,-]*): )");
  const bool were_ended = line.find(": Terminated") != std::string_view::npos ||
                          trimmed(line).ends_with(": Exited with exit code 143");
  re2::StringPiece node;
  re2::StringPiece tasks;
  if (were_ended || !RE2::PartialMatch(piece_of(line), of_tasks, &node, &tasks)) return {};
  return {{node.data(), node.size()}, {tasks.data(), tasks.size()}};
}

std::string_view node_of_srun(std::string_view line) {
  static const RE2 of_node(
      R"(\bsrun: error: .*(?:Node failure|failed) on (?:node )?([A-Za-z0-9][\w.-]{0,127})(?::|$))");
  const std::string_view node = ended_tasks(line).node;
  return node.empty() ? first_group(of_node, line) : node;
}

std::string_view node_of_nccl(std::string_view line) {
  static const RE2 of_nccl(R"(^([A-Za-z0-9][\w.-]{0,127}):\d+:\d+ \[\d+\] .*\bNCCL WARN )");
  return first_group(of_nccl, without_collector_prefix(line));
}

// Of a name that stands before a rank's label, and no sentence: with a digit, and a letter first.
// A role, a count or a stream ("worker-2", "step12", "stderr0") is no node.
std::string_view node_of_label(std::string_view line) {
  static const RE2 of_label(
      R"(^([A-Za-z][A-Za-z_.-]*\d[\w.-]{0,120})(?:: ?| ?\| ?| )\[[Rr]ank ?\d+\]:)");
  constexpr auto kOthers = std::to_array<std::string_view>(
      {"worker", "trainer", "task", "rank", "pod", "job", "step", "iter", "iteration", "epoch",
       "replica", "actor", "stage", "attempt", "stdout", "stderr", "v"});
  const std::string_view node = first_group(of_label, line);
  const std::string_view word = node.substr(0, length_of_run(node, 0, is_letter));
  const bool is_other = std::any_of(kOthers.begin(), kOthers.end(), [&](std::string_view other) {
    return equal_but_for_case(word, other);
  });
  return is_other ? std::string_view() : node;
}

std::string_view node_of_kernel(std::string_view line) {
  constexpr auto kOfPrograms = std::to_array<std::string_view>({"Error: ", "CUDA error"});
  if (holds_one_of(line, kOfPrograms)) return {};
  // Without a time before it only a name with a digit: "Triton kernel: …" is a sentence.
  static const RE2 of_kernel(R"(^([A-Za-z][A-Za-z_.-]*\d[\w.-]{0,120}) kernel(?:\[\d+\])?: )");
  static const RE2 of_kernel_log(
      R"(\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?\]? ([A-Za-z][\w.-]{0,127}) kernel(?:\[\d+\])?: )");
  const auto node = first_group(of_kernel, line);
  return node.empty() ? first_group(of_kernel_log, line) : node;
}

// What only says it of the node itself, wherever that stands in the line.
std::string_view node_that_is_named(std::string_view line) {
  static const RE2 of_mpi(
      R"(^\[([A-Za-z][\w.-]{0,127}):\d+\] (?:\*\*\* Process received|Signal: ))");
  static const RE2 of_mpirun(R"(\bon node ([A-Za-z0-9][\w.-]{0,127}) exited on signal )");
  static const RE2 of_megatron(R"(, node ([A-Za-z][\w.-]{0,127}), device \d)");
  static const RE2 of_megatron_before(R"(\bDevice: \d+, node: ([A-Za-z][\w.-]{0,127}))");
  for (const RE2* const pattern : {&of_mpi, &of_mpirun, &of_megatron, &of_megatron_before}) {
    if (const auto node = first_group(*pattern, line); !node.empty()) return node;
  }
  return {};
}

// "0-3,6" holds 2.
bool holds_task(std::string_view tasks, std::int64_t task) {
  for (const std::string_view range : split(tasks, ',')) {
    const std::size_t dash = std::min(range.find('-'), range.size());
    const auto first = parse_digits(range.substr(0, dash));
    const auto last = dash == range.size() ? first : parse_digits(range.substr(dash + 1));
    if (first && last && *first <= task && task <= *last) return true;
  }
  return false;
}

// Where a task is a launcher of several ranks (torchrun, DeepSpeed's, Accelerate's), a rank's
// number is not its task's.
bool has_launchers_for_tasks(std::span<const LogEvent> attempt) {
  constexpr auto kOfLaunchers = std::to_array<std::string_view>(
      {"elastic", "torchrun", "local_rank", "launch.py:", "exits with return code",
       "Killing subprocess", "accelerate"});
  return std::any_of(attempt.begin(), attempt.end(),
                     [&](const LogEvent& event) { return holds_one_of(event.line, kOfLaunchers); });
}

std::string_view node_of_rank(std::int64_t rank, std::span<const LogEvent> attempt) {
  if (has_launchers_for_tasks(attempt)) return {};
  for (const LogEvent& event : attempt) {
    const EndedTasks ended = ended_tasks(event.line);
    if (!ended.node.empty() && holds_task(ended.tasks, rank)) return ended.node;
  }
  return {};
}

// The events between those behind which all is another attempt's.
std::span<const LogEvent> attempt_of(const LogEvent& failure, std::span<const LogEvent> events) {
  const auto is_anew = [](const LogEvent& event) { return begins_anew(event.cause); };
  const auto own = events.begin() + (&failure - events.data());
  const auto begin = std::find_if(std::make_reverse_iterator(own), events.rend(), is_anew).base();
  return {begin, std::find_if(own, events.end(), is_anew)};
}

}  // namespace

std::string_view node_of_failure(const LogEvent& failure, std::span<const LogEvent> events) {
  if (is_one_of(failure.cause, kToldByWitnesses)) return {};
  const std::string_view line = failure.line;
  if (const auto node = node_of_srun(line); !node.empty()) return node;
  if (line.find(" NCCL WARN ") != std::string_view::npos) {
    if (holds_one_of(line, kOfTwoNodes)) return {};
    if (const auto node = node_of_nccl(line); !node.empty()) return node;
  }
  if (is_one_of(failure.cause, kToldByKernels)) {
    if (const auto node = node_of_kernel(line); !node.empty()) return node;
  }
  if (const auto node = node_that_is_named(line); !node.empty()) return node;
  if (!is_one_of(failure.cause, kOfOneNode)) return {};
  if (const auto node = node_of_label(line); !node.empty()) return node;
  if (!failure.rank) return {};
  return node_of_rank(*failure.rank, attempt_of(failure, events));
}

}  // namespace llmb::parser
