#include "server/dispatch/batch_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "parser/foundation/parse_number.h"

namespace llmb::dispatch {
namespace {

JobEvidence ended_by_slurm(std::string_view line) {
  const auto says = [&](std::string_view words) {
    return line.find(words) != std::string_view::npos;
  };
  if (says("DUE TO TIME LIMIT")) return {JobState::timed_out};
  if (says("DUE TO NODE FAILURE")) return {JobState::node_failed};
  if (says("DUE TO PREEMPTION")) return {JobState::preempted};
  return {JobState::cancelled};
}

}  // namespace

std::optional<JobEvidence> batch_output_evidence(std::string_view output, std::int64_t job_id) {
  constexpr std::string_view kStarted = "job started, restart ";
  constexpr std::string_view kStartedAt = "job started at ";
  constexpr std::string_view kEndedAt = "job ended at ";
  constexpr std::string_view kExited = "job exited with code ";
  const std::string ended = fmt::format("*** JOB {} ON ", job_id);
  std::optional<JobEvidence> evidence;
  std::optional<std::int64_t> started_at_s;
  std::optional<std::int64_t> ended_at_s;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    if (line.starts_with(kStarted)) {
      evidence.reset();
      started_at_s.reset();
      ended_at_s.reset();
    } else if (line.starts_with(kStartedAt)) {
      started_at_s = parser::parse_integer(line.substr(kStartedAt.size()));
    } else if (line.starts_with(kEndedAt)) {
      ended_at_s = parser::parse_integer(line.substr(kEndedAt.size()));
    } else if (line.starts_with(kExited)) {
      // What Slurm said before outranks the exit code that followed from it.
      const auto code = parser::parse_integer(line.substr(kExited.size()));
      if (code && (!evidence || evidence->exit_code)) {
        evidence = {*code == 0 ? JobState::completed : JobState::failed, code};
      }
    } else if (line.find(ended) != std::string_view::npos &&
               line.find("CANCELLED") != std::string_view::npos) {
      evidence = ended_by_slurm(line);
      if (line.find("REQUEUE") != std::string_view::npos) evidence.reset();
    }
  }
  if (evidence) {
    evidence->started_at_s = started_at_s;
    evidence->ended_at_s = ended_at_s;
  }
  return evidence;
}

}  // namespace llmb::dispatch
