// `llmb-report compare` and `scaling` on trees and databases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string grok(int gpu_count) {
  return "pretrain_grok1_314b_fp8_gpus" + std::to_string(gpu_count) +
         "_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs" + std::to_string(2 * gpu_count);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Two runs on 128 GPUs and one on 256, and one that broke off; the global batch grows
// with the GPUs.
class ComparingCommands : public ::testing::Test {
 protected:
  ComparingCommands() {
    add(128, 11, 49);
    add(128, 12, 49);
    add(256, 13, 49);
    add(256, 14, 20);
  }

  void add(int gpu_count, int job, int last, const std::string& cluster = "eos") {
    const std::string path = experiment_log_path(grok(gpu_count), job);
    const std::string batch = "global_batch_size: ";
    folder_.write(
        path, "job " + std::to_string(job) + "\n" +
                  replaced(nemo_log(last), batch + "256", batch + std::to_string(2 * gpu_count)));
    folder_.write(path.substr(0, path.rfind('/')) + "/llmb-config_" + std::to_string(job) + ".yaml",
                  "job_info:\n  job_id: '" + std::to_string(job) +
                      "'\nmodel_info:\n  model_name: grok1\n  model_size: 314b\n  dtype: fp8\n"
                      "  scale: " +
                      std::to_string(gpu_count) +
                      "\n  gpu_type: gb200\ncluster_info:\n  cluster_name: " + cluster + "\n");
  }

  ProgramRun run(const std::vector<std::string>& arguments) {
    return run_program(arguments, {folder_.path(), {}, false});
  }

  TemporaryFolder folder_;
};

// As `parse` does.
TEST_F(ComparingCommands, ReadTheTreesOfTheVariablesWhereNothingIsNamed) {
  folder_.write("elsewhere/note", "");
  folder_.write("results/note", "");
  const std::string workload = folder_.path();
  for (const char* const command : {"compare", "scaling", "history"}) {
    const ProgramRun named = run({command, "--format", "json", "experiments"});
    EXPECT_EQ(named.exit_code, 0) << named.err;
    const ProgramRun by_variable =
        run_program({command, "--format", "json"},
                    {folder_.path() / "elsewhere", {{"LLMB_WORKLOAD", workload}}, false});
    EXPECT_EQ(by_variable.exit_code, 0) << by_variable.err;
    EXPECT_EQ(replaced(by_variable.out, workload + "/", ""), named.out) << command;
    const ProgramRun here = run({command, "--format", "json"});
    EXPECT_EQ(here.out, named.out) << "two folders that nobody named are no sides";
    const ProgramRun nothing = run_program({command}, {folder_.path() / "elsewhere", {}, false});
    EXPECT_EQ(nothing.exit_code, 2);
    EXPECT_THAT(nothing.err, HasSubstr("--db FILE, set LLMB_WORKLOAD or LLMB_INSTALL"));
  }
}

TEST_F(ComparingCommands, CompareGroupsRepeats) {
  const ProgramRun table = run({"compare", "experiments"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("pretrain_grok1 314b\n==="));
  EXPECT_THAT(table.out, HasSubstr("left out: incomplete"));
  const json report = json::parse(run({"compare", "--format", "json", "experiments"}).out);
  const json& comparison = report.at("comparisons").at(0);
  ASSERT_EQ(comparison.at("groups").size(), 2U);
  EXPECT_EQ(comparison["groups"][0]["run_ids"].size(), 2U);
  ASSERT_EQ(comparison["differences"].size(), 2U);
  EXPECT_EQ(comparison["differences"][0]["key"], "global_batch_size");
  EXPECT_EQ(comparison["differences"][1]["key"], "gpu_count");
  const ProgramRun csv = run({"compare", "--format", "csv", "experiments"});
  EXPECT_THAT(csv.out, StartsWith("set,group,experiment,"));
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 1 + 2 * 3) << csv.out;
}

