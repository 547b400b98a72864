// What the recipe documents say of launching, sentence by sentence, against what a submission
// becomes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "parser/layout/llmb_config.h"
#include "parser/layout/run_path.h"
#include "server/dispatch/batch_script.h"
#include "server/dispatch/checkpoint_account.h"
#include "server/dispatch/launch_document.h"
#include "server/dispatch/plan_submission.h"
#include "server/dispatch/recipe_launch.h"
#include "tests/server/dispatch/shell_launch.h"
#include "tests/temporary_folder.h"

namespace llmb::dispatch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string script_of(const Plan& plan) {
  return batch_script(plan, launch_settings(), recorded_launch("llmb-0", "x_1750000000"));
}

// grok1_gb200_h100, Example Commands: "JOB_TOTAL_GPUS=128 DTYPE=fp8 ./launch.sh".
TEST(LaunchVariables, CountFromTheShellAsTheDocumentsSetThem) {
  const auto planned = plan_launch("pretrain_grok1", {{"JOB_TOTAL_GPUS", "128"}, {"DTYPE", "fp8"}});
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(origin_of(*planned, "scale"), "128 by JOB_TOTAL_GPUS of the shell");
  EXPECT_EQ(origin_of(*planned, "dtype"), "fp8 by DTYPE of the shell");
  // "MODEL_SIZE: Model variant (fixed: 314b)", "GPU_TYPE: … (fixed: gb200)".
  EXPECT_EQ(origin_of(*planned, "model_size"), "314b by the document's default");
  EXPECT_EQ(origin_of(*planned, "gpu_type"), "gb200 by the document's default");
  EXPECT_EQ(planned->document, "grok1-25.05");
}

TEST(LaunchVariables, GiveWayToFlagsAndToTheJobsOwn) {
  Submission flags;
  flags.dtype = "bf16";
  flags.environment = {{"JOB_TOTAL_GPUS", "256"}};
  const auto planned =
      plan_launch("pretrain_grok1",
                  {{"JOB_TOTAL_GPUS", "128"}, {"DTYPE", "fp8"}, {"GPUS_PER_NODE", "4"}}, flags);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(origin_of(*planned, "dtype"), "bf16 by asked for");
  EXPECT_EQ(origin_of(*planned, "scale"), "256 by JOB_TOTAL_GPUS of the job's variables");
  EXPECT_THAT(planned->submission.environment, IsEmpty());
  EXPECT_THAT(plan_launch("pretrain_grok1", {{"JOB_TOTAL_GPUS", "many"}}).error().message,
              HasSubstr("JOB_TOTAL_GPUS of the shell is 'many', which is no whole number"));
  EXPECT_THAT(plan_launch("pretrain_grok1", {{"ENABLE_PROFILE", "perhaps"}}).error().message,
              HasSubstr("neither true nor false"));
}

// llama3.1: "MODEL_SIZE: Model variant (default: 405b)", "This workload runs with FP8 precision".
// llama4_maverick: "DTYPE: Precision format (default: bf16)".
TEST(LaunchVariables, HaveTheDefaultsOfTheirDocument) {
  const auto llama =
      plan_launch("pretrain_llama3.1", {{"JOB_TOTAL_GPUS", "128"}, {"GPU_TYPE", "gb200"}});
  ASSERT_TRUE(llama) << llama.error().message;
  EXPECT_EQ(llama->submission.model_size, "405b");
  EXPECT_EQ(llama->submission.dtype, "fp8");
  EXPECT_EQ(llama->cuda_graphs, false);
  const auto maverick =
      plan_launch("pretrain_llama4_maverick", {{"JOB_TOTAL_GPUS", "128"}, {"GPU_TYPE", "gb200"}});
  ASSERT_TRUE(maverick) << maverick.error().message;
  EXPECT_EQ(maverick->submission.dtype, "bf16");
  // nemotron4: "DTYPE, MODEL_SIZE are required environment variables".
  EXPECT_FALSE(plan_launch("pretrain_nemotron4", {{"JOB_TOTAL_GPUS", "16"}, {"DTYPE", "bf16"}}));
}

