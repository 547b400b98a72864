// A tree of some dozens of logs, a central server, and `backfill` as a user says it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "server/backfill/measure.h"
#include "server/backfill/work_folder.h"
#include "server/sample/log_lines.h"
#include "tests/server/serve/push_agent_fixture.h"
#include "tests/storage/same_logs.h"

namespace llmb::cli {

class BackfillTest : public PushAgentTest {
 public:
  static constexpr int kLogs = 40;

 protected:
  struct Said {
    int exit_code = -1;
    std::string output;
    std::string errors;
  };

  BackfillTest() {
    std::filesystem::create_directory(folder_.file("local"));
    for (int i = 0; i < kLogs; ++i) write_log(i);
  }

  // Some in launches, some as in 2024, one in the root itself, sizes all over; an hour old.
  static std::string log_path(int i) {
    const std::string name = "pretrain_grok1_" + std::to_string(i % 3);
    const std::string file = "log-acct." + name + "_" + std::to_string(100 + i) + "_0.out";
    if (i == 0) return file;
    if (i % 5 == 0) return "results/24.11/bf16/314b/512/" + file;
    const std::string launch = name + "_" + std::to_string(1'751'000'000 + i / 2);
    return "experiments/" + name + "/" + launch + "/" + name + "/" + file;
  }
  void write_log(int i) const {
    std::string text;
    const int steps = i % 7 == 0 ? 400 : 50;
    for (int step = 0; step < steps; ++step) {
      sample::StepFigures figures;
      figures.index = step;
      figures.step_count = steps;
      figures.step_time_s = 5 + 0.01 * ((step + i) % 17);
      figures.tflops_per_gpu = 700 + i;
      figures.loss = 11 - 0.01 * step;
      figures.global_batch_size = 256;
      text += sample::nemo_line(figures);
    }
    auto file = folder_.write("tree/" + log_path(i), text);
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  }

  // The words of one `backfill`; with a port those that say where to push to.
  std::vector<std::string> words(int port, const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"--work-folder", work_.path()};
    if (port != 0) {
      for (const std::string& word :
           {std::string("--push"), "http://127.0.0.1:" + std::to_string(port),
            std::string("--token-file"), token_file_, std::string("--cluster"), std::string("eos"),
            std::string("--db-folder"), folder_.file("local"),
            std::string("--allow-network-file-system")}) {
        all.push_back(word);
      }
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Said backfill(int port, const std::vector<std::string>& more) const {
    DaemonProcess process(folder_.path(), words(port, more), {}, "backfill");
    const int exit_code = process.exit_code();
    return {exit_code, process.output(), process.errors()};
  }

  // The work folder of the tree, with no task begun.
  void make_work_folder(int port, int tasks) const {
    backfill::Manifest manifest;
    const auto measured = backfill::measure_root(tree_, [] { return true; });
    ASSERT_TRUE(measured) << measured.error().message;
    manifest.id = "llmb-00112233445566778899aabbccddeeff";
    manifest.server = "http://127.0.0.1:" + std::to_string(port);
    manifest.cluster = "eos";
    manifest.token_file = token_file_;
    manifest.database_folder = folder_.file("local");
    manifest.allow_network_file_system = true;
    manifest.roots = {tree_};
    manifest.tasks = backfill::cut({measured->folder}, tasks);
    ASSERT_TRUE(work_.make());
    ASSERT_TRUE(work_.write_manifest(manifest));
  }
  std::unique_ptr<DaemonProcess> start_task(int number) const {
    return std::make_unique<DaemonProcess>(folder_.path(),
                                           words(0, {"--task", std::to_string(number)}),
                                           DaemonProcess::Environment{}, "backfill");
  }

  void ingest(const std::string& database, const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"--once", "--db", database, "--allow-network-file-system"};
    all.insert(all.end(), more.begin(), more.end());
    all.push_back(tree_);
    DaemonProcess process(folder_.path(), all, {}, "ingest");
    EXPECT_EQ(process.exit_code(), 0) << process.errors();
  }
  void push_whole_tree() const {
    ingest(agent_database(), {"--push", "http://127.0.0.1:" + std::to_string(port_), "--token-file",
                              token_file_, "--cluster", "eos"});
  }
  void expect_as_from_scratch() const {
    const std::string fresh = folder_.file("fresh.db");
    if (!std::filesystem::exists(fresh)) ingest(fresh, {});
    EXPECT_EQ(stored().runs, kLogs);
    EXPECT_EQ(storage::Reader(central()).roots().size(), 1U);
    storage::expect_same_logs(central(), fresh);
  }

  const std::string tree_ = folder_.file("tree");
  const backfill::WorkFolder work_{folder_.file("work")};
};

}  // namespace llmb::cli
