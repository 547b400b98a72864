// Every launch command of the recipe documents, in its exact words, run by a shell against a real
// Slurm: `./launch.sh` and `llmb-run single` are llmb-report's `submit --launcher recipe`, and the
// recipe's own launch.sh is one that keeps its environment and submits a job that ends at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "parser/catalog/catalog.h"
#include "tests/slurm/test_cluster.h"

namespace llmb::slurm_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

void write_script(const fs::path& file, const std::string& text) {
  std::ofstream(file) << "#!/bin/bash\nset -eu\n" << text;
  fs::permissions(file, fs::perms::owner_all);
}

std::string text_of(const fs::path& file) {
  std::ifstream input(file);
  std::ostringstream text;
  text << input.rdbuf();
  return text.str();
}

// What stands in for the installed recipes, and for what the documents call.
class DocumentWalk {
 public:
  explicit DocumentWalk(const TestCluster& cluster)
      : cluster_(cluster), folder_(cluster.folder() / "documents") {
    fs::create_directories(folder_ / "bin");
    fs::create_directories(folder_ / "workload");
    write_script(folder_ / "recipe.sh",
                 "env >\"$STAGE_PATH/environment\"\n"
                 "cd \"$STAGE_PATH\"\n"
                 "sbatch --nodes=1 --ntasks=1 --time=1 --output=/dev/null --wrap=true\n");
    write_script(folder_ / "bin" / "llmb-run", "shift\nexec " + submit() + " \"$@\"\n");
  }

  // Of a cluster with such GPUs.
  CommandAnswer walk(const parser::PublishedCommand& command) {
    const std::string gpu_type = command.gpu_type.empty() ? "gb200" : command.gpu_type;
    std::ofstream(configuration())
        << "db: documents.db\nallow_network_file_system: true\ncluster:\n  name: walk\n"
        << "  workload_folder: workload\n  gpu_type: " << gpu_type
        << "\n  slurm_conf: " << (cluster_.cluster_folder() / "slurm.conf").string()
        << "\n  launch_scripts: {" << command.workload << ": " << (folder_ / "recipe.sh").string()
        << "}\n";
    write_script(folder_ / "launch.sh", "exec " + submit() + " -w " + command.workload + "\n");
    fs::remove(folder_ / "workload" / "environment");
    return run({"/bin/bash", "-c",
                "PATH='" + (folder_ / "bin").string() + "':$PATH; cd '" + folder_.string() +
                    "' && " + command.text},
               {"HF_TOKEN=hf_secret"});
  }

  // Of the recipe's launch.sh: "NAME=value" lines.
  std::string environment() const { return text_of(folder_ / "workload" / "environment"); }
  std::string database() const { return text_of(folder_ / "documents.db"); }

 private:
  fs::path configuration() const { return folder_ / "config.yaml"; }
  std::string submit() const {
    return LLMB_REPORT_PROGRAM " submit --launcher recipe --config " + configuration().string();
  }

  const TestCluster& cluster_;
  fs::path folder_;
};

TEST(DocumentsOnSlurm, EveryLaunchCommandBecomesAJob) {
  const TestCluster* const cluster = TestCluster::get("plain");
  if (cluster == nullptr) GTEST_SKIP() << "there is no Slurm here";
  DocumentWalk walk(*cluster);
  int submitted = 0;
  for (const parser::PublishedCommand& command : parser::embedded_catalog().commands) {
    if (!command.gpu_count) continue;  // a template, or one that reads logs
    SCOPED_TRACE(command.document + ": " + command.text);
    const CommandAnswer answer = walk.walk(command);
    const std::string environment = walk.environment();
    // llama3.1: 512 H100 are asked for, and its own table has 405b on 1024.
    if (command.document == "llama3.1-25.10" && command.line == 252) {
      EXPECT_EQ(answer.exit_code, 2);
      EXPECT_THAT(answer.errors, HasSubstr("--proxy"));
      EXPECT_EQ(environment, "");
      continue;
    }
    ASSERT_EQ(answer.exit_code, 0) << answer.errors << answer.output;
    EXPECT_THAT(environment,
                HasSubstr("JOB_TOTAL_GPUS=" + std::to_string(*command.gpu_count) + "\n"));
    EXPECT_THAT(environment, HasSubstr("DTYPE=" + command.dtype + "\n"));
    EXPECT_THAT(environment, HasSubstr("MODEL_SIZE=" + command.model_size + "\n"));
    EXPECT_THAT(environment, HasSubstr("HF_TOKEN=hf_secret\n"));
    for (const char* const name : {"ENABLE_PROFILE", "ENABLE_NCCLTRACE", "ENABLE_GPU_METRICS"}) {
      if (command.text.find(name) == std::string::npos) continue;
      EXPECT_THAT(environment, HasSubstr(std::string(name) + "=true\n"));
    }
    const bool is_profiled = command.text.ends_with(" -p");
    EXPECT_TRUE(!is_profiled || environment.find("ENABLE_PROFILE=true\n") != std::string::npos);
    for (const char* const parameter : {"nodelist=node001,node002", "constraint=gpu&memory"}) {
      if (command.text.find(parameter) == std::string::npos) continue;
      EXPECT_THAT(environment, HasSubstr(parameter));
    }
    ++submitted;
  }
  EXPECT_GE(submitted, 25);
  EXPECT_EQ(walk.database().find("hf_secret"), std::string::npos);
  // Slurm had them all, and they end.
  EXPECT_TRUE(wait_until([&] {
    return cluster->slurm({"squeue", "--noheader", "--name=wrap"}).output.empty();
  }));
}

