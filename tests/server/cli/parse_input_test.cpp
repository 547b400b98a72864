// Trees as they are found: links, loops, FIFOs, unreadable and odd files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tests/server/cli/parsed_paths.h"
#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/server/unpacking/packed_bytes.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ParseInput, OrdersRowsByPathAndReadsEachFileOnce) {
  const TemporaryFolder folder;
  folder.write("t/b/2.out", nemo_log(49));
  folder.write("t/a/1.out", nemo_log(49));
  folder.write("t/b/1.out", nemo_log(49));
  folder.write("t/b/notes.txt", nemo_log(49));
  EXPECT_THAT(paths_in(parse_json(folder, {"t", "t/b/1.out"})),
              ElementsAre("t/a/1.out", "t/b/1.out", "t/b/2.out"));
  EXPECT_THAT(paths_in(parse_json(folder, {"t/b", "t/a", "t/b/notes.txt"})),
              ElementsAre("t/a/1.out", "t/b/1.out", "t/b/2.out", "t/b/notes.txt"));
}

TEST(ParseInput, LeavesOutBatchScriptsAndSaysSo) {
  const TemporaryFolder folder;
  folder.write("t/log-a_1_0.out", nemo_log(49));
  folder.write("t/sbatch_a_1.out", nemo_log(49));
  folder.write("t/vboost.out", "boost\n");
  const ProgramRun run = parse_json(folder, {"t"});
  EXPECT_THAT(paths_in(run), ElementsAre("t/log-a_1_0.out"));
  EXPECT_THAT(run.err, HasSubstr("skipped 2 files"));
  EXPECT_EQ(nlohmann::json::parse(run.out).at("skipped").size(), 2U);
  EXPECT_THAT(paths_in(parse_json(folder, {"t/sbatch_a_1.out"})), ElementsAre("t/sbatch_a_1.out"))
      << "named, it is read whatever its name";
}

TEST(ParseInput, FollowsANamedLinkButNoneBelowIt) {
  const TemporaryFolder folder;
  folder.write("disk/real/a.out", nemo_log(49));
  fs::create_directory_symlink("disk", folder.path() / "experiments");
  fs::create_directory_symlink("..", folder.path() / "disk/real/loop");
  fs::create_symlink("a.out", folder.path() / "disk/real/b.out");
  const ProgramRun run = run_program({"parse", "--format", "json"}, {folder.path(), {}, false});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(paths_in(run), ElementsAre("experiments/real/a.out"));
  EXPECT_THAT(run.err, HasSubstr("real/loop: a symbolic link"));
  EXPECT_THAT(run.err, HasSubstr("real/b.out: a symbolic link"));
  EXPECT_THAT(paths_in(parse_json(folder, {"disk/real/b.out"})), ElementsAre("disk/real/b.out"));
}

// As ingest does: what a root is for may lie on another file system.
TEST(ParseInput, FollowsTheTreesOfARoot) {
  const TemporaryFolder folder;
  folder.write("scratch/x/a.out", nemo_log(49));
  folder.write("root/results/c.out", nemo_log(49));
  fs::create_directories(folder.path() / "root/results/deeper");
  fs::create_directory_symlink(folder.path() / "scratch", folder.path() / "root/experiments");
  fs::create_directory_symlink(folder.path() / "scratch",
                               folder.path() / "root/results/deeper/experiments");
  for (const char* const root : {"root", "root/"}) {
    const ProgramRun run = parse_json(folder, {root});
    EXPECT_THAT(paths_in(run), ElementsAre("root/experiments/x/a.out", "root/results/c.out"));
    EXPECT_THAT(run.err, HasSubstr("root/results/deeper/experiments: a symbolic link"));
    EXPECT_EQ(paths_in(parse_json(folder, {root, folder.file("scratch")})).size(), 2U);
  }
}

TEST(ParseInput, FindsOnceWhatIsNamedTwice) {
  const TemporaryFolder folder;
  folder.write("t/x/a.out", nemo_log(49));
  folder.write("t/b.out", nemo_log(49));
  fs::create_directory_symlink("t", folder.path() / "link");
  for (const std::string& other : {folder.file("t"), std::string("link"), std::string("./t/"),
                                   folder.file("t/x"), folder.file("t/x/a.out")}) {
    EXPECT_THAT(paths_in(parse_json(folder, {"t", other})), ElementsAre("t/b.out", "t/x/a.out"))
        << other;
  }
}