// llama3.1, SLURM Node Specification Examples: "JOB_TOTAL_GPUS=512 GPU_TYPE=h100", which its own
// table of 405b does not have.
TEST(LaunchVariables, SaysWhatToDoWhereTheTableHasNoSuchRow) {
  const auto refused =
      plan_launch("pretrain_llama3.1", {{"JOB_TOTAL_GPUS", "512"}, {"GPU_TYPE", "h100"}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("there are: 1024. A proxy may have any scale: --proxy, with a layout: "
                        "--set tp=8 --set pp=8 --set cp=2 --set vp=8, as 1024 h100 have"));
}

// grok1_h100_2024: 512 GPUs, 64 layers; the later document has 512 H100 too.
TEST(LaunchVariables, ReachTheRowOfADocumentByItsName) {
  Submission flags;
  flags.gpu_type = "h100";
  flags.dtype = "fp8";
  flags.scale = 512;
  EXPECT_EQ(plan_launch("pretrain_grok1", {}, flags)->document, "grok1-25.05");
  flags.document = "grok1-24.11";
  EXPECT_EQ(plan_launch("pretrain_grok1", {}, flags)->document, "grok1-24.11");
  flags.document = "grok9";
  EXPECT_THAT(plan_launch("pretrain_grok1", {}, flags).error().message,
              HasSubstr("known: grok1-24.11"));
}

// "Add the generated token to your environment via export HF_TOKEN=<your token>".
TEST(LaunchVariables, LetNoSecretIntoScriptOrRow) {
  Submission flags;
  flags.environment = {{"HF_TOKEN", "hf_secret"}};
  EXPECT_THAT(plan_launch("pretrain_grok1", {{"JOB_TOTAL_GPUS", "128"}, {"DTYPE", "fp8"}}, flags)
                  .error()
                  .message,
              HasSubstr("is a secret"));
  const auto planned = plan_launch(
      "pretrain_grok1", {{"JOB_TOTAL_GPUS", "128"}, {"DTYPE", "fp8"}, {"HF_TOKEN", "set"}});
  ASSERT_TRUE(planned);
  EXPECT_THAT(script_of(*planned) + submission_json(planned->submission),
              Not(HasSubstr("HF_TOKEN")));
  EXPECT_THAT(planned->notes, Contains(HasSubstr("HF_TOKEN has no effect")));
}

// grok1: "pretraining_grok1_314b_<dtype>_<scale>_<config>"; nemotron4: "will produce results under
// …/pretrain_nemotron4_15b_bf16_16/", and with the profiler "…_nsys"; llama3.1: the experiment of
// its example output.
TEST(ExperimentName, IsThatOfTheDocument) {
  EXPECT_EQ(
      plan_launch("pretrain_grok1", {{"JOB_TOTAL_GPUS", "128"}, {"DTYPE", "fp8"}})->experiment,
      "pretraining_grok1_314b_fp8_128_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs256");
  Environment nemotron = {{"DTYPE", "bf16"}, {"MODEL_SIZE", "15b"}, {"JOB_TOTAL_GPUS", "16"}};
  EXPECT_EQ(plan_launch("pretrain_nemotron4", nemotron)->experiment,
            "pretrain_nemotron4_15b_bf16_16");
  nemotron["ENABLE_PROFILE"] = "true";
  EXPECT_EQ(plan_launch("pretrain_nemotron4", nemotron)->experiment,
            "pretrain_nemotron4_15b_bf16_16_nsys");
  EXPECT_EQ(plan_launch("pretrain_llama3.1", {{"JOB_TOTAL_GPUS", "128"}, {"GPU_TYPE", "gb200"}})
                ->experiment,
            "pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64");
  EXPECT_THAT(plan_launch("pretrain_llama4_maverick",
                          {{"JOB_TOTAL_GPUS", "512"}, {"DTYPE", "fp8"}, {"GPU_TYPE", "h100"}})
                  ->experiment,
              testing::StartsWith("pretraining_llama4_maverick_400b_fp8_512_tp4_pp1"));
}

// grok1_h100_2024: "a .out file which is generated inside of the
// $STAGE_PATH/results/$GSW_VERSION/$DTYPE/314b/$JOB_TOTAL_GPUS folder".
TEST(ResultsTree, HoldsTheLogsOfThe2024Recipe) {
  Submission flags;
  flags.document = "grok1-24.11";
  const auto planned = plan_launch(
      "pretrain_grok1", {{"JOB_TOTAL_GPUS", "512"}, {"DTYPE", "fp8"}, {"GPU_TYPE", "h100"}}, flags);
  ASSERT_TRUE(planned) << planned.error().message;
  const Launch launch = recorded_launch("llmb-0", "x_1750000000");
  const RunPlace place = run_place(*planned, launch_settings(), launch);
  const std::string folder = launch_settings().workload_folder + "/results/24.11/fp8/314b/512";
  EXPECT_EQ(place.log_folder, folder);
  EXPECT_EQ(place.run_folder, folder + "/nemo_grok1_314b_512_1750000000/nemo_grok1_314b_512");
  EXPECT_THAT(script_of(*planned),
              AllOf(HasSubstr("log=\"$log_folder\"/'log-nemo_grok1_314b_512'_\"${job}_"),
                    HasSubstr("\"$log_folder/llmb-config_$job.yaml\"")));
  // What is written there is read as what it is.
  const parser::RunPath read =
      parser::parse_run_path("results/24.11/fp8/314b/512/log-nemo_grok1_314b_512_4711_0.out");
  EXPECT_EQ(read.experiment, planned->experiment);
  EXPECT_EQ(read.job_id, 4711);
  EXPECT_EQ(read.configuration.value("release"), "24.11");
  EXPECT_EQ(read.configuration.value("dtype"), "fp8");
  EXPECT_THAT(planned->program_arguments, Contains("--document=grok1-24.11"));
  // Its launch.sh writes that log itself.
  flags.launcher = "recipe";
  const auto recipe = plan_launch(
      "pretrain_grok1", {{"JOB_TOTAL_GPUS", "512"}, {"DTYPE", "fp8"}, {"GPU_TYPE", "h100"}}, flags);
  EXPECT_THAT(script_of(*recipe), HasSubstr("/bin/bash './launch.sh' &\n"));
}

// grok1_h100_2024: "Proxy configs are not realistic"; 256 GPUs have 32 of 64 layers.
TEST(ResultsTree, HoldsProxiesThatSaySo) {
  const Environment shell = {{"JOB_TOTAL_GPUS", "256"}, {"DTYPE", "fp8"}, {"GPU_TYPE", "h100"}};
  const auto proxy = plan_launch("pretrain_grok1", shell);
  ASSERT_TRUE(proxy) << proxy.error().message;
  EXPECT_THAT(proxy->notes, Contains(HasSubstr("a proxy, with 32 of the model's 64 layers "
                                               "(grok1-24.11 line 9)")));
  EXPECT_THAT(script_of(*proxy), HasSubstr("  proxy: true\n"));
  EXPECT_EQ(origin_of(*proxy, "proxy"), "true by its row has fewer layers than the model");
  Environment whole = shell;
  whole["JOB_TOTAL_GPUS"] = "1024";
  const auto model = plan_launch("pretrain_grok1", whole);
  EXPECT_THAT(model->notes, Not(Contains(HasSubstr("proxy"))));
  EXPECT_THAT(script_of(*model), HasSubstr("  proxy: false\n"));
}

// Its launch.sh sets the variable, so that the shell's has no effect there either.
TEST(ResultsTree, IsThatOfTheDocumentsRelease) {
  Environment shell = {{"JOB_TOTAL_GPUS", "1024"},
                       {"DTYPE", "fp8"},
                       {"GPU_TYPE", "h100"},
                       {"GSW_VERSION", "24.11.1"}};
  EXPECT_THAT(plan_launch("pretrain_grok1", shell)->notes,
              Contains(AllOf(HasSubstr("GSW_VERSION has no effect"),
                             HasSubstr("results/24.11/fp8/314b/1024"))));
  shell.erase("GSW_VERSION");
  EXPECT_THAT(plan_launch("pretrain_grok1", shell)->notes, Not(Contains(HasSubstr("GSW_VERSION"))));
}

// llama4_maverick, Profiling job details: "MPI Ranks: 0-8", "PROFILE_START_STEP: start profiling on
// this job step"; llama3.1: "MPI Ranks: all ranks", "ENABLE_GPU_METRICS: Enable GPU metrics
// collection".
TEST(Profiling, WrapsTheDocumentedRanks) {
  const auto maverick = plan_launch("pretrain_llama4_maverick", {{"ENABLE_PROFILE", "true"},
                                                                 {"PROFILE_START_STEP", "10"},
                                                                 {"PROFILE_STOP_STEP", "12"},
                                                                 {"JOB_TOTAL_GPUS", "128"},
                                                                 {"GPU_TYPE", "gb200"}});
  ASSERT_TRUE(maverick) << maverick.error().message;
  EXPECT_THAT(script_of(*maverick), HasSubstr("if (( (r >= 0 && r <= 8) )); then exec nsys "));
  EXPECT_THAT(script_of(*maverick), Not(HasSubstr("gpu-metrics")));
  EXPECT_THAT(maverick->program_arguments, Contains("--profile-start-step=10"));
  EXPECT_EQ(maverick->environment.at("PROFILE_STOP_STEP"), "12");
  const auto llama = plan_launch("pretrain_llama3.1", {{"ENABLE_PROFILE", "true"},
                                                       {"ENABLE_GPU_METRICS", "true"},
                                                       {"JOB_TOTAL_GPUS", "128"},
                                                       {"GPU_TYPE", "gb200"}});
  EXPECT_THAT(script_of(*llama), HasSubstr("--gpu-metrics-device=all --output="));
  EXPECT_THAT(script_of(*llama), Not(HasSubstr("r >= ")));
  Submission some;
  some.profile = true;
  some.profile_ranks = "0,4,8-11";
  EXPECT_THAT(script_of(*plan_launch("pretrain_llama3.1",
                                     {{"JOB_TOTAL_GPUS", "128"}, {"GPU_TYPE", "gb200"}}, some)),
              HasSubstr("(( (r >= 0 && r <= 0) || (r >= 4 && r <= 4) || (r >= 8 && r <= 11) ))"));
  some.profile_ranks = "0,4,8-200";
  EXPECT_THAT(
      plan_launch("pretrain_llama3.1", {{"JOB_TOTAL_GPUS", "128"}, {"GPU_TYPE", "gb200"}}, some)
          .error()
          .message,
      HasSubstr("names rank 200, and a job of 128 GPUs has the ranks 0 to 127"));
  some.profile_ranks = "0);id";
  EXPECT_FALSE(
      plan_launch("pretrain_llama3.1", {{"JOB_TOTAL_GPUS", "128"}, {"GPU_TYPE", "gb200"}}, some));
}

// As it is planned once more when it is sent, with all that was chosen filled in.
TEST(Profiling, OfADocumentsRanksIsPlannedAsOftenAsOneLikes) {
  Submission wanted;
  wanted.proxy = true;
  wanted.profile = true;
  const Environment variables = {{"DTYPE", "bf16"}, {"MODEL_SIZE", "15b"}, {"JOB_TOTAL_GPUS", "2"}};
  const auto planned = plan_launch("pretrain_nemotron4", variables, wanted);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->submission.profile_ranks, "0-8");
  const auto again = plan_launch("pretrain_nemotron4", variables, planned->submission);
  EXPECT_TRUE(again) << again.error().message;
}

