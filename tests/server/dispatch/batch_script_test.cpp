#include "server/dispatch/batch_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "parser/layout/llmb_config.h"
#include "parser/layout/run_path.h"
#include "server/dispatch/command_run.h"
#include "server/dispatch/plan_submission.h"
#include "server/dispatch/submission_mark.h"
#include "server/dispatch/text_check.h"
#include "tests/patience.h"

namespace llmb::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

ClusterSettings settings() {
  ClusterSettings settings;
  settings.name = "eos";
  settings.workload_folder = "/lustre/workloads/pretrain_grok1";
  settings.slurm = {{"account", "bench_team"}, {"gpus-per-node", "8"}, {"partition", "batch"}};
  settings.launch_scripts = {{"pretrain_grok1", "/opt/llmb/grok1/launch.sh"}};
  settings.takes_any_container = true;
  return settings;
}

Submission grok() {
  Submission submission;
  submission.workload = "pretrain_grok1";
  submission.model_size = "314b";
  submission.dtype = "fp8";
  submission.scale = 128;
  submission.gpu_type = "gb200";
  return submission;
}

const RunnerFacts kRunner{"llmb-step-runner 1.0", {"cpu", "cuda"}, ""};

Plan planned(const Submission& submission) {
  auto plan = plan_submission(submission, settings(), parser::embedded_catalog(), kRunner);
  if (!plan) ADD_FAILURE() << plan.error().message;
  return plan.value_or(Plan{});
}

const Launch kLaunch{"llmb-0123456789abcdef0123456789abcdef", "1795264663", 1'795'264'663, 123'456,
                     3'600};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

CommandResult bash(const std::string& script) {
  return run_command({{"/bin/bash", "-c", script}, {}, kTestPatience});
}

TEST(RunPlace, IsWhereTheLayoutsReaderLooks) {
  const Plan plan = planned(grok());
  const RunPlace place = run_place(plan, settings(), kLaunch);
  const std::string root = settings().workload_folder + "/";
  const std::string log = place.run_folder + "/log-" + place.job_name + "_4711_2.out";
  ASSERT_EQ(log.substr(0, root.size()), root);
  const auto path = parser::parse_run_path(log.substr(root.size()));
  EXPECT_EQ(parser::classify_file(log.substr(root.size())), parser::FileRole::training_log);
  EXPECT_EQ(path.experiment, plan.experiment);
  EXPECT_EQ(path.launch_id, place.launch_id);
  EXPECT_EQ(path.job_id, 4711);
  EXPECT_EQ(path.retry, 2);
}

TEST(LlmbConfigText, SaysWhatItsReaderReads) {
  Submission submission = grok();
  submission.environment["NCCL_DEBUG"] = "it's: {a}";
  const std::string text = llmb_config_text(planned(submission), settings(), kLaunch, "4711");
  const auto config = parser::parse_llmb_config(text);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->job_id, 4711);
  EXPECT_NE(text.find("2026-11-21T13:37:43.123456"), std::string::npos);
  const auto value = [&](const char* key) {
    return config->configuration.value(key).value_or("nothing");
  };
  EXPECT_EQ(value("model"), "grok1");
  EXPECT_EQ(value("dtype"), "fp8");
  EXPECT_EQ(value("gpu_count"), "128");
  EXPECT_EQ(value("cluster"), "eos");
  EXPECT_EQ(value("job_config.env_overrides.NCCL_DEBUG"), "it's: {a}");
}

TEST(BatchScript, StartsTheRunnerOnceARank) {
  const std::string script = batch_script(planned(grok()), settings(), kLaunch);
  EXPECT_EQ(lines_of(script).front(), "#!/bin/bash");
  EXPECT_THAT(script, HasSubstr("--nodes=32 --ntasks=128 --ntasks-per-node=4 "));
  EXPECT_THAT(script, HasSubstr("srun --export=ALL "));
  EXPECT_THAT(script, HasSubstr("'llmb-step-runner' '--workload=pretrain_grok1'"));
  EXPECT_THAT(script, HasSubstr("export JOB_TOTAL_GPUS='128'\n"));
  EXPECT_EQ(bash("bash -n <<'END_OF_SCRIPT'\n" + script + "END_OF_SCRIPT\n").errors, "");
}

std::string script_folder() {
  return testing::TempDir() + "batch_script_" + std::to_string(getpid());
}

// The batch script of such a job, run here beside the shell functions that `functions` defines:
// what it prints, "rc <code>", and the files of its folder.
CommandResult run_script(const Submission& submission, const std::string& functions) {
  const std::string folder = script_folder();
  std::string script = batch_script(planned(submission), settings(), kLaunch);
  const std::string run_folder = run_place(planned(submission), settings(), kLaunch).run_folder;
  for (std::size_t at = 0; (at = script.find(run_folder)) != std::string::npos;) {
    script.replace(at, run_folder.size(), folder);
  }
  return bash("mkdir " + shell_quoted(folder) + "\nexport SLURM_JOB_ID=77 SLURM_RESTART_COUNT=3\n" +
              functions + "/bin/bash -c " + shell_quoted(script) + "; echo \"rc $?\"; cd /; cat " +
              shell_quoted(folder) + "/*; rm -r " + shell_quoted(folder));
}