TEST_F(ComparingCommands, CompareTakesTheRunsThatAreAskedFor) {
  const auto groups = [&](const std::vector<std::string>& asked) {
    std::vector<std::string> arguments = {"compare", "--format", "json", "experiments"};
    arguments.insert(arguments.end(), asked.begin(), asked.end());
    const ProgramRun told = run(arguments);
    EXPECT_EQ(told.exit_code, 0) << told.err;
    return json::parse(told.out).at("comparisons").at(0).at("groups").size();
  };
  EXPECT_EQ(groups({"--gpu-type", "gb200", "--workload", "grok1"}), 2U);
  EXPECT_EQ(groups({"--gpu-count", "128", "--dtype", "fp8"}), 1U);
  const ProgramRun none = run({"compare", "--gpu-type", "h100", "experiments"});
  EXPECT_EQ(none.exit_code, 1) << none.out;
  EXPECT_THAT(none.err, HasSubstr("no run is of what was asked for"));
}

// Of the only cluster that its tree names, as scaling and history have it.
TEST_F(ComparingCommands, ARunThatNamesNoClusterDiffersInNone) {
  const std::string log = experiment_log_path(grok(128), 12);
  const std::string config = log.substr(0, log.rfind('/')) + "/llmb-config_12.yaml";
  folder_.write(config,
                "model_info:\n  model_name: grok1\n  model_size: 314b\n  dtype: fp8\n  scale: 128\n"
                "  gpu_type: gb200\n");
  const ProgramRun all = run({"compare", "--cluster", "eos", "--format", "json", "experiments"});
  const json comparison = json::parse(all.out).at("comparisons").at(0);
  EXPECT_EQ(comparison["groups"][0]["run_ids"].size(), 2U);
  EXPECT_THAT(comparison["differences"].dump(), Not(HasSubstr("cluster"))) << all.out;
  const ProgramRun none = run({"compare", "--cluster", "ord", "experiments"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("no run is of the cluster 'ord'; they are of: eos"));
}

TEST_F(ComparingCommands, AGroupThatDiffersInNothingHasAnEmptyCell) {
  const ProgramRun csv = run({"compare", "--format", "csv", "experiments/" + grok(128)});
  EXPECT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_THAT(csv.out, HasSubstr(",,step_time_s,2,"));
}

TEST_F(ComparingCommands, ATreeThatWasCopiedHoldsNoMoreRuns) {
  std::filesystem::create_directories(folder_.path() / "all");
  std::filesystem::rename(folder_.path() / "experiments", folder_.path() / "all/experiments");
  const auto counted = [&] {
    const json report = json::parse(run({"scaling", "--format", "json", "all"}).out);
    return report.at("series").at(0).at("points").at(0).at("runs").size();
  };
  ASSERT_EQ(counted(), 2U);
  std::filesystem::copy(folder_.path() / "all/experiments", folder_.path() / "all/backup",
                        std::filesystem::copy_options::recursive);
  EXPECT_EQ(counted(), 2U);
  EXPECT_THAT(run({"scaling", "all"}).out, HasSubstr("the same bytes as that of run "));
  EXPECT_THAT(run({"history", "all"}).out, HasSubstr("the same bytes as that of run "));
  // A database tells by what it holds of the logs' bytes.
  const ProgramRun ingest = run({"ingest", "--once", "--db", "copies.db", "all"});
  ASSERT_EQ(ingest.exit_code, 0) << ingest.err;
  const json stored =
      json::parse(run({"scaling", "--db", "copies.db", "--format", "json"}).out).at("series").at(0);
  EXPECT_EQ(stored.at("points").at(0).at("runs").size(), 2U);
  const json& left_out = stored.at("left_out");
  EXPECT_EQ(std::count_if(left_out.begin(), left_out.end(),
                          [](const json& one) { return one.at("copy_of").is_number(); }),
            3)
      << "of the one that broke off neither counts";
}

// Without its llmb-config a copy may be judged over another window.
TEST_F(ComparingCommands, ACopyIsOneRunWhateverItsWindow) {
  const std::string log = experiment_log_path(grok(128), 11);
  const std::string copy = "copies/" + log;
  std::filesystem::create_directories((folder_.path() / copy).parent_path());
  std::filesystem::copy_file(folder_.path() / log, folder_.path() / copy);
  const std::filesystem::path config = (folder_.path() / log).parent_path() / "llmb-config_11.yaml";
  std::ofstream(config, std::ios::app) << "workload_info:\n  gsw_version: '25.08'\n";
  const json report = json::parse(run({"parse", "--format", "json", log, copy}).out);
  ASSERT_NE(report["runs"][0]["window"], report["runs"][1]["window"]) << report.dump();
  const auto tell = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"compare", "--format", "json"});
    return json::parse(run(arguments).out).at("comparisons").at(0).dump();
  };
  EXPECT_THAT(tell({log, copy}), HasSubstr("the same bytes"));
  ASSERT_EQ(run({"ingest", "--once", "--db", "runs.db", "experiments", "copies"}).exit_code, 0);
  const ProgramRun stored = run({"compare", "--db", "runs.db", "--format", "json"});
  EXPECT_THAT(stored.out, HasSubstr("the same bytes"));
}