// grok1_h100_2024: "This metric is logged for every training step in a .out file which is generated
// inside of the $STAGE_PATH/results/$GSW_VERSION/$DTYPE/314b/$JOB_TOTAL_GPUS folder"; its launch.sh
// is the batch script. "we are using the last training step timing".
TEST(DocumentsOnSlurm, TheRecipeOf2024EndsWithItsResultsTree) {
  const TestCluster* const cluster = TestCluster::get("plain");
  if (cluster == nullptr) GTEST_SKIP() << "there is no Slurm here";
  const fs::path folder = cluster->folder() / "recipe-2024";
  fs::create_directories(folder / "workload");
  write_script(folder / "launch.sh",
               "[ -n \"$SLURM_JOB_ID\" ] || exit 9\n"
               "out=\"$STAGE_PATH/results/24.11/$DTYPE/314b/$JOB_TOTAL_GPUS\"\n"
               "mkdir -p \"$out\"\n"
               "for step in $(seq 50); do\n"
               "  printf 'Epoch 0: : %d%%|##| %d/50 [00:%02d<00:00, reduced_train_loss=9.5, '"
               " $((step * 2)) \"$step\" \"$step\"\n"
               "  printf 'global_step=%d.00, consumed_samples=%d.0, train_step_timing in s=%d.50]"
               "\\n' $((step - 1)) $((step * 1024)) $((step < 50 ? 30 : 24))\n"
               "done >\"$out/log-nemo_grok1_314b_${JOB_TOTAL_GPUS}_$SLURM_JOB_ID.out\"\n");
  std::ofstream(folder / "config.yaml")
      << "db: runs.db\nallow_network_file_system: true\ncluster:\n  name: walk\n"
      << "  workload_folder: workload\n  gpu_type: h100\n  gpus_per_node: 4\n"
      << "  poll_interval_s: 1\n"
      << "  slurm_conf: " << (cluster->cluster_folder() / "slurm.conf").string() << "\n"
      << "  launch_scripts: {pretrain_grok1: " << (folder / "launch.sh").string() << "}\n";
  const CommandAnswer submitted =
      run({LLMB_REPORT_PROGRAM, "submit", "--launcher", "recipe", "--document", "grok1-24.11",
           "--config", (folder / "config.yaml").string(), "-w", "pretrain_grok1", "--dtype", "bf16",
           "--scale", "8", "--wait"});
  EXPECT_EQ(submitted.exit_code, 0) << submitted.output << submitted.errors;
  EXPECT_THAT(submitted.output, HasSubstr("complete"));
  const CommandAnswer parsed = run({LLMB_REPORT_PROGRAM, "parse", "--window", "last",
                                    "--format=json", (folder / "workload").string()});
  ASSERT_EQ(parsed.exit_code, 0) << parsed.errors;
  const json runs = json::parse(parsed.output)["runs"];
  ASSERT_EQ(runs.size(), 1U) << parsed.output;
  EXPECT_THAT(runs[0]["path"].get<std::string>(), HasSubstr("results/24.11/bf16/314b/8/"));
  EXPECT_EQ(runs[0]["status"], "complete");
  EXPECT_EQ(runs[0]["step_count"], 50);
}

}  // namespace
}  // namespace llmb::slurm_test
