#include "server/dispatch/plan_submission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

ClusterSettings nemotron_settings() {
  ClusterSettings settings;
  settings.name = "eos";
  settings.workload_folder = "/lustre/workloads/pretrain_nemotron4";
  settings.slurm = {{"account", "bench_team"}, {"gpus-per-node", "8"}, {"partition", "batch"}};
  return settings;
}

Submission nemotron() {
  Submission submission;
  submission.workload = "pretrain_nemotron4";
  submission.model_size = "15b";
  submission.dtype = "bf16";
  submission.scale = 16;
  return submission;
}

const RunnerFacts kSubmissionRunner{"llmb-step-runner 1.0", {"cpu", "cuda"}, ""};

parser::Result<Plan> plan(const Submission& submission,
                          const RunnerFacts& runner = kSubmissionRunner) {
  return plan_submission(submission, nemotron_settings(), parser::embedded_catalog(), runner);
}

void expect_refused(const Submission& submission, const std::string& because) {
  const auto planned = plan(submission);
  ASSERT_FALSE(planned) << "not refused: " << because;
  EXPECT_THAT(planned.error().message, HasSubstr(because));
}

TEST(Submission, BecomesAPlanOfTheRecipesLayout) {
  const auto planned = plan(nemotron());
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->submission.backend, "cuda");
  EXPECT_EQ(planned->account_prefix, "bench_team-team");
  EXPECT_EQ(planned->nodes, 2);
  EXPECT_EQ(planned->ranks_per_node, 8);
  EXPECT_EQ(planned->submission.gpu_type, "h100");
  EXPECT_EQ(planned->environment.at("JOB_TOTAL_GPUS"), "16");
  EXPECT_THAT(planned->program_arguments, Contains("--workload=pretrain_nemotron4"));
}

TEST(Submission, MayNameGpuPrecisionAndSizeInCapitals) {
  Submission wanted = nemotron();
  wanted.gpu_type = "H100";
  wanted.dtype = "BF16";
  wanted.model_size = "15B";
  const auto planned = plan(wanted);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->submission.gpu_type, "h100");
  EXPECT_EQ(planned->submission.dtype, "bf16");
  EXPECT_EQ(planned->submission.model_size, "15b");
}

TEST(Submission, IsRefusedInTheWordsOfKeys) {
  EXPECT_EQ(in_keys("dtype 'fp4' (--dtype, DTYPE) has no recipe; say --gpu-type"),
            "dtype 'fp4' ('dtype', DTYPE) has no recipe; say 'gpu_type'");
  EXPECT_EQ(in_keys("A proxy may have any scale: --proxy"), "A proxy may have any scale: 'proxy'");
  EXPECT_EQ(in_keys("--set steps=N makes it longer"), "'runner_options' steps=N makes it longer");
  EXPECT_EQ(in_keys("`sinfo --format` - its --version --"), "`sinfo --format` - its --version --");
  Submission without = nemotron();
  without.workload.clear();
  expect_refused(without, "the workload is missing; known: ");
}

TEST(Submission, IsRefusedWithWhatIsAllowed) {
  Submission wrong = nemotron();
  wrong.scale = 24;
  expect_refused(wrong, "no recipe of pretrain_nemotron4 15b bf16 on h100 has 24 GPUs");
  wrong = nemotron();
  wrong.workload = "pretrain_gpt9\n#SBATCH --uid=0";
  expect_refused(wrong, "unknown workload 'pretrain_gpt9\\x0a#SBATCH --uid=0'");
  wrong = nemotron();
  wrong.profile = wrong.nccl_trace = true;
  expect_refused(wrong, "exclude each other");
  wrong = nemotron();
  wrong.environment["LD_PRELOAD"] = "/tmp/x.so";
  expect_refused(wrong, "'LD_PRELOAD' may not be set");
  wrong = nemotron();
  wrong.environment["NCCL_DEBUG"] = std::string("INFO\0X", 6);
  expect_refused(wrong, "it begins 'INFO\\x00X'");
  wrong = nemotron();
  wrong.runner_options["num-layers"] = 2;
  expect_refused(wrong, "makes another model");
}