TEST_F(ComparingCommands, CountSupersededRunsOfADatabaseWhenAsked) {
  const auto ingest = [&] { return run({"ingest", "--once", "--db", "runs.db", "experiments"}); };
  ASSERT_EQ(ingest().exit_code, 0);
  const std::string log = experiment_log_path(grok(128), 11);
  folder_.write(log, "written anew\n" + nemo_log(49));
  ASSERT_EQ(ingest().exit_code, 0);
  const auto ask = [&](const std::string& command, const std::string& include) {
    return run({command, "--db", "runs.db", "--format", "json", "--include", include}).out;
  };
  for (const std::string command : {"compare", "scaling", "history"}) {
    const auto runs_of_job = [&](const std::string& include) {
      const std::string named = "\"job_id\": 11,";
      const std::string out = ask(command, include);
      std::size_t count = 0;
      for (auto at = out.find(named); at != std::string::npos; at = out.find(named, at + 1)) {
        ++count;
      }
      return count;
    };
    EXPECT_EQ(runs_of_job("traced"), 1U) << ask(command, "traced");
    EXPECT_EQ(runs_of_job("superseded"), 2U) << ask(command, "superseded");
    EXPECT_EQ(runs_of_job("all"), 2U) << command;
  }
}

TEST_F(ComparingCommands, TwoThingsAreTwoSides) {
  const auto steady = [](const std::string& step_time_s) {
    const std::string key = "timing in s: ";
    return replaced(replaced(nemo_log(49), key + "2 ", key + step_time_s + " "), key + "3 ",
                    key + step_time_s + " ");
  };
  folder_.write("before/a.out", "1\n" + steady("2.5"));
  folder_.write("before/b.out", "2\n" + steady("2.5"));
  folder_.write("after/a.out", steady("2.9"));
  folder_.write("after/copy.out", steady("2.9"));
  const auto compared = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"compare", "--format", "json"});
    const ProgramRun program = run(arguments);
    EXPECT_EQ(program.exit_code, 0) << program.err;
    return json::parse(program.out).at("comparisons").at(0);
  };
  const json folders = compared({"before", "after"});
  ASSERT_EQ(folders["groups"].size(), 2U);
  EXPECT_EQ(folders["groups"][0]["name"], "before");
  EXPECT_EQ(folders["groups"][0]["run_ids"].size(), 2U);
  EXPECT_EQ(folders["groups"][1]["run_ids"].size(), 1U);  // a copy is no second run
  EXPECT_EQ(folders["comparisons"][0]["metrics"]["step_time_s"]["verdict"], "slower");
  EXPECT_THAT(folders["runs"][3]["exclusion"].get<std::string>(), HasSubstr("the same bytes"));
  const json files = compared({"before/a.out", "after/a.out"});
  EXPECT_EQ(files["groups"].size(), 2U);
  const json named =
      compared({"--base", "after/a.out", "--candidate", "before/a.out", "before/b.out"});
  EXPECT_EQ(named["groups"][1]["name"], "candidate");
  EXPECT_EQ(named["comparisons"][0]["metrics"]["step_time_s"]["verdict"], "faster");
  const ProgramRun table = run({"compare", "before", "after"});
  EXPECT_THAT(
      table.out,
      HasSubstr("after (group 1) against before (group 0):\n  step_time_s: +16.00 %: slower"));
  EXPECT_EQ(run({"compare", "--base", "after"}).exit_code, 2);
  EXPECT_EQ(run({"compare", "more", "--base", "after", "--candidate", "before"}).exit_code, 2);
}

