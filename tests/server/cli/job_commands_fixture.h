// Commands on jobs, against scripts that answer as Slurm's commands do.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/server/cli/program_run.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {

class JobCommandsTest : public ::testing::Test {
 protected:
  JobCommandsTest() {
    command("sbatch", "echo 41");
    command("squeue", "echo '{\"errors\":[],\"jobs\":[]}'");
    command("sacct", "exit 1");
    command("scancel", "exit 0");
    command("runner", "echo 'llmb-step-runner 0.1.0'; echo 'backends: cpu'");
    folder_.write("llmb.yaml",
                  "db: jobs.db\ncluster:\n  name: test\n  workload_folder: runs\n  backend: cpu\n"
                  "  runner: " +
                      (folder_.path() / "bin" / "runner").string() +
                      "\n"
                      "  poll_interval_s: 1\n  accounting_grace_s: 1\n  command_path: " +
                      (folder_.path() / "bin").string() + ":/usr/bin:/bin\n");
  }

  void command(const std::string& name, const std::string& lines) {
    const auto file = folder_.write("bin/" + name, "#!/bin/sh\n" + lines + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  ProgramRun run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--config", "llmb.yaml", "--allow-network-file-system"});
    return run_program(arguments, {folder_.path(), environment_, false});
  }
  ProgramRun submit(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "submit", "-w",     "pretrain_nemotron4", "-s", "15b", "--gpu-type", "h100", "--dtype",
        "bf16",   "--proxy"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  TemporaryFolder folder_;
  std::map<std::string, std::string> environment_;
};

}  // namespace llmb::cli
