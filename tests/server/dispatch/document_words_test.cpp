// What each document says of launching beside its tables: what it requires, which variables it
// speaks of, how it counts nodes, and where its launch.sh and its checkpoints are.
#include "server/dispatch/document_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/server/dispatch/shell_launch.h"
#include "tests/temporary_folder.h"

namespace llmb::dispatch {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

const Environment kNemotron = {{"DTYPE", "bf16"}, {"MODEL_SIZE", "15b"}, {"JOB_TOTAL_GPUS", "64"}};

Environment with(Environment shell, const Environment& more) {
  for (const auto& [name, value] : more) shell[name] = value;
  return shell;
}

Submission of_recipe(const std::string& document = {}) {
  Submission recipe;
  recipe.launcher = "recipe";
  recipe.document = document;
  return recipe;
}

std::vector<std::string> notes_or_refusal(const parser::Result<Plan>& plan) {
  return plan ? plan->notes : std::vector<std::string>{plan.error().message};
}

// nemotron4: "DTYPE, MODEL_SIZE are required environment variables"; grok1_h100_2024: "DTYPE is a
// required environment variable".
TEST(RequiredPrecision, IsAskedFor) {
  Environment nemotron = kNemotron;
  nemotron.erase("DTYPE");
  for (const Submission& flags : {Submission(), of_recipe()}) {
    const auto refused = plan_launch("pretrain_nemotron4", nemotron, flags);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("(--dtype, DTYPE), which nemotron4-25.04 requires: "),
                      HasSubstr("bf16"), HasSubstr("fp8")));
  }
  const Environment grok = {{"JOB_TOTAL_GPUS", "256"}, {"GPU_TYPE", "h100"}};
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_grok1", grok)),
              Contains(HasSubstr("which grok1-24.11 requires")));
  EXPECT_TRUE(plan_launch("pretrain_grok1", with(grok, {{"JOB_TOTAL_GPUS", "512"}})))
      << "grok1-25.05: \"Optional: DTYPE\"";
}

// nemotron4: "DTYPE can be either fp8 or bf16".
TEST(Precision, ThatTheDocumentDoesNotNameIsNoted) {
  const auto note = Contains(AllOf(HasSubstr("nothing of the precision fp8_ds, only of fp8"),
                                   HasSubstr("may not hear DTYPE=fp8_ds")));
  const Environment shell = with(kNemotron, {{"DTYPE", "fp8_ds"}});
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_nemotron4", shell, of_recipe())), note);
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_nemotron4", shell)), Not(note))
      << "llmb-step-runner has it";
}

// nemotron4: "GPUS_PER_NODE=<2,4,8>"; the nodes of the others' GPUs are known.
TEST(GpusPerNode, OfNoDocumentAreNoted) {
  const auto notes_of_nemotron = [](const char* per_node) {
    return notes_or_refusal(
        plan_launch("pretrain_nemotron4", with(kNemotron, {{"GPUS_PER_NODE", per_node}})));
  };
  const auto note = Contains(HasSubstr("has GPUS_PER_NODE of 2, 4 or 8, and this is "));
  EXPECT_THAT(notes_of_nemotron("16"), note);
  EXPECT_THAT(notes_of_nemotron("1"), note);
  EXPECT_THAT(notes_of_nemotron("4"), Not(note));
  const Environment grok = {
      {"JOB_TOTAL_GPUS", "128"}, {"DTYPE", "fp8"}, {"GPU_TYPE", "gb200"}, {"GPUS_PER_NODE", "8"}};
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_grok1", grok)),
              Contains("the documents' nodes of gb200 have 4 GPUs, and GPUS_PER_NODE is 8"));
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_grok1", with(grok, {{"GPUS_PER_NODE", "2"}}))),
              IsEmpty());
}

