#include "server/cli/commands.h"

#include <pwd.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

#include "server/cli/catalog_option.h"
#include "server/cli/cluster_section.h"
#include "server/cli/exit_codes.h"
#include "server/cli/job_desk.h"
#include "server/cli/job_table.h"
#include "server/cli/job_waiting.h"
#include "server/cli/submission_options.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/text_check.h"
#include "server/report/text_table.h"

namespace llmb::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  llmb-report submit -w pretrain_nemotron4 -s 15b --dtype bf16 --scale 16
  llmb-report submit -w pretrain_grok1 -s 314b --dtype fp8 --gpu-type gb200 --scale 128,256,512 -r 3
  llmb-report submit -w pretrain_grok1 -s 314b --dtype fp8 --scale 512 --dry-run
  llmb-report submit -w pretrain_nemotron4 -s 15b --dtype bf16 --scale 4 --proxy --backend cpu \
      --set num-layers=2 --set hidden-size=64 --set steps=50 --wait
  llmb-report submit --file jobs.json --wait

What happens:
  Each job starts llmb-step-runner once a GPU, or an installed recipe's own launch.sh. It is
  recorded, then given to sbatch; a job that Slurm refused is recorded as not submitted, with what
  Slurm said. --dry-run prints the exact command and script instead. Without --wait it returns at
  once; llmb-report jobs shows how they go on, and llmb-report serve follows and ingests them.

Where jobs go:
  To the cluster of --config, else to the one that this machine's Slurm commands reach.
  LLMB_WORKLOAD (or STAGE_PATH) is where runs lie, under experiments/; LLMB_INSTALL, SBATCH_ACCOUNT,
  SBATCH_PARTITION, SBATCH_GPUS_PER_NODE and ADDITIONAL_SLURM_PARAMS count as the recipes document
  them. Options outrank the environment, the environment outranks the file.

Exit status: 0 when all was submitted (with --wait: completed), 1 when something was not, 2 for bad
arguments.)";

struct SubmitArguments {
  DeskArguments desk;
  SubmissionArguments submission;
  std::string catalog_file;
  std::string idempotency_key;
  bool is_dry_run = false;
  bool waits = false;
};

std::string user_name() {
  const passwd* const user = getpwuid(geteuid());
  return user == nullptr ? std::to_string(geteuid()) : user->pw_name;
}

int complain(const std::string& what, int exit_code) {
  std::cerr << "llmb-report submit: " << report::printable(what) << '\n';
  return exit_code;
}

int print_dry_runs(const std::vector<dispatch::DryRun>& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::cout << "# job " << i + 1 << " of " << runs.size()
              << "; its mark and the timestamp will differ\n";
    for (const std::string& word : runs[i].arguments) {
      std::cout << (&word == &runs[i].arguments.front() ? "" : " ") << dispatch::shell_quoted(word);
    }
    std::cout << "\n# " << runs[i].place.script_file << '\n' << runs[i].script << '\n';
  }
  return std::cout.flush() ? 0 : kFailed;
}

int submit(const SubmitArguments& arguments) {
  const auto submissions = submissions_of(arguments.submission);
  if (!submissions) return complain(submissions.error().message, kBadArguments);
  const auto catalog = read_catalog(arguments.catalog_file);
  if (!catalog) return complain(catalog.error().message, kBadArguments);
  if (arguments.is_dry_run) {
    const auto settings = desk_settings(arguments.desk, true);
    auto runs = dispatch::dry_run(*submissions, settings.cluster, **catalog);
    if (!runs) return complain(runs.error().message, kBadArguments);
    return print_dry_runs(*runs);
  }
  JobDesk desk = open_job_desk(arguments.desk, true);
  dispatch::Dispatcher dispatcher(desk.settings, **catalog, *desk.store);
  const dispatch::SubmitOutcome outcome =
      dispatcher.submit({*submissions, user_name(), arguments.idempotency_key});
  if (outcome.is_repeated) std::cerr << "This request came before; these are its jobs.\n";
  if (!outcome.jobs.empty()) write_job_table(outcome.jobs, std::cout);
  if (outcome.refusal) {
    using Kind = dispatch::Refusal::Kind;
    const bool is_bad = outcome.refusal->kind == Kind::invalid ||  //
                        outcome.refusal->kind == Kind::conflict;
    // The table says it where the job is in it.
    const bool is_shown = !outcome.jobs.empty() &&
                          outcome.jobs.back().trouble.rfind(outcome.refusal->message, 0) == 0;
    if (!is_shown) complain(outcome.refusal->message, 0);
    if (is_bad) return kBadArguments;
  }
  if (arguments.waits && !outcome.jobs.empty()) {
    std::vector<storage::JobRowId> ids;
    ids.reserve(outcome.jobs.size());
    for (const storage::JobRecord& job : outcome.jobs) ids.push_back(job.id);
    const int waited = wait_for_jobs(desk, ids);
    return outcome.refusal ? kFailed : waited;
  }
  return outcome.refusal ? kFailed : 0;
}

}  // namespace

void add_submit_command(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<SubmitArguments>();
  CLI::App* const command = app.add_subcommand("submit", "Submit training jobs through Slurm");
  add_submission_options(*command, arguments->submission);
  command->add_flag("--dry-run", arguments->is_dry_run,
                    "Print the exact command line and script, and submit nothing");
  command->add_flag("--wait", arguments->waits, "Wait for the jobs, and show their results");
  command
      ->add_option("--idempotency-key", arguments->idempotency_key,
                   "Submit once, however often the command is repeated with this key")
      ->type_name("TEXT");
  add_catalog_option(*command, arguments->catalog_file);
  add_desk_options(*command, arguments->desk);
  command->footer(kFooter + std::string("\n\n") + std::string(kClusterHelp));
  command->callback([arguments, &exit_code] {
    exit_code = run_at_desk("submit", [&] { return submit(*arguments); });
  });
}

}  // namespace llmb::cli
