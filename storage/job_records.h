// What storage keeps of submitted jobs and of tokens. Instants are RFC 3339 UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/job_state.h"
#include "storage/records.h"

namespace llmb::storage {

using JobRowId = std::int64_t;

struct JobRecord {
  JobRowId id = 0;
  std::string submission_id;  // also in the job's comment
  std::string cluster;
  std::optional<std::int64_t> job_id;  // Slurm's; nothing until sbatch has answered
  // Unix seconds, of the last submission or requeue: tells a job from a later one with its id.
  std::optional<std::int64_t> submit_time_s;
  std::int64_t revision = 1;
  JobState state = JobState::submitting;
  std::string state_reason;  // Slurm's own word
  std::string trouble;       // a sentence where something is wrong: refused, can never start …
  std::optional<std::string> cancel_requested_at;
  std::string experiment;
  std::string launch_id;   // <experiment>_<timestamp>: what the runs of the job have in common
  std::string run_folder;  // where its logs lie
  std::string submission;  // as JSON
  std::string submitted_by;
  std::int64_t restart_count = 0;
  std::optional<std::int64_t> exit_code;
  std::string nodes;
  std::string created_at;
  std::optional<std::string> started_at;
  std::optional<std::string> ended_at;
  std::optional<std::string> limit_ends_at;  // of a running job: its time limit ends it then
  std::string updated_at;
  bool is_queued = false;  // the daemon gives it to sbatch, not the command that recorded it
  // When sbatch was called, and since when it is known to run no more. Nothing: not yet.
  std::optional<std::string> sbatch_called_at;
  std::optional<std::string> sbatch_ended_at;
  // Of a job that was not submitted: sbatch's answer is not known, so a job may turn up still.
  bool is_lost = false;

  // Slurm refused it, or was not asked: to submit it again makes no second job.
  bool was_never_taken() const { return state == JobState::not_submitted && !is_lost; }

  bool operator==(const JobRecord&) const = default;
};

// What recording a request has done.
struct RecordedRequest {
  enum class Kind {
    recorded,
    repeated,  // its key was known, with the same request
    conflict,  // its key was known, with another request; nothing is recorded
  };
  Kind kind = Kind::recorded;
  std::vector<JobRecord> jobs;  // all of the request, in its order
  std::vector<bool> is_new;     // of each: it was recorded now
};

// What a run tells of the job that it came from.
struct RunJob {
  JobRowId id = 0;
  std::int64_t revision = 0;
  std::string state;
  std::string trouble;
  std::optional<std::string> limit_ends_at;
};

// What ingest asks of the job that writes a log.
struct JobProgress {
  JobState state = JobState::unknown;
  std::int64_t restart_count = 0;
  std::optional<std::int64_t> exit_code;
};

struct JobRequest {
  std::string submitted_by;
  std::string idempotency_key;
  std::string request_hash;
  std::vector<JobRowId> jobs;
};

struct TokenRecord {
  std::int64_t id = 0;
  std::string name;
  std::string sha256;  // hexadecimal
  std::vector<std::string> scopes;
  std::string created_at;
  std::string expires_at;
  std::optional<std::string> revoked_at;
  // Of the scope `ingest`: whose runs it may write, and the name which that cluster had before.
  std::string cluster;
  std::string former_cluster;
};

}  // namespace llmb::storage