TEST(Submission, NamesWhatAMistypedWordWasMeantToBe) {
  Submission wrong = nemotron();
  wrong.workload = "nemotorn4";
  expect_refused(wrong, "unknown workload 'nemotorn4'; did you mean 'nemotron4'?; known: ");
  wrong.workload = "pretrain_grok2";
  expect_refused(wrong, "did you mean 'pretrain_grok1'?");
  wrong.workload = "resnet";
  expect_refused(wrong, "unknown workload 'resnet'; known: ");
  wrong = nemotron();
  wrong.gpu_type = "h10";
  expect_refused(wrong, "unknown GPU type 'h10'; did you mean 'h100'?; there are recipes for: ");
  wrong.gpu_type = "abacus";
  expect_refused(wrong, "unknown GPU type 'abacus'; there are recipes for: ");
}

TEST(Submission, GetsTheBackendThatTheRunnerHas) {
  const RunnerFacts cpu_only{"llmb-step-runner 1.0", {"cpu"}, ""};
  const auto whole = plan(nemotron(), cpu_only);
  ASSERT_FALSE(whole);
  EXPECT_THAT(whole.error().message, HasSubstr("--proxy"));
  Submission proxy = nemotron();
  proxy.proxy = true;
  EXPECT_EQ(plan(proxy, cpu_only)->submission.backend, "cpu");
  proxy.backend = "cuda";
  const auto missing = plan(proxy, cpu_only);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("has no backend 'cuda', but: cpu"));
  const RunnerFacts nowhere{"", {}, "there is no 'llmb-step-runner' on this machine"};
  EXPECT_TRUE(plan(proxy, nowhere)) << "the nodes may have it";
  proxy.backend.clear();
  EXPECT_THAT(plan(proxy, nowhere).error().message, HasSubstr("Name one with --backend"));
  const RunnerFacts said = parse_runner_version("llmb-step-runner 0.2.0\nbackends: cpu cuda\n");
  EXPECT_EQ(said.version, "llmb-step-runner 0.2.0");
  EXPECT_THAT(said.backends, ElementsAre("cpu", "cuda"));
}

TEST(Submission, SurvivesItsJson) {
  Submission submission = nemotron();
  submission.proxy = true;
  submission.runner_options["num-layers"] = 2;
  submission.runner_options["cuda-graphs"] = 1;
  submission.runner_options["recompute-layers"] = 0;  // its plan's advice
  submission.environment["NCCL_DEBUG"] = "INFO";
  submission.slurm = {{"exclusive", ""}, {"nodelist", "node001,node002"}};
  submission.gpu_type = "h100";
  submission.backend = "cpu";
  const auto read = parse_submissions(submission_json(submission));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(*read, ElementsAre(submission));
  EXPECT_THAT(submission_json(submission), HasSubstr(R"("cuda-graphs":true)"));
  EXPECT_THAT(parse_submissions(R"({"runner_options": {"cuda-graphs": 1}})").error().message,
              HasSubstr("'runner_options.cuda-graphs' has to be true or false"));
}

TEST(Submission, ComesAsManyAsScalesTimesRepeats) {
  const auto read = parse_submissions(R"({"scale":[128,256],"repeats":3})");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 6U);
  EXPECT_EQ(read->back().scale, 256);
  EXPECT_FALSE(parse_submissions(R"({"scale":8,"repeats":257})"));
  EXPECT_FALSE(parse_submissions(R"({"scale":8,"wrap":"id"})"));
}

TEST(SlurmParameters, ReadTheRecipesForm) {
  SlurmParameters parameters;
  ASSERT_TRUE(add_additional_slurm_params(
      parameters, "nodelist=node001,node002;constraint=gpu&memory;exclusive"));
  EXPECT_THAT(sbatch_options(parameters),
              ElementsAre("--constraint=gpu&memory", "--exclusive", "--nodelist=node001,node002"));
}

// llama3.1: "Semicolon-separated key=value pairs (use semicolons when values contain commas)".
TEST(SlurmParameters, RefuseAParameterWithinAValue) {
  for (const std::string text :
       {"constraint=gpu,reservation=x", "constraint=gpu, reservation=x", "qos=a reservation=x",
        "exclusive;constraint=gpu,reservation = x", "constraint=gpu,time=1:00,reservation=x"}) {
    SlurmParameters parameters;
    const auto refused = add_additional_slurm_params(parameters, text);
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().message, HasSubstr("which is another parameter")) << text;
    EXPECT_THAT(refused.error().message, HasSubstr("a semicolon between them")) << text;
  }
  SlurmParameters parameters;
  EXPECT_FALSE(add_slurm_argument(parameters, "nodelist=a,cpus_per_task=2", "--slurm-arg"));
  EXPECT_FALSE(add_slurm_argument(parameters, "nodelist=a,job-name=x", "--slurm-arg"));
  EXPECT_TRUE(parameters.empty());
  for (const std::string argument :
       {"nodelist=n[1-3],n7", "network=instances=2,mpi=x", "gres=gpu:h100:8,shard:2",
        "dependency=afterok:41,afterany:42", "distribution=block:cyclic,NoPack"}) {
    EXPECT_TRUE(add_slurm_argument(parameters, argument, "--slurm-arg")) << argument;
  }
}

