#include "server/cli/commands.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

#include "server/cli/catalog_option.h"
#include "server/cli/certification.h"
#include "server/cli/cluster_section.h"
#include "server/cli/complaint.h"
#include "server/cli/exit_codes.h"
#include "server/cli/job_desk.h"
#include "server/cli/job_table.h"
#include "server/cli/job_waiting.h"
#include "server/cli/submission_options.h"
#include "server/dispatch/account.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/launch_variables.h"
#include "server/dispatch/plan_submission.h"
#include "server/dispatch/runner_place.h"
#include "server/dispatch/send_queue.h"
#include "server/dispatch/text_check.h"
#include "server/report/text_table.h"

namespace llmb::cli {
namespace {

constexpr const char* kSubmitFooter = R"(Examples:
  llmb-report submit -w pretrain_nemotron4 -s 15b --dtype bf16 --scale 16
  llmb-report submit -w pretrain_grok1 -s 314b --dtype fp8 --gpu-type gb200 --scale 128,256,512 -r 3
  llmb-report submit -w pretrain_grok1 -s 314b --dtype fp8 --scale 512 --dry-run
  llmb-report submit -w pretrain_nemotron4 -s 15b --dtype bf16 --scale 4 --proxy \
      --set num-layers=2 --set hidden-size=64 --set steps=50 --wait
  llmb-report submit --file jobs.json --wait
  llmb-report submit -w pretrain_grok1 -s 314b --dtype fp8 --scale 128,256,512 --until 3 --at-once 4

What happens:
  Each job starts llmb-step-runner once a GPU, or an installed recipe's own launch.sh. It is
  recorded, then given to sbatch; a job that Slurm refused is recorded as not submitted, with what
  Slurm said. --dry-run prints the exact command and script instead. Without --wait it returns at
  once; llmb-report jobs shows how they go on, and llmb-report serve follows and ingests them.

Where jobs go:
  To the cluster of --config, else to the one that this machine's Slurm commands reach.
  The recipes' launch variables count from the shell and by --env (JOB_TOTAL_GPUS, DTYPE,
  MODEL_SIZE, GPU_TYPE, GPUS_PER_NODE, ENABLE_PROFILE, ENABLE_NCCLTRACE …, and NUM_NODES with
  --document grok1-24.11); HF_TOKEN reaches jobs by the environment only. --dry-run names where
  every value came from.
  LLMB_WORKLOAD (or STAGE_PATH) is where runs lie, under experiments/; where only LLMB_INSTALL is
  set, its workloads/<workload> is. SBATCH_ACCOUNT, SBATCH_PARTITION, SBATCH_GPUS_PER_NODE and
  ADDITIONAL_SLURM_PARAMS ("nodelist=n1,n2;constraint=gpu": semicolons separate) count as the
  recipes document them. Options outrank the environment, the environment outranks the file.

Exit status: 0 when all was submitted (with --wait: completed, and every log has its steps; with
--until: there), 1 when something was not, 2 for bad arguments.)";

struct SubmitArguments {
  DeskArguments desk;
  SubmissionArguments submission;
  std::string catalog_file;
  std::string idempotency_key;
  bool is_dry_run = false;
  bool copies_runner = false;
  bool waits = false;
  std::optional<std::int64_t> results_wanted;
  std::optional<std::int64_t> attempts;
  std::int64_t jobs_at_once = 1;
};

void print_variables(const dispatch::Environment& environment) {
  std::cout << "\n# it submits a job of its own, with these variables and no others\n";
  for (const auto& [name, value] : environment) {
    if (dispatch::is_secret_variable(name)) {
      std::cout << "# " << name << " is set: a secret, which is not shown\n";
    } else {
      std::cout << name << '=' << dispatch::shell_quoted(value) << '\n';
    }
  }
  std::cout << '\n';
}

int print_dry_runs(const std::vector<dispatch::DryRun>& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::cout << "# job " << i + 1 << " of " << runs.size()
              << "; its mark and the timestamp will differ\n";
    for (const dispatch::PlannedValue& value : runs[i].plan.values) {
      std::cout << fmt::format("#   {} = {} ({})\n", value.name, value.value, value.origin);
    }
    for (const std::string& note : runs[i].plan.notes) std::cout << "# note: " << note << '\n';
    for (const std::string& word : runs[i].arguments) {
      std::cout << (&word == &runs[i].arguments.front() ? "" : " ") << dispatch::shell_quoted(word);
    }
    if (runs[i].plan.submits_itself) {
      print_variables(runs[i].environment);
    } else {
      std::cout << "\n# " << runs[i].place.script_file << '\n' << runs[i].script << '\n';
    }
  }
  return 0;
}

