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

class JobStore {
 public:
  // Creates or migrates the database where no other process has it open for writing.
  explicit JobStore(const OpenOptions& options);
  ~JobStore();
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;

  // `id` and `revision` of the record are ignored. Returns the new id.
  JobRowId insert(const JobRecord& job);
  // Everything but id, submission_id and revision, which rises. False where nothing differs, or
  // where the stored job is not of `job.revision` any more: somebody else was quicker.
  bool update(const JobRecord& job);

  std::optional<JobRecord> job(JobRowId id);
  // Newest first; with `before`, only those with a smaller id.
  std::vector<JobRecord> jobs(std::int64_t limit, std::optional<JobRowId> before = {});
  // Of a cluster, those in none of the `final_states`; oldest first.
  std::vector<JobRecord> unfinished(const std::string& cluster,
                                    const std::vector<std::string>& final_states);
  // Of a cluster, those with an id that have ended and changed at `since` or later; oldest first.
  std::vector<JobRecord> ended_since(const std::string& cluster, const std::string& since);
  // The runs of a job: one for each restart, oldest first. Superseded ones are left out.
  std::vector<RunId> runs_of(const JobRecord& job);
  // Of the last of them; a run's status by its name.
  std::optional<std::string> last_run_status(const JobRecord& job);

  std::optional<JobRequest> request(const std::string& submitted_by,
                                    const std::string& idempotency_key);
  // False where there is one with this key already.
  bool insert_request(const JobRequest& request, const std::string& created_at);
  void set_request_jobs(const JobRequest& request);

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