// The folders above what is named say the same however it is named; and they are not looked up, so
// that a link among them is what it is called.
TEST(ParseInput, TakesReleaseAndWorkloadFromThePathOfANamedLog) {
  const TemporaryFolder folder;
  const std::string leaf = "workloads/pretrain_grok1/results/24.11/bf16/314b/512";
  folder.write(leaf + "/mine_7.out", nemo_log(49));
  fs::create_directory_symlink("24.11", folder.path() / leaf / "../../../../latest");
  const std::vector<std::pair<std::string, std::string>> ways = {
      {"", "workloads"},
      {"", leaf},
      {"", leaf + "/mine_7.out"},
      {"", "./" + leaf + "/../512/mine_7.out"},
      {"", folder.file(leaf + "/mine_7.out")},
      {leaf, "mine_7.out"},
      {leaf, "."},
      {leaf + "/..", "512/mine_7.out"}};
  for (const auto& way : ways) {
    SCOPED_TRACE(way.first + ": " + way.second);
    const ProgramRun run = run_program({"parse", "--format", "json", way.second},
                                       {folder.path() / way.first, {}, false});
    const auto one = nlohmann::json::parse(run.out).at("runs").at(0);
    EXPECT_EQ(one.at("release"), "24.11");
    EXPECT_EQ(one.at("workload"), "pretrain_grok1");
    EXPECT_EQ(one.at("window"), "49-49");
  }
  const auto linked =
      parse_json(folder, {"workloads/pretrain_grok1/results/latest/bf16/314b/512/mine_7.out"});
  EXPECT_EQ(nlohmann::json::parse(linked.out).at("runs").at(0).at("release"), nullptr);
}

TEST(ParseInput, SaysWhyAConfigurationIsNotRead) {
  const TemporaryFolder folder;
  folder.write("t/a_7.out", nemo_log(49));
  folder.write("t/b_7.out", nemo_log(49));
  folder.write("t/llmb-config.yaml", "model_info:\n\tgpu_type: h100\n");
  const ProgramRun run = parse_json(folder, {"t"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("t/llmb-config.yaml: llmb-config: "));
  EXPECT_THAT(run.err, HasSubstr("its runs keep what their paths say"));
  EXPECT_EQ(nlohmann::json::parse(run.out).at("skipped").size(), 1U) << "once for both";
  fs::remove(folder.path() / "t/llmb-config.yaml");
  fs::create_directory(folder.path() / "t/llmb-config.yaml");
  EXPECT_THAT(parse_json(folder, {"t"}).err, HasSubstr("not a regular file but a folder"));
}

TEST(ParseInput, ExplainsTimesThatNoStepTakes) {
  const TemporaryFolder folder;
  std::string log = nemo_log(49);
  const std::string time = "train_step_timing in s: ";
  std::size_t at = 0;
  for (const char* const impossible : {"0.0", "-2.67", "nan"}) {
    at = log.find(time, at) + time.size();
    log.replace(at, log.find(' ', at) - at, impossible);
  }
  folder.write("a.out", log);
  const ProgramRun run =
      run_program({"parse", "--explain", "--format", "json", "a.out"}, {folder.path(), {}, false});
  const auto refused = nlohmann::json::parse(run.out).at("runs").at(0).at("refused_lines");
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].at("reason"), "step_time_impossible");
  EXPECT_EQ(refused[0].at("count"), 3);
}

