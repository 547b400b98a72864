// JobSender: gives a recorded job to Slurm, once, whoever else may try to at the same time. The
// call of sbatch is recorded before it is made, and its end after it: whatever breaks in between,
// the Poller finds the job again, or finds that there is none.
#pragma once

#include <optional>

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

struct SentJob {
  storage::JobRecord job;          // as it is stored now
  std::optional<Refusal> refusal;  // why it was not submitted, or is not known to be
};

// Thread-safe. Throws storage::StorageError only.
class JobSender {
 public:
  // All references outlive this. `secrets`: variables that sbatch and launch.sh get beside theirs.
  JobSender(const ClusterSettings& settings, const parser::Catalog& catalog,
            storage::JobStore& store, RunnerProbe& runner, JobChanged changed = {},
            Environment secrets = {});

  // A job that somebody else has begun to send is given as it is; so is one that was given up or
  // cancelled before it was sent, as a refusal.
  SentJob send(const storage::JobRecord& job);

  // Records that a job was not submitted, where nobody has begun to send it.
  storage::JobRecord give_up(const storage::JobRecord& job, const std::string& why);

  // Whether Slurm answers, and where not, why.
  parser::Result<void> ask_slurm() const;

 private:
  struct Attempt;

  std::optional<std::string> prepare(Attempt& attempt) const;
  bool claim(Attempt& attempt);
  SbatchAnswer call_slurm(Attempt& attempt);
  SbatchAnswer run_launch_script(Attempt& attempt);
  SentJob keep_answer(const Attempt& attempt, const SbatchAnswer& answer);

  const ClusterSettings& settings_;
  const parser::Catalog& catalog_;
  storage::JobStore& store_;
  RunnerProbe& runner_;
  const JobChanged changed_;
  const Environment secrets_;
  const SlurmCommands slurm_;
};

}  // namespace llmb::dispatch
