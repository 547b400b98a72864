// The forms in which the tables of signs say their rows.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "parser/dialects/exception_cause.h"
#include "parser/dialects/exit_status.h"
#include "parser/dialects/failure.h"
#include "parser/dialects/failure_class.h"
#include "parser/foundation/text.h"

namespace llmb::parser::signs {

inline constexpr auto kFinish = LogEvent::Kind::finish_marker;
inline constexpr auto kFailure = LogEvent::Kind::failure;

inline constexpr std::string_view kRefusedValue = R"(^(?:[A-Za-z_]\w*\.)*\w*Error: )";
// What any exception or logged error says of a file, whoever raised it.
inline constexpr std::string_view kErrorOfFile =
    R"(^(?:\w+\.)*(?:[A-Z]\w*(?:Error|Exception)|Exception): )";

// Behind a number of the try: "[try 2] … torchrun --nnodes=1", "[supervisor] run 2: python -m …".
inline constexpr std::string_view kTryOfCommand =
    R"(^.{0,40}\b(?:try|attempt|run) #?\d+\b[^'"]*(?:torchrun|python3? -m|accelerate|mpirun) )";

// A shell's prompt, "me@n1:~/run$ ", "[me@n1 run]$ " or "[n1] $ ", with a program that trains:
// somebody began again by hand.
inline constexpr std::string_view kPrompt =
    R"(^(?:\([\w. -]+\) )?(?:\w+@[\w.-]+:[^ ]*|\[\w+@[\w.-]+ [^\]]*\]|\[[\w.-]+\] ?)[#$] )"
    R"((?:\w+=\S* |nohup |time )*(?:python3?|torchrun|accelerate launch|deepspeed|axolotl train|)"
    R"(llamafactory-cli train|srun) )";

// Of a wrapper behind an attempt: "exit code 1; next attempt in 30 s".
inline constexpr std::string_view kNextTry =
    R"((?:exit (?:code|status) |\brc=)\d+[;,.] (?:.*[;,.] )?(?:next attempt|retry\w*|restart\w*|)"
    R"(relaunch\w*) in \d)";

// What a shell puts before its complaint.
inline constexpr std::string_view kOfShell = R"(: line \d+: |^-?bash: )";

// `words` of a message whose exception ends in Error: not searched for in all lines.
constexpr FailureSign in_error(std::string_view cause, std::string_view words,
                               std::string_view pattern = {}) {
  return {cause, kFailure, "Error: ", pattern, nullptr, nullptr, words};
}

constexpr FailureSign by_line(std::string_view literal,
                              std::string_view (*cause_of_line)(std::string_view),
                              std::string_view pattern = {}) {
  return {{}, LogEvent::Kind::failure, literal, pattern, nullptr, cause_of_line};
}

// Of a line that is wanted for what it announces.
inline std::string_view no_event(std::string_view /*line*/) {
  return {};
}

// Any exception in whose last line the literal stands: its class by type and words.
constexpr FailureSign any_exception(std::string_view literal) {
  return by_line(literal, cause_of_exception);
}

constexpr FailureSign by_number(std::string_view literal,
                                std::string_view (*cause_by)(std::string_view),
                                std::string_view pattern = {}) {
  return {{}, LogEvent::Kind::failure, literal, pattern, cause_by};
}

// "go.sh: attempt 2": of a script that says its name.
inline constexpr std::string_view kScriptsAttempt =
    R"(^[\w./-]+\.(?:sh|bash|sbatch|slurm|py): attempt #?\d+$)";
// "[chain] attempt 2", "[run.sh] attempt B (2026-10-08 20:33) resume=none": of a script that labels
// its lines. A call that is tried again says more, or another thing: "[s3] attempt 2 (timeout)".
inline constexpr std::string_view kLabelledAttempt =
    R"(^\[[\w.-]+\] attempt (?:\d+|[A-Z])(?:$| \(\d{4}-\d\d-\d\d))";

// In lower case: how words begin of a line that tells how an attempt ended, rather than that one
// begins.
inline constexpr auto kEndsOfAttempts = std::to_array<std::string_view>(
    {"fail", "exit", "ended", "died", "crash", "timed out", "finish", "succe", "giv", "skip", "rc",
     "status", "kill", "abort", "error", "oom", "stop", "terminat"});
inline bool tells_of_an_attempts_end(std::string_view line) {
  const std::string lowered = lower(line);
  const auto begins_a_word = [&](std::string_view beginning) {
    std::size_t at = lowered.find(beginning);
    while (at != std::string::npos && at > 0 && is_letter(lowered[at - 1])) {
      at = lowered.find(beginning, at + 1);
    }
    return at != std::string::npos;
  };
  return std::any_of(kEndsOfAttempts.begin(), kEndsOfAttempts.end(), begins_a_word);
}

