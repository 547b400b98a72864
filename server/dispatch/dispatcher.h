// Dispatcher: takes requests to submit and to cancel jobs of one cluster. It plans and records;
// Slurm is called by whoever sends (JobSender) and follows (Poller) what was recorded.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "parser/catalog/catalog.h"
#include "parser/result.h"
#include "server/dispatch/batch_script.h"
#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/job_update.h"
#include "server/dispatch/plan.h"
#include "server/dispatch/runner_facts.h"
#include "server/dispatch/slurm_commands.h"
#include "storage/job_store.h"

namespace llmb::dispatch {

// How much one submitter may ask for. Nothing: as much as they like.
struct SubmissionLimits {
  std::optional<std::int64_t> jobs_per_minute;
  std::optional<std::int64_t> jobs_unfinished;
};

struct SubmitRequest {
  std::vector<Submission> submissions;
  std::string submitted_by;     // a user's name, or "token:" and a token's
  std::string idempotency_key;  // empty: none
  bool is_queued = false;       // the daemon sends the jobs; else whoever calls does
  SubmissionLimits limits;
};

struct SubmitOutcome {
  // In the order of the submissions. New ones are `submitting`.
  std::vector<storage::JobRecord> jobs;
  std::vector<bool> is_new;  // of each: it was recorded now
  // Why not all were recorded, and then none was; or, of send_all(), the first that was not sent.
  std::optional<Refusal> refusal;
  bool is_repeated = false;  // the key was known: all that are not new are the first request's
  std::vector<std::string> notes;  // what was asked for, and has no effect

  bool has_new() const { return std::find(is_new.begin(), is_new.end(), true) != is_new.end(); }
};

// What would be submitted, exactly, but for submission id and timestamp.
struct DryRun {
  Plan plan;
  RunPlace place;
  std::vector<std::string> arguments;  // of sbatch, or of launch.sh where that submits by itself
  std::string script;                  // empty where launch.sh submits by itself
  Environment environment;  // of such a launch.sh, complete; a secret that is set has "set"
};

parser::Result<std::vector<DryRun>> dry_run(const std::vector<Submission>& submissions,
                                            const ClusterSettings& settings,
                                            const parser::Catalog& catalog,
                                            const RunnerFacts& runner);

// Thread-safe. Throws storage::StorageError only.
class Dispatcher {
 public:
  // `settings` are completed (complete_settings()); all references outlive this.
  Dispatcher(const ClusterSettings& settings, const parser::Catalog& catalog,
             storage::JobStore& store, RunnerProbe& runner, JobChanged changed = {});

  // All submissions are planned, then recorded in one transaction with their key. A request with a
  // key that is known gives the jobs of the first one, whatever would be said of new ones, and
  // records anew those that Slurm never took; with other submissions under the same key it is a
  // conflict.
  SubmitOutcome submit(const SubmitRequest& request);

  parser::Result<std::vector<DryRun>> dry_run(const std::vector<Submission>& submissions);

  // Idempotent: a job that has ended, or is to be cancelled already, is given as it is. The wish is
  // recorded, and the Poller repeats it until the job is gone; a job that nobody has sent yet is
  // cancelled at once.
  tl::expected<storage::JobRecord, Refusal> cancel(storage::JobRowId id);

  const ClusterSettings& settings() const { return settings_; }

 private:
  tl::expected<storage::RecordedRequest, Refusal> record(
      const SubmitRequest& request, const parser::Result<std::vector<Plan>>& plans);
  // `wanted`: how many jobs it would record.
  std::optional<Refusal> over_limits(const SubmitRequest& request, std::int64_t wanted);
  storage::JobRecord row_of(const Plan& plan, const SubmitRequest& request,
                            const std::string& created_at);

  const ClusterSettings& settings_;
  const parser::Catalog& catalog_;
  storage::JobStore& store_;
  RunnerProbe& runner_;
  const JobChanged changed_;
  std::mutex submitting_;
  std::map<std::string, std::string> last_timestamps_;  // experiment -> of its last launch
};

}  // namespace llmb::dispatch
