// `llmb-report submit --dry-run`: what a job would get, and from where each value is.
#include <fstream>
#include <sstream>

#include "tests/server/cli/job_commands_fixture.h"

namespace llmb::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SubmitDryRun : public JobCommandsTest {};

TEST_F(SubmitDryRun, DryRunPrintsCommandAndScriptAndLeavesNothing) {
  environment_["SBATCH_PARTITION"] = "batch";
  const ProgramRun dry =
      submit({"--scale", "16,32", "-r", "2", "--nodelist", "n1,n2", "--slurm-arg", "constraint=a&b",
              "--env", "NCCL_DEBUG=INFO", "--set", "num-layers=2", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("# job 4 of 4"));
  EXPECT_THAT(dry.out, HasSubstr("'--constraint=a&b' '--nodelist=n1,n2' '--partition=batch'"));
  EXPECT_THAT(dry.out, HasSubstr("\nexport NCCL_DEBUG='INFO'\n"));
  EXPECT_THAT(dry.out, HasSubstr("\nsrun "));
  EXPECT_THAT(dry.out, HasSubstr("#   backend = cpu (the cluster's configuration)\n"));
  EXPECT_THAT(dry.out, HasSubstr("#   slurm time = 00:35:00 (llmb-report's default)\n"));
  EXPECT_THAT(dry.out, HasSubstr("#   slurm partition = batch (SBATCH_PARTITION of the shell)\n"));
  EXPECT_THAT(dry.out, HasSubstr("#   slurm constraint = a&b (asked for)\n"));
  EXPECT_THAT(dry.out, HasSubstr("#   set num-layers = 2 (asked for)\n"));
  EXPECT_THAT(dry.out, HasSubstr("#   env NCCL_DEBUG = INFO (asked for)\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "runs"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "jobs.db"));
}

TEST_F(SubmitDryRun, NamesVariablesThatTheConfigurationOrAnOptionOutranks) {
  environment_ = {{"STAGE_PATH", "/lustre/elsewhere"}, {"SBATCH_PARTITION", "batch"}};
  const ProgramRun dry = submit({"--scale", "16", "--partition", "long", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("# note: STAGE_PATH of the shell ('/lustre/elsewhere') has no "
                                 "effect: workload_folder is "));
  EXPECT_THAT(dry.out, HasSubstr("# note: SBATCH_PARTITION of the shell ('batch') has no effect: "
                                 "slurm partition is long (asked for)\n"));
  environment_ = {{"ADDITIONAL_SLURM_PARAMS", "nodelist=n1;constraint=gpu"}};
  const ProgramRun of_several = submit({"--scale", "16", "--nodelist", "n3", "--dry-run"});
  EXPECT_THAT(of_several.out, HasSubstr("# note: nodelist of ADDITIONAL_SLURM_PARAMS of the shell "
                                        "('n1') has no effect: slurm nodelist is n3"));
}

TEST_F(SubmitDryRun, RefusesAnEmptyIdempotencyKey) {
  const ProgramRun run = submit({"--scale", "16", "--idempotency-key", "", "--dry-run"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--idempotency-key"));
}

// llama4_maverick: "cd $LLMB_REPO/llama4/".
TEST_F(SubmitDryRun, FindsTheRecipeInTheRepositoryOfTheShell) {
  const std::filesystem::path repository = folder_.path() / "repository";
  std::filesystem::create_directories(repository / "llama4");
  std::ofstream(repository / "llama4" / "launch.sh") << "true\n";
  environment_ = {{"LLMB_REPO", repository.string()}};
  const ProgramRun dry = run({"submit", "-w", "pretrain_llama4_maverick", "--gpu-type", "gb200",
                              "--scale", "128", "--launcher", "recipe", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr((repository / "llama4" / "launch.sh").string()));
}

// nemotron4 has no "cd $LLMB_REPO/…".
TEST_F(SubmitDryRun, SaysWhereTheRepositoryOfTheShellHasNoEffect) {
  environment_ = {{"LLMB_REPO", "/lustre/repository"}};
  const ProgramRun refused = submit({"--scale", "16", "--launcher", "recipe", "--dry-run"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("names no launch.sh of pretrain_nemotron4, and the repository "
                                     "/lustre/repository (LLMB_REPO) does not tell: the document "
                                     "names no folder in it: 'launch_scripts' says"));
}

// Brackets are for variables that count with any launcher.
TEST_F(SubmitDryRun, HelpSaysThatOnlyARecipeTakesTheVariablesOfContainers) {
  const std::string help = run_program({"submit", "--help"}, {}).out;
  EXPECT_THAT(help, HasSubstr("[GPU_TYPE]"));
  EXPECT_THAT(help, HasSubstr("RUN_CONF_IMAGE"));
  EXPECT_THAT(help, Not(HasSubstr("[RUN_CONF_")));
}

// nemotron4: "ENABLE_PROFILE=true DTYPE=bf16 MODEL_SIZE=15b JOB_TOTAL_GPUS=16 ./launch.sh".
TEST_F(SubmitDryRun, LaunchVariablesOfTheShellCount) {
  environment_ = {{"ENABLE_PROFILE", "true"},
                  {"DTYPE", "bf16"},
                  {"MODEL_SIZE", "15b"},
                  {"JOB_TOTAL_GPUS", "16"},
                  {"HF_TOKEN", "hf_secret"}};
  const ProgramRun dry = run({"submit", "-w", "pretrain_nemotron4", "--proxy", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  for (const char* line :
       {"#   profile = true (ENABLE_PROFILE of the shell)\n",
        "#   scale = 16 (JOB_TOTAL_GPUS of the shell)\n",
        "#   profile_ranks = 0-8 (the document's default)\n", "# note: HF_TOKEN has no effect"}) {
    EXPECT_THAT(dry.out, HasSubstr(line));
  }
  command("sbatch",
          "env >$(dirname $0)/seen; cat \"$(eval echo \\${$#})\" >>$(dirname $0)/script; "
          "echo 41");
  EXPECT_EQ(run({"submit", "-w", "pretrain_nemotron4", "--proxy"}).exit_code, 0);
  const auto text_of = [&](const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder_.path() / "bin" / name).rdbuf();
    return text.str();
  };
  EXPECT_THAT(text_of("seen"), HasSubstr("HF_TOKEN=hf_secret\n"));
  EXPECT_THAT(text_of("script"), HasSubstr("srun "));
  EXPECT_THAT(text_of("script"), Not(HasSubstr("hf_secret")));
  EXPECT_THAT(run({"jobs", "show", "1"}).out, Not(HasSubstr("hf_secret")));
  // What a job's own variable says counts when it is sent, too.
  EXPECT_THAT(text_of("script"), HasSubstr("_nsys"));
  std::filesystem::remove(folder_.path() / "bin" / "script");
  EXPECT_EQ(run({"submit", "-w", "pretrain_nemotron4", "--proxy", "--env", "ENABLE_PROFILE=false"})
                .exit_code,
            0);
  EXPECT_THAT(text_of("script"), HasSubstr("srun "));
  EXPECT_THAT(text_of("script"), Not(HasSubstr("_nsys")));
}

// grok1_h100_2024: "$STAGE_PATH/results/$GSW_VERSION/…".
TEST_F(SubmitDryRun, AVariableOfTheShellThatNothingFollowsIsNamed) {
  command("runner", "echo 'llmb-step-runner 0.1.0'; echo 'backends: cpu cuda'");
  environment_["GSW_VERSION"] = "24.11.1";
  const ProgramRun dry = run({"submit", "-w", "grok1", "--dtype", "fp8", "--gpu-type", "h100",
                              "--scale", "1024", "--backend", "cuda", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("# note: GSW_VERSION has no effect"));
}

TEST_F(SubmitDryRun, AnOptionIsSetOnceAndByItsName) {
  const auto try_sets = [&](const std::vector<std::string>& sets) {
    std::vector<std::string> more = {"--scale", "16", "--dry-run"};
    for (const std::string& set : sets) more.insert(more.end(), {"--set", set});
    return submit(more);
  };
  const ProgramRun twice = try_sets({"num-layers=2", "num-layers=3"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("--set num-layers is given twice, with two values"));
  EXPECT_EQ(try_sets({"num-layers=2", "num-layers=2"}).exit_code, 0);
  const ProgramRun mistyped = try_sets({"num-layer=2"});
  EXPECT_EQ(mistyped.exit_code, 2);
  EXPECT_THAT(mistyped.err, HasSubstr("did you mean 'num-layers'?"));
}

// The launch gets a clean environment: what is shown is all of it, without the secret's value.
TEST_F(SubmitDryRun, DryRunOfARecipeShowsEveryVariableOfTheLaunch) {
  const std::string here = folder_.path().string();
  std::filesystem::create_directories(folder_.path() / "runs/venv/bin");
  folder_.write("launch.sh", "env >" + here + "/seen\necho Submitted batch job 41\n");
  folder_.write("llmb.yaml",
                "db: jobs.db\ncluster:\n  name: test\n  workload_folder: runs\n  launch_scripts: "
                "{pretrain_nemotron4: " +
                    here + "/launch.sh}\n  command_path: " + here + "/bin:/usr/bin:/bin\n");
  environment_ = {{"HF_TOKEN", "hf_secret"}, {"SBATCH_ACCOUNT", "bench"}, {"ELSEWHERE", "x"}};
  const std::vector<std::string> wanted = {
      "submit",  "-w", "pretrain_nemotron4", "-s",     "15b",    "--dtype", "bf16",
      "--scale", "16", "--launcher",         "recipe", "--time", "1:00",    "--partition",
      "batch"};
  std::vector<std::string> tried = wanted;
  tried.emplace_back("--dry-run");
  const ProgramRun dry = run(tried);
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("\nADDITIONAL_SLURM_PARAMS='exclusive;mem=0;time=1:00'\n"));
  EXPECT_THAT(dry.out, HasSubstr("\nVIRTUAL_ENV='" + here + "/runs/venv'\n"));
  EXPECT_THAT(dry.out, HasSubstr("\n# HF_TOKEN is set: "));
  EXPECT_THAT(dry.out, Not(HasSubstr("hf_secret")));
  EXPECT_EQ(run(wanted).exit_code, 1) << "squeue has no such job";
  std::ifstream seen(here + "/seen");
  int count = 0;
  for (std::string line; std::getline(seen, line); ++count) {
    const std::string name = line.substr(0, line.find('='));
    if (name == "PWD" || name == "SHLVL" || name == "_") continue;  // the shell's own
    const std::string mark = line.substr(name.size() + 1);
    const std::string shown = name == "HF_TOKEN"         ? "\n# HF_TOKEN is set"
                              : name == "SBATCH_COMMENT" ? "\nSBATCH_COMMENT='llmb-"
                                                         : "\n" + name + "='" + mark + "'\n";
    EXPECT_THAT(dry.out, HasSubstr(shown));
  }
  EXPECT_GT(count, 12);
  // Nothing of the runner's counts, and nothing of it is copied.
  std::vector<std::string> of_runner = tried;
  of_runner.insert(of_runner.end(), {"--copy-runner", "--backend", "cpu"});
  const ProgramRun noted = run(of_runner);
  EXPECT_EQ(noted.exit_code, 0) << noted.err;
  EXPECT_THAT(noted.err, HasSubstr("note: --copy-runner has no effect"));
  EXPECT_THAT(noted.out, HasSubstr("# note: the backend 'cpu' has no effect on launch.sh"));
  // What would keep launch.sh from being started is said before.
  std::filesystem::remove_all(folder_.path() / "runs/venv");
  std::filesystem::create_directories(folder_.path() / "venvs/one/bin");
  std::filesystem::create_directories(folder_.path() / "venvs/two/bin");
  environment_["LLMB_INSTALL"] = here;
  EXPECT_THAT(run(tried).err, HasSubstr("holds several virtual environments"));
}

// "cd $LLMB_INSTALL; llmb-run single -w pretrain_grok1 …" sets nothing else.
TEST_F(SubmitDryRun, AnInstallationAloneSaysWhereRunsGo) {
  const std::string install = (folder_.path() / "llmb").string();
  std::filesystem::create_directories(install + "/workloads/pretrain_nemotron4");
  std::filesystem::create_directories(install + "/workloads/pretrain_grok1");
  environment_ = {{"LLMB_INSTALL", install}};  // no HOME: a dry run has no database
  const auto tried = [&](const std::string& workload) {
    return run_program({"submit", "-w", workload, "-s", "15b", "--dtype", "bf16", "--scale", "16",
                        "--backend", "cuda", "--dry-run"},
                       {folder_.path(), environment_, false});
  };
  const ProgramRun dry = tried("nemotron4");
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("#   workload_folder = " + install +
                                 "/workloads/pretrain_nemotron4 (workloads/ of LLMB_INSTALL of the "
                                 "shell)\n"));
  EXPECT_THAT(dry.out,
              HasSubstr("--chdir=" + install + "/workloads/pretrain_nemotron4/experiments/"));
  EXPECT_THAT(tried("nemotorn4").err, HasSubstr("did you mean 'nemotron4'?"));
  EXPECT_THAT(tried("pretrain_llama3.1").err,
              HasSubstr("there is no " + install + "/workloads/pretrain_llama3.1"));
  folder_.write("jobs.json", R"([{"workload":"pretrain_nemotron4"},{"workload":"grok1"}])");
  EXPECT_THAT(
      run_program({"submit", "--file", "jobs.json"}, {folder_.path(), environment_, false}).err,
      HasSubstr("submit each workload by itself"));
  environment_["LLMB_WORKLOAD"] = "/elsewhere";
  EXPECT_THAT(tried("nemotron4").out,
              HasSubstr("#   workload_folder = /elsewhere (LLMB_WORKLOAD of the shell)\n"));
  environment_.erase("LLMB_WORKLOAD");
  EXPECT_THAT(submit({"--scale", "16", "--dry-run"}).out,
              HasSubstr("/runs (the cluster's configuration)\n"));
}

}  // namespace
}  // namespace llmb::cli