TEST(ParseInput, EndsOnALinkThatPointsAtItself) {
  const TemporaryFolder folder;
  fs::create_symlink("self", folder.path() / "self");
  const ProgramRun run = parse_json(folder, {"self"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("skipped self: "));
}

TEST(ParseInput, ReadsStdin) {
  const TemporaryFolder folder;
  for (const std::string& log :
       {nemo_log(49), unpacking::zstd_packed(nemo_log(49)), unpacking::xz_packed(nemo_log(49)),
        unpacking::bzip2_packed(nemo_log(49))}) {
    folder.write("log", log);
    const ProgramRun run = run_program({"parse", "--format", "json", "-"},
                                       {folder.path(), {}, false, {}, folder.file("log")});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_THAT(paths_in(run), ElementsAre("-"));
    EXPECT_EQ(nlohmann::json::parse(run.out).at("runs")[0].at("step_time_s_mean"), 2.5);
  }
  const ProgramRun nothing = run_program({"parse", "-"}, {folder.path(), {}, false});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_THAT(nothing.err, HasSubstr("skipped -: not a regular file but a device"));
}

// `grep -H` of two logs; a name is the log's own, so its folders tell what they tell of the log.
TEST(ParseInput, HasARunOfEachLogThatIsNamed) {
  const TemporaryFolder folder;
  std::string lines;
  for (const int job : {2, 1}) {
    std::istringstream log(nemo_log(job == 1 ? 49 : 20));
    for (std::string line; std::getline(log, line);) {
      lines += experiment_log_path("pretrain_grok1_314b_fp8_gpus256", job) + ":" + line + "\n";
    }
  }
  folder.write("lines", lines);
  const ProgramRun run = run_program({"parse", "--format", "json", "-"},
                                     {folder.path(), {}, false, {}, folder.file("lines")});
  EXPECT_THAT(paths_in(run),
              ElementsAre(experiment_log_path("pretrain_grok1_314b_fp8_gpus256", 1),
                          experiment_log_path("pretrain_grok1_314b_fp8_gpus256", 2)));
  const auto runs = nlohmann::json::parse(run.out).at("runs");
  EXPECT_EQ(runs[0].at("step_count"), 50);
  EXPECT_EQ(runs[0].at("job_id"), 1);
  EXPECT_EQ(runs[1].at("step_count"), 21);
  EXPECT_EQ(runs[1].at("status"), "incomplete");
  EXPECT_EQ(parse_json(folder, {"lines"}).out, run.out);
}

TEST(ParseInput, WaitsForNoWriterOfAFifo) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0644), 0);
  EXPECT_THAT(parse_json(folder, {"pipe"}).err, HasSubstr("pipe: a FIFO that nobody writes into"));
}

// What `parse <(zcat …)` opens.
TEST(ParseInput, ReadsNamedPipes) {
  const TemporaryFolder folder;
  for (const std::string& log : {nemo_log(49), unpacking::gzipped(nemo_log(49)), std::string()}) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    ASSERT_EQ(::write(pipe[1], log.data(), log.size()), static_cast<ssize_t>(log.size()));
    close(pipe[1]);
    const std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(pipe[0]);
    const ProgramRun run = parse_json(folder, {path});
    close(pipe[0]);
    EXPECT_EQ(paths_in(run).size(), log.empty() ? 0U : 1U) << run.err;
    EXPECT_EQ(run.exit_code, log.empty() ? 1 : 0);
  }
}

TEST(ParseInput, GoesOnAfterWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  folder.write("t/good.out", nemo_log(49));
  folder.write("t/folder.out/inner.out", nemo_log(49));
  ASSERT_EQ(mkfifo((folder.path() / "t/pipe.out").c_str(), 0644), 0);
  const ProgramRun run = parse_json(folder, {"t", "t/pipe.out", "t/gone.out"});
  EXPECT_EQ(run.exit_code, 1) << "two that were named could not be read";
  EXPECT_THAT(paths_in(run), ElementsAre("t/folder.out/inner.out", "t/good.out"));
  EXPECT_THAT(run.err, HasSubstr("t/pipe.out: not a regular file but a FIFO"));
  EXPECT_THAT(run.err, HasSubstr("t/folder.out: a folder, not a log"));
  EXPECT_THAT(run.err, HasSubstr("t/gone.out: No such file"));
}

TEST(ParseInput, GoesOnAfterWhatMayNotBeRead) {
  const TemporaryFolder folder;
  folder.write("t/good.out", nemo_log(49));
  fs::permissions(folder.write("t/secret.out", nemo_log(49)), fs::perms::none);
  folder.write("t/closed/a.out", nemo_log(49));
  fs::permissions(folder.path() / "t/closed", fs::perms::none);
  const ProgramRun run = run_program({"parse", "--format", "json", "t"}, {folder.path(), {}, true});
  fs::permissions(folder.path() / "t/closed", fs::perms::owner_all);
  if (run.exit_code == 126) GTEST_SKIP() << "nobody may not run the program where it was built";
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(paths_in(run), ElementsAre("t/good.out"));
  EXPECT_THAT(run.err, HasSubstr("t/secret.out: Permission denied"));
  EXPECT_THAT(run.err, HasSubstr("t/closed: Permission denied"));
}