// "[try 2/3] 2025-11-01 08:01:45 pull the mirror", of a script that labels and stamps its lines;
// not "[try 2/3] 2025-11-01 08:02:41 rc=1, giving up".
inline constexpr std::string_view kLabelledTry =
    R"(^\[(?:try|attempt) (?:[2-9]|[1-9]\d)/\d+\] \d{4}-\d\d-\d\d)";
inline std::string_view cause_of_labelled_try(std::string_view line) {
  return tells_of_an_attempts_end(line) ? "" : kRestarted;
}

// "### attempt 2 of 3 on n[1-4] ###", "--- try 2 ---", "::: attempt a2 ::", "#### submit 2 (…)
// ####", "attempt 2 (sleep 60) ..."; not "==> attempt 2 failed (exit 1)", nor "attempt 1: srun:
// error: …", which labels a line, nor "-- launch 8 core dump writers".
inline std::string_view cause_of_banner(std::string_view line) {
  const std::size_t length = line.find_first_not_of("#=*>:- ");
  if (length == std::string_view::npos || line.front() == ' ') return {};
  std::string_view rest = line.substr(length);
  const std::string_view word = rest.substr(0, rest.find(' '));
  const bool is_try = word == "attempt" || word == "try";
  if (!is_try && word != "submit" && word != "launch") return {};
  rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  if (!rest.empty() && (rest[0] == '#' || (is_try && is_letter(rest[0])))) rest.remove_prefix(1);
  const std::size_t digits = length_of_run(rest, 0, is_digit);
  if (digits == 0 || tells_of_an_attempts_end(rest)) return {};
  rest.remove_prefix(digits);
  if (rest.starts_with(" (")) return kRestarted;
  const bool is_banner = is_try || rest.find_first_not_of("#=*>:- ") == std::string_view::npos;
  return length > 0 && is_banner ? kRestarted : "";
}

// LSF: "TERM_RUNLIMIT: job killed after …", PBS: "=>> PBS: job killed: walltime 86431 exceeded …".
inline std::string_view cause_of_killed_job(std::string_view line) {
  const auto holds = [&](std::string_view word) {
    return line.find(word) != std::string_view::npos;
  };
  if (holds("RUNLIMIT") || holds("CPULIMIT") || holds("walltime") || holds("cput")) {
    return "time_limit";
  }
  if (holds("MEMLIMIT") || holds("SWAP") || holds(" mem ") || holds("vmem")) return "host_oom_kill";
  if (holds("PREEMPT")) return "preempted";
  return holds("TERM_") || holds("PBS") ? "cancelled" : "";
}

// Ray tells of workers that have nothing to do, or are ended at last, in the same words as of those
// that died.
inline std::string_view cause_of_ended_worker(std::string_view line) {
  constexpr auto kMeant = std::to_array<std::string_view>(
      {"exits because it was idle", "INTENDED_", "intended", "driver exit"});
  return holds_one_of(line, kMeant) ? std::string_view() : "child_failed";
}

// "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory": where the adapter says of
// another reason, the limit of locked memory has nothing to do with it.
inline std::string_view cause_of_refused_registration(std::string_view line) {
  const auto holds = [&](std::string_view word) {
    return line.find(word) != std::string_view::npos;
  };
  if (!holds("fail") && !holds("llocate memory") && !holds("errno 12")) return {};
  const bool has_other_reason = holds("Invalid argument") || holds("Bad address") ||
                                holds("not supported") || holds("No such device") ||
                                holds("Input/output error") || holds("Remote I/O error");
  return has_other_reason ? "nccl_system_error" : "locked_memory_limit";
}

// "ConnectionResetError: [Errno 104] …" is Python's, and goes by that number.
inline std::string_view cause_of_reset_connection(std::string_view line) {
  const bool is_of_python = line.find("ConnectionResetError: ") != std::string_view::npos;
  return is_of_python ? std::string_view() : "peer_lost";
}

// What a program says that ends itself; a crash where the words say nothing.
inline std::string_view cause_of_fatal_words(std::string_view rest) {
  const std::string_view cause = cause_of_native_exception(rest);
  return cause.empty() ? "segmentation_fault" : cause;
}

constexpr FailureSign by_words(std::string_view literal, std::string_view pattern) {
  return by_number(literal, cause_of_fatal_words, pattern);
}

constexpr FailureSign failure(std::string_view cause, std::string_view literal,
                              std::string_view pattern = {}) {
  return {cause, kFailure, literal, pattern};
}

}  // namespace llmb::parser::signs