// grok1_h100_2024: "DTYPE=<fp8/bf16> sbatch … -N ${NUM_NODES} ./launch.sh", "for 256 GPUs scale,
// NUM_NODES should be 256 / 8 = 32".
TEST(NodeCount, OfThe2024RecipeMakesTheScale) {
  Submission flags;
  flags.document = "grok1-24.11";
  const Environment shell = {{"NUM_NODES", "32"}, {"DTYPE", "fp8"}};
  const auto plan = plan_launch("pretrain_grok1", shell, flags);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(origin_of(*plan, "scale"), "256 by NUM_NODES of the shell, 32 nodes of 8 GPUs");
  EXPECT_EQ(plan->nodes, 32);
  const auto smaller = plan_launch("pretrain_grok1", with(shell, {{"GPUS_PER_NODE", "4"}}), flags);
  EXPECT_EQ(smaller->submission.scale, 128);
  flags.environment = {{"NUM_NODES", "64"}};
  const auto of_job = plan_launch("pretrain_grok1", shell, flags);
  ASSERT_TRUE(of_job) << of_job.error().message;
  EXPECT_EQ(of_job->submission.scale, 512);
  flags.scale = 8;
  EXPECT_THAT(
      notes_or_refusal(plan_launch("pretrain_grok1", shell, flags)),
      IsSupersetOf({"NUM_NODES of the job's variables ('64') has no effect: scale is 8 "
                    "(asked for)",
                    "NUM_NODES of the shell ('32') has no effect: scale is 8 (asked for)"}));
  flags.environment.clear();
  flags.scale = 256;
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_grok1", shell, flags)),
              Not(Contains(HasSubstr("NUM_NODES"))))
      << "both say the same";
  EXPECT_THAT(
      notes_or_refusal(plan_launch("pretrain_grok1", with(shell, {{"NUM_NODES", "all"}}), flags)),
      Contains("NUM_NODES of the shell ('all') has no effect: scale is 256 (asked for)"))
      << "of another program";
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_grok1", shell)),
              Contains(HasSubstr("JOB_TOTAL_GPUS; of grok1-24.11 NUM_NODES")));
  flags = {};
  flags.document = "grok1-24.11";
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_grok1", {{"NUM_NODES", "all"}}, flags)),
              Contains("NUM_NODES of the shell is 'all', which is no number of nodes"));
}

// grok1_h100_2024 says nothing of profiling; llama3.1: "NCCL trace support removed".
TEST(UnspokenVariables, AreSaidToBeTheRunners) {
  const Environment of_2024 = {{"JOB_TOTAL_GPUS", "512"},
                               {"DTYPE", "fp8"},
                               {"GPU_TYPE", "h100"},
                               {"ENABLE_PROFILE", "true"}};
  Submission flags;
  flags.document = "grok1-24.11";
  const auto grok = plan_launch("pretrain_grok1", of_2024, flags);
  ASSERT_TRUE(grok) << grok.error().message;
  EXPECT_EQ(origin_of(*grok, "profile_start_step"), "45 by llmb-step-runner's default");
  EXPECT_THAT(grok->notes, Contains(AllOf(HasSubstr("says nothing of profiling"),
                                          HasSubstr("is llmb-step-runner's own"))));
  const Environment llama = {
      {"JOB_TOTAL_GPUS", "128"}, {"GPU_TYPE", "gb200"}, {"ENABLE_NCCLTRACE", "true"}};
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_llama3.1", llama)),
              Contains("the document of pretrain_llama3.1 says nothing of an NCCL trace: "
                       "ENABLE_NCCLTRACE is llmb-step-runner's own"));
}

// Of ENABLE_GPU_METRICS only llama3.1 speaks.
TEST(UnspokenVariables, MayNotBeHeardByTheRecipe) {
  Environment shell = {{"JOB_TOTAL_GPUS", "128"},
                       {"DTYPE", "fp8"},
                       {"GPU_TYPE", "gb200"},
                       {"ENABLE_PROFILE", "true"},
                       {"ENABLE_GPU_METRICS", "true"}};
  const auto metrics = Contains(HasSubstr("may not hear ENABLE_GPU_METRICS"));
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_grok1", shell, of_recipe())), metrics);
  shell["GPU_TYPE"] = "h100";
  shell["JOB_TOTAL_GPUS"] = "512";
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_grok1", shell, of_recipe("grok1-24.11"))),
              Contains(HasSubstr("may not hear ENABLE_PROFILE")));
}

// grok1, llama3.1, llama4: "Add the generated token to your environment via export HF_TOKEN".
TEST(Token, ThatIsNotSetIsNoted) {
  const Environment grok = {{"JOB_TOTAL_GPUS", "128"}, {"DTYPE", "fp8"}};
  const auto note = Contains(HasSubstr("HF_TOKEN is not set"));
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_grok1", grok, of_recipe())), note);
  EXPECT_THAT(notes_or_refusal(
                  plan_launch("pretrain_grok1", with(grok, {{"HF_TOKEN", "set"}}), of_recipe())),
              Not(note));
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_grok1", grok)), Not(note));
  EXPECT_THAT(notes_or_refusal(plan_launch("pretrain_nemotron4", kNemotron, of_recipe())),
              Not(note));
}

