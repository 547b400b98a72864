// What `squeue --json` and `sacct` say, as records. Both parsers take any bytes: an answer that is
// cut off, that lists errors or that has another shape is "no information", never "no jobs".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/result.h"
#include "server/dispatch/job_state.h"

namespace llmb::dispatch {

// Instants are Unix seconds.
struct ObservedJob {
  std::int64_t job_id = 0;
  std::int64_t submit_time_s = 0;
  JobState state = JobState::unknown;
  std::string slurm_state;  // the words, joined by '+'
  std::string state_reason;
  std::string comment;                  // squeue only
  std::optional<std::int64_t> user_id;  // squeue only
  std::int64_t restart_count = 0;       // squeue only
  std::string work_folder;              // squeue only, as the next
  std::string output_file;              // of the batch script
  std::optional<std::int64_t> node_count;
  std::string partition;
  std::string nodes;
  std::optional<std::int64_t> start_time_s;
  std::optional<std::int64_t> end_time_s;  // of one that runs: squeue only, when its limit ends it
  std::optional<std::int64_t> exit_code;
};

// Of releases 22.05 to 25.05: states as a text or a list, numbers plain or as objects with `set`.
// Entries without id or state are left out.
parser::Result<std::vector<ObservedJob>> parse_queue(std::string_view json);

// The fields that parse_accounting() takes, none of which a user can fill with text of their own.
inline constexpr std::string_view kAccountingFields =
    "JobIDRaw,State,Submit,Start,End,ExitCode,NodeList";
// Lines of `sacct --parsable2 --noheader` with times as Unix seconds; malformed ones are left out.
std::vector<ObservedJob> parse_accounting(std::string_view text);

// A task of an array job that has not ended.
struct ArrayTask {
  std::int64_t job_id = 0;  // the array's
  std::int64_t task = 0;
  std::string slurm_state;  // "PENDING", "RUNNING" …
};
// How squeue is asked for them, a task a line: its format, and its answer. Those of the jobs with
// this comment; malformed lines are left out.
inline constexpr std::string_view kArrayTaskFormat = "%i|%T|%k";
std::vector<ArrayTask> parse_array_tasks(std::string_view text, std::string_view comment);

// Of all records of one job id, the last of the job that was submitted at `submit_time_s`: a
// requeue writes a record of its own, and so does a later job that got the same id.
const ObservedJob* find_accounted(const std::vector<ObservedJob>& records, std::int64_t job_id,
                                  std::int64_t submit_time_s);

}  // namespace llmb::dispatch