// What the shell that submits has set of the recipes' launch variables.
dispatch::Environment shell_variables(const std::vector<std::string_view>& names) {
  dispatch::Environment found;
  for (const std::string_view name : names) {
    const char* const value = std::getenv(std::string(name).c_str());
    if (value != nullptr && *value != '\0') found[std::string(name)] = value;
  }
  return found;
}

// The launch variables without the secrets, of which a plan knows only that they are set.
dispatch::Environment launch_environment(const dispatch::Environment& secrets) {
  dispatch::Environment shell = shell_variables(dispatch::launch_variable_names());
  shell.merge(shell_variables(dispatch::variables_without_effect()));
  for (const auto& [name, value] : secrets) shell[name] = "set";
  return shell;
}

int tell_refusal(const dispatch::SubmitOutcome& outcome) {
  using Kind = dispatch::Refusal::Kind;
  const dispatch::Refusal& refusal = *outcome.refusal;
  // The table says it where the job is in it.
  const bool is_shown = std::any_of(
      outcome.jobs.begin(), outcome.jobs.end(),
      [&](const storage::JobRecord& job) { return job.trouble.starts_with(refusal.message); });
  if (!is_shown) complain("submit", refusal.message, 0);
  const bool is_bad = refusal.kind == Kind::invalid || refusal.kind == Kind::conflict;
  return is_bad ? kBadArguments : kFailed;
}

void place_runner(dispatch::ClusterSettings& cluster, const SubmitArguments& arguments,
                  const std::vector<dispatch::Submission>& submissions) {
  // Recipes start none: nothing is copied for them, and what nodes see of it does not matter.
  const bool is_started = std::any_of(
      submissions.begin(), submissions.end(),
      [](const dispatch::Submission& submission) { return submission.launcher != "recipe"; });
  if (!is_started) {
    if (arguments.copies_runner) {
      std::cerr << "note: --copy-runner has no effect: the launcher 'recipe' starts no runner\n";
    }
    return;
  }
  cluster.copies_runner = cluster.copies_runner || arguments.copies_runner;
  const auto note = dispatch::place_runner(
      cluster, arguments.is_dry_run ? dispatch::CopyRunner::only_name : dispatch::CopyRunner::make);
  if (!note) throw std::runtime_error(note.error().message);
  if (!note->empty()) std::cerr << "note: " << report::printable(*note) << '\n';
}

// An error where none is known: of some, the plans of the others say it, with the jobs' numbers.
parser::Result<std::set<std::string>> known_workloads(
    const std::vector<dispatch::Submission>& submissions, const parser::Catalog& catalog) {
  std::set<std::string> names;
  std::optional<parser::Error> first_error;
  for (const dispatch::Submission& submission : submissions) {
    const auto workload = dispatch::known_workload(submission.workload, catalog);
    if (workload) {
      names.insert((*workload)->workload);
    } else if (!first_error) {
      first_error = workload.error();
    }
  }
  if (names.empty() && first_error) return tl::unexpected(*first_error);
  return names;
}

