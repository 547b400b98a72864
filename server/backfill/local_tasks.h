// LocalTasks: tasks of a back-fill as processes of this machine, some at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/backfill/work_folder.h"

namespace llmb::backfill {

// Not thread-safe. Waits for children that it started, and no others.
class LocalTasks {
 public:
  // `program` does a task as array_script() says. References outlive it.
  LocalTasks(const WorkFolder& work, std::string program, std::vector<std::int64_t> tasks,
             std::int64_t at_once);
  ~LocalTasks();  // ends those that run: they can be begun again
  LocalTasks(const LocalTasks&) = delete;
  LocalTasks& operator=(const LocalTasks&) = delete;

  // Takes up what has ended, and starts what there is room for. False: all have ended. Throws
  // std::runtime_error where the program cannot be started.
  bool advance();

 private:
  void start(std::int64_t task);

  const WorkFolder& work_;
  const std::string program_;
  std::vector<std::int64_t> waiting_;  // the next is the last
  const std::size_t at_once_;
  std::map<pid_t, std::int64_t> running_;
};

}  // namespace llmb::backfill
