// What llmb-step-runner says of a plan's options is told before Slurm is asked. The runner is a
// script here; tests/slurm has the real one.
#include "server/dispatch/runner_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/dispatch/slurm_stand_in.h"

namespace llmb::dispatch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

CommandResult ended_with(int exit_code, const std::string& output, const std::string& errors) {
  CommandResult result;
  result.end = CommandResult::End::exited;
  result.exit_code = exit_code;
  result.output = output;
  result.errors = errors;
  return result;
}

TEST(RunnerVerdict, IsWhatTheRunnerSays) {
  const auto refused =
      runner_verdict(ended_with(2, "", "llmb-step-runner: refused: 6 ranks\nRun with --help\n"));
  EXPECT_EQ(refused.refusal, "llmb-step-runner refuses it: 6 ranks; Run with --help");
  const auto too_large = runner_verdict(
      ended_with(3, "memory\ndoes not fit: 200 GiB\n--tp 8 would fit\n--num-layers 9 too\n", ""));
  EXPECT_THAT(too_large.refusal, IsEmpty());
  EXPECT_EQ(too_large.lack, "200 GiB; --tp 8 would fit");
}

// As plan_text.cpp of the runner prints them; of Nsight's variables the job's script knows more.
TEST(RunnerVerdict, HasTheNotesOfThePlan) {
  const auto noted = runner_verdict(
      ended_with(0,
                 "recipe     pretrain_x, document x line 1\n"
                 "           note: the row states VP 12 with PP 1: VP is 1\n"
                 "           note: ENABLE_GPU_METRICS is set and has no effect on this program\n"
                 "layout     note: none\n",
                 ""));
  EXPECT_THAT(noted.notes,
              testing::ElementsAre("llmb-step-runner: the row states VP 12 with PP 1: VP is 1"));
}

TEST(RunnerVerdict, IsARefusalOfGraphsThatTheRunWouldNotHave) {
  const auto verdict = runner_verdict(
      ended_with(0, "layout\n           no CUDA graphs: only CUDA has them\nFLOPs\n", ""));
  EXPECT_EQ(verdict.refusal,
            "llmb-step-runner has no CUDA graphs here: only CUDA has them; leave out --set "
            "cuda-graphs");
}

TEST(RunnerVerdict, IsNoneWhereTheRunnerSaysNothingOfTheOptions) {
  CommandResult late = ended_with(2, "", "llmb-step-runner: refused: x");
  late.end = CommandResult::End::timed_out;
  for (const CommandResult& result :
       {ended_with(0, "a plan\n", ""), ended_with(2, "", "unknown option --dry-run\n"),
        ended_with(1, "", "llmb-step-runner: refused: x"), ended_with(3, "", ""), late}) {
    const auto verdict = runner_verdict(result);
    EXPECT_THAT(verdict.refusal + verdict.lack, IsEmpty());
    EXPECT_THAT(verdict.notes, IsEmpty());
  }
}

TEST(RunnerFacts, SayOfARunnerThatCannotBeStartedWhatToDo) {
  SlurmStandIn slurm;
  slurm.settings.runner = slurm.folder() + "/runner";
  SlurmStandIn::write(slurm.settings.runner, "no program\n");
  const std::string trouble = ask_runner(slurm.settings).trouble;
  EXPECT_THAT(trouble, AllOf(HasSubstr("cannot be started: Permission denied"),
                             HasSubstr("'runner'"), HasSubstr("--copy-runner")));
  EXPECT_THAT(trouble, testing::Not(HasSubstr("Slurm")));
}

class RunnerTrial : public testing::Test {
 protected:
  // Says which options it was given beside --dry-run, and then does as `lines` of shell say.
  void be_runner(const std::string& lines) {
    slurm_.settings.runner = slurm_.folder() + "/runner";
    SlurmStandIn::write(slurm_.settings.runner,
                        "#!/bin/sh\n[ \"$1\" != --version ] || { echo llmb-step-runner 1.0; echo "
                        "backends: cpu cuda; exit; }\nprintf '%s ' \"$@\" >>" +
                            slurm_.folder() + "/tried\n" + lines + "\n");
    std::filesystem::permissions(slurm_.settings.runner, std::filesystem::perms::owner_all);
  }
  std::string tried() const { return SlurmStandIn::read(slurm_.folder() + "/tried"); }

  SlurmStandIn slurm_;
};

TEST_F(RunnerTrial, ARefusedJobIsNotSubmitted) {
  be_runner("echo 'llmb-step-runner: refused: the scale must be a multiple of 3' >&2; exit 2");
  RunnerProbe probe(slurm_.settings);
  Dispatcher dispatcher(slurm_.settings, parser::embedded_catalog(), *slurm_.store, probe);
  const SubmitRequest request = {{small_submission(), small_submission()}, "me", "", false, {}};
  const SubmitOutcome outcome = dispatcher.submit(request);
  ASSERT_TRUE(outcome.refusal);
  EXPECT_EQ(outcome.refusal->kind, Refusal::Kind::invalid);
  EXPECT_EQ(outcome.refusal->message,
            "llmb-step-runner refuses it: the scale must be a multiple of 3");
  EXPECT_THAT(outcome.jobs, IsEmpty());
  EXPECT_THAT(tried(), AllOf(HasSubstr("--dry-run --workload=pretrain_nemotron4 "),
                             HasSubstr("--scale=16 ")));
  EXPECT_EQ(tried().find("--dry-run"), tried().rfind("--dry-run")) << "jobs alike are tried once";
  EXPECT_FALSE(dispatcher.dry_run(request.submissions));
}

TEST_F(RunnerTrial, WhatDoesNotFitIsNotedAndOfAProxyRefused) {
  be_runner("echo '           note: a'; echo 'does not fit: 200 GiB'; exit 3");
  RunnerProbe probe(slurm_.settings);
  Dispatcher dispatcher(slurm_.settings, parser::embedded_catalog(), *slurm_.store, probe);
  Submission submission = small_submission();
  const auto on_cpu = dispatcher.dry_run({submission});
  ASSERT_TRUE(on_cpu) << on_cpu.error().message << ": the nodes may have more memory";
  EXPECT_THAT(on_cpu->front().plan.notes, Contains("llmb-step-runner: a"));
  submission.backend = "cuda";
  const auto proxy = dispatcher.dry_run({submission});
  ASSERT_FALSE(proxy);
  EXPECT_THAT(proxy.error().message,
              AllOf(HasSubstr("by llmb-step-runner's plan: 200 GiB"),
                    HasSubstr("spread it over ranks: --set tp=2, as 16 h100 have")));
  submission.proxy = false;
  const auto row = dispatcher.dry_run({submission});
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_THAT(row->front().plan.notes, Contains(EndsWith("by llmb-step-runner's plan: 200 GiB")));
}

TEST_F(RunnerTrial, ARecipesScriptIsNotTheRunners) {
  be_runner("echo 'llmb-step-runner: refused: no' >&2; exit 2");
  slurm_.settings.launch_scripts["pretrain_nemotron4"] = "/recipes/launch.sh";
  RunnerProbe probe(slurm_.settings);
  Dispatcher dispatcher(slurm_.settings, parser::embedded_catalog(), *slurm_.store, probe);
  Submission submission = small_submission();
  submission.launcher = "recipe";
  submission.proxy = false;
  EXPECT_TRUE(dispatcher.dry_run({submission}));
  EXPECT_THAT(tried(), IsEmpty());
}

}  // namespace
}  // namespace llmb::dispatch