// The ranks that are not profiled end minutes before the reports of the others are written.
TEST(Profiling, LeavesTheProfilerTimeToWriteItsReport) {
  const Environment variables = {{"JOB_TOTAL_GPUS", "128"}, {"GPU_TYPE", "gb200"}};
  Environment profiled = variables;
  profiled["ENABLE_PROFILE"] = "true";
  EXPECT_THAT(script_of(*plan_launch("pretrain_llama3.1", profiled)), HasSubstr(" --wait=1800 "));
  EXPECT_THAT(script_of(*plan_launch("pretrain_llama3.1", variables)), HasSubstr(" --wait=60 "));
}

// "Filename format" of each document.
TEST(Profiling, NamesItsFilesAsTheDocumentsDo) {
  Submission submission;
  submission.model_size = "314b";
  submission.dtype = "fp8";
  submission.scale = 256;
  submission.workload = "pretrain_grok1";
  EXPECT_EQ(profile_file_name(submission),
            "grok1-314b-fp8_256g_%q{SLURM_JOB_ID}_%q{SLURM_NODEID}_%q{SLURM_LOCALID}");
  submission.workload = "pretrain_llama3.1";
  EXPECT_EQ(profile_file_name(submission),
            "profile_%q{SLURM_JOB_ID}_%q{SLURM_NODEID}_%q{SLURM_LOCALID}");
  submission.workload = "pretrain_nemotron4";
  EXPECT_EQ(profile_file_name(submission), "profile_%p");
}

