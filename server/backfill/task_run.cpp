#include "server/backfill/task_run.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <stdexcept>

#include "server/ingest/ingest.h"
#include "server/ingest/read_job.h"
#include "server/push/machine_name.h"
#include "server/push/push_all.h"
#include "storage/database.h"

namespace llmb::backfill {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kBetweenStates{2'000};

// What kept logs from being read. Empty: nothing did.
struct Trouble {
  std::string passing;  // of a root, or of logs that another try may read
  std::string lasting;  // of single logs
};

class TaskRun {
 public:
  explicit TaskRun(const TaskWork& task) : task_(task) {
    state_.machine = push::machine_name();
    state_.slurm_job = task.slurm_job;
  }

  TaskOutcome run();

 private:
  TaskOutcome work();
  Trouble read(const std::string& database);
  bool push(const std::string& database);
  bool goes_on(milliseconds wait);
  void say(TaskPhase phase, const std::string& message = "");
  void say_now_and_then();
  TaskOutcome end(TaskEnd end, const std::string& message);

  const TaskWork& task_;
  TaskState state_;
  Clock::time_point said_at_{};
  int signal_ = 0;
};

// A folder of this user's alone: the database folder may be everybody's.
std::string make_database_folder(const TaskWork& task) {
  const fs::path mine = fs::path(task.manifest.database_folder) / task.manifest.id;
  const fs::path folder = mine / fmt::format("task-{}", task.number);
  std::error_code error;
  fs::create_directories(mine.parent_path(), error);
  if (mkdir(mine.c_str(), 0700) != 0 && errno != EEXIST) {
    throw std::runtime_error(fmt::format(
        "cannot make the folder {} for the task's database: {}. Name another one with --db-folder",
        mine.string(), std::strerror(errno)));
  }
  struct stat found {};
  if (lstat(mine.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid()) {
    throw std::runtime_error(
        fmt::format("{} is not a folder of this user; no database is kept there. Name another "
                    "folder with --db-folder",
                    mine.string()));
  }
  fs::create_directories(folder);
  return folder.string();
}

// What is done needs no database; that of another task may still be there.
void remove_database_folder(const std::string& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  fs::remove(fs::path(folder).parent_path(), ignored);
}

Trouble trouble_of(const ingest::IngestStatus& status, const std::string& database) {
  for (const std::string& error : status.root_errors) return {error, ""};
  for (const ingest::RootStatus& root : status.roots) {
    if (root.hangs_since) return {fmt::format("the root {} does not answer", root.path), ""};
  }
  const auto parked = storage::Reader(database).parked_files();
  for (const storage::ParkedFile& log : parked) {
    if (!log.reason.starts_with(ingest::kNotReadYet)) continue;
    return {fmt::format("{}: {}", log.relative_path, log.reason), ""};
  }
  if (parked.empty()) return {};
  return {"", fmt::format("{} cannot be read: {}: {}", push::logs_text(std::ssize(parked)),
                          parked.front().relative_path, parked.front().reason)};
}

void TaskRun::say(TaskPhase phase, const std::string& message) {
  state_.phase = phase;
  state_.message = message;
  state_.at_s = std::time(nullptr);
  said_at_ = Clock::now();
  const auto written = task_.work.write_state(task_.number, state_);
  if (!written) throw std::runtime_error(written.error().message);
}

void TaskRun::say_now_and_then() {
  if (Clock::now() - said_at_ >= kBetweenStates) say(state_.phase, state_.message);
}

bool TaskRun::goes_on(milliseconds wait) {
  if (signal_ == 0) signal_ = task_.signal(wait);
  return signal_ == 0;
}

TaskOutcome TaskRun::end(TaskEnd end, const std::string& message) {
  say(end == TaskEnd::done ? TaskPhase::done : TaskPhase::failed, message);
  return {end, message, signal_};
}

Trouble TaskRun::read(const std::string& database) {
  ingest::IngestOptions options;
  options.roots = roots_of_task(task_.manifest, task_.number);
  options.database = {database, task_.manifest.allow_network_file_system};
  options.catalog = task_.catalog;
  ingest::Ingest ingest(std::move(options), {});
  ingest.run_once([&](const ingest::IngestStatus& status) {
    state_.logs = status.files_seen;
    say_now_and_then();
    if (!goes_on(milliseconds(0))) ingest.request_stop();
  });
  const ingest::IngestStatus status = ingest.status();
  state_.logs = status.files_seen;
  return signal_ == 0 ? trouble_of(status, database) : Trouble();
}

bool TaskRun::push(const std::string& database) {
  push::PushOptions options = task_.push;
  options.database_path = database;
  options.leaves_when_level = true;
  push::PushAgent agent(std::move(options));
  const bool is_level =
      push::push_all(agent, task_.push_patience, [&](const push::PushStatus& status) {
        if (status.logs_answered > 0) {
          state_.logs_told = std::max<std::int64_t>(0, state_.logs - status.logs_pending);
        }
        if (status.trouble == state_.message) {
          say_now_and_then();
        } else {
          say(state_.phase, status.trouble);
        }
        return goes_on(milliseconds(50));
      });
  if (is_level) {
    state_.logs_told = state_.logs;
    return true;
  }
  const push::PushStatus status = agent.status();
  if (signal_ == 0) {
    state_.message = fmt::format("the server lacks {}{}", push::lacking_text(status),
                                 status.trouble.empty() ? "" : ": " + status.trouble);
  }
  return false;
}

TaskOutcome TaskRun::work() {
  say(TaskPhase::reading);
  const std::string folder = make_database_folder(task_);
  const std::string database = folder + "/task.db";
  const Trouble trouble = read(database);
  const auto stopped = [&] {
    return end(TaskEnd::stopped, fmt::format("ended by signal {}", signal_));
  };
  if (signal_ != 0) return stopped();
  // What was read is sent, whatever could not be.
  say(TaskPhase::pushing);
  const bool has_all = push(database);
  if (signal_ != 0) return stopped();
  if (!has_all) return end(TaskEnd::failed, state_.message);
  if (!trouble.passing.empty()) return end(TaskEnd::failed, trouble.passing);
  if (!trouble.lasting.empty() && !task_.manifest.skips_unreadable) {
    return end(TaskEnd::failed,
               trouble.lasting + "; mend it, or be done without by --skip-unreadable");
  }
  remove_database_folder(folder);
  return end(TaskEnd::done, trouble.lasting);
}

TaskOutcome TaskRun::run() {
  const auto begin = Clock::now();
  for (;;) {
    const TaskLock lock(task_.work.lock_file(task_.number));
    const auto before = task_.work.state(task_.number);
    if (before && *before && (*before)->phase == TaskPhase::done) return {TaskEnd::done, "", 0};
    if (lock.is_held()) return work();
    if (Clock::now() - begin >= task_.lock_patience) break;
    if (!goes_on(milliseconds(1'000))) break;
  }
  return {signal_ == 0 ? TaskEnd::busy : TaskEnd::stopped, "another process is at this task",
          signal_};
}

}  // namespace

TaskOutcome run_task(const TaskWork& task) {
  TaskState failed;
  try {
    return TaskRun(task).run();
  } catch (const std::exception& error) {
    failed.message = error.what();
  }
  failed.phase = TaskPhase::failed;
  failed.machine = push::machine_name();
  failed.slurm_job = task.slurm_job;
  failed.at_s = std::time(nullptr);
  if (auto written = task.work.write_state(task.number, failed); !written) {
    failed.message += "; and " + written.error().message;
  }
  return {TaskEnd::failed, failed.message, 0};
}

}  // namespace llmb::backfill