int submit(const SubmitArguments& arguments) {
  const auto submissions = submissions_of(arguments.submission);
  if (!submissions) return complain("submit", submissions.error().message, kBadArguments);
  const auto catalog = read_catalog(arguments.catalog_file);
  if (!catalog) return complain("submit", catalog.error().message, kBadArguments);
  DeskArguments desk_arguments = arguments.desk;
  if (auto known = known_workloads(*submissions, **catalog)) {
    desk_arguments.workloads = std::move(*known);
  } else {
    return complain("submit", known.error().message, kBadArguments);
  }
  const dispatch::Environment secrets = shell_variables(dispatch::secret_variables());
  if (arguments.is_dry_run) {
    dispatch::ClusterSettings cluster = submitting_cluster(desk_arguments);
    cluster.launch_environment = launch_environment(secrets);
    cluster.knows_shell = true;
    // Before a copy takes its place, which is not made here.
    const dispatch::RunnerFacts runner = dispatch::ask_runner(cluster);
    place_runner(cluster, arguments, *submissions);
    auto runs = dispatch::dry_run(*submissions, cluster, **catalog, runner);
    if (!runs) return complain("submit", runs.error().message, kBadArguments);
    return print_dry_runs(*runs);
  }
  JobDesk desk = open_job_desk(desk_arguments, true);
  desk.settings.launch_environment = launch_environment(secrets);
  desk.settings.knows_shell = true;
  place_runner(desk.settings, arguments, *submissions);
  dispatch::RunnerProbe runner(desk.settings);
  dispatch::Dispatcher dispatcher(desk.settings, **catalog, *desk.store, runner);
  dispatch::JobSender sender(desk.settings, **catalog, *desk.store, runner, {}, secrets);
  const std::string user = dispatch::own_account().name;
  if (arguments.results_wanted) {
    const std::int64_t results = *arguments.results_wanted;
    return certify(desk, dispatcher, sender, *submissions, user,
                   {results, arguments.attempts.value_or(2 * results), arguments.jobs_at_once});
  }
  dispatch::SubmitOutcome outcome =
      dispatcher.submit({*submissions, user, arguments.idempotency_key, false, {}});
  dispatch::send_all(sender, outcome);
  for (const std::string& note : outcome.notes)
    std::cerr << "note: " << report::printable(note) << '\n';
  if (outcome.is_repeated) {
    std::cerr << "This request came before; these are its jobs"
              << (outcome.has_new() ? ", those again that Slurm never took.\n" : ".\n");
  }
  if (!outcome.jobs.empty()) write_job_table(outcome.jobs, std::cout);
  const int exit_code = outcome.refusal ? tell_refusal(outcome) : 0;
  if (!arguments.waits || exit_code == kBadArguments || outcome.jobs.empty()) return exit_code;
  std::vector<storage::JobRowId> ids;
  ids.reserve(outcome.jobs.size());
  for (const storage::JobRecord& job : outcome.jobs) ids.push_back(job.id);
  const int waited = wait_for_jobs(desk, ids);
  return exit_code == 0 ? waited : exit_code;
}

}  // namespace

void add_submit_command(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<SubmitArguments>();
  CLI::App* const command = app.add_subcommand("submit", "Submit training jobs through Slurm");
  add_submission_options(*command, arguments->submission);
  command->add_flag("--dry-run", arguments->is_dry_run,
                    "Print the exact command line and script, and submit nothing");
  command->add_flag("--copy-runner", arguments->copies_runner,
                    "Start a copy of llmb-step-runner in programs/ of the folder for runs, which "
                    "the nodes see; it is made once");
  command->add_flag("--wait", arguments->waits, "Wait for the jobs, and show their results");
  command
      ->add_option("--idempotency-key", arguments->idempotency_key,
                   "Submit once, however often the command is repeated with this key; only what "
                   "Slurm never took is tried again")
      ->type_name("TEXT")
      ->check([](const std::string& key) {
        if (!dispatch::trimmed(key).empty()) return std::string();
        return std::string("the key is empty, so that each repetition would submit another job");
      });
  CLI::Option* const until =
      command
          ->add_option("--until", arguments->results_wanted,
                       "Go on until each configuration has N valid results: what there is counts, "
                       "what fails is submitted again")
          ->type_name("N")
          ->check(CLI::Range(1, 1'000))
          ->excludes("--wait", "--dry-run", "--idempotency-key");
  command
      ->add_option("--attempts", arguments->attempts,
                   "With --until: jobs of each configuration at most (default: 2 N)")
      ->type_name("M")
      ->check(CLI::Range(1, 10'000))
      ->needs(until);
  command
      ->add_option("--at-once", arguments->jobs_at_once,
                   "With --until: jobs at once, of all configurations")
      ->type_name("K")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str()
      ->needs(until);
  add_catalog_option(*command, arguments->catalog_file);
  add_desk_options(*command, arguments->desk);
  command->footer(kSubmitFooter + std::string("\n\n") + std::string(kClusterHelp));
  command->callback([arguments, &exit_code] {
    exit_code = run_at_desk("submit", [&] { return submit(*arguments); });
  });
}

}  // namespace llmb::cli
