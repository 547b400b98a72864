// JobStore: submitted jobs and tokens in the database. What users made is on the disk when a call
// returns (synchronous = FULL), unlike what ingest can read again from the logs.
//
// It has a connection of its own and writes in short transactions, so that a command line may
// submit while a daemon runs on the same database. Thread-safe. Everything throws StorageError.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/database.h"
#include "storage/job_records.h"

namespace llmb::storage {

enum class JobAccess {
  full,  // creates or migrates the database where no other process has it open for writing
  read,  // of one that is there and up to date, as a Reader; what would change it throws
};

class JobStore {
 public:
  explicit JobStore(const OpenOptions& options, JobAccess access = JobAccess::full);
  ~JobStore();
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;

  // `id` and `revision` of the record are ignored. Returns the new id.
  JobRowId insert(const JobRecord& job);
  // A whole request in one transaction: its key, its jobs (as for insert()) and their ids. Where
  // the key is known, only those of `jobs` are recorded whose predecessors were never taken.
  // `request.jobs` is ignored; an empty key is none.
  RecordedRequest record(const JobRequest& request, std::vector<JobRecord> jobs,
                         const std::string& created_at);
  // What the first request with this key has recorded, or that it was another one; nothing where
  // the key is not known. Of its jobs none is new.
  std::optional<RecordedRequest> recorded(const JobRequest& request);
  // Everything that may change, and the revision, which rises. False where nothing differs, or
  // where the stored job is not of `job.revision` any more: somebody else was quicker.
  bool update(const JobRecord& job);

  std::optional<JobRecord> job(JobRowId id);
  // Newest first; with `before`, only those with a smaller id.
  std::vector<JobRecord> jobs(std::int64_t limit, std::optional<JobRowId> before = {});
  // Of a cluster, those in no final state; oldest first.
  std::vector<JobRecord> unfinished(const std::string& cluster);
  // Of a cluster, those that sbatch is to be called for by the daemon; oldest first.
  std::vector<JobRecord> queued(const std::string& cluster);
  // When sbatch was last called for a job that was recorded together with `job`, or answered there.
  std::optional<std::string> last_sent_at(const JobRecord& job);
  // Of a cluster, those that are lost and were recorded at `since` or later; oldest first.
  std::vector<JobRecord> lost_since(const std::string& cluster, const std::string& since);
  // Of a cluster, those with an id that have ended and changed at `since` or later; oldest first.
  std::vector<JobRecord> ended_since(const std::string& cluster, const std::string& since);
  // The runs of a job: one for each restart, oldest first. Superseded ones are left out.
  std::vector<RunId> runs_of(const JobRecord& job);
  // Of the last of them; a run's status by its name.
  std::optional<std::string> last_run_status(const JobRecord& job);

  // Whether this process, of all that have the database, is the one that asks the scheduler for a
  // cluster's jobs. It stays that as long as its session with the database lasts.
  bool follows(const std::string& cluster);

  // How many jobs somebody recorded at `since` or later, and how many of theirs have not ended.
  std::int64_t count_since(const std::string& submitted_by, const std::string& since);
  std::int64_t count_unfinished(const std::string& submitted_by);

  // Throws StorageError constraint where the name is taken.
  std::int64_t insert_token(const TokenRecord& token);
  std::vector<TokenRecord> tokens();
  std::optional<TokenRecord> token_by_hash(const std::string& sha256);
  bool revoke_token(const std::string& name, const std::string& at);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace llmb::storage
