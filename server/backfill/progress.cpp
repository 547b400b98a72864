#include "server/backfill/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "parser/foundation/grouped_number.h"
#include "parser/foundation/safe_text.h"
#include "server/push/machine_name.h"

namespace llmb::backfill {
namespace {

// A task says how far it is every two seconds; a slow file system may hold it up.
constexpr std::int64_t kSilentForS = 120;
constexpr std::size_t kTasksNamed = 3;

std::int64_t count(const std::vector<TaskProgress>& tasks, Standing standing) {
  return std::count_if(tasks.begin(), tasks.end(),
                       [=](const TaskProgress& task) { return task.standing == standing; });
}

// " (task 7: why; task 9: why)"; empty where none of them says anything.
std::string words_of(const std::vector<TaskProgress>& tasks, Standing standing) {
  std::string text;
  std::size_t named = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].standing != standing || tasks[i].message.empty()) continue;
    if (named == kTasksNamed) {
      text += "; …";
      break;
    }
    text += fmt::format("{}task {}: {}", named == 0 ? "" : "; ", i + 1,
                        parser::safe_text(tasks[i].message));
    ++named;
  }
  return named == 0 ? text : " (" + text + ")";
}

std::string trouble_of(const std::optional<TaskState>& state) {
  return state && state->phase == TaskPhase::pushing ? state->message : std::string();
}

TaskProgress standing_of(const std::optional<TaskState>& state, const TaskSigns& signs) {
  if (state && state->phase == TaskPhase::done) return {Standing::done, 0, 0, state->message};
  if (signs.slurm_state == "PENDING") return {Standing::waiting, 0, 0, ""};
  const bool is_ending =
      signs.slurm_state == "COMPLETING" && state && state->phase == TaskPhase::failed;
  if (signs.is_locked || (!signs.slurm_state.empty() && !is_ending)) {
    return {Standing::running, 0, 0, trouble_of(state)};
  }
  if (!state) return {Standing::to_do, 0, 0, ""};
  if (state->phase == TaskPhase::failed) return {Standing::failed, 0, 0, state->message};
  if (!signs.is_seen_from_here && signs.now_s - state->at_s < kSilentForS) {
    return {Standing::running, 0, 0, trouble_of(state)};
  }
  return {Standing::failed, 0, 0,
          "its process ended without a word" +
              (signs.last_words.empty() ? "" : "; its output ends with: " + signs.last_words)};
}

}  // namespace

TaskProgress progress_of(const std::optional<TaskState>& state, const TaskSigns& signs,
                         std::int64_t logs) {
  TaskProgress task = standing_of(state, signs);
  const bool was_counted = state && state->phase != TaskPhase::reading;
  task.logs = was_counted ? state->logs : logs;
  task.logs_told = state ? std::min(state->logs_told, task.logs) : 0;
  return task;
}

parser::Result<std::vector<TaskProgress>> look_at_tasks(
    const WorkFolder& work, const Manifest& manifest,
    const std::optional<std::vector<dispatch::ArrayTask>>& queued) {
  std::vector<TaskProgress> tasks;
  const std::string here = push::machine_name();
  for (std::size_t i = 0; i < manifest.tasks.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i + 1);
    const auto state = work.state(number);
    if (!state) return tl::unexpected(state.error());
    TaskSigns signs;
    signs.now_s = std::time(nullptr);
    const bool is_done = *state && (*state)->phase == TaskPhase::done;
    if (!is_done) {
      for (const dispatch::ArrayTask& task : queued.value_or(std::vector<dispatch::ArrayTask>())) {
        if (task.task != number) continue;
        // Of a task that was submitted twice, the one that runs.
        if (signs.slurm_state.empty() || task.slurm_state != "PENDING") {
          signs.slurm_state = task.slurm_state;
        }
      }
      signs.is_locked = work.is_locked(number);
      signs.last_words = work.last_words(number);
      const bool is_slurms = *state && !(*state)->slurm_job.empty();
      signs.is_seen_from_here =
          is_slurms ? queued.has_value() : !*state || (*state)->machine == here;
    }
    tasks.push_back(progress_of(*state, signs, manifest.tasks[i].measure.logs));
  }
  return tasks;
}

std::string progress_line(const std::vector<TaskProgress>& tasks) {
  std::string text = fmt::format("backfill: {} of {} tasks done{}", count(tasks, Standing::done),
                                 tasks.size(), words_of(tasks, Standing::done));
  const auto add = [&](Standing standing, const char* what) {
    const std::int64_t found = count(tasks, standing);
    if (found > 0) text += fmt::format(", {} {}{}", found, what, words_of(tasks, standing));
  };
  add(Standing::running, "running");
  add(Standing::waiting, "waiting");
  add(Standing::to_do, "to do");
  add(Standing::failed, "failed");
  std::int64_t logs = 0;
  std::int64_t logs_told = 0;
  for (const TaskProgress& task : tasks) {
    logs += task.logs;
    logs_told += task.logs_told;
  }
  return text + fmt::format(", {} of {} logs", parser::grouped(logs_told), parser::grouped(logs));
}

std::vector<std::int64_t> tasks_to_begin(const std::vector<TaskProgress>& tasks) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Standing standing = tasks[i].standing;
    if (standing == Standing::to_do || standing == Standing::failed) {
      numbers.push_back(static_cast<std::int64_t>(i + 1));
    }
  }
  return numbers;
}

bool all_done(const std::vector<TaskProgress>& tasks) {
  return count(tasks, Standing::done) == static_cast<std::int64_t>(tasks.size());
}

bool any_under_way(const std::vector<TaskProgress>& tasks) {
  return count(tasks, Standing::running) + count(tasks, Standing::waiting) > 0;
}

}  // namespace llmb::backfill