// nemotron4, Run With Checkpoints: "15b | ~204 GB", "Minimum Tested Scale: 15b 64".
TEST(Checkpoints, WarnBeforeTheyAreSavedOrLoaded) {
  Environment nemotron = {{"DTYPE", "bf16"},
                          {"MODEL_SIZE", "15b"},
                          {"JOB_TOTAL_GPUS", "16"},
                          {"ENABLE_CHECKPOINT", "true"}};
  EXPECT_THAT(plan_launch("pretrain_nemotron4", nemotron)->notes, Contains(HasSubstr("204 GB")));
  nemotron.erase("ENABLE_CHECKPOINT");
  nemotron["LOAD_CHECKPOINT_PATH"] = "/lustre/checkpoint";
  EXPECT_THAT(plan_launch("pretrain_nemotron4", nemotron)->notes,
              Contains(HasSubstr("tested at 64 GPUs and more: 16")));
  nemotron["JOB_TOTAL_GPUS"] = "64";
  EXPECT_THAT(plan_launch("pretrain_nemotron4", nemotron)->notes,
              ElementsAre(AllOf(HasSubstr("/lustre/checkpoint, cannot be seen from here"),
                                HasSubstr("the job fails where its nodes do not see it either"))));
}

// nemotron4: "340b ~4.4 TB 256-2048", and "Minimum Tested Scale: 340b 512".
TEST(Checkpoints, TellTheScalesOfTheDocumentOnlyWhereTheWantedOneIsNoneOfThem) {
  Submission wanted;
  wanted.workload = "pretrain_nemotron4";
  wanted.model_size = "340b";
  wanted.checkpoint = true;
  const auto notes_at = [&](std::int64_t scale) {
    wanted.scale = scale;
    return checkpoint_notes(wanted, launch_settings());
  };
  EXPECT_THAT(notes_at(128), Contains(HasSubstr("supported at 256 to 2048 GPUs: not at 128")));
  EXPECT_THAT(notes_at(256), Not(Contains(HasSubstr("supported at"))));
  wanted.checkpoint = false;
  wanted.load_checkpoint_path = "/lustre/checkpoint";
  EXPECT_THAT(notes_at(256), Contains(HasSubstr("tested at 512 GPUs and more: 256")));
  EXPECT_THAT(notes_at(512), Not(Contains(HasSubstr("tested at"))));
}