TEST(BatchScript, TakesRunnerAndEnvironmentThroughTheShellUnchanged) {
  Submission submission = grok();
  submission.environment["NCCL_DEBUG"] = "a'b\"c$(id)`id`\\ $HOME;&|<>*";
  const std::string folder = script_folder();
  const CommandResult result = run_script(
      submission, "srun() { printf '%s\\n' \"$NCCL_DEBUG\" \"$@\"; return 9; }\nexport -f srun\n");
  const auto lines = lines_of(result.output);
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(lines.front(), "job started, restart 3");
  EXPECT_THAT(lines, Contains(submission.environment["NCCL_DEBUG"]));
  EXPECT_THAT(lines, Contains("--output=" + folder + "/log-bench_team-team." +
                              planned(submission).experiment + "_77_3.out"));
  EXPECT_THAT(lines, Contains("--scale=128"));
  EXPECT_THAT(lines, Contains("job exited with code 9"));
  EXPECT_THAT(lines, Contains("rc 9"));
  EXPECT_THAT(lines, Contains("  job_id: '77'"));
}

TEST(BatchScript, StartsNoRankWithoutAKey) {
  const std::string srun = "srun() { echo \"key ${#LLMB_RENDEZVOUS_KEY}\"; }\nexport -f srun\n";
  EXPECT_THAT(lines_of(run_script(grok(), srun).output), Contains("key 32"));
  for (const char* broken :
       {"od() { return 1; }\nexport -f od\n", "od() { echo ' 00 11'; }\nexport -f od\n",
        "tr() { return 127; }\nexport -f tr\n"}) {
    const CommandResult result = run_script(grok(), srun + broken);
    const auto lines = lines_of(result.output);
    EXPECT_THAT(lines, Contains("rc 1")) << broken;
    EXPECT_THAT(lines, Contains("job exited with code 1")) << broken;
    EXPECT_THAT(result.output, HasSubstr("job cannot start: od and tr made no key"));
    EXPECT_THAT(result.output, Not(HasSubstr("key 0"))) << broken;
  }
}

TEST(BatchScript, SaysWhichRunnerItIsAndWhatSignalsCame) {
  const std::string script = batch_script(planned(grok()), settings(), kLaunch);
  EXPECT_THAT(script, HasSubstr("sha256sum <"));
  EXPECT_THAT(script, HasSubstr("ulimit -c 0\n"));
  EXPECT_THAT(script, testing::ContainsRegex("trap .*SIGUSR1.* USR1\n"));
  EXPECT_THAT(sbatch_arguments(planned(grok()), settings(), kLaunch),
              testing::AllOf(Contains("--time=00:35:00"), Contains("--signal=B:USR1@60")));
  // The traps and the wait of the script, around a child that takes its time.
  const std::size_t traps = script.find("child=\n");
  const std::size_t wait = script.find("child=$!\n");
  ASSERT_NE(traps, std::string::npos);
  ASSERT_NE(wait, std::string::npos);
  const std::string text = script.substr(traps, script.find("llmb-config") - traps);
  const std::string head = text.substr(0, text.find("{\n"));
  const CommandResult result =
      bash(head + "( trap 'exit 7' TERM; while :; do kill -TERM $$; sleep 0.05; done ) &\n" +
           script.substr(wait));
  EXPECT_THAT(result.output, HasSubstr("job got SIGTERM at "));
  EXPECT_THAT(result.output, HasSubstr("job exited with code 7\n"));
}

TEST(BatchScript, StartsARecipesOwnScriptInItsFolder) {
  Submission submission = grok();
  submission.launcher = "recipe";
  submission.gpu_type = "h100";
  submission.document = "grok1-24.11";
  submission.slurm = {{"nodelist", "n1,n2"}, {"contiguous", ""}};
  const std::string script = batch_script(planned(submission), settings(), kLaunch);
  EXPECT_THAT(script, HasSubstr("cd '/opt/llmb/grok1/' || exit 1\n/bin/bash './launch.sh' "));
  EXPECT_THAT(script, HasSubstr("export SBATCH_ACCOUNT='bench_team'\n"));
  EXPECT_THAT(script, HasSubstr("contiguous;exclusive;mem=0;nodelist=n1,n2'\n"));
  EXPECT_THAT(script, HasSubstr("export DTYPE='fp8'\n"));
  EXPECT_THAT(script, Not(HasSubstr("srun")));
}

TEST(SbatchArguments, NameEveryOptionOnce) {
  const auto arguments = sbatch_arguments(planned(grok()), settings(), kLaunch);
  EXPECT_EQ(arguments.front(), "sbatch");
  EXPECT_THAT(arguments, Contains("--export=ALL"));
  EXPECT_THAT(arguments, Contains("--comment=" + kLaunch.submission_id));
  EXPECT_THAT(arguments, Contains("--exclusive"));
  EXPECT_EQ(arguments.back(), run_place(planned(grok()), settings(), kLaunch).script_file);
  std::set<std::string> names;
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
    EXPECT_TRUE(names.insert(arguments[i].substr(0, arguments[i].find('='))).second) << i;
  }
}

