#include "server/cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/backfill/array_job.h"
#include "server/backfill/local_tasks.h"
#include "server/backfill/progress.h"
#include "server/backfill/submit_array.h"
#include "server/backfill/task_run.h"
#include "server/cli/backfill_plan.h"
#include "server/cli/backfill_server.h"
#include "server/cli/catalog_option.h"
#include "server/cli/complaint.h"
#include "server/cli/exit_codes.h"
#include "server/dispatch/runner_place.h"
#include "server/dispatch/text_check.h"
#include "server/report/text_table.h"

namespace llmb::cli {
namespace {

using std::chrono::milliseconds;
using Tasks = std::vector<backfill::TaskProgress>;

constexpr milliseconds kBetweenTaskLooks{500};
constexpr std::chrono::seconds kBetweenQuestions{5};  // to Slurm
constexpr std::chrono::seconds kBetweenProgressLines{10};

constexpr const char* kBackfillFooter = R"(Examples:
  llmb-report backfill --slurm --tasks 32 --work-folder /lustre/me/backfill \
    --push https://reports.example --token-file eos.token --cluster eos $LLMB_WORKLOAD
  llmb-report backfill --status --work-folder /lustre/me/backfill
  llmb-report backfill --slurm --work-folder /lustre/me/backfill    # what is left

What it does:
  The trees are measured and cut by bytes of logs (a compressed one counts eight times); launch
  folders stay whole. The work folder keeps the cut and how far each task is, on a file system that
  the nodes share. Each task reads its part into a database of its own on the node's disk, sends
  that as `ingest --push` of the whole tree would, and removes it; whatever ends it, the next one
  goes on. The same command again begins the tasks that are not done, and no others. Without --slurm
  the tasks run here.
  Before all that the server is asked whether it takes the token: no task begins where it refuses
  it, and none here where it does not answer. A task that it leaves alone meanwhile says so in
  --status, and fails after five minutes.

Exit status: 0 when all is done, or submitted; 1 when something is left; 2 for bad arguments.)";

std::string variable_of_shell(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// Of the shell that submits, as everybody's own sbatch goes by it.
dispatch::ClusterSettings slurm_settings() {
  dispatch::ClusterSettings settings;
  settings.slurm_conf = variable_of_shell("SLURM_CONF");
  if (const std::string path = variable_of_shell("PATH"); !path.empty())
    settings.command_path = path;
  settings.command_deadline = std::chrono::seconds(60);
  return settings;
}

parser::Result<dispatch::SlurmParameters> slurm_parameters(const std::vector<std::string>& given) {
  dispatch::SlurmParameters parameters;
  for (const std::string& text : given) {
    auto added = dispatch::add_slurm_argument(parameters, text, "--slurm-arg");
    if (!added) return tl::unexpected(added.error());
  }
  // What asks for GPUs is left out: a back-fill needs none.
  dispatch::Environment environment;
  for (const char* const name : {"SBATCH_ACCOUNT", "SBATCH_PARTITION", "SBATCH_TIMELIMIT",
                                 "SBATCH_RESERVATION", "SBATCH_QOS", "SBATCH_CONSTRAINT"}) {
    environment[name] = variable_of_shell(name);
  }
  const auto of_shell = dispatch::slurm_parameters_of(environment);
  if (!of_shell) return tl::unexpected(of_shell.error());
  dispatch::fill_missing(parameters, of_shell->parameters);
  return parameters;
}

int say_bad(const std::string& what) {
  return complain("backfill", what, kBadArguments);
}

int say_failed(const std::string& what) {
  return complain("backfill", what, kFailed);
}

// This program's file.
std::string own_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

class Backfill {
 public:
  Backfill(const BackfillArguments& arguments, backfill::WorkFolder work)
      : arguments_(arguments), work_(std::move(work)), settings_(slurm_settings()) {}

  int run();
  int do_task();

 private:
  int show_status();
  int dry_run();
  int submit();
  int run_here();
  int follow();
  tl::expected<void, BackfillRefusal> ask(const backfill::Manifest& manifest);
  parser::Result<Tasks> look();
  void show(const Tasks& tasks, bool is_last);
  int end_with(const Tasks& tasks);

  const BackfillArguments& arguments_;
  const backfill::WorkFolder work_;
  const dispatch::ClusterSettings settings_;
  const StopSignals signals_;
  backfill::Manifest manifest_;
  std::string shown_;
  std::chrono::steady_clock::time_point shown_at_{};
};

// Slurm is asked where the tasks have ever been submitted.
parser::Result<Tasks> Backfill::look() {
  std::optional<std::vector<dispatch::ArrayTask>> queued;
  if (std::filesystem::exists(work_.script_file())) {
    auto answer = dispatch::SlurmCommands(settings_).array_tasks(manifest_.id);
    if (!answer) std::cerr << "note: " << report::printable(answer.error().message) << '\n';
    if (answer) queued = std::move(*answer);
  }
  return backfill::look_at_tasks(work_, manifest_, queued);
}

// A line for each change, now and then.
void Backfill::show(const Tasks& tasks, bool is_last) {
  const auto now = std::chrono::steady_clock::now();
  std::string line = backfill::progress_line(tasks);
  const bool is_due = is_last || now - shown_at_ >= kBetweenProgressLines;
  if (line == shown_ || !is_due) return;
  shown_ = std::move(line);
  shown_at_ = now;
  std::cout << shown_ << '\n' << std::flush;
}

int Backfill::end_with(const Tasks& tasks) {
  show(tasks, true);
  return backfill::all_done(tasks) ? 0 : kFailed;
}

int Backfill::show_status() {
  auto manifest = work_.manifest();
  if (!manifest) return say_failed(manifest.error().message);
  if (!*manifest) return say_failed("there is no back-fill in " + work_.path());
  manifest_ = std::move(**manifest);
  const auto tasks = look();
  return tasks ? end_with(*tasks) : say_failed(tasks.error().message);
}

int Backfill::dry_run() {
  write_cut(manifest_, std::cout);
  if (arguments_.uses_slurm) {
    const auto parameters = slurm_parameters(arguments_.slurm_arguments);
    if (!parameters) return say_bad(parameters.error().message);
    const auto tasks = look();
    if (!tasks) return say_failed(tasks.error().message);
    for (const std::string& word : backfill::array_arguments(
             work_, manifest_, backfill::tasks_to_begin(*tasks), arguments_.at_once, *parameters)) {
      std::cout << (word == "sbatch" ? "" : " ") << dispatch::shell_quoted(word);
    }
    std::cout << "\n# " << work_.script_file() << '\n'
              << backfill::array_script(work_, manifest_, own_program());
  }
  return 0;
}

int Backfill::submit() {
  auto parameters = slurm_parameters(arguments_.slurm_arguments);
  if (!parameters) return say_bad(parameters.error().message);
  std::string program = own_program();
  if (arguments_.copies_program) {
    auto copy = dispatch::copy_program(program, work_.path());
    if (!copy) return say_failed(copy.error().message);
    program = std::move(*copy);
  } else if (dispatch::lies_apart(program, work_.path())) {
    std::cerr << fmt::format(
        "note: {} lies on a disk of this machine; where the nodes have none at that path, "
        "--copy-program puts it into the work folder\n",
        program);
  }
  const dispatch::SlurmCommands slurm(settings_);
  const auto submitted = backfill::submit_array(
      work_, manifest_, slurm, {program, arguments_.at_once, std::move(*parameters)});
  if (!submitted) return say_failed(submitted.error().message);
  if (submitted->job_id != 0) {
    std::cerr << fmt::format("submitted: job {}, tasks {}\n", submitted->job_id,
                             backfill::ranges_of(submitted->tasks));
  }
  if (arguments_.waits) return follow();
  const auto tasks = look();
  if (!tasks) return say_failed(tasks.error().message);
  show(*tasks, true);
  return 0;
}

int Backfill::follow() {
  for (;;) {
    const auto tasks = look();
    if (!tasks) return say_failed(tasks.error().message);
    if (!backfill::any_under_way(*tasks)) return end_with(*tasks);
    show(*tasks, false);
    const int signal = signals_.wait(kBetweenQuestions);
    if (signal == 0) continue;
    std::cerr << "the tasks go on; `llmb-report backfill --status` says how far they are\n";
    return kSignalExit + signal;
  }
}

int Backfill::run_here() {
  auto tasks = look();
  if (!tasks) return say_failed(tasks.error().message);
  backfill::LocalTasks children(work_, own_program(), backfill::tasks_to_begin(*tasks),
                                arguments_.at_once);
  int signal = 0;
  while (signal == 0 && children.advance()) {
    tasks = look();
    if (!tasks) return say_failed(tasks.error().message);
    show(*tasks, false);
    signal = signals_.wait(kBetweenTaskLooks);
  }
  if (signal != 0) return kSignalExit + signal;
  tasks = look();
  return tasks ? end_with(*tasks) : say_failed(tasks.error().message);
}

// Not where every task is done: then nothing is pushed any more.
tl::expected<void, BackfillRefusal> Backfill::ask(const backfill::Manifest& manifest) {
  if (!manifest.tasks.empty()) {
    const auto tasks = backfill::look_at_tasks(work_, manifest, std::nullopt);
    if (tasks && backfill::all_done(*tasks)) return {};
  }
  return ask_server(manifest, arguments_.uses_slurm, signals_);
}

int Backfill::run() {
  if (arguments_.shows_status) return show_status();
  const auto plan = plan_backfill(arguments_, work_, signals_,
                                  [this](const auto& manifest) { return ask(manifest); });
  if (!plan) return complain("backfill", plan.error().message, plan.error().exit_code);
  manifest_ = plan->manifest;
  if (arguments_.is_dry_run) return dry_run();
  if (auto made = work_.make(); !made) return say_failed(made.error().message);
  if (plan->is_new) {
    if (auto written = work_.write_manifest(manifest_); !written) {
      return say_failed(written.error().message);
    }
  }
  return arguments_.uses_slurm ? submit() : run_here();
}

// What the batch script starts.
int Backfill::do_task() {
  auto manifest = work_.manifest();
  if (!manifest) return say_failed(manifest.error().message);
  if (!*manifest) return say_failed("there is no back-fill in " + work_.path());
  manifest_ = std::move(**manifest);
  if (arguments_.task > static_cast<std::int64_t>(manifest_.tasks.size())) {
    return say_bad(fmt::format("{} has {} tasks, and no task {}", work_.path(),
                               manifest_.tasks.size(), arguments_.task));
  }
  auto push = push_options_of(manifest_);
  if (!push) return say_failed(push.error().message);
  auto catalog = read_catalog(manifest_.catalog_file);
  if (!catalog) return say_failed(catalog.error().message);
  backfill::TaskWork task{work_, manifest_, arguments_.task, std::move(*catalog), {}, {}, {}};
  task.push = std::move(*push);
  task.push.machine +=
      fmt::format(" (backfill, task {} of {})", task.number, manifest_.tasks.size());
  if (const std::string array = variable_of_shell("SLURM_ARRAY_JOB_ID"); !array.empty()) {
    task.slurm_job = fmt::format("{}_{}", array, task.number);
  }
  task.signal = [this](milliseconds limit) { return signals_.wait(limit); };
  const backfill::TaskOutcome outcome = backfill::run_task(task);
  if (outcome.end == backfill::TaskEnd::done) {
    std::cerr << fmt::format("task {} is done\n", task.number);
    return 0;
  }
  say_failed(fmt::format("task {}: {}", task.number, outcome.message));
  return outcome.end == backfill::TaskEnd::stopped ? kSignalExit + outcome.signal : kFailed;
}

int run_backfill(const BackfillArguments& arguments) {
  auto work = work_folder_of(arguments);
  if (!work) return say_bad(work.error().message);
  try {
    Backfill backfill(arguments, std::move(*work));
    return arguments.task > 0 ? backfill.do_task() : backfill.run();
  } catch (const std::exception& error) {
    return say_failed(error.what());
  }
}

void add_options(CLI::App& command, BackfillArguments& arguments) {
  command.add_flag("--slurm", arguments.uses_slurm, "Submit the tasks as one array job of Slurm");
  command
      .add_option("--tasks", arguments.tasks, "Into how many tasks the trees are cut (default: 32)")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000));
  command
      .add_option("--at-once", arguments.at_once,
                  "So many tasks at a time (default: one here; with --slurm as Slurm likes)")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000));
  command
      .add_option("--work-folder", arguments.work_folder,
                  "Where the cut and the progress are kept; nodes see it (default: "
                  "backfill-NAME of the cluster, in this folder)")
      ->type_name("DIR");
  command
      .add_option("--db-folder", arguments.database_folder,
                  "On a local disk of each node: where a task's database is while it runs "
                  "(default: /var/tmp)")
      ->type_name("DIR");
  command.add_flag("--allow-network-file-system", arguments.allow_network_file_system,
                   "Keep these databases on a file system that is not known to be local");
  command.add_flag(
      "--skip-unreadable", arguments.skips_unreadable,
      "A task is done though logs of it cannot be read, as cut off .gz files; --status "
      "names the first one of each task");
  add_push_options(command, arguments.push);
  add_catalog_option(command, arguments.catalog_file);
  command
      .add_option("--slurm-arg", arguments.slurm_arguments,
                  "With --slurm: an option of sbatch, as account=NAME, partition=NAME, "
                  "cpus-per-task=4; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);  // what follows is a ROOT
  command.add_flag("--copy-program", arguments.copies_program,
                   "With --slurm: start a copy of this program in the work folder");
}

}  // namespace

void add_backfill_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<BackfillArguments>();
  CLI::App* const command =
      app.add_subcommand("backfill", "Read old trees into a central server, by many tasks at once");
  add_options(*command, *arguments);
  command->add_flag("--wait", arguments->waits, "With --slurm: stay until the tasks have ended");
  CLI::Option* const dry_run = command->add_flag(
      "--dry-run", arguments->is_dry_run, "Print the cut and the batch script, and do nothing");
  CLI::Option* const status = command->add_flag("--status", arguments->shows_status,
                                                "Say in one line how far the tasks are");
  command
      ->add_option("--task", arguments->task,
                   "Do one task of the work folder here; the array job's tasks say this")
      ->type_name("K")
      ->check(CLI::Range(1, 100'000))
      ->excludes(dry_run, status);
  status->excludes(dry_run);
  command->add_option("ROOT", arguments->roots,
                      "trees to read (default: $LLMB_WORKLOAD, else $STAGE_PATH, else every folder "
                      "in $LLMB_INSTALL/workloads)");
  command->footer(kBackfillFooter);
  command->callback([arguments, &exit_code] { exit_code = run_backfill(*arguments); });
}

}  // namespace llmb::cli