TEST(Checkpoints, OfAProxyAreOfNoDocumentedSize) {
  Submission proxy;
  proxy.proxy = true;
  EXPECT_THAT(
      plan_launch("pretrain_nemotron4",
                  {{"DTYPE", "bf16"},
                   {"MODEL_SIZE", "15b"},
                   {"JOB_TOTAL_GPUS", "2"},
                   {"ENABLE_CHECKPOINT", "true"}},
                  proxy)
          ->notes,
      Contains(HasSubstr("how large a checkpoint of a proxy of pretrain_nemotron4 15b is")));
}

// nemotron4: "Make sure your file system has sufficient disk space to accomodate checkpoint sizes
// below".
TEST(Checkpoints, StandBesideTheFreeSpaceOfTheirTarget) {
  const TemporaryFolder folder;
  ClusterSettings here = launch_settings();
  here.workload_folder = folder.path().string();
  Submission wanted;
  wanted.workload = "pretrain_nemotron4";
  wanted.model_size = "340b";
  wanted.dtype = "bf16";
  wanted.scale = 256;
  wanted.checkpoint = true;
  const auto planned = plan_submission(wanted, here, parser::embedded_catalog(), kLaunchRunner);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_THAT(planned->notes, Contains(testing::MatchesRegex(
                                  "a checkpoint of Nemotron 4 340b takes about 4.4 TB; .* has "
                                  "[0-9.]* [GT]B free.*")));
}

TEST(LaunchVariables, AreNamedWhereTheyHaveNoEffect) {
  const auto planned = plan_launch("pretrain_grok1", {{"JOB_TOTAL_GPUS", "128"},
                                                      {"DTYPE", "fp8"},
                                                      {"ENABLE_GPU_METRICS", "true"},
                                                      {"RUN_CONF_PROFILE_START_STEP", "10"}});
  ASSERT_TRUE(planned);
  EXPECT_THAT(planned->notes, Contains(HasSubstr("ENABLE_GPU_METRICS has no effect")));
  EXPECT_THAT(planned->notes, Contains(HasSubstr("which steps and ranks to profile")));
}

