// WorkFolder: what a back-fill keeps on the file system that its nodes share: the manifest, the
// batch script, and of each task how far it is, its output and its lock.
//
//   manifest.json  submission.lock  array.sh  tasks/7.json  tasks/7.lock  tasks/7.out
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "parser/foundation/file_descriptor.h"
#include "parser/result.h"
#include "server/backfill/manifest.h"

namespace llmb::backfill {

enum class TaskPhase { reading, pushing, done, failed };

// A task as it said last.
struct TaskState {
  TaskPhase phase = TaskPhase::reading;
  std::int64_t logs = 0;       // found
  std::int64_t logs_told = 0;  // of which the server has all
  std::string message;         // of `failed`: why; of `pushing`: what is in the way, if anything
  std::string machine;
  std::string slurm_job;  // "41_7"; empty: it runs without Slurm
  std::int64_t at_s = 0;  // Unix seconds
  bool operator==(const TaskState&) const = default;
};

// Held while it lives, by one process at a time. Where the file system has no locks everybody
// holds it: what two processes do of one task is known to the server, and done twice, no more.
class TaskLock {
 public:
  explicit TaskLock(const std::string& file);
  bool is_held() const { return is_held_; }

 private:
  parser::FileDescriptor fd_;
  bool is_held_ = false;
};

class WorkFolder {
 public:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string manifest_file() const { return path_ + "/manifest.json"; }
  std::string script_file() const { return path_ + "/array.sh"; }
  std::string submission_lock_file() const { return path_ + "/submission.lock"; }
  std::string state_file(std::int64_t task) const { return file_of(task, "json"); }
  std::string lock_file(std::int64_t task) const { return file_of(task, "lock"); }
  std::string output_file(std::int64_t task) const { return file_of(task, "out"); }
  // The same with sbatch's word for the task's number in its place.
  std::string output_pattern() const { return path_ + "/tasks/%a.out"; }

  // Makes the folders that are missing.
  parser::Result<void> make() const;

  // Nothing where there is none yet.
  parser::Result<std::optional<Manifest>> manifest() const;
  parser::Result<void> write_manifest(const Manifest& manifest) const;

  // Nothing where the task has never begun.
  parser::Result<std::optional<TaskState>> state(std::int64_t task) const;
  parser::Result<void> write_state(std::int64_t task, const TaskState& state) const;

  // Whether a process holds the task's lock, as far as this machine can tell.
  bool is_locked(std::int64_t task) const;
  // The last line of the task's output that says something; empty where none does.
  std::string last_words(std::int64_t task) const;

 private:
  std::string file_of(std::int64_t task, const char* kind) const;

  std::string path_;
};

}  // namespace llmb::backfill
