#include "server/cli/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "server/cli/complaint.h"
#include "server/cli/exit_codes.h"
#include "server/cli/job_desk.h"
#include "server/cli/job_table.h"
#include "server/cli/stop_signals.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/job_evidence.h"
#include "server/dispatch/job_files.h"
#include "server/dispatch/poller.h"
#include "server/report/text_table.h"

namespace llmb::cli {
namespace {

using storage::JobRecord;

constexpr std::chrono::milliseconds kBetweenLooks{500};
constexpr std::chrono::milliseconds kBetweenAnswers{1'500};

constexpr const char* kJobsFooter = R"(Examples:
  llmb-report jobs                     the newest jobs
  llmb-report jobs show 7              all that is known of job 7
  llmb-report jobs log 7 --follow      its log while it grows, until the job ends
  llmb-report jobs log 7 --batch       what its batch script printed
  llmb-report jobs cancel 7 8          cancels; again does no harm

ID is llmb-report's own number of a job, SLURM is Slurm's, which Slurm uses again one day. What is
shown is asked from Slurm first; where it does not answer, or you may only read the database, the
last known state is shown, and a line on stderr says so.)";

struct JobsArguments {
  DeskArguments desk;
  std::int64_t limit = 50;
  storage::JobRowId id = 0;
  std::vector<storage::JobRowId> ids;
  bool follows = false;
  bool of_batch = false;
};

// Whether there is a job whose submission was lost, two answers tell.
void refresh(JobDesk& desk) {
  if (!desk.read_only_for.empty()) {
    if (desk.store->unfinished(desk.settings.name).empty()) return;
    complain("jobs", "as last known: " + desk.read_only_for, kFailed);
    return;
  }
  dispatch::Poller poller(desk.settings, *desk.store);
  dispatch::PollOutcome outcome = poller.poll_once();
  if (outcome.error.empty() && outcome.unclear > 0) {
    std::this_thread::sleep_for(kBetweenAnswers);
    outcome = poller.poll_once();
  }
  if (!outcome.error.empty()) complain("jobs", "as last known, for " + outcome.error, kFailed);
}

int list(const JobsArguments& arguments) {
  JobDesk desk = open_desk_to_look(arguments.desk);
  refresh(desk);
  const std::vector<JobRecord> jobs = desk.store->jobs(arguments.limit);
  if (jobs.empty()) {
    std::cout << "No jobs yet. llmb-report submit --help says how to submit some.\n";
  } else {
    write_job_table(jobs, std::cout);
  }
  return 0;
}

int show(const JobsArguments& arguments) {
  JobDesk desk = open_desk_to_look(arguments.desk);
  refresh(desk);
  const auto job = desk.store->job(arguments.id);
  if (!job) return complain("jobs", fmt::format("there is no job {}", arguments.id), kFailed);
  std::string runs;
  for (const storage::RunId run : desk.store->runs_of(*job)) {
    runs += fmt::format("{}{}", runs.empty() ? "" : ", ", run);
  }
  const dispatch::JobLogs logs = dispatch::job_logs(*job);
  const auto lines = std::to_array<std::pair<const char*, std::string>>({
      {"job", fmt::format("{} on {}", job->id, job->cluster)},
      {"Slurm's id", slurm_id(*job)},
      {"state", std::string(storage::job_state_name(job->state))},
      {"reason", job->state_reason},
      {"trouble", job->trouble},
      {"exit code", job->exit_code ? fmt::to_string(*job->exit_code) : ""},
      {"experiment", job->experiment},
      {"submitted by", job->submitted_by},
      {"submitted at", job->created_at},
      {"started at", job->started_at.value_or("")},
      {"ended at", job->ended_at.value_or("")},
      {"to be cancelled", job->cancel_requested_at.value_or("")},
      {"restarts", job->restart_count > 0 ? fmt::to_string(job->restart_count) : ""},
      {"nodes", job->nodes},
      {"run folder", job->run_folder},
      {"log", logs.log},
      {"batch output", logs.batch_output},
      {"logs unreadable", logs.error},
      {"runs", runs},
      {"submission", job->submission},
      {"mark", job->submission_id},
  });
  for (const auto& [name, value] : lines) {
    if (value.empty()) continue;
    std::cout << name << std::string(17 - std::string_view(name).size(), ' ')
              << report::printable(value) << '\n';
  }
  return 0;
}

// Writes what `file` holds beyond `offset`, and moves it on. A problem in words; empty: none.
std::string copy_from(const std::string& file, std::int64_t& offset) {
  constexpr std::int64_t kPieceBytes = std::int64_t{1024} * 1024;
  while (true) {
    const auto piece = dispatch::read_piece(file, offset, kPieceBytes);
    if (!piece) return piece.error().message;
    if (piece->size_bytes < offset) {  // a requeue begins the batch script's output anew
      offset = 0;
      continue;
    }
    if (piece->text.empty()) break;
    std::cout << piece->text;
    offset += static_cast<std::int64_t>(piece->text.size());
  }
  std::cout.flush();
  return {};
}

struct ChosenLog {
  std::string path;   // empty: there is none (yet)
  std::string error;  // why that is not known; else empty
};

ChosenLog log_of(const JobRecord& job, const JobsArguments& arguments) {
  dispatch::JobLogs logs = dispatch::job_logs(job);
  std::string& path = arguments.of_batch ? logs.batch_output : logs.log;
  std::string error = path.empty() ? std::move(logs.error) : std::string();
  return {std::move(path), std::move(error)};
}

int follow(JobDesk& desk, const JobsArguments& arguments, JobRecord job) {
  const StopSignals signals;
  const bool only_reads = !desk.read_only_for.empty();
  std::optional<dispatch::Poller> poller;
  if (!only_reads) poller.emplace(desk.settings, *desk.store);
  std::string shown;
  std::string last_error;
  std::int64_t offset = 0;
  auto next_poll = std::chrono::steady_clock::now();
  while (true) {
    if (std::chrono::steady_clock::now() >= next_poll) {
      // A database that stands still for its reader (storage/still_database.h) is opened anew.
      if (only_reads) {
        desk.store = std::make_unique<storage::JobStore>(desk.database, storage::JobAccess::read);
      } else {
        poller->poll_once();
      }
      job = desk.store->job(job.id).value_or(job);
      next_poll = std::chrono::steady_clock::now() + desk.settings.poll_interval;
    }
    // Asked before the log is read: what is written until the end is shown.
    const bool has_ended = storage::is_final(job.state);
    const ChosenLog log = log_of(job, arguments);
    std::string error = log.error;
    if (!log.path.empty()) {
      if (log.path != shown) offset = 0;  // a requeue writes another one
      shown = log.path;
      error = copy_from(log.path, offset);
    }
    if (!error.empty() && error != last_error) complain("jobs", error, kFailed);
    last_error = error;
    if (has_ended) {
      std::cerr << "job " << job.id << " " << storage::job_state_name(job.state)
                << (job.trouble.empty() ? "" : ": " + report::printable(job.trouble)) << '\n';
      return 0;
    }
    if (const int signal = signals.wait(kBetweenLooks); signal != 0) return kSignalExit + signal;
  }
}

int log(const JobsArguments& arguments) {
  JobDesk desk = open_desk_to_look(arguments.desk);
  refresh(desk);
  const auto job = desk.store->job(arguments.id);
  if (!job) return complain("jobs", fmt::format("there is no job {}", arguments.id), kFailed);
  if (arguments.follows) return follow(desk, arguments, *job);
  const ChosenLog file = log_of(*job, arguments);
  if (!file.error.empty()) return complain("jobs", file.error, kFailed);
  if (file.path.empty()) {
    return complain("jobs",
                    fmt::format("job {} is {} and has no log in {}{}", job->id,
                                storage::job_state_name(job->state), job->run_folder,
                                arguments.of_batch ? "" : " (--batch: its script's output)"),
                    kFailed);
  }
  std::int64_t offset = 0;
  const std::string error = copy_from(file.path, offset);
  if (!error.empty()) return complain("jobs", error, kFailed);
  return 0;
}

int cancel(const JobsArguments& arguments) {
  JobDesk desk = open_existing_desk(arguments.desk);
  dispatch::RunnerProbe runner(desk.settings);
  dispatch::Dispatcher dispatcher(desk.settings, parser::embedded_catalog(), *desk.store, runner);
  int exit_code = 0;
  bool is_to_be_cancelled = false;
  for (const storage::JobRowId id : arguments.ids) {
    const auto job = dispatcher.cancel(id);
    if (!job) {
      exit_code = complain("jobs", job.error().message, kFailed);
      continue;
    }
    const bool has_ended = storage::is_final(job->state);
    is_to_be_cancelled = is_to_be_cancelled || !has_ended;
    std::cout << "job " << id
              << (has_ended ? fmt::format(" has ended: {}", storage::job_state_name(job->state))
                            : " is to be cancelled")
              << '\n';
  }
  if (is_to_be_cancelled) {
    dispatch::Poller poller(desk.settings, *desk.store);
    const std::string error = poller.poll_once().error;
    if (!error.empty()) {
      exit_code = complain(
          "jobs", error + "; the wish is recorded, and is repeated while llmb-report serve runs",
          kFailed);
    }
  }
  return exit_code;
}

CLI::App* add_part(CLI::App& jobs, const std::string& name, const std::string& help,
                   const std::shared_ptr<JobsArguments>& arguments, int& exit_code,
                   int (*run)(const JobsArguments&)) {
  CLI::App* const part = jobs.add_subcommand(name, help);
  add_desk_options(*part, arguments->desk);
  part->callback([arguments, &exit_code, run] {
    exit_code = run_at_desk("jobs", [&] { return run(*arguments); });
  });
  return part;
}

}  // namespace

void add_jobs_command(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<JobsArguments>();
  CLI::App* const jobs = app.add_subcommand("jobs", "Jobs that were submitted: list, show, cancel");
  jobs->footer(kJobsFooter);
  jobs->require_subcommand(0, 1);
  add_desk_options(*jobs, arguments->desk);
  jobs->add_option("--limit", arguments->limit, "How many of the newest")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  jobs->callback([jobs, arguments, &exit_code] {
    if (!jobs->get_subcommands().empty()) return;
    exit_code = run_at_desk("jobs", [&] { return list(*arguments); });
  });
  const auto add_id = [&](CLI::App* part) {
    part->add_option("ID", arguments->id, "The job, as `jobs` numbers it")->required();
  };
  add_id(add_part(*jobs, "show", "All that is known of a job", arguments, exit_code, show));
  CLI::App* const log_part =
      add_part(*jobs, "log", "The log of a job's newest start", arguments, exit_code, log);
  add_id(log_part);
  log_part->add_flag("-f,--follow", arguments->follows, "Go on until the job ends");
  log_part->add_flag("--batch", arguments->of_batch, "What the batch script printed instead");
  add_part(*jobs, "cancel", "Cancel jobs", arguments, exit_code, cancel)
      ->add_option("ID", arguments->ids, "Jobs, as `jobs` numbers them")
      ->required();
}

}  // namespace llmb::cli
