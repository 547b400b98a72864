// Dispatcher: submits, cancels and looks up jobs of one cluster. A job's row is on the disk before
// sbatch is called, and its id stands in the job's comment: whatever breaks in between, the Poller
// finds the job again, or finds that there is none.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/dispatch/batch_script.h"
#include "server/dispatch/job_update.h"
#include "server/dispatch/slurm_commands.h"
#include "storage/job_store.h"

namespace llmb::dispatch {

struct SubmitRequest {
  std::vector<Submission> submissions;
  std::string submitted_by;     // who: a token's or a user's name
  std::string idempotency_key;  // empty: none
};

struct SubmitOutcome {
  // In the order of the submissions, as far as they came. Some may be `not_submitted`, with the
  // reason as their trouble, or `submitting` where Slurm's answer is still looked for.
  std::vector<storage::JobRecord> jobs;
  // Why not all of them were submitted. Of `invalid` and `conflict` no job is recorded.
  std::optional<Refusal> refusal;
  bool is_repeated = false;  // the key was known: these are the jobs of the first request
};

struct Planned {
  Plan plan;
  Launch launch;
  RunPlace place;
};

// What would be submitted, exactly, but for submission id and timestamp.
struct DryRun {
  Plan plan;
  RunPlace place;
  std::vector<std::string> arguments;
  std::string script;
};

parser::Result<std::vector<DryRun>> dry_run(const std::vector<Submission>& submissions,
                                            const ClusterSettings& settings,
                                            const parser::Catalog& catalog);

// Thread-safe. Throws storage::StorageError only.
class Dispatcher {
 public:
  // `settings` are completed (complete_settings()); all references outlive this.
  Dispatcher(const ClusterSettings& settings, const parser::Catalog& catalog,
             storage::JobStore& store, JobChanged changed = {});

  // All submissions are planned before the first is made. A request with a key that is known gives
  // the jobs of the first one, and submits what that one did not; with other submissions under the
  // same key it is a conflict.
  SubmitOutcome submit(const SubmitRequest& request);

  parser::Result<std::vector<DryRun>> dry_run(const std::vector<Submission>& submissions) const {
    return dispatch::dry_run(submissions, settings_, catalog_);
  }

  // Idempotent: a job that has ended, or is to be cancelled already, is given as it is. The wish
  // is recorded first; the Poller repeats it until the job is gone.
  tl::expected<storage::JobRecord, Refusal> cancel(storage::JobRowId id);

  const ClusterSettings& settings() const { return settings_; }

 private:
  // The jobs of an earlier request with the key, or what the request contradicts.
  tl::expected<SubmitOutcome, Refusal> begin_request(const SubmitRequest& request);
  // The row, written; an error where the disk refuses.
  parser::Result<storage::JobRecord> record(Planned& planned, const SubmitRequest& request);
  storage::JobRecord send(const storage::JobRecord& job, const Planned& planned,
                          std::optional<Refusal>& refusal);

  const ClusterSettings& settings_;
  const parser::Catalog& catalog_;
  storage::JobStore& store_;
  const JobChanged changed_;
  const SlurmCommands slurm_;
  std::mutex submitting_;
};

}  // namespace llmb::dispatch
