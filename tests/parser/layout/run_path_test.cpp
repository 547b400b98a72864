#include "parser/layout/run_path.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace llmb::parser {
namespace {

struct PathCase {
  std::string path;
  // experiment | launched_at | launch_id | account | job_id | retry, '-' where not known
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const PathCase& c) {
  return out << c.path;
}

std::string describe(const RunPath& path) {
  const auto text = [](const auto& value) -> std::string {
    if (!value) return "-";
    if constexpr (std::is_same_v<std::decay_t<decltype(*value)>, std::string>) {
      return *value;
    } else {
      return std::to_string(*value);
    }
  };
  return path.experiment + "|" + text(path.launched_at) + "|" + text(path.launch_id) + "|" +
         text(path.account) + "|" + text(path.job_id) + "|" + text(path.retry);
}

class RunPaths : public ::testing::TestWithParam<PathCase> {};

TEST_P(RunPaths, SayWhatTheySay) {
  EXPECT_EQ(describe(parse_run_path(GetParam().path)), GetParam().expected);
}

const std::string kGrok = "pretrain_grok1_314b_fp8_gpus128_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs256";
const std::string kLlama = "pretrain_llama3.1_405b_bf16_128";
const std::string kNemotron = "pretrain_nemotron4_15b_bf16_16";

std::string tree(const std::string& name, const std::string& timestamp, const std::string& file) {
  return "experiments/" + name + "/" + name + "_" + timestamp + "/" + name + "/" + file;
}

INSTANTIATE_TEST_SUITE_P(
    Experiments, RunPaths,
    ::testing::Values(
        PathCase{
            tree(kGrok, "1750000000", "log-coreai_dlalgo_llm-llm." + kGrok + "_388660_0.out"),
            kGrok + "|2025-06-15T15:06:40Z|" + kGrok + "_1750000000|coreai_dlalgo_llm|388660|0"},
        // Nanoseconds, since July 2026.
        PathCase{tree(kGrok, "1785000000123456789", "log-acct-acct." + kGrok + "_7_2.out"),
                 kGrok + "|2026-07-25T17:20:00Z|" + kGrok + "_1785000000123456789|acct|7|2"},
        // As the documents write it: no account, no job, no retry; and a name that ends in a
        // number.
        PathCase{tree(kNemotron, "1750000000", "log-" + kNemotron + ".out"),
                 kNemotron + "|2025-06-15T15:06:40Z|" + kNemotron + "_1750000000|-|-|-"},
        PathCase{tree(kNemotron, "1750000000", "log-" + kNemotron + "_555.out"),
                 kNemotron + "|2025-06-15T15:06:40Z|" + kNemotron + "_1750000000|-|555|-"},
        // A dot in the name is not the account's.
        PathCase{tree(kLlama, "1750000000", "log-" + kLlama + "_9_1.out"),
                 kLlama + "|2025-06-15T15:06:40Z|" + kLlama + "_1750000000|-|9|1"},
        PathCase{tree(kLlama, "1750000000", "log-a_b-b." + kLlama + "_9_1.out"),
                 kLlama + "|2025-06-15T15:06:40Z|" + kLlama + "_1750000000|a_b|9|1"},
        // A user's own prefix in place of the account's.
        PathCase{tree(kLlama, "1750000000", "log-my.team." + kLlama + "_9_1.out"),
                 kLlama + "|2025-06-15T15:06:40Z|" + kLlama + "_1750000000|my.team|9|1"},
        // 25.04's second task of one launch.
        PathCase{"experiments/" + kNemotron + "/" + kNemotron + "_1750000000/" + kNemotron +
                     "_nsys/log-a-a." + kNemotron + "_nsys_12_0.out",
                 kNemotron + "|2025-06-15T15:06:40Z|" + kNemotron + "_1750000000|a|12|0"},
        // 26.x without nemo-run.
        PathCase{"experiments/pretrain_x_8b_bf16_gpus8/1767225600/slurm-4711.out",
                 "pretrain_x_8b_bf16_gpus8|2026-01-01T00:00:00Z|pretrain_x_8b_bf16_gpus8_1767225600"
                 "|-|4711|-"},
        PathCase{"experiments/pretrain_x_8b_bf16_gpus8/1767225600/log-pretrain_x_4711_1.out",
                 "pretrain_x_8b_bf16_gpus8|2026-01-01T00:00:00Z|pretrain_x_8b_bf16_gpus8_1767225600"
                 "|-|4711|1"},
        // The watched root may be anywhere above or inside.
        PathCase{"/lustre/w/workloads/pretrain_grok1/" +
                     tree(kGrok, "1750000000", "log-a-a." + kGrok + "_1_0.out"),
                 kGrok + "|2025-06-15T15:06:40Z|" + kGrok + "_1750000000|a|1|0"},
        PathCase{kGrok + "_1750000000/" + kGrok + "/log-a-a." + kGrok + "_1_0.out",
                 kGrok + "|2025-06-15T15:06:40Z|" + kGrok + "_1750000000|a|1|0"},
        PathCase{kGrok + "/log-a-a." + kGrok + "_1_0.out", kGrok + "|-|-|a|1|0"}));

INSTANTIATE_TEST_SUITE_P(
    FilesAlone, RunPaths,
    ::testing::Values(PathCase{"log-a_b-b." + kGrok + "_388660_0.out", kGrok + "|-|-|a_b|388660|0"},
                      PathCase{"log-" + kNemotron + ".out", kNemotron + "|-|-|-|-|-"},
                      PathCase{kNemotron + "_2784318.out", kNemotron + "|-|-|-|2784318|-"},
                      PathCase{"log-" + kLlama + "_2784318_0.out", kLlama + "|-|-|-|2784318|0"},
                      PathCase{"pretrain_grok1_314b_fp8_cs_256_388660_3.out",
                               "pretrain_grok1_314b_fp8_cs_256|-|-|-|388660|3"},
                      PathCase{"slurm-99.out", "slurm-99|-|-|-|99|-"},
                      PathCase{"notes-of-2024_5.out", "notes-of-2024_5|-|-|-|-|-"},
                      PathCase{"some.log", "some.log|-|-|-|-|-"}));

INSTANTIATE_TEST_SUITE_P(Garbage, RunPaths,
                         ::testing::Values(PathCase{"", "|-|-|-|-|-"}, PathCase{"/", "|-|-|-|-|-"},
                                           PathCase{".out", ".out|-|-|-|-|-"},
                                           PathCase{"log-.out", "|-|-|-|-|-"},
                                           PathCase{"//_1750000000//x.out", "x|-|-|-|-|-"},
                                           PathCase{"log-x_99999999999999999999999.out",
                                                    "x_99999999999999999999999|-|-|-|-|-"},
                                           PathCase{"log-...out", "..|-|-|-|-|-"}));

TEST(RunPath, ReadsTheOlderResultsTree) {
  const RunPath path = parse_run_path("results/25.01/bf16/314b/512/grok1_314b_512_4155437.out");
  EXPECT_EQ(describe(path), "grok1_314b_512|-|-|-|4155437|-");
  EXPECT_EQ(path.configuration.get("workload"),
            (ConfigValue{"grok1", ConfigSource::experiment_name}));
  EXPECT_FALSE(path.configuration.value("workload_type"));
  EXPECT_EQ(path.configuration.get("release"), (ConfigValue{"25.01", ConfigSource::path}));
  EXPECT_EQ(path.configuration.get("dtype"), (ConfigValue{"bf16", ConfigSource::path}));
  EXPECT_EQ(path.configuration.value("model_size"), "314b");
  EXPECT_EQ(path.configuration.get("gpu_count"), (ConfigValue{"512", ConfigSource::path}));
}

// What grok1/launch.sh of release 25.01 writes.
TEST(RunPath, ReadsFrameworkAndModelOfTheOlderLogNames) {
  const RunPath path =
      parse_run_path("results/25.01-nccl-trace/fp8/314b/512/log-nemo_grok1_314b_512_4155437.out");
  EXPECT_EQ(describe(path), "nemo_grok1_314b_512|-|-|-|4155437|-");
  EXPECT_EQ(path.configuration.value("workload"), "grok1");
  EXPECT_EQ(path.configuration.value("model"), "grok1");
  EXPECT_EQ(path.configuration.value("framework"), "nemo");
  EXPECT_EQ(path.configuration.value("release"), "25.01");
  EXPECT_EQ(path.configuration.value("nccl_trace_enabled"), "true");
}

TEST(RunPath, TellsScaleJobAndRetryApartInTheOlderLogNames) {
  const auto of = [](const std::string& name) {
    return describe(parse_run_path("results/24.11/bf16/8b/16/" + name));
  };
  EXPECT_EQ(of("nemo_llama3_8b_16.out"), "nemo_llama3_8b_16|-|-|-|-|-");
  EXPECT_EQ(of("log-nemo_llama3_8b_16_16.out"), "nemo_llama3_8b_16|-|-|-|16|-");
  EXPECT_EQ(of("log-nemo_llama3_8b_16_4711_1.out"), "nemo_llama3_8b_16|-|-|-|4711|1");
  EXPECT_EQ(of("mine_4711.out"), "mine|-|-|-|4711|-");
  EXPECT_EQ(of("slurm-4711.out"), "slurm-4711|-|-|-|4711|-");
  EXPECT_EQ(of("notes.out"), "notes|-|-|-|-|-");
  EXPECT_EQ(of("16.out"), "16|-|-|-|-|-");
}

TEST(RunPath, ClaimsNoWorkloadThatAnOlderLogNameDoesNotHold) {
  for (const char* name : {"mine_4711.out", "slurm-4711.out", "8b_16_4711.out",
                           "nemo_8b_16_4711.out", "log-grok1_314b_16_4711.out"}) {
    const RunPath path = parse_run_path(std::string("results/24.11/bf16/8b/16/") + name);
    EXPECT_FALSE(path.configuration.value("workload")) << name;
  }
}

TEST(RunPath, TakesNeitherTooFewNorOtherFoldersForTheResultsTree) {
  EXPECT_TRUE(parse_run_path("314b/512/x_1.out").configuration.all().empty());
  EXPECT_TRUE(parse_run_path("25.01/bf16/large/512/x_1.out").configuration.all().empty());
  EXPECT_FALSE(parse_run_path("results/bf16/8b/16/x_1.out").configuration.value("release"));
}

TEST(RunPath, TakesOnlyWhatIsWrittenAsOneForARelease) {
  const auto release_of = [](const std::string& folder) {
    return parse_run_path(folder + "/bf16/314b/512/x_1.out").configuration.value("release");
  };
  EXPECT_EQ(release_of("results/24.11"), "24.11");
  EXPECT_EQ(release_of("25.05.01"), "25.05.01");
  for (const char* folder : {"results/latest", "mytests", "results/25", "25.8", "v25.08",
                             "25.08-rc1", "25.08.", "25.08.001", "2025.08", "25.08.01.02"}) {
    EXPECT_FALSE(release_of(folder)) << folder;
  }
  EXPECT_EQ(parse_run_path("mine-nccl-trace/bf16/314b/512/x_1.out")
                .configuration.value("nccl_trace_enabled"),
            "true");
}

TEST(RunPath, SaysTheConfigurationOfTheExperimentAndItsTask) {
  const RunPath path =
      parse_run_path("experiments/" + kNemotron + "/" + kNemotron + "_1750000000/" + kNemotron +
                     "_nsys/log-a-a." + kNemotron + "_nsys_12_0.out");
  EXPECT_EQ(path.configuration.value("workload"), "pretrain_nemotron4");
  EXPECT_EQ(path.configuration.value("gpu_count"), "16");
  EXPECT_EQ(path.configuration.value("profile_enabled"), "true");
}

TEST(RunPath, TakesTheWorkloadFromItsFolderBesideTheName) {
  const RunPath path = parse_run_path(
      "workloads/pretraining_llama4_maverick/experiments/mine/mine_1750000000/mine/"
      "log-mine.out");
  EXPECT_EQ(path.experiment, "mine");
  EXPECT_EQ(path.configuration.get("workload"),
            (ConfigValue{"pretrain_llama4_maverick", ConfigSource::path}));
}

// nemotron4: "a .out file which is generated inside of the
// $STAGE_PATH/experiments/pretrain_nemotron4_${MODEL_SIZE}_${DTYPE}_${JOB_TOTAL_GPUS} folder".
TEST(RunPath, TakesTheExperimentFromTheFolderOfALogOfAnotherName) {
  const auto of = [](const std::string& path) { return parse_run_path(path); };
  const RunPath path = of("experiments/pretrain_nemotron4_15b_bf16_64/run.out");
  EXPECT_EQ(path.experiment, "pretrain_nemotron4_15b_bf16_64");
  EXPECT_EQ(path.configuration.value("workload"), "pretrain_nemotron4");
  EXPECT_EQ(path.configuration.value("gpu_count"), "64");
  EXPECT_EQ(path.job_id, std::nullopt);
  EXPECT_EQ(of("experiments/" + kNemotron + "/logs/slurm-12.out").experiment, kNemotron);
  EXPECT_EQ(of("workloads/pretrain_nemotron4/experiments/" + kNemotron + "/run.out")
                .configuration.value("model_size"),
            "15b");
  // The log's own name says more than the folder's, and what is above the tree says nothing.
  EXPECT_EQ(of(kNemotron + "/log-" + kLlama + "_9_1.out").experiment, kLlama);
  EXPECT_EQ(of(kNemotron + "/experiments/mine/run.out").experiment, "run");
}

TEST(RunPath, SurvivesEveryCutOfARealPath) {
  const std::string path = tree(kGrok, "1750000000", "log-a_b-b." + kGrok + "_388660_0.out");
  for (std::size_t i = 0; i <= path.size(); ++i) {
    parse_run_path(std::string_view(path).substr(0, i));
    parse_run_path(std::string_view(path).substr(i));
    std::string changed = path;
    if (i < path.size()) changed[i] = '\xff';
    parse_run_path(changed);
  }
}

TEST(FileRole, IsToldFromTheName) {
  EXPECT_EQ(classify_file("a/log-x_1_0.out"), FileRole::training_log);
  EXPECT_EQ(classify_file("slurm-1.out"), FileRole::training_log);
  EXPECT_EQ(classify_file("a/sbatch_acct-acct.x_1.out"), FileRole::batch_script_output);
  EXPECT_EQ(classify_file("a/b/vboost.out"), FileRole::voltage_boost_output);
  EXPECT_EQ(classify_file("a/llmb-config_123.yaml"), FileRole::llmb_config);
  EXPECT_EQ(classify_file("a/llmb-config.yaml"), FileRole::llmb_config);
  EXPECT_EQ(classify_file("a/llmb-configs.yaml"), FileRole::other);
  EXPECT_EQ(classify_file("a/llmb-config.yml"), FileRole::other);
  EXPECT_EQ(classify_file("a/log-x.err"), FileRole::other);
  EXPECT_EQ(classify_file("a.out/readme"), FileRole::other);
  EXPECT_EQ(classify_file("a/log-x_1_0.out.gz"), FileRole::compressed_log);
  for (const char* const suffix : {".gz", ".zst", ".xz", ".bz2", ".lz4", ".zip"}) {
    EXPECT_EQ(classify_file("slurm-1.out" + std::string(suffix)), FileRole::compressed_log);
    EXPECT_EQ(uncompressed_name("a/slurm-1.out" + std::string(suffix)), "a/slurm-1.out");
  }
  EXPECT_EQ(classify_file("a/sbatch_acct-acct.x_1.out.gz"), FileRole::other);
  EXPECT_EQ(classify_file("a/weights.gz"), FileRole::other);
  EXPECT_EQ(classify_file("a/.gz"), FileRole::other);
  EXPECT_EQ(classify_file(""), FileRole::other);
}

}  // namespace
}  // namespace llmb::parser