// "Run the launch script from the recipe directory: cd $LLMB_REPO/llama4/".
TEST(LaunchScript, IsFoundInTheRecipesRepository) {
  const TemporaryFolder folder;
  ClusterSettings installed = launch_settings();
  installed.llmb_repo = folder.path().string();
  Submission wanted = of_recipe();
  wanted.workload = "pretrain_llama4_maverick";
  wanted.gpu_type = "gb200";
  wanted.scale = 128;
  const auto planned = [&] {
    return plan_submission(wanted, installed, parser::embedded_catalog(), kLaunchRunner);
  };
  const std::string script = installed.llmb_repo + "/llama4/launch.sh";
  EXPECT_THAT(notes_or_refusal(planned()), Contains(AllOf(HasSubstr(script + " cannot be seen"),
                                                          HasSubstr("'launch_scripts'"))));
  fs::create_directories(folder.path() / "llama4");
  std::ofstream(script) << "true\n";
  ASSERT_TRUE(planned()) << planned().error().message;
  EXPECT_EQ(planned()->program, script);
  installed.launch_scripts["pretrain_llama4_maverick"] = "/opt/launch.sh";
  EXPECT_EQ(planned()->program, "/opt/launch.sh");
  installed.launch_scripts.clear();
  installed.llmb_repo.clear();
  EXPECT_THAT(notes_or_refusal(planned()), Contains(HasSubstr("or LLMB_REPO")));
}

class CheckpointToLoad : public testing::Test {
 protected:
  CheckpointToLoad() {
    fs::create_directories(nemo() / "weights");
    std::ofstream(nemo() / "weights" / "__0_0.distcp") << "x";
    fs::create_directories(own() / "iteration_0000050");
    std::ofstream(own() / "latest") << "iteration_0000050\n";
    std::ofstream(own() / "iteration_0000050" / "manifest.json") << "{}";
    fs::create_directories(folder_.path() / "empty");
  }
  fs::path here() const { return folder_.path(); }
  fs::path nemo() const { return here() / "checkpoints" / "default--consumed_samples=12800.0"; }
  fs::path own() const { return here() / "own"; }

  std::vector<std::string> loading(const fs::path& path, Submission flags) const {
    ClusterSettings settings = launch_settings();
    settings.workload_folder = here().string();
    settings.launch_environment = with(kNemotron, {{"LOAD_CHECKPOINT_PATH", path.string()}});
    flags.workload = "pretrain_nemotron4";
    return notes_or_refusal(
        plan_submission(flags, settings, parser::embedded_catalog(), kLaunchRunner));
  }

  const TemporaryFolder folder_;
};

// nemotron4: "LOAD_CHECKPOINT_PATH variable is set to parent folder of the weights directory".
TEST_F(CheckpointToLoad, OfTheRecipeIsTheParentOfWeights) {
  const auto told = [&](const fs::path& path) { return loading(path, of_recipe()); };
  const auto seen = Contains(HasSubstr("the checkpoint to load"));
  EXPECT_THAT(told(nemo()), seen);
  EXPECT_THAT(told(nemo() / "weights"),
              Contains(HasSubstr("wants its parent, " + nemo().string())));
  EXPECT_THAT(told(here() / "checkpoints"), Contains(HasSubstr("; " + nemo().string() + " does")));
  EXPECT_THAT(told((nemo() / "weights").string() + "/"),
              Contains(testing::EndsWith("wants its parent, " + nemo().string())));
  EXPECT_THAT(told(here() / "empty"), Contains(HasSubstr("holds no weights/*.distcp")));
  for (const auto& path : {own(), own() / "iteration_0000050"}) {
    EXPECT_THAT(told(path), Contains(HasSubstr("which no launch.sh reads")));
  }
  EXPECT_THAT(told("/nowhere/checkpoint"), AllOf(seen, Contains(HasSubstr("under $STAGE_PATH"))))
      << "nodes may see what is not seen here";
  EXPECT_THAT(told(nemo()), Not(Contains(HasSubstr("$STAGE_PATH"))));
  Submission waits = of_recipe();
  waits.slurm["dependency"] = "afterok:41";
  EXPECT_THAT(loading(here() / "empty", waits), seen) << "another job may save it";
}

TEST_F(CheckpointToLoad, OfTheRunnerIsItsOwn) {
  const auto told = [&](const fs::path& path) { return loading(path, {}); };
  const auto seen = Contains(HasSubstr("the checkpoint to load"));
  for (const auto& path : {own(), own() / "iteration_0000050"}) {
    EXPECT_THAT(told(path), seen);
  }
  for (const fs::path& path : {nemo(), nemo() / "weights", here() / "checkpoints"}) {
    EXPECT_THAT(told(path), Contains(HasSubstr("NeMo distributed checkpoint"))) << path;
  }
  EXPECT_THAT(told(here() / "empty"), Contains(HasSubstr("no checkpoint of llmb-step-runner")));
}

}  // namespace
}  // namespace llmb::dispatch