TEST(ParseInput, SurvivesGarbageEmptyFilesAndOddNames) {
  const TemporaryFolder folder;
  std::string noise;
  for (unsigned i = 0; i < 300'000; ++i) noise += static_cast<char>((i * 2'654'435'761U) >> 13U);
  folder.write("t/noise.out", noise);
  folder.write("t/empty.out", "");
  folder.write("t/nul.out", std::string(100'000, '\0') + nemo_log(49));
  folder.write("t/odd \n\"name\",\xff.out", nemo_log(49));
  folder.write("t/one_line.out", std::string(3'000'000, 'x'));
  for (const char* format : {"table", "csv", "json"}) {
    const ProgramRun run =
        run_program({"parse", "--format", format, "t"}, {folder.path(), {}, false});
    EXPECT_EQ(run.exit_code, 0) << format << run.err;
  }
  const auto runs = nlohmann::json::parse(parse_json(folder, {"t"}).out).at("runs");
  ASSERT_EQ(runs.size(), 5U);
  EXPECT_EQ(std::count_if(runs.begin(), runs.end(),
                          [](const auto& run) { return run.at("status") == "complete"; }),
            2);
  EXPECT_EQ(runs.at(0).at("status"), "no_data");
  EXPECT_EQ(runs.at(0).at("status_reason"), "no step in the log");
}

TEST(ParseInput, ReadsTheConfigurationFileBesideALog) {
  const TemporaryFolder folder;
  const std::string name = "pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64";
  const std::string log = experiment_log_path(name, 12);
  folder.write(log, megatron_bridge_log(50));
  folder.write(fs::path(log).parent_path().string() + "/llmb-config_12.yaml",
               "job_info: {job_id: '12'}\nmodel_info: {dtype: fp8, scale: 256, gpu_type: gb200}\n");
  const auto run = nlohmann::json::parse(parse_json(folder, {"experiments"}).out).at("runs").at(0);
  nlohmann::json dtype;
  for (const auto& entry : run.at("configuration")) {
    if (entry.at("key") == "dtype") dtype = entry;
  }
  EXPECT_EQ(dtype.at("value"), "fp8_cs");
  EXPECT_EQ(dtype.at("alternatives").at(0).at("source"), "llmb_config");
  EXPECT_EQ(run.at("configuration_conflicts"), nlohmann::json::array({"gpu_count"}));
}

// As ingest has it: the nearest one of the log's job, in what was named.
TEST(ParseInput, TakesTheConfigurationFileOfItsJobFromAFolderAbove) {
  const TemporaryFolder folder;
  const std::string name = kGrokExperiment;
  const std::string log = experiment_log_path(name, 12);
  const fs::path launch = fs::path(log).parent_path().parent_path();
  folder.write(log, nemo_log(49));
  const auto of = [](const std::string& name) {
    return "cluster_info: {cluster_name: " + name + "}\n";
  };
  const auto cluster = [&](const std::string& named) {
    const ProgramRun run =
        run_program({"parse", "--format", "json", "--metrics", named}, {folder.path(), {}, false});
    return nlohmann::json::parse(run.out).at("runs").at(0).at("cluster");
  };
  folder.write((launch / "llmb-config_13.yaml").string(), of("ord"));
  EXPECT_EQ(cluster("experiments"), nullptr);
  folder.write((launch / "llmb-config_12.yaml").string(), of("eos"));
  EXPECT_EQ(cluster("experiments"), "eos");
  EXPECT_EQ(cluster(log), "eos");
  EXPECT_EQ(cluster((folder.path() / log).string()), "eos");
  EXPECT_EQ(cluster(fs::path(log).parent_path().string()), nullptr) << "not in what was named";
  folder.write((fs::path(log).parent_path() / "llmb-config_12.yaml").string(), of("own"));
  EXPECT_EQ(cluster("experiments"), "own");
}

// As the documents call a log: without a job's number.
TEST(ParseInput, TakesTheOnlyConfigurationFileBesideALogWithoutAJob) {
  const TemporaryFolder folder;
  const std::string name = "pretraining_grok1_314b_bf16_512_own";
  const std::string task = "experiments/" + name + "/" + name + "_1754388003/" + name + "/";
  const std::string config = "model_info: {gpu_type: gb200}\n";
  folder.write(task + "log-" + name + ".out", nemo_log(49));
  const auto gpu_type = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"parse", "--format", "json", "--metrics"});
    const ProgramRun run = run_program(arguments, {folder.path(), {}, false});
    return nlohmann::json::parse(run.out).at("runs").at(0).at("gpu_type");
  };
  EXPECT_EQ(gpu_type({"experiments"}), nullptr);
  EXPECT_EQ(gpu_type({"--gpu-type", "h100", "experiments"}), "h100");
  folder.write(task + "llmb-config_388003.yaml", config);
  EXPECT_EQ(gpu_type({"experiments"}), "gb200");
  EXPECT_EQ(gpu_type({task + "log-" + name + ".out"}), "gb200");
  EXPECT_EQ(gpu_type({"--gpu-type", "h100", "experiments"}), "gb200") << "the file's word counts";
  folder.write(task + "llmb-config_388004.yaml", "model_info: {gpu_type: h100}\n");
  EXPECT_EQ(gpu_type({"experiments"}), nullptr) << "two, and none of its own";
  folder.write(task + "llmb-config.yaml", config);
  EXPECT_EQ(gpu_type({"experiments"}), "gb200");
  const ProgramRun unknown =
      run_program({"parse", "--gpu-type", "h1000", "experiments"}, {folder.path(), {}, false});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("no GPU 'h1000'; it has"), std::string::npos) << unknown.err;
}