TEST(SlurmParameters, TakeTimesAsSlurmDoes) {
  for (const std::string time :
       {"5", "5:30", "1:00:00", "1-0", "1-12:30", "1-0:0:0", "UNLIMITED", "infinite", "-1"}) {
    SlurmParameters parameters;
    EXPECT_TRUE(add_slurm_argument(parameters, "time=" + time, "--slurm-arg")) << time;
  }
  for (const std::string time : {"5x", "1h", "1:2:3:4", "-5", "1-", "5:", "1.5", "forever"}) {
    SlurmParameters parameters;
    EXPECT_FALSE(add_slurm_argument(parameters, "time=" + time, "--slurm-arg")) << time;
    EXPECT_TRUE(parameters.empty());
  }
}

TEST(SlurmParameters, RefuseWhatIsNotTheirs) {
  for (const std::string argument :
       {"wrap=id", "output=/etc/passwd", "export=ALL", "-wrap", "--partition=x", "uid=0", "",
        "comment=x", "constraint=x;output=zz;wrap=id", "nodelist=/etc/shadow", "exclude=./nodes",
        "partition=a\nb", "partition=a\x1f", "partition=", "exclusive=\n"}) {
    SlurmParameters parameters;
    EXPECT_FALSE(add_slurm_argument(parameters, argument, "--slurm-arg")) << argument;
    EXPECT_TRUE(parameters.empty()) << argument;
  }
}

TEST(SlurmParameters, RefuseContradictions) {
  SlurmParameters parameters;
  ASSERT_TRUE(add_slurm_argument(parameters, "nodelist=n1,n2", "test"));
  EXPECT_TRUE(add_slurm_argument(parameters, "nodelist=n1,n2", "test"));
  EXPECT_FALSE(add_slurm_argument(parameters, "nodelist=n3", "test"));
  ASSERT_TRUE(add_slurm_argument(parameters, "exclude=n2", "test"));
  EXPECT_FALSE(refuse_contradictions(parameters));
}

TEST(SlurmParameters, ComeFromTheEnvironmentOfTheRecipes) {
  const auto found = slurm_parameters_of({{"SBATCH_PARTITION", "batch"},
                                          {"SLURM_GPUS_PER_NODE", "null"},
                                          {"ADDITIONAL_SLURM_PARAMS", "partition=long"}});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(sbatch_options(found->parameters), ElementsAre("--partition=long"));
  EXPECT_EQ(found->origins.at("partition"), "ADDITIONAL_SLURM_PARAMS of the shell");
  EXPECT_THAT(found->set_aside_notes,
              ElementsAre("SBATCH_PARTITION of the shell ('batch') has no effect: slurm partition "
                          "is long (ADDITIONAL_SLURM_PARAMS of the shell)"));
  EXPECT_FALSE(slurm_parameters_of({{"SBATCH_ACCOUNT", "a"}, {"SLURM_ACCOUNT", "b"}}));
}

TEST(ClusterSettings, TakeWhatAnInstallationSays) {
  ClusterSettings found;
  found.slurm = {{"account", "mine"}};
  ASSERT_TRUE(apply_llmb_cluster_config(
      found,
      "launcher: {llmb_repo: /repo, gpu_type: gb200}\nenvironment: {HF_TOKEN: secret}\n"
      "slurm: {account: theirs, gpu_partition: gpu, gpu_partition_gres: 4}\n"));
  EXPECT_EQ(found.llmb_repo, "/repo");
  EXPECT_EQ(found.gpu_type, "gb200");
  EXPECT_THAT(sbatch_options(found.slurm),
              ElementsAre("--account=mine", "--gpus-per-node=4", "--partition=gpu"));
  EXPECT_TRUE(found.environment.empty());
}

TEST(TextCheck, QuotesForAShellWhatEverItIs) {
  EXPECT_EQ(shell_quoted("it's $(id)"), "'it'\\''s $(id)'");
}

}  // namespace
}  // namespace llmb::dispatch
