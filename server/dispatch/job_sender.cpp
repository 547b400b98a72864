#include "server/dispatch/job_sender.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "server/dispatch/file_call.h"
#include "server/dispatch/plan_submission.h"
#include "server/dispatch/recipe_launch.h"
#include "server/dispatch/text_check.h"
#include "server/dispatch/wall_clock.h"

namespace llmb::dispatch {
namespace {

namespace fs = std::filesystem;
using storage::JobRecord;

constexpr int kFolderTries = 8;
constexpr std::chrono::seconds kFolderPatience{20};

bool write_file(const std::string& file, const std::string& text) {
  std::ofstream output(file, std::ios::binary | std::ios::trunc);
  output << text;
  output.close();
  return !output.fail();
}

// Only what was made for the launch goes.
void remove_launch(const RunPlace& place) {
  std::error_code ignored;
  fs::remove(place.script_file, ignored);
  fs::remove(place.run_folder, ignored);
  fs::remove(place.launch_folder, ignored);
}

struct MadeFolder {
  Launch launch;
  RunPlace place;
};

// With the script in it. Leaves nothing behind where it fails.
parser::Result<MadeFolder> make_folder(const Plan& plan, const ClusterSettings& settings,
                                       Launch launch) {
  MadeFolder made{std::move(launch), {}};
  RunPlace& place = made.place;
  std::error_code error;
  bool is_new = false;
  for (int i = 0; i < kFolderTries && !is_new && !error; ++i) {
    if (i > 0) made.launch = new_launch(made.launch.submission_id, true);
    place = run_place(plan, settings, made.launch);
    fs::create_directories(fs::path(place.launch_folder).parent_path(), error);
    if (!error) is_new = fs::create_directory(place.launch_folder, error);
  }
  if (is_new) fs::create_directory(place.run_folder, error);
  if (error || !is_new) {
    if (is_new) remove_launch(place);
    return parser::fail(fmt::format("cannot make the run's folder {}: {}", place.run_folder,
                                    error ? error.message() : "there is one of this name already"));
  }
  if (!plan.submits_itself &&
      !write_file(place.script_file, batch_script(plan, settings, made.launch))) {
    remove_launch(place);
    return parser::fail(fmt::format("cannot write {}: is the disk full?", place.script_file));
  }
  return made;
}

// Of a job that is not sent here. Nothing where somebody else has sent it.
std::optional<Refusal> refusal_of(const JobRecord& job) {
  const bool is_over = job.state == JobState::not_submitted ||
                       (job.state == JobState::cancelled && !job.sbatch_called_at);
  if (!is_over) return std::nullopt;
  return Refusal{Refusal::Kind::refused, job.trouble};
}

Refusal refusal_of(const SbatchAnswer& answer) {
  const bool is_refused = answer.kind == SbatchAnswer::Kind::refused;
  return {is_refused ? Refusal::Kind::refused : Refusal::Kind::unavailable, answer.message};
}

}  // namespace

// One try to submit a job.
struct JobSender::Attempt {
  JobRecord job;
  Plan plan;
  Launch launch;
  RunPlace place;
  bool has_folder = false;
  std::int64_t submit_time_s = 0;  // of a job that launch.sh submitted
};

JobSender::JobSender(const ClusterSettings& settings, const parser::Catalog& catalog,
                     storage::JobStore& store, RunnerProbe& runner, JobChanged changed,
                     Environment secrets)
    : settings_(settings),
      catalog_(catalog),
      store_(store),
      runner_(runner),
      changed_(std::move(changed)),
      secrets_(std::move(secrets)),
      slurm_(settings) {}

parser::Result<void> JobSender::ask_slurm() const {
  const auto queue = slurm_.squeue();
  if (!queue) return tl::unexpected(queue.error());
  return {};
}

SentJob JobSender::send(const JobRecord& job) {
  Attempt attempt;
  attempt.job = job;
  const std::optional<std::string> problem = prepare(attempt);
  if (!claim(attempt)) {
    if (attempt.has_folder) remove_launch(attempt.place);
    return {attempt.job, refusal_of(attempt.job)};
  }
  if (problem) {
    return keep_answer(attempt, {SbatchAnswer::Kind::unavailable, 0, *problem});
  }
  return keep_answer(attempt, call_slurm(attempt));
}

// The plan, made anew of what was recorded, and the run's folder and script. A problem in words.
std::optional<std::string> JobSender::prepare(Attempt& attempt) const {
  const auto submissions = parse_submissions(attempt.job.submission);
  if (!submissions || submissions->size() != 1) return "its row holds no submission";
  // What counts of the shell is in the row.
  ClusterSettings without_shell = settings_;
  without_shell.launch_environment.clear();
  auto plan = plan_submission(submissions->front(), without_shell, catalog_, runner_.facts());
  if (!plan) return plan.error().message;
  attempt.plan = std::move(*plan);
  attempt.launch = recorded_launch(attempt.job.submission_id, attempt.job.launch_id);
  auto made = ask_file_system<MadeFolder>(
      settings_.workload_folder,
      [plan = attempt.plan, settings = settings_, launch = attempt.launch] {
        return make_folder(plan, settings, launch);
      },
      kFolderPatience);
  if (!made) return made.error().message;
  attempt.launch = std::move(made->launch);
  attempt.place = std::move(made->place);
  attempt.has_folder = true;
  return std::nullopt;
}

// Whoever changes the row first calls sbatch.
bool JobSender::claim(Attempt& attempt) {
  bool is_ours = false;
  const auto updated = update_job(store_, attempt.job.id, changed_, [&](JobRecord& row) {
    is_ours = row.state == JobState::submitting && !row.sbatch_called_at;
    if (!is_ours) return;
    row.sbatch_called_at = instant_text(wall_now());
    if (!attempt.has_folder) return;
    row.launch_id = attempt.place.launch_id;
    row.run_folder = attempt.place.run_folder;
  });
  attempt.job = updated.job.value_or(attempt.job);
  return is_ours && updated.has_changed;
}

SbatchAnswer JobSender::call_slurm(Attempt& attempt) {
  if (attempt.plan.submits_itself) return run_launch_script(attempt);
  return slurm_.sbatch(sbatch_arguments(attempt.plan, settings_, attempt.launch), secrets_);
}

SbatchAnswer JobSender::run_launch_script(Attempt& attempt) {
  const LaunchedRecipe launched =
      launch_recipe(attempt.plan, settings_, attempt.launch, attempt.place, secrets_, slurm_);
  if (launched.answer.kind == SbatchAnswer::Kind::submitted && !launched.run_folder.empty()) {
    attempt.place.run_folder = launched.run_folder;
    attempt.place.launch_id = launched.launch_id;
  }
  attempt.submit_time_s = launched.submit_time_s;
  return launched.answer;
}

SentJob JobSender::keep_answer(const Attempt& attempt, const SbatchAnswer& answer) {
  const auto updated = update_job(store_, attempt.job.id, changed_, [&](JobRecord& row) {
    row.sbatch_ended_at = instant_text(wall_now());
    if (row.state != JobState::submitting) return;  // the poller was quicker
    row.trouble = answer.message;
    switch (answer.kind) {
      case SbatchAnswer::Kind::submitted:
        row.job_id = answer.job_id;
        row.state = JobState::pending;
        if (attempt.submit_time_s > 0) row.submit_time_s = attempt.submit_time_s;
        row.launch_id = attempt.place.launch_id;
        row.run_folder = attempt.place.run_folder;
        break;
      case SbatchAnswer::Kind::unknown:
        row.trouble += "; whether there is a job is being looked for";
        break;
      default:
        row.state = JobState::not_submitted;
        row.ended_at = row.sbatch_ended_at;
    }
  });
  SentJob sent{updated.job.value_or(attempt.job), std::nullopt};
  if (answer.kind == SbatchAnswer::Kind::submitted) return sent;
  sent.refusal = refusal_of(answer);
  const bool is_over = answer.kind != SbatchAnswer::Kind::unknown;
  if (is_over && attempt.has_folder && !attempt.plan.submits_itself) remove_launch(attempt.place);
  return sent;
}

JobRecord JobSender::give_up(const JobRecord& job, const std::string& why) {
  const auto updated = update_job(store_, job.id, changed_, [&](JobRecord& row) {
    if (row.state != JobState::submitting || row.sbatch_called_at) return;
    row.state = JobState::not_submitted;
    row.trouble = why;
    row.ended_at = instant_text(wall_now());
  });
  return updated.job.value_or(job);
}

}  // namespace llmb::dispatch
