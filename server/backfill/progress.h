// Progress: where each task of a back-fill stands, out of what it said itself and of whether a
// process is at it still; and all of them in one line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/backfill/work_folder.h"
#include "server/dispatch/queue_snapshot.h"

namespace llmb::backfill {

enum class Standing {
  to_do,    // never begun
  waiting,  // in Slurm's queue
  running,
  done,
  failed,  // or its process is gone
};

struct TaskProgress {
  Standing standing = Standing::to_do;
  std::int64_t logs = 0;  // found, or as the manifest has it
  std::int64_t logs_told = 0;
  std::string message;  // of `failed`: why; of `running`: what is in its way; empty: nothing
};

// What is known of a task but for its own words.
struct TaskSigns {
  std::string slurm_state;  // empty: Slurm has it not, or was not asked
  bool is_locked = false;
  // No machine that could hold a lock unseen: this one, or one that Slurm would know it on.
  bool is_seen_from_here = true;
  std::string last_words;
  std::int64_t now_s = 0;  // Unix seconds
};

// `logs`: as the manifest has it.
TaskProgress progress_of(const std::optional<TaskState>& state, const TaskSigns& signs,
                         std::int64_t logs);

// One a task, in their order. `queued`: what Slurm has of them; nothing where it was not asked.
// Fails where a state cannot be read.
parser::Result<std::vector<TaskProgress>> look_at_tasks(
    const WorkFolder& work, const Manifest& manifest,
    const std::optional<std::vector<dispatch::ArrayTask>>& queued);

// "backfill: 12 of 32 tasks done, 3 running (task 4: …), 1 failed (task 7: …), 8,120 of 21,000
// logs".
std::string progress_line(const std::vector<TaskProgress>& tasks);

// Those that are to be done and that nobody is at: from 1, rising.
std::vector<std::int64_t> tasks_to_begin(const std::vector<TaskProgress>& tasks);
bool all_done(const std::vector<TaskProgress>& tasks);
bool any_under_way(const std::vector<TaskProgress>& tasks);

}  // namespace llmb::backfill