// llama3.1: "NCCL trace support removed"; of checkpoints only nemotron4 speaks.
TEST(LaunchVariables, AreNamedWhereTheRecipeMayNotHearThem) {
  ClusterSettings installed = launch_settings();
  installed.launch_scripts["pretrain_llama3.1"] = "/opt/llmb/llama3.1/launch.sh";
  installed.launch_environment = {{"JOB_TOTAL_GPUS", "128"},
                                  {"GPU_TYPE", "gb200"},
                                  {"ENABLE_NCCLTRACE", "true"},
                                  {"ENABLE_CHECKPOINT", "true"}};
  Submission wanted;
  wanted.workload = "pretrain_llama3.1";
  wanted.launcher = "recipe";
  const auto planned =
      plan_submission(wanted, installed, parser::embedded_catalog(), kLaunchRunner);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_THAT(planned->notes, Contains(HasSubstr("ENABLE_NCCLTRACE has no effect")));
  EXPECT_THAT(planned->notes, Contains(HasSubstr("may not hear ENABLE_CHECKPOINT")));
}

TEST(RecipeLauncher, SaysThatABackendIsNotItsToChoose) {
  ClusterSettings installed = launch_settings();
  installed.launch_scripts["pretrain_grok1"] = "/opt/llmb/grok1/launch.sh";
  Submission wanted;
  wanted.launcher = "recipe";
  wanted.workload = "pretrain_grok1";
  wanted.dtype = "fp8";
  wanted.gpu_type = "gb200";
  wanted.scale = 128;
  const auto notes = [&] {
    const auto planned =
        plan_submission(wanted, installed, parser::embedded_catalog(), kLaunchRunner);
    return planned ? planned->notes : std::vector<std::string>{planned.error().message};
  };
  const auto of_backend = Contains(HasSubstr("the backend 'cpu' has no effect on launch.sh"));
  wanted.backend = "cpu";
  EXPECT_THAT(notes(), of_backend);
  wanted.backend = "cuda";  // what a recipe has, and what the row of such a job says
  EXPECT_THAT(notes(), Not(of_backend));
  wanted.backend.clear();
  installed.backend = "cpu";  // for the runner's jobs on that cluster; nobody asked here
  EXPECT_THAT(notes(), Not(of_backend));
}

// Of ADDITIONAL_SLURM_PARAMS only llama3.1 speaks; all speak of SBATCH_ACCOUNT, SBATCH_PARTITION
// and SBATCH_GPUS_PER_NODE.
TEST(SlurmOptions, AreNamedWhereTheRecipeMayNotHearThem) {
  ClusterSettings installed = launch_settings();
  installed.launch_scripts["pretrain_llama3.1"] = "/opt/llmb/llama3.1/launch.sh";
  installed.slurm = {{"account", "bench"}, {"qos", "high"}};
  installed.launch_environment = {{"HF_TOKEN", "set"}};
  Submission wanted;
  wanted.launcher = "recipe";
  wanted.workload = "pretrain_grok1";
  wanted.dtype = "fp8";
  wanted.gpu_type = "gb200";
  wanted.scale = 128;
  wanted.slurm = {{"nodelist", "n1,n2"}, {"partition", "batch"}, {"time", "1:00"}};
  const auto notes = [&] {
    const auto planned =
        plan_submission(wanted, installed, parser::embedded_catalog(), kLaunchRunner);
    EXPECT_TRUE(planned) << planned.error().message;
    auto all = planned ? planned->notes : std::vector<std::string>();
    std::erase_if(all, [](const std::string& note) {
      return note.find("/launch.sh cannot be seen from here") != std::string::npos;
    });
    return all;
  };
  EXPECT_THAT(notes(),
              ElementsAre("the document of pretrain_grok1 says nothing of ADDITIONAL_SLURM_PARAMS: "
                          "its launch.sh may not hear Slurm's nodelist, qos, time"));
  wanted.workload = "pretrain_llama3.1";
  EXPECT_THAT(notes(), IsEmpty());
  // sbatch itself gets those of the batch script of 2024.
  wanted.workload = "pretrain_grok1";
  wanted.document = "grok1-24.11";
  wanted.gpu_type = "h100";
  wanted.scale = 512;
  EXPECT_THAT(notes(), IsEmpty());
  wanted.document.clear();
  wanted.slurm.clear();
  installed.slurm.erase("qos");
  EXPECT_THAT(notes(), IsEmpty()) << "nobody asked for exclusive and mem";
}