// No path says it, though it is kept as a path's word.
TEST(ParseInput, TellsThatTheGpuTypeIsThatOfTheOption) {
  const TemporaryFolder folder;
  const std::string log = "experiments/pretraining_grok1_314b_bf16_512_own/log-own.out";
  folder.write(log, nemo_log(49));
  const ProgramRun run =
      run_program({"parse", "--format", "json", "--metrics", "--gpu-type", "gb300", log},
                  {folder.path(), {}, false});
  EXPECT_THAT(run.out, HasSubstr("gpu_type is gb300 (--gpu-type) and not "));
  const nlohmann::json told = nlohmann::json::parse(run.out).at("runs").at(0).at("configuration");
  EXPECT_THAT(told, Contains(nlohmann::json{{"key", "gpu_type"},
                                            {"value", "gb300"},
                                            {"source", "--gpu-type"},
                                            {"alternatives", nlohmann::json::array()}}));
}

// Found by walking or named itself: what lies beside a log counts.
TEST(ParseInput, SeesProfilesBesideALog) {
  const TemporaryFolder folder;
  const std::string name = "pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64";
  const std::string log = experiment_log_path(name, 12);
  const std::string other = experiment_log_path(name, 13);
  folder.write(log, megatron_bridge_log(50));
  folder.write(other, megatron_bridge_log(50));
  folder.write(fs::path(log).parent_path().string() + "/nsys_profile/profile_12_0_0.nsys-rep", "x");
  const auto is_profiled = [&](const std::string& named) {
    return nlohmann::json::parse(parse_json(folder, {named}).out)
        .at("runs")
        .at(0)
        .at("is_profiled");
  };
  EXPECT_EQ(is_profiled(log), true);
  EXPECT_EQ(is_profiled(fs::path(log).parent_path().string()), true);
  EXPECT_EQ(is_profiled(other), false);
}

TEST(ParseInput, TakesTheFoldersAboveTheNamedOneIntoAccount) {
  const TemporaryFolder folder;
  const std::string name = "pretrain_nemotron4_15b_bf16_16";
  const fs::path log = experiment_log_path(name, 12);
  folder.write(log, nemo_log(49));
  for (const fs::path& named : {log, log.parent_path(), log.parent_path().parent_path()}) {
    const auto run = nlohmann::json::parse(parse_json(folder, {named}).out).at("runs").at(0);
    EXPECT_EQ(run.at("experiment"), name) << named;
    EXPECT_EQ(run.at("launched_at"), "2025-06-15T15:06:40Z") << named;
    EXPECT_EQ(run.at("job_id"), 12) << named;
  }
}

}  // namespace
}  // namespace llmb::cli
