#include "parser/dialects/failure.h"

#include <re2/re2.h>

#include <array>
#include <memory>
#include <vector>

#include "parser/dialects/fields.h"

namespace llmb::parser {
namespace {

constexpr auto kFinish = LogEvent::Kind::finish_marker;
constexpr auto kFailure = LogEvent::Kind::failure;
constexpr std::size_t kLineBytesMax = 500;

constexpr std::array kSigns = {
    FailureSign{"training_done", kFinish, "after training is done", ""},
    FailureSign{"exit_at_iteration", kFinish, "exiting program at iteration", ""},
    FailureSign{"max_steps_reached", kFinish, "`Trainer.fit` stopped: `max_steps=", ""},
    FailureSign{"trainer_stopped", kFinish, "`Trainer.fit` stopped:", ""},
    FailureSign{"samples_exhausted", kFinish, "no samples left to consume", ""},
    FailureSign{"job_exited", kFinish, "job exited with code 0", R"(code 0\s*$)"},
    FailureSign{"job_exited", kFailure, "job exited with code ", R"(code -?[0-9]+)"},
    FailureSign{"time_limit", kFailure, "DUE TO TIME LIMIT", ""},
    FailureSign{"node_failure", kFailure, "DUE TO NODE FAILURE", ""},
    FailureSign{"task_failure", kFailure, "DUE TO TASK FAILURE", ""},
    FailureSign{"preempted", kFailure, "DUE TO PREEMPTION", ""},
    FailureSign{"cancelled", kFailure, " CANCELLED AT ", R"(\*\*\* (?:STEP|JOB) .* CANCELLED AT )"},
    FailureSign{"cuda_oom", kFailure, "CUDA out of memory", ""},
    FailureSign{"cuda_oom", kFailure, "CUDA error: out of memory", ""},
    FailureSign{"host_oom_kill", kFailure, "oom-kill", R"((?i)detected .*oom-kill|oom-kill event)"},
    FailureSign{"host_oom_kill", kFailure, "oom_kill", R"((?i)detected .*oom_kill|oom_kill event)"},
    FailureSign{"host_oom_kill", kFailure, "Out Of Memory", R"(tasks? [0-9,-]+: Out Of Memory)"},
    FailureSign{"nccl_timeout", kFailure, "Watchdog caught collective operation timeout", ""},
    FailureSign{"nccl_error", kFailure, "NCCL error", R"(NCCL error (?:in|:)|NCCL error)"},
    FailureSign{"cuda_ecc", kFailure, "uncorrectable ECC error", ""},
    FailureSign{"cuda_error", kFailure, "CUDA error: ", ""},
    FailureSign{"gpu_xid", kFailure, "NVRM: Xid", ""},
    FailureSign{"nan", kFailure, "found NaN in local", ""},
    FailureSign{"segmentation_fault", kFailure, "Segmentation fault", ""},
    FailureSign{"task_exited", kFailure, "Exited with exit code ",
                R"(tasks? [0-9,-]+: Exited with exit code [1-9])"},
    FailureSign{"task_killed", kFailure,
                "srun: error: ", R"(tasks? [0-9,-]+: (?:Terminated|Killed|Aborted|Bus error))"},
    FailureSign{"child_failed", kFailure, "ChildFailedError", ""},
    FailureSign{"python_traceback", kFailure, "Traceback (most recent call last)", ""},
};

// Compiled once, in the table's order; null where a sign has no pattern.
const std::vector<std::unique_ptr<RE2>>& patterns() {
  static const auto compiled = [] {
    std::vector<std::unique_ptr<RE2>> result;
    result.reserve(kSigns.size());
    for (const FailureSign& sign : kSigns) {
      result.push_back(sign.pattern.empty() ? nullptr
                                            : std::make_unique<RE2>(std::string(sign.pattern)));
    }
    return result;
  }();
  return compiled;
}

// Not in the middle of a UTF-8 character, as far as the bytes are UTF-8.
std::string_view shortened(std::string_view line) {
  if (line.size() <= kLineBytesMax) return line;
  std::size_t end = kLineBytesMax;
  while (end > kLineBytesMax - 4 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  return line.substr(0, end);
}

}  // namespace

std::span<const FailureSign> failure_signs() {
  return kSigns;
}

std::optional<LogEvent> read_failure(const Record& record) {
  for (std::size_t i = 0; i < kSigns.size(); ++i) {
    const FailureSign& sign = kSigns[i];
    const std::size_t at = record.text.find(sign.literal);
    if (at == std::string_view::npos) continue;
    const RE2* pattern = patterns()[i].get();
    if (pattern != nullptr &&
        !RE2::PartialMatch(re2::StringPiece(record.text.data(), record.text.size()), *pattern)) {
      continue;
    }
    LogEvent event;
    event.kind = sign.kind;
    event.cause = sign.cause;
    // Of a very long line the part that shows the cause.
    const std::string_view line = trimmed(record.text);
    const bool is_near = at + sign.literal.size() < kLineBytesMax;
    event.line = shortened(is_near ? line : record.text.substr(at));
    event.offset = record.offset;
    return event;
  }
  return std::nullopt;
}

}  // namespace llmb::parser