// nemotron4: "DTYPE=bf16 MODEL_SIZE=15b JOB_TOTAL_GPUS=16 GPUS_PER_NODE=8 ./launch.sh" submits by
// itself; grok1_h100_2024: "sbatch -A … -N ${NUM_NODES} ./launch.sh" is the batch script.
TEST(RecipeLauncher, RunsLaunchShWhereItsDocumentDoes) {
  Submission recipe;
  recipe.launcher = "recipe";
  const auto nemotron =
      plan_launch("pretrain_nemotron4",
                  {{"DTYPE", "bf16"}, {"MODEL_SIZE", "15b"}, {"JOB_TOTAL_GPUS", "16"}}, recipe);
  ASSERT_TRUE(nemotron) << nemotron.error().message;
  EXPECT_TRUE(nemotron->submits_itself);
  EXPECT_EQ(nemotron->environment.at("STAGE_PATH"), launch_settings().workload_folder);
  recipe.document = "grok1-24.11";
  const auto grok =
      plan_launch("pretrain_grok1",
                  {{"DTYPE", "fp8"}, {"JOB_TOTAL_GPUS", "512"}, {"GPU_TYPE", "h100"}}, recipe);
  ASSERT_TRUE(grok) << grok.error().message;
  EXPECT_FALSE(grok->submits_itself);
  EXPECT_THAT(script_of(*grok), HasSubstr("/bin/bash './launch.sh' "));
}

TEST(RecipeLauncher, ReadsTheNumberThatIsPrinted) {
  EXPECT_EQ(printed_job_id("x\nSubmitted batch job 41\n"), 41);
  EXPECT_EQ(printed_job_id("- Status: RUNNING\n- Job id: 4711\n- Local Directory: /x\n"), 4711);
  EXPECT_FALSE(printed_job_id("Submitted batch job none"));
}

// "source $LLMB_INSTALL/venvs/<env_name>/bin/activate"; nemotron4: "$STAGE_PATH/venv".
TEST(RecipeLauncher, FindsTheDocumentedVirtualEnvironment) {
  const TemporaryFolder folder;
  const std::string here = folder.path().string();
  ClusterSettings found = launch_settings();
  found.workload_folder = here + "/stage";
  found.llmb_install = here;
  EXPECT_EQ(recipe_venv("pretrain_grok1", found), "");
  std::filesystem::create_directories(here + "/venvs/nemo2-grok/bin");
  EXPECT_EQ(recipe_venv("pretrain_grok1", found), here + "/venvs/nemo2-grok");
  std::filesystem::create_directories(here + "/venvs/nemo2-llama4/bin");
  EXPECT_THAT(recipe_venv("pretrain_grok1", found).error().message, HasSubstr("'venvs'"));
  found.venvs["pretrain_grok1"] = here + "/venvs/nemo2-grok";
  EXPECT_EQ(recipe_venv("pretrain_grok1", found), here + "/venvs/nemo2-grok");
  std::filesystem::create_directories(here + "/stage/venv");
  EXPECT_EQ(recipe_venv("pretrain_nemotron4", found), here + "/stage/venv");
}

// grok1: "LLMB_WORKLOAD: … e.g. ${LLMB_INSTALL}/workloads/pretraining_grok1"; llama3.1:
// "${LLMB_INSTALL}/workloads/pretrain_llama3.1".
TEST(InstalledWorkloadFolder, IsSpelledAsTheDocumentsDo) {
  const TemporaryFolder folder;
  const std::string here = folder.path().string();
  EXPECT_THAT(installed_workload_folder(here, "pretrain_grok1").error().message,
              AllOf(HasSubstr(here + "/workloads/pretrain_grok1 and no " + here +
                              "/workloads/pretraining_grok1"),
                    HasSubstr("set LLMB_WORKLOAD")));
  std::filesystem::create_directories(here + "/workloads/pretraining_grok1");
  EXPECT_EQ(installed_workload_folder(here, "pretrain_grok1"),
            here + "/workloads/pretraining_grok1");
  std::filesystem::create_directories(here + "/workloads/pretrain_grok1");
  EXPECT_EQ(installed_workload_folder(here, "pretrain_grok1"), here + "/workloads/pretrain_grok1");
}

}  // namespace
}  // namespace llmb::dispatch