TEST_F(ComparingCommands, ASideThatIsNotThereIsAnExitStatusOfOne) {
  const std::string whole = experiment_log_path(grok(128), 11);
  const std::string broken = experiment_log_path(grok(256), 14);
  const ProgramRun table = run({"compare", whole, broken});
  EXPECT_EQ(table.exit_code, 1) << table.out;
  EXPECT_THAT(table.out, HasSubstr("\nNo run of " + broken + " counts: run 2: incomplete"));
  EXPECT_THAT(table.err, HasSubstr("compare: No run of " + broken + " counts: run 2: incomplete"));
  const ProgramRun csv = run({"compare", "--format", "csv", broken, whole});
  EXPECT_EQ(csv.exit_code, 1);
  EXPECT_THAT(csv.out, Not(HasSubstr(",baseline,")));
  EXPECT_THAT(csv.out, HasSubstr(",step_time_s,0,,,,,,cannot_be_told,"));
  add(128, 21, 49, "selene");
  ASSERT_EQ(run({"ingest", "--once", "--db", "runs.db", "experiments"}).exit_code, 0);
  const auto id_of = [&](int job) {
    const json all = json::parse(run({"compare", "--db", "runs.db", "--format", "json"}).out);
    for (const json& one : all.at("comparisons").at(0).at("runs")) {
      if (one.at("job_id") == job) return std::to_string(one.at("id").get<int>());
    }
    return std::string();
  };
  const ProgramRun other_cluster = run({"compare", "--db", "runs.db", "--cluster", "eos", "--base",
                                        id_of(11), "--candidate", id_of(21)});
  EXPECT_EQ(other_cluster.exit_code, 1) << other_cluster.out;
  EXPECT_THAT(other_cluster.err, HasSubstr("No run of candidate is among those"));
}

TEST_F(ComparingCommands, FoldersOfSeveralBatchesAreComparedBatchByBatch) {
  const auto experiment = [](const std::string& batch) {
    return replaced(grok(128), "gbs256", "gbs" + batch);
  };
  for (const std::string side : {"before", "after"}) {
    for (const std::string batch : {"256", "512"}) {
      const std::string log = side + "/" + experiment_log_path(experiment(batch), 11);
      const std::string key = "global_batch_size: ";
      folder_.write(
          log, "log of " + side + batch + "\n" + replaced(nemo_log(49), key + "256", key + batch));
      folder_.write(log.substr(0, log.rfind('/')) + "/llmb-config_11.yaml",
                    "model_info:\n  gpu_type: gb200\n");
    }
  }
  const json report = json::parse(run({"compare", "--format", "json", "before", "after"}).out);
  ASSERT_EQ(report.at("comparisons").size(), 2U);
  for (const json& set : report["comparisons"]) {
    EXPECT_THAT(set.at("title").get<std::string>(), HasSubstr(", global batch "));
    EXPECT_EQ(set["comparisons"][0]["metrics"]["step_time_s"]["verdict"], "no_difference_shown");
  }
  // One of each is one comparison, and says why a step is not the same work.
  const ProgramRun apart = run({"compare", "before/experiments/" + experiment("256"),
                                "after/experiments/" + experiment("512")});
  EXPECT_THAT(apart.out, HasSubstr("global batch sizes are 256 and 512"));
}

