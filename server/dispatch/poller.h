// Poller: keeps the rows of one cluster's jobs true. One `squeue --json` a turn for all jobs, one
// batched `sacct` for those that left the queue, and where there is no accounting what the batch
// script's output tells, and the run's status. Errors are no information: the rows stay.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/dispatch/job_update.h"
#include "server/dispatch/slurm_commands.h"
#include "server/dispatch/wall_clock.h"

namespace llmb::dispatch {

struct PollOutcome {
  std::size_t unfinished = 0;  // rows that are still to be asked for
  std::size_t changed = 0;
  std::size_t unclear = 0;  // rows of which only another answer says whether there is a job
  std::optional<WallTime> asked_at;  // none where there was nothing to ask Slurm
  std::string error;                 // Slurm gave no answer; empty where it did
};

class Poller {
 public:
  // `changed` is called on the polling thread. References outlive this.
  Poller(const ClusterSettings& settings, storage::JobStore& store, JobChanged changed = {});
  ~Poller();  // stops
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // One turn. Asks Slurm nothing where no job is unfinished, but for a look every half a minute
  // while slurmctld still knows a job that has ended: it may be requeued. Not while started.
  PollOutcome poll_once(WallTime now = wall_now());

  // One thread: a turn an interval, where no other process has the turns (JobStore::follows).
  void start();
  void stop();  // within the deadlines of one job's commands and files
  void wake();  // the next turn begins at once: something was submitted or cancelled
  // Of the last turn that asked Slurm: why it gave no answer; empty when it answered, and while
  // another process has the turns.
  std::string last_error() const;
  std::optional<WallTime> last_asked_at() const;  // none: not yet, or another process has the turns

 private:
  struct Turn;

  std::vector<storage::JobRecord> ended_but_known(WallTime now);
  void rest();  // no job is waited for: what was noted of some is of an earlier time
  bool is_stopping() const;
  PollOutcome next_turn();
  void learn(const PollOutcome& outcome);

  const ClusterSettings& settings_;
  storage::JobStore& store_;
  const JobChanged changed_;
  const SlurmCommands slurm_;
  // Answers in a row that knew no job of a row whose sbatch had ended before they began.
  struct Misses {
    int count = 0;
    WallTime last;
  };
  std::map<storage::JobRowId, Misses> misses_;
  std::map<storage::JobRowId, WallTime> missing_since_;
  // Ended jobs that slurmctld knows no more, and when they ended.
  std::map<storage::JobRowId, std::string> forgotten_;
  WallTime look_back_at_;

  mutable std::mutex mutex_;
  std::condition_variable wake_up_;
  bool is_stopping_ = false;
  bool is_woken_ = false;
  std::string last_error_;  // Slurm's
  std::string trouble_;     // of the last turn: why it ended without asking
  std::optional<WallTime> last_asked_at_;
  std::thread thread_;
};

}  // namespace llmb::dispatch
