// The run of one task: reads its parts into a database of its own on the node's disk, sends that to
// the server, and says how far it is. May be ended and begun again at any time, on the same node or
// another one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "server/backfill/work_folder.h"
#include "server/push/push_options.h"

namespace llmb::parser {
struct Catalog;
}

namespace llmb::backfill {

struct TaskWork {
  const WorkFolder& work;
  const Manifest& manifest;
  std::int64_t number = 0;  // from 1
  std::shared_ptr<const parser::Catalog> catalog;
  push::PushOptions push;  // its database is the task's
  std::string slurm_job;   // "41_7"; empty: none
  // The signal that came within that time and ends the task; 0: none.
  std::function<int(std::chrono::milliseconds)> signal;
  // For another process that is at the task to end, and for the server to take something.
  std::chrono::milliseconds lock_patience{120'000};
  std::chrono::milliseconds push_patience{300'000};
};

enum class TaskEnd {
  done,  // now or before
  busy,  // another process is at it
  failed,
  stopped,  // by a signal
};

struct TaskOutcome {
  TaskEnd end = TaskEnd::failed;
  std::string message;
  int signal = 0;  // of `stopped`
};

// What it ends with stands in the task's state, too, but for `busy`. Throws nothing.
TaskOutcome run_task(const TaskWork& task);

}  // namespace llmb::backfill