// What is missing at one scale is told, though another one could be compared.
TEST_F(ComparingCommands, ASideThatIsNotThereAtOneScaleIsAnExitStatusOfOne) {
  const auto add_to = [&](const std::string& side, int gpu_count, int last) {
    const std::string batch = "global_batch_size: ";
    folder_.write(
        side + "/" + experiment_log_path(grok(gpu_count), gpu_count),
        "of " + side + "\n" +
            replaced(nemo_log(last), batch + "256", batch + std::to_string(2 * gpu_count)));
  };
  for (const std::string side : {"before", "after"}) {
    add_to(side, 128, 49);
    add_to(side, 256, 49);
  }
  const ProgramRun whole = run({"compare", "before", "after"});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(whole.err, "");
  add_to("after", 256, 20);
  const ProgramRun broken = run({"compare", "before", "after"});
  EXPECT_EQ(broken.exit_code, 1) << broken.out;
  EXPECT_THAT(broken.out, HasSubstr("after (group 1) against before (group 0)"));
  EXPECT_THAT(broken.err, HasSubstr(" 256: No run of after counts: run "));
  EXPECT_THAT(broken.err, HasSubstr("incomplete"));
  // Sides that are there and are of other work count; the verdict says the rest.
  folder_.write("other.out",
                replaced(nemo_log(49), "global_batch_size: 256", "global_batch_size: 512"));
  folder_.write("one.out", nemo_log(49));
  const ProgramRun apart = run({"compare", "one.out", "other.out"});
  EXPECT_EQ(apart.exit_code, 0) << apart.err;
  EXPECT_THAT(apart.out, HasSubstr("not comparable"));
}

TEST_F(ComparingCommands, APublishedSpeedIsOfTheOwnWindowWithEveryStep) {
  const auto runs = [&](const std::vector<std::string>& asked) {
    std::vector<std::string> words = {"compare", "--format", "json", "experiments"};
    words.insert(words.end(), asked.begin(), asked.end());
    return json::parse(run(words).out).at("comparisons").at(0);
  };
  const json own = runs({});
  const json asked = runs({"--window", "5-20"});
  EXPECT_EQ(asked["runs"][0]["window"], "5-20");
  ASSERT_TRUE(own["runs"][0]["published"]["speed_against_reference"].is_number());
  EXPECT_EQ(asked["runs"][0]["published"], own["runs"][0]["published"]);
  EXPECT_EQ(asked["groups"][0]["published_standing"], own["groups"][0]["published_standing"]);
}

TEST_F(ComparingCommands, CsvSaysWhatIsDecided) {
  const ProgramRun csv =
      run({"compare", "--format", "csv", "--base", experiment_log_path(grok(128), 11),
           "--candidate", experiment_log_path(grok(128), 12), experiment_log_path(grok(256), 14)});
  EXPECT_EQ(csv.exit_code, 0) << csv.err;
  const auto header = csv.out.substr(0, csv.out.find("\r\n"));
  EXPECT_THAT(header, HasSubstr(",text,side,ratio_low,ratio_high,mean_ratio,means_differ,"
                                "is_equivalent,published_standing_verdict,"));
  EXPECT_THAT(csv.out, HasSubstr(",baseline,,,,"));
  EXPECT_THAT(csv.out, HasSubstr(",base,,,,,,reached,"));
  EXPECT_THAT(csv.out, HasSubstr(",false,false,reached,"));
  EXPECT_THAT(csv.out, HasSubstr("run 3: incomplete"));
  const ProgramRun scaling = run({"scaling", "--format", "csv", "experiments"});
  EXPECT_THAT(scaling.out, HasSubstr(",cluster,published_standing_verdict,"));
  EXPECT_THAT(scaling.out, HasSubstr(",eos,reached,"));
  EXPECT_THAT(run({"scaling", "experiments"}).out, HasSubstr("  reached: "));
}