TEST(SubmissionId, IsNeverTheSame) {
  EXPECT_EQ(new_submission_id().size(), 37U);
  EXPECT_NE(new_submission_id(), new_submission_id());
}

// Two thousand texts that mean harm, in every field that takes text.
std::string hostile_text(std::mt19937_64& random) {
  static const std::vector<std::string> pieces = {"\n#SBATCH --uid=0\n",
                                                  "'; id; '",
                                                  "$(id)",
                                                  "`id`",
                                                  "\n",
                                                  "\r",
                                                  std::string(1, '\0'),
                                                  "\x1f",
                                                  "|9|COMPLETED",
                                                  "--wrap=id",
                                                  "-",
                                                  "--",
                                                  "%j",
                                                  "%",
                                                  "\\",
                                                  "..",
                                                  "/",
                                                  "=",
                                                  ",",
                                                  ";",
                                                  "&",
                                                  " ",
                                                  "\t",
                                                  "\xff\xfe",
                                                  "€",
                                                  "END_OF_LLMB_CONFIG",
                                                  "EOF",
                                                  "node1",
                                                  "batch",
                                                  "8",
                                                  "\"",
                                                  "'",
                                                  "*",
                                                  "{}",
                                                  "~",
                                                  "!",
                                                  "\x7f",
                                                  "\x1b[2J",
                                                  std::string(5'000, 'A'),
                                                  "0:0",
                                                  "export",
                                                  "@job@"};
  std::string text;
  const std::size_t count = 1 + random() % 4;
  for (std::size_t i = 0; i < count; ++i) text += pieces[random() % pieces.size()];
  return text;
}

Submission hostile(const std::string& text, std::uint64_t field) {
  Submission submission = grok();
  const std::array<std::string*, 6> texts = {
      &submission.workload, &submission.model_size, &submission.dtype,
      &submission.gpu_type, &submission.backend,    &submission.load_checkpoint_path};
  if (field >= 11) submission.container_image = "nvcr.io#nvidia/nemo:25.04";
  if (field < texts.size()) *texts.at(field) = text;
  if (field == 6) submission.environment["NCCL_DEBUG"] = text;
  if (field == 7) submission.environment[text] = "1";
  if (field == 8) submission.slurm["constraint"] = text;
  if (field == 9) submission.slurm["account"] = text;
  if (field == 10) submission.runner_options[text] = 1;
  if (field == 11) submission.container_image = text;
  if (field == 12) submission.container_mounts = text;
  return submission;
}

// As it comes in from outside, so that it passes what every submission passes.
parser::Result<Plan> plan_from_outside(const Submission& submission) {
  const auto read = parse_submissions(submission_json(submission));
  if (!read) return tl::unexpected(read.error());
  return plan_submission(read->front(), settings(), parser::embedded_catalog(), kRunner);
}

TEST(BatchScript, LetsNothingHostileBecomeALineOrAWord) {
  std::mt19937_64 random(5);
  std::string proof;
  std::vector<std::string> expected;
  int refused = 0;
  const std::size_t argument_count = sbatch_arguments(planned(grok()), settings(), kLaunch).size();
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    const std::string text = hostile_text(random);
    const auto plan = plan_from_outside(hostile(text, i % 13));
    if (!plan) {
      ++refused;
      const std::string& message = plan.error().message;
      EXPECT_TRUE(std::none_of(message.begin(), message.end(), [](char c) {
        return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
      })) << message;
      EXPECT_LT(plan.error().message.size(), 3'000U);
      continue;
    }
    for (const std::string& argument : sbatch_arguments(*plan, settings(), kLaunch)) {
      ASSERT_TRUE(is_printable(argument)) << argument;
    }
    EXPECT_LE(sbatch_arguments(*plan, settings(), kLaunch).size(), argument_count + 1);
    const std::string script = batch_script(*plan, settings(), kLaunch);
    for (const std::string& line : lines_of(script)) {
      ASSERT_TRUE(line.empty() || line.front() != '#' || line == "#!/bin/bash" ||
                  line.rfind("# Written by llmb-report: ", 0) == 0)
          << line;
    }
    const auto debug = plan->environment.find("NCCL_DEBUG");
    if (debug == plan->environment.end()) continue;
    const std::size_t begin = script.find("export NCCL_DEBUG=");
    proof += script.substr(begin, script.find('\n', begin) - begin);
    proof += "\nprintf '%s\\n' \"$NCCL_DEBUG\"\n";
    expected.push_back(debug->second);
  }
  EXPECT_GT(refused, 1'000);
  ASSERT_GT(expected.size(), 20U);
  const CommandResult result = bash(proof);
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(lines_of(result.output), expected);
}

}  // namespace
}  // namespace llmb::dispatch