TEST_F(ComparingCommands, ScalingNamesWeakScaling) {
  const ProgramRun table = run({"scaling", "experiments"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("pretrain_grok1 314b fp8 on gb200\n==="));
  EXPECT_THAT(table.out, HasSubstr("(job 14): incomplete"));
  const json report = json::parse(run({"scaling", "--format", "json", "experiments"}).out);
  ASSERT_EQ(report.at("series").size(), 1U);
  const json& series = report["series"][0];
  EXPECT_EQ(series.at("scaling"), "weak");
  ASSERT_EQ(series.at("points").size(), 2U);
  // 8192 * 256 tokens in 2.5 s, on 128 GPUs; twice the GPUs do twice as much in that time.
  EXPECT_NEAR(series["points"][0]["tokens_per_s_per_gpu"]["mean"].get<double>(),
              8192.0 * 256 / 2.5 / 128, 1e-6);
  EXPECT_EQ(series["points"][0]["tokens_per_s_per_gpu"]["run_count"], 2);
  EXPECT_NEAR(series["points"][1]["efficiency"].get<double>(), 1.0, 1e-9);
  EXPECT_EQ(series.at("left_out").size(), 1U);
  EXPECT_EQ(series.at("document"), "grok1-25.05");
  const ProgramRun csv = run({"scaling", "--format", "csv", "experiments"});
  EXPECT_THAT(csv.out, StartsWith("workload,model_size,dtype,gpu_type,gpu_count,"));
  EXPECT_THAT(csv.out, HasSubstr("\npretrain_grok1,314b,fp8,gb200,256,512,weak,1,"));
}

TEST_F(ComparingCommands, HistoryShowsRunsInTheOrderOfTheirStarts) {
  const ProgramRun table = run({"history", "experiments"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("pretrain_grok1 314b fp8 gb200 on 128 GPUs\n==="));
  EXPECT_THAT(table.out, HasSubstr("\nToo few runs to tell a change: it takes 6.\n"));
  const json history = json::parse(run({"history", "--format", "json", "experiments"}).out);
  ASSERT_EQ(history.at("series").size(), 2U);
  EXPECT_EQ(history["series"][0]["runs"].size(), 2U);
  EXPECT_EQ(history["series"][0]["newest"], "unknown");
  EXPECT_THAT(table.out, HasSubstr(" (job 14): incomplete: "));
  ASSERT_EQ(history["series"][1]["left_out"].size(), 1U);
  EXPECT_EQ(history["series"][1]["left_out"][0]["job_id"], 14);
  EXPECT_EQ(run({"history", "--gpu-count", "8", "experiments"}).exit_code, 1);
  const ProgramRun csv = run({"history", "--format", "csv", "experiments"});
  EXPECT_THAT(csv.out, StartsWith("workload,model_size,dtype,gpu_type,gpu_count,"));
  EXPECT_THAT(csv.out, HasSubstr("\npretrain_grok1,314b,fp8,gb200,128,256,"));
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 1 + 2 + 1) << csv.out;
}

// Only what `compare` names is sides: each of which has to hold a log.
TEST_F(ComparingCommands, OfTwoTreesOneMayHoldNoLog) {
  std::filesystem::create_directory(folder_.path() / "old");
  for (const char* const command : {"history", "scaling"}) {
    const ProgramRun both = run({command, "old", "experiments"});
    EXPECT_EQ(both.exit_code, 0) << both.err;
    EXPECT_EQ(both.out, run({command, "experiments"}).out);
  }
  EXPECT_EQ(run({"compare", "old", "experiments"}).exit_code, 1);
}

TEST_F(ComparingCommands, ClustersAreKeptApart) {
  add(128, 21, 49, "selene");
  ASSERT_EQ(run({"ingest", "--once", "--db", "runs.db", "experiments"}).exit_code, 0);
  for (const auto& source : {std::vector<std::string>{"experiments"}, {"--db", "runs.db"}}) {
    const auto answer = [&](const std::string& command, std::vector<std::string> more = {}) {
      std::vector<std::string> words = {command, "--format", "json"};
      words.insert(words.end(), more.begin(), more.end());
      words.insert(words.end(), source.begin(), source.end());
      const ProgramRun told = run(words);
      return told.exit_code == 0 ? json::parse(told.out) : json(told.err);
    };
    const json history = answer("history");
    ASSERT_EQ(history.at("series").size(), 3U);
    EXPECT_EQ(history["series"][0]["cluster"], "eos");
    EXPECT_EQ(history["series"][1]["cluster"], "selene");
    EXPECT_EQ(history["series"][1]["runs"].size(), 1U);
    EXPECT_EQ(history["series"][2]["cluster"], "eos");  // 256 GPUs
    EXPECT_EQ(answer("history", {"--cluster", "selene"}).at("series").size(), 1U);
    const json scaling = answer("scaling");
    ASSERT_EQ(scaling.at("series").size(), 2U);
    EXPECT_EQ(scaling["series"][0]["cluster"], "eos");
    EXPECT_EQ(scaling["series"][1]["cluster"], "selene");
    EXPECT_EQ(answer("scaling", {"--cluster", "eos"}).at("series").size(), 1U);
    EXPECT_THAT(answer("scaling", {"--cluster", "x"}).get<std::string>(),
                HasSubstr("no run is of the cluster 'x'"));
  }
  EXPECT_THAT(run({"scaling", "experiments"}).out,
              AllOf(HasSubstr("on gb200, cluster eos\n"), HasSubstr("on gb200, cluster selene\n")));
  EXPECT_THAT(run({"scaling", "--cluster", "eos", "--db", "runs.db"}).out, HasSubstr("on gb200\n"));
}

TEST_F(ComparingCommands, DatabasesAnswerAsTreesDo) {
  ASSERT_EQ(run({"ingest", "--once", "--db", "runs.db", "experiments"}).exit_code, 0);
  const ProgramRun scaling = run({"scaling", "--db", "runs.db", "--format", "csv"});
  EXPECT_EQ(scaling.exit_code, 0) << scaling.err;
  EXPECT_EQ(scaling.out, run({"scaling", "--format", "csv", "experiments"}).out);
  const ProgramRun compare =
      run({"compare", "--db", "runs.db", "--format", "json", "--include", "running", "1", "2"});
  EXPECT_EQ(compare.exit_code, 0) << compare.err;
  EXPECT_EQ(json::parse(compare.out).at("comparisons").size(), 1U);
}

TEST_F(ComparingCommands, NothingToShowIsAnExitStatusOfOne) {
  EXPECT_EQ(run({"scaling", "--workload", "pretrain_nemotron4", "experiments"}).exit_code, 1);
  EXPECT_EQ(run({"scaling", "--window", "90-99", "experiments"}).exit_code, 1);
  EXPECT_EQ(run({"compare", "--window", "90-99", "experiments"}).exit_code, 1);
  EXPECT_EQ(run({"compare", "nowhere"}).exit_code, 1);
}

TEST_F(ComparingCommands, BadArgumentsAreAnExitStatusOfTwo) {
  for (const std::string command : {"compare", "scaling"}) {
    for (const std::vector<std::string>& rest :
         {std::vector<std::string>{"--window", "44-11", "experiments"},
          {"--include", "slow", "experiments"},
          {"--format", "xml", "experiments"},
          {"--db", "runs.db", "x"},
          {"--db", "runs.db", "0"}}) {
      std::vector<std::string> arguments = {command};
      arguments.insert(arguments.end(), rest.begin(), rest.end());
      const ProgramRun refused = run(arguments);
      EXPECT_EQ(refused.exit_code, 2) << ::testing::PrintToString(arguments) << refused.err;
    }
  }
  EXPECT_THAT(run({"compare", "--db", "runs.db", "x"}).err, HasSubstr("'x' is no run id"));
}

}  // namespace
}  // namespace llmb::cli
